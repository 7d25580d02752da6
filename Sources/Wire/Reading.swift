/// One direction of a total: what was counted, and how much it can be at most.
public struct Amount: Codable, Hashable, Sendable {
    /// Bytes that were seen: a lower bound. It never goes down and never contains a guess.
    public var bytes: Int
    /// An upper bound in bytes: equal to `bytes` when nothing can be missing, nil when the doubt has no limit.
    public var atMost: Int?
    /// Packets that were seen, counted by the same rules as the bytes.
    public var packets: Int

    public init(bytes: Int, atMost: Int?, packets: Int) {
        self.bytes = bytes
        self.atMost = atMost
        self.packets = packets
    }

    /// Writes `atMost` also when it is null, so that a reply always has the same members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(atMost, forKey: .atMost)
        try container.encode(packets, forKey: .packets)
    }
}

/// Whether anything can be missing from a total.
public enum Quality: String, Codable, Hashable, Sendable {
    /// Nothing can be missing: the lower and the upper bound are equal, in both directions.
    case continuous
    /// Something may be missing: the truth lies between the bounds.
    case gapped
}

/// What went through an interface since counting began.
public struct Total: Codable, Hashable, Sendable {
    /// Always "estimate".
    public var label: String
    public var quality: Quality
    /// Wall clock, µs since 1970, when counting began.
    public var sinceUSec: Int
    public var rx: Amount
    public var tx: Amount
    /// How often the kernel's counters began again: recreations, reboots and resets in place.
    public var resets: Int
    /// How many times bytes may have been missed.
    public var gaps: Int
    /// For how long, in µs altogether, nobody was looking.
    public var unobservedUSec: Int
    /// How many readings were set aside because no link could have been that fast.
    public var suspect: Int

    public init(
        quality: Quality,
        sinceUSec: Int,
        rx: Amount,
        tx: Amount,
        resets: Int,
        gaps: Int,
        unobservedUSec: Int,
        suspect: Int
    ) {
        self.label = "estimate"
        self.quality = quality
        self.sinceUSec = sinceUSec
        self.rx = rx
        self.tx = tx
        self.resets = resets
        self.gaps = gaps
        self.unobservedUSec = unobservedUSec
        self.suspect = suspect
    }
}

/// The kernel's raw counters of the present incarnation.
public struct Counter: Codable, Hashable, Sendable {
    public var rxBytes: Int
    public var txBytes: Int
    public var rxPackets: Int
    public var txPackets: Int
    public var rxErrors: Int
    public var txErrors: Int
    public var rxDropped: Int
    public var txDropped: Int

    public init(
        rxBytes: Int,
        txBytes: Int,
        rxPackets: Int,
        txPackets: Int,
        rxErrors: Int,
        txErrors: Int,
        rxDropped: Int,
        txDropped: Int
    ) {
        self.rxBytes = rxBytes
        self.txBytes = txBytes
        self.rxPackets = rxPackets
        self.txPackets = txPackets
        self.rxErrors = rxErrors
        self.txErrors = txErrors
        self.rxDropped = rxDropped
        self.txDropped = txDropped
    }
}

/// Bytes per second over a measured interval.
public struct Rate: Codable, Hashable, Sendable {
    public var rxBytesPerSecond: Int
    public var txBytesPerSecond: Int
    /// The measured interval, in µs.
    public var overUSec: Int

    public init(rxBytesPerSecond: Int, txBytesPerSecond: Int, overUSec: Int) {
        self.rxBytesPerSecond = rxBytesPerSecond
        self.txBytesPerSecond = txBytesPerSecond
        self.overUSec = overUSec
    }
}

/// Everything known of one interface at one moment.
public struct Reading: Codable, Hashable, Sendable {
    /// The interface's name; bytes that are not UTF-8 are written `\xHH`, as is a backslash that would read as such.
    public var interface: String
    /// What rtnetlink calls the link (tun, wireguard, veth …), or, for hardware, ethernet, wlan, wwan, ppp, loopback.
    public var kind: String
    public var ifindex: Int?
    /// Whether the link exists now. An absent interface keeps its total.
    public var present: Bool
    /// One word of what the kernel says: up, down, no-carrier, absent.
    public var state: String
    /// Which life of the interface this is, from 1.
    public var incarnation: Int
    public var counter: Counter?
    /// Nil while there is no interval to measure over.
    public var rate: Rate?
    public var total: Total
    /// Wall clock, µs since 1970, of the reading that the total is true for.
    public var sampledUSec: Int
    /// Where the counters come from: netlink, procfs or getifaddrs.
    public var source: String
    /// Sentences for people: what looks wrong with this interface's counters.
    public var warnings: [String]
    /// Whether totals reach the disk; nil where they are not to.
    public var persisted: Bool?
    /// Wall clock, µs since 1970, until when what was counted is on disk; nil while nothing is.
    public var persistedUSec: Int?

    public init(
        interface: String,
        kind: String,
        ifindex: Int?,
        present: Bool,
        state: String,
        incarnation: Int,
        counter: Counter?,
        rate: Rate?,
        total: Total,
        sampledUSec: Int,
        source: String,
        warnings: [String],
        persisted: Bool? = nil,
        persistedUSec: Int? = nil
    ) {
        self.interface = interface
        self.kind = kind
        self.ifindex = ifindex
        self.present = present
        self.state = state
        self.incarnation = incarnation
        self.counter = counter
        self.rate = rate
        self.total = total
        self.sampledUSec = sampledUSec
        self.source = source
        self.warnings = warnings
        self.persisted = persisted
        self.persistedUSec = persistedUSec
    }

    /// Writes every member, nulls too, so that a reply always has the same members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(interface, forKey: .interface)
        try container.encode(kind, forKey: .kind)
        try container.encode(ifindex, forKey: .ifindex)
        try container.encode(present, forKey: .present)
        try container.encode(state, forKey: .state)
        try container.encode(incarnation, forKey: .incarnation)
        try container.encode(counter, forKey: .counter)
        try container.encode(rate, forKey: .rate)
        try container.encode(total, forKey: .total)
        try container.encode(sampledUSec, forKey: .sampledUSec)
        try container.encode(source, forKey: .source)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(persisted, forKey: .persisted)
        try container.encode(persistedUSec, forKey: .persistedUSec)
    }
}
