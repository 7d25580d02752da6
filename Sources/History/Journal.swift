package import Ledger

/// Something that happened, as the history keeps it. `at` is µs since 1970.
package struct Occurrence: Hashable, Sendable {
    package var at: Int
    package var interface: LinkName
    package var kind: String
    package var ifindex: Int?
    package var incarnation: Int?
    package var previous: LinkName?
    package var cause: String?
    package var isGapped: Bool

    package init(
        at: Int,
        interface: LinkName,
        kind: String,
        ifindex: Int?,
        incarnation: Int?,
        previous: LinkName?,
        cause: String?,
        isGapped: Bool
    ) {
        self.at = at
        self.interface = interface
        self.kind = kind
        self.ifindex = ifindex
        self.incarnation = incarnation
        self.previous = previous
        self.cause = cause
        self.isGapped = isGapped
    }
}

/// What was counted, by time, and is not saved yet: a value that grows with each look and is handed over whole.
package struct Journal: Hashable, Sendable {
    /// One slot of one interface.
    package struct SlotKey: Hashable, Sendable {
        package var interface: LinkName
        /// µs since 1970; a multiple of `Slot.length`.
        package var start: Int
    }

    package private(set) var slots: [SlotKey: Flow] = [:]
    package private(set) var spans: [LinkName: [Span]] = [:]
    package private(set) var doubts: [LinkName: [Doubt]] = [:]
    /// Bytes that were counted while the clock was not set.
    package private(set) var untimed: [LinkName: Flow] = [:]
    package private(set) var occurrences: [Occurrence] = []

    /// Bytes that passed within a minute are booked where the minute ends; what took longer, and does not lie in one
    /// slot, is a span.
    private static let sharp: UInt64 = 60_000_000
    /// A clock that says less than this, µs since 1970 (2020-01-01), was never set.
    package static let earliest = 1_577_836_800_000_000
    /// How many events are kept while nothing can be saved; the oldest go first.
    private static let mostOccurrences = 10_000

    package init() {}

    /// Whether there is nothing to save.
    package var isEmpty: Bool {
        slots.isEmpty && spans.isEmpty && doubts.isEmpty && untimed.isEmpty && occurrences.isEmpty
    }

    /// Books what one look has counted.
    ///
    /// - Parameters:
    ///   - booking: from the ledger.
    ///   - interface: the name of its account.
    ///   - offset: what the wall clock is ahead of CLOCK_BOOTTIME now, in µs.
    package mutating func book(_ booking: Booking, of interface: LinkName, offset: Int) {
        let flow = Flow(
            rxBytes: booking.rxBytes,
            txBytes: booking.txBytes,
            rxPackets: booking.rxPackets,
            txPackets: booking.txPackets
        )
        let end = Int(clamping: booking.at) + offset
        guard end >= Self.earliest else {
            untimed[interface, default: Flow()] += flow
            return
        }
        let start = Int(clamping: booking.since) + offset
        let length = booking.at > booking.since ? booking.at - booking.since : 0
        let slot = Slot.start(of: end)
        if length <= Self.sharp || start >= slot {
            slots[SlotKey(interface: interface, start: slot), default: Flow()] += flow
        } else {
            spans[interface, default: []].append(Span(start: start, end: end, flow: flow))
        }
    }

    /// Notes a time in which bytes may have been missed.
    package mutating func note(_ hole: Hole, of interface: LinkName, offset: Int) {
        let end = Int(clamping: hole.at) + offset
        guard end >= Self.earliest else { return }
        let start = max(end - Int(clamping: hole.length), Self.earliest)
        doubts[interface, default: []].append(Doubt(start: start, end: end, cause: hole.cause.rawValue))
    }

    /// Notes something that happened.
    package mutating func note(_ occurrence: Occurrence) {
        occurrences.append(occurrence)
        if occurrences.count > Self.mostOccurrences {
            occurrences.removeFirst(occurrences.count - Self.mostOccurrences)
        }
    }

    /// Adds a later journal to this one.
    package mutating func append(_ later: Journal) {
        slots.merge(later.slots, uniquingKeysWith: +)
        spans.merge(later.spans) { $0 + $1 }
        doubts.merge(later.doubts) { $0 + $1 }
        untimed.merge(later.untimed, uniquingKeysWith: +)
        for occurrence in later.occurrences { note(occurrence) }
    }

    /// Follows what has become of an account.
    package mutating func follow(_ change: AccountChange) {
        switch change {
        case .removed(let name):
            slots = slots.filter { $0.key.interface != name }
            spans[name] = nil
            doubts[name] = nil
            untimed[name] = nil
            occurrences.removeAll { $0.interface == name }
        case .moved(let name, let other):
            for (key, flow) in slots where key.interface == name {
                slots[key] = nil
                slots[SlotKey(interface: other, start: key.start), default: Flow()] += flow
            }
            if let moved = spans.removeValue(forKey: name) { spans[other, default: []] += moved }
            if let moved = doubts.removeValue(forKey: name) { doubts[other, default: []] += moved }
            if let moved = untimed.removeValue(forKey: name) { untimed[other, default: Flow()] += moved }
            for index in occurrences.indices where occurrences[index].interface == name {
                occurrences[index].interface = other
            }
        }
    }

    /// What it has of one interface's slots.
    package func slots(of interface: LinkName) -> [SlotFlow] {
        slots.filter { $0.key.interface == interface }.map { SlotFlow(start: $0.key.start, flow: $0.value) }
    }
}
