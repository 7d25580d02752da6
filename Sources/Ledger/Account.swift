/// What was counted in one direction.
package struct Tally: Hashable, Sendable, Codable {
    /// Bytes that were seen.
    package var bytes = LowerBound()
    /// Packets that were seen.
    package var packets = LowerBound()
    /// Whether bytes may be missing. Nothing that happens in a gap has a limit that could be relied on.
    package var isOpen = false

    /// The upper bound in bytes: equal to the lower one when nothing can be missing, nil when there is none.
    package var atMost: UInt64? { isOpen ? nil : bytes.value }

    package init() {}

    /// Adds what another has counted, and its doubts.
    mutating func absorb(_ other: Tally) {
        let fits = bytes.add(other.bytes.value)
        packets.add(other.packets.value)
        isOpen = isOpen || other.isOpen || !fits
    }
}

/// Bytes per second over a measured interval.
package struct MeasuredRate: Hashable, Sendable, Codable {
    package var rxBytes: UInt64
    package var txBytes: UInt64
    /// The interval in µs, > 0.
    package var over: UInt64

    /// Bytes per second.
    package var rxPerSecond: UInt64 { Self.perSecond(rxBytes, over) }
    /// Bytes per second.
    package var txPerSecond: UInt64 { Self.perSecond(txBytes, over) }

    private static func perSecond(_ bytes: UInt64, _ over: UInt64) -> UInt64 {
        UInt64(clamping: UInt128(bytes) * 1_000_000 / UInt128(over))
    }
}

