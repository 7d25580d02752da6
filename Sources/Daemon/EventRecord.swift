internal import History
internal import Ledger
internal import Wire

extension Occurrence {
    /// An event of the wire as the history keeps it; nil when its names are none, which does not happen to the daemon's own.
    init?(_ event: Event) {
        guard let interface = LinkName(escaped: event.interface) else { return nil }
        self.init(
            at: event.atUSec,
            interface: interface,
            kind: event.event.rawValue,
            ifindex: event.ifindex,
            incarnation: event.incarnation,
            previous: event.previous.flatMap { LinkName(escaped: $0) },
            cause: event.cause,
            isGapped: event.gapped
        )
    }
}

extension Event {
    /// What the history keeps as an event of the wire; nil for one of a kind that only a later version has.
    init?(_ occurrence: Occurrence) {
        guard let kind = Event.Kind(rawValue: occurrence.kind) else { return nil }
        self.init(
            atUSec: occurrence.at,
            interface: occurrence.interface.escaped,
            event: kind,
            ifindex: occurrence.ifindex,
            incarnation: occurrence.incarnation,
            previous: occurrence.previous?.escaped,
            cause: occurrence.cause,
            gapped: occurrence.isGapped
        )
    }
}
