/// Bytes and packets in both directions.
package struct Flow: Hashable, Sendable {
    package var rxBytes: UInt64 = 0
    package var txBytes: UInt64 = 0
    package var rxPackets: UInt64 = 0
    package var txPackets: UInt64 = 0

    package init() {}

    package init(rxBytes: UInt64, txBytes: UInt64, rxPackets: UInt64 = 0, txPackets: UInt64 = 0) {
        self.rxBytes = rxBytes
        self.txBytes = txBytes
        self.rxPackets = rxPackets
        self.txPackets = txPackets
    }

    /// Adds, and stays at 2^63 − 1 rather than wrap.
    package static func += (left: inout Flow, right: Flow) {
        left.rxBytes = sum(left.rxBytes, right.rxBytes)
        left.txBytes = sum(left.txBytes, right.txBytes)
        left.rxPackets = sum(left.rxPackets, right.rxPackets)
        left.txPackets = sum(left.txPackets, right.txPackets)
    }

    /// The sum, which stays at 2^63 − 1 rather than wrap.
    package static func + (left: Flow, right: Flow) -> Flow {
        var sum = left
        sum += right
        return sum
    }

    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? UInt64(Int64.max) : min(sum, UInt64(Int64.max))
    }
}

/// The quarter hours that history is kept in: UTC, so that each zone's hours, days and clock changes fall on an edge.
package enum Slot {
    /// 15 minutes, in µs.
    package static let length = 900_000_000

    /// The beginning of the slot that a moment is in; both µs since 1970.
    package static func start(of moment: Int) -> Int {
        let rest = moment % length
        return moment - (rest < 0 ? rest + length : rest)
    }
}

/// Bytes that are known, but not when within a longer time they passed.
package struct Span: Hashable, Sendable {
    /// µs since 1970.
    package var start: Int
    package var end: Int
    package var flow: Flow
    /// Whether they come from another counter.
    package var isImported: Bool

    package init(start: Int, end: Int, flow: Flow, isImported: Bool = false) {
        self.start = start
        self.end = end
        self.flow = flow
        self.isImported = isImported
    }
}

/// A time in which bytes may have been missed; µs since 1970.
package struct Doubt: Hashable, Sendable {
    package var start: Int
    package var end: Int
    package var cause: String
    /// How many there were in this time.
    package var count: Int

    package init(start: Int, end: Int, cause: String, count: Int = 1) {
        self.start = start
        self.end = end
        self.cause = cause
        self.count = count
    }
}