/// Everything counted for one interface name, over all links that had it.
package struct Account: Hashable, Sendable, Codable {
    package internal(set) var name: LinkName
    /// The kind of the link that had the name last.
    package var kind: String
    /// When counting began: wall clock, µs since 1970, as it was set then.
    package var sinceWall: Int
    /// The same moment on CLOCK_BOOTTIME in µs, while it is of this boot: a clock that is set later is made good with it.
    package var sinceAt: UInt64?
    package var rx = Tally()
    package var tx = Tally()
    /// How often the kernel's counters began again.
    package var resets = 0
    /// How many times bytes may have been missed, without those that `missing` may still take back.
    package var closedGaps = 0
    /// Readings that were set aside.
    package var suspect = 0
    /// How long nobody was looking, in µs.
    package var unobserved: UInt64 = 0
    /// How many links have had the name.
    package var lives = 0
    /// The link that has the name now, by ifindex.
    package var current: Int32? {
        didSet { if current != nil { goneSince = nil } }
    }
    /// Links that were not there any more without having been seen to go: either they come back, or each leaves a gap.
    package var missing: [Int32] = []
    /// Links that had the name when they moved to another namespace, and have not come back; the last few of them.
    package private(set) var departed: [Incarnation] = []
    /// Whether more have moved away than are remembered.
    package private(set) var hasForgottenDeparted = false
    /// Whether the last link that had the name ended with nothing missing.
    package var endedSurely = true
    /// Since when no link has had the name: wall clock, µs since 1970, as it was set then; nil while one has it.
    package var goneSince: Int?
    /// When the totals were last true, on CLOCK_BOOTTIME in µs.
    package var asOf: UInt64
    /// How fast it went over the last measured interval.
    package var rate: MeasuredRate?
    /// The totals that the next rate is measured from.
    private var rateRx: UInt64 = 0
    private var rateTx: UInt64 = 0

    init(name: LinkName, kind: String, at: UInt64, wall: Int) {
        self.name = name
        self.kind = kind
        sinceAt = at
        sinceWall = wall
        asOf = at
    }

    /// How many times bytes may have been missed.
    package var gaps: Int { closedGaps + missing.count }

    /// Whether nothing can be missing, in either direction.
    package var isContinuous: Bool { !rx.isOpen && !tx.isOpen && missing.isEmpty }

    /// The upper bound of received bytes; nil when there is none.
    package var rxAtMost: UInt64? { missing.isEmpty ? rx.atMost : nil }
    /// The upper bound of sent bytes; nil when there is none.
    package var txAtMost: UInt64? { missing.isEmpty ? tx.atMost : nil }

    /// How many links that moved away are remembered.
    private static let mostDeparted = 8

    /// Remembers a link that moved away.
    mutating func remember(_ incarnation: Incarnation) {
        departed.append(incarnation)
        if departed.count > Self.mostDeparted {
            departed.removeFirst()
            hasForgottenDeparted = true
        }
    }

    /// Takes out the link that has come back, the last one first.
    mutating func recall(where isContinued: (Incarnation) -> Bool) -> Incarnation? {
        departed.lastIndex(where: isContinued).map { departed.remove(at: $0) }
    }

    /// Forgets the links of another boot or namespace: none of them can come back.
    mutating func forgetDeparted() {
        departed = []
        hasForgottenDeparted = false
    }

    /// Takes over all that another account has counted. That is no traffic of now, and no rate comes of it.
    mutating func absorb(_ other: Account) {
        if other.sinceWall < sinceWall {
            sinceWall = other.sinceWall
            sinceAt = other.sinceAt
        }
        let fresh = (rx: rx.bytes.value - rateRx, tx: tx.bytes.value - rateTx)
        rx.absorb(other.rx)
        tx.absorb(other.tx)
        rateRx = rx.bytes.value - fresh.rx
        rateTx = tx.bytes.value - fresh.tx
        resets += other.resets
        closedGaps += other.closedGaps
        suspect += other.suspect
        lives += other.lives
        overlook(other.unobserved)
    }

    /// Gives both directions up for an upper bound.
    mutating func open() {
        rx.isOpen = true
        tx.isOpen = true
    }

    /// Adds to the time in which nobody was looking, in µs.
    mutating func overlook(_ length: UInt64) {
        let (sum, overflow) = unobserved.addingReportingOverflow(length)
        unobserved = overflow ? .max : sum
    }

    /// Measures the rate from the last true totals to those of now, and says the totals are true now.
    ///
    /// - Parameter at: CLOCK_BOOTTIME in µs; a moment that is not later than the last gives no rate.
    mutating func measure(at: UInt64) {
        if at <= asOf {
            rate = nil
        } else {
            rate = MeasuredRate(rxBytes: rx.bytes.value - rateRx, txBytes: tx.bytes.value - rateTx, over: at - asOf)
        }
        rateRx = rx.bytes.value
        rateTx = tx.bytes.value
        asOf = max(asOf, at)
    }

    /// Ends the measuring, as the link is gone.
    mutating func rest(at: UInt64) {
        rate = nil
        rateRx = rx.bytes.value
        rateTx = tx.bytes.value
        asOf = max(asOf, at)
    }
}

/// One life of a link: from its creation to its end, whatever its name is meanwhile.
package struct Incarnation: Hashable, Sendable, Codable {
    package var link: Link
    /// The account that its bytes go to: an index into the ledger's accounts.
    package var account: Int
    /// Which life of the account it is, from 1.
    package var life: Int
    package var rx: Track
    package var tx: Track
    /// Whether the tracks have a value to count from. A link found at the first look has none until its first reading.
    package var isBaselined: Bool
    /// The counters as they were read last.
    package var raw: Counters?
    /// Whether the link went down or up since the last reading.
    package var isDisturbed = false
    /// Since when, on CLOCK_BOOTTIME in µs, its bytes are neither of this name nor of the one before for sure, as nobody saw it
    /// renamed; nil once it was read under its name.
    package var unattributedSince: UInt64?
    /// Since when it has been missing, on CLOCK_BOOTTIME in µs; nil while it is there.
    package var missingSince: UInt64?

    /// When both tracks were good.
    var asOf: UInt64 { min(rx.at, tx.at) }
}
