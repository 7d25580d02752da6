/// The interfaces that the socket speaks, in Varlink's definition language.
enum InterfaceDescriptions {
    static let ifcount = """
        # How many bytes went through each network interface, over all links that have had its name.
        #
        # All figures are estimates of what passed the interface, not of what an application or a provider counts.
        # bytes is a lower bound: only what was seen. It never goes down and never contains a guess.
        # Times are µs; a name ending in USec that is a moment counts from 1970.
        interface io.ifcount

        # One direction; rx is what this host received. atMost is an upper bound: equal to bytes when nothing can be
        # missing, null when there is none.
        type Amount (bytes: int, atMost: ?int, packets: int)

        # label is always "estimate". quality is continuous when both bounds are equal in both directions.
        # resets: how often the kernel's counters began again. gaps: how many times bytes may have been missed.
        # unobservedUSec: for how long nobody was looking. suspect: readings set aside since no link is that fast.
        type Total (
          label: string,
          quality: (continuous, gapped),
          sinceUSec: int,
          rx: Amount,
          tx: Amount,
          resets: int,
          gaps: int,
          unobservedUSec: int,
          suspect: int
        )

        # The kernel's own counters of the present link, since it was created.
        type Counter (
          rxBytes: int,
          txBytes: int,
          rxPackets: int,
          txPackets: int,
          rxErrors: int,
          txErrors: int,
          rxDropped: int,
          txDropped: int
        )

        # Bytes per second over the measured interval overUSec.
        type Rate (rxBytesPerSecond: int, txBytesPerSecond: int, overUSec: int)

        # interface: bytes of a name that are not UTF-8 are written \\xHH, and so is a backslash that would read as such.
        # kind: what rtnetlink says (tun, wireguard, veth, bridge …), or ethernet, wlan, wwan, ppp, loopback.
        # state: up, down, no-carrier or absent. incarnation: which life of the interface, from 1.
        # sampledUSec: the moment the total is true for. source: netlink, procfs or getifaddrs.
        # persisted: whether totals reach the disk, null where they are not to. persistedUSec: until when they are there.
        type Reading (
          interface: string,
          kind: string,
          ifindex: ?int,
          present: bool,
          state: string,
          incarnation: int,
          counter: ?Counter,
          rate: ?Rate,
          total: Total,
          sampledUSec: int,
          source: string,
          warnings: []string,
          persisted: ?bool,
          persistedUSec: ?int
        )

        # previous: the name before, for renamed. cause: one word, for gap and changed.
        # gapped: whether bytes may be missing because of it.
        type Event (
          atUSec: int,
          interface: string,
          event: (created, recreated, arrived, returned, reset, renamed, removed, departed, gap, suspect, changed),
          ifindex: ?int,
          incarnation: ?int,
          previous: ?string,
          cause: ?string,
          gapped: bool
        )

        # Every interface that is here; with all, also those that are absent but have a total.
        method List(all: ?bool) -> (readings: []Reading)

        # One interface. An absent one that has a total is answered with present false.
        method Get(interface: string) -> (reading: Reading)

        # A stream, requires more. The first reply has ready, and what is known; then one follows each interval, also
        # when nothing moved, and one when something happens. An interface that is not here yet is waited for.
        # intervalUSec: 100000 to 3600000000; null for the daemon's own interval.
        method Watch(interfaces: ?[]string, intervalUSec: ?int) -> (
          ready: ?bool,
          readings: ?[]Reading,
          events: ?[]Event
        )

        # What went through in one period of time. Bytes that are known for a longer time only are spread evenly over it:
        # rxSpreadBytes and txSpreadBytes say how many of the row's, and such a row has no upper bound.
        # imported: whether another counter's figures are in it; what that has missed is not known here, so there is no
        # upper bound either.
        type HistoryRow (
          startUSec: int,
          endUSec: int,
          rx: Amount,
          tx: Amount,
          quality: (continuous, gapped),
          gaps: int,
          rxSpreadBytes: int,
          txSpreadBytes: int,
          imported: bool
        )

        # What went through by periods, from the first that is known to now, the last ones where there are too many.
        # timezone: a name of the tz database; null for the daemon's. monthStarts: 1 to 31, 29 to 31 mean the last day of a
        # shorter month. untimed: bytes that were counted while the clock was not set.
        method GetHistory(
          interface: string,
          resolution: (quarter, hour, day, month, year),
          sinceUSec: ?int,
          untilUSec: ?int,
          limit: ?int,
          timezone: ?string,
          monthStarts: ?int
        ) -> (
          label: string,
          interface: string,
          timezone: string,
          rows: []HistoryRow,
          untimedRxBytes: int,
          untimedTxBytes: int,
          nowUSec: int
        )

        # What has happened, the oldest first; with more, also what happens from now on.
        method Events(interface: ?string, sinceUSec: ?int, limit: ?int) -> (events: []Event)

        # Bytes of another counter that passed at some time between two moments.
        type ImportedSpan (startUSec: int, endUSec: int, rxBytes: int, txBytes: int)

        # Books what another counter has counted before this one began, in place of all that was imported for the
        # interface before; totals stay as they are. For root and the daemon's own user only, else PermissionDenied.
        # spans: in order, without overlaps, none ending after the interface's sinceUSec. A message has at most 64 KiB:
        # many spans are sent in parts, where fromUSec and untilUSec say in which time a part replaces the spans that
        # begin there. Each call is booked as a whole or not at all.
        method Import(interface: string, spans: []ImportedSpan, fromUSec: ?int, untilUSec: ?int) -> (
          spans: int,
          rxBytes: int,
          txBytes: int
        )

        # Removes all that is kept of an interface: total, history and events. One that is here is counted anew, from its
        # last reading on. This and the next two are for root and the daemon's own user only, else PermissionDenied. Each
        # makes a copy of the history first, and answers with its path when the change is on disk.
        method Forget(interface: string) -> (backup: string)

        # Gives all that is kept of an interface that is gone to a name that has nothing yet.
        method Rename(interface: string, to: string) -> (backup: string)

        # Adds all that is kept of an interface that is gone to what another name has.
        method Merge(interface: string, into: string) -> (backup: string)

        # It is here, or may come back at once.
        error InterfacePresent (interface: string)

        # Something is kept under this name already, or it is the same.
        error InterfaceKnown (interface: string)

        # No copy could be made; so nothing was changed.
        error NoBackup (reason: string)

        # The daemon keeps no history, or cannot read it now.
        error NoHistory ()

        # No interface of this name was ever seen.
        error NoSuchInterface (interface: string)

        """

    static let service = """
        # The Varlink Service Interface is provided by every varlink service. It
        # describes the service and the interfaces it implements.
        interface org.varlink.service

        # Get a list of all the interfaces a service provides and information
        # about the implementation.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # Get the description of an interface that is implemented by this service.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The requested interface was not found.
        error InterfaceNotFound (interface: string)

        # The requested method was not found
        error MethodNotFound (method: string)

        # The interface defines the requested method, but the service does not
        # implement it.
        error MethodNotImplemented (method: string)

        # One of the passed parameters is invalid.
        error InvalidParameter (parameter: string)

        # Client is denied access
        error PermissionDenied ()

        # Method is expected to be called with 'more' set to true, but wasn't
        error ExpectedMore ()

        """
}
