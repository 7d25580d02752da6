/// What was counted in one quarter hour.
package struct SlotFlow: Hashable, Sendable {
    /// Where the quarter hour begins, µs since 1970.
    package var start: Int
    package var flow: Flow
    /// Whether it comes from another counter.
    package var isImported: Bool

    package init(start: Int, flow: Flow, isImported: Bool = false) {
        self.start = start
        self.flow = flow
        self.isImported = isImported
    }
}

/// What went through in one period.
package struct PeriodFlow: Hashable, Sendable {
    /// µs since 1970; the end is the beginning of the next period.
    package var start: Int
    package var end: Int
    /// All that is booked in the period, `spread` included. A lower bound only where nothing was spread: how much of a
    /// longer time fell into this part of it, nobody knows.
    package var flow = Flow()
    /// The part of `flow` that is known for a longer time only, and was spread evenly over it.
    package var spread = Flow()
    /// Whether a longer time reaches into the period, also where its share is less than a byte.
    package var isSpread = false
    /// How many times in which bytes may have been missed touch the period.
    package var gaps = 0
    package var isImported = false

    package init(start: Int, end: Int) {
        self.start = start
        self.end = end
    }

    /// Whether `flow` is all that went through in the period, as far as can be known. Otherwise it has no upper bound. What
    /// another counter has missed, nobody knows here.
    package var isContinuous: Bool { gaps == 0 && !isSpread && !isImported }
}

/// The rows of a history, from what the store keeps.
package enum Aggregation {
    /// Books everything in its period. What lies outside of the edges is left out, and only that: the rows of adjoining
    /// questions add up to what there is, to the byte.
    ///
    /// - Parameters:
    ///   - edges: where periods begin and end, ascending, as `TimeZoneClock.edges` gives them.
    ///   - slots: each is booked as a whole in the period that it begins in.
    ///   - spans: one that lies within a period is known for it; of one that reaches out of it, each period gets its share
    ///     by time.
    ///   - doubts: each counts in every period that it touches.
    /// - Returns: one row for each period, in order.
    package static func rows(
        edges: [Int],
        slots: some Sequence<SlotFlow>,
        spans: some Sequence<Span>,
        doubts: some Sequence<Doubt>
    ) -> [PeriodFlow] {
        var rows = zip(edges, edges.dropFirst()).map { PeriodFlow(start: $0, end: $1) }
        for slot in slots {
            guard let row = period(of: slot.start, edges) else { continue }
            rows[row].flow += slot.flow
            if slot.isImported { rows[row].isImported = true }
        }
        for span in spans where span.flow != Flow() {
            for row in touched(from: span.start, to: span.end, edges) { book(span, in: &rows[row]) }
        }
        // How many begin to touch with each row, less those that ended before it.
        var changes = [Int](repeating: 0, count: rows.count + 1)
        for doubt in doubts {
            let touched = touched(from: doubt.start, to: doubt.end, edges)
            changes[touched.lowerBound] += doubt.count
            changes[touched.upperBound] -= doubt.count
        }
        var gaps = 0
        for row in rows.indices {
            gaps += changes[row]
            rows[row].gaps = gaps
        }
        return rows
    }

    private static func book(_ span: Span, in row: inout PeriodFlow) {
        let share = span.share(from: row.start, to: row.end)
        row.flow += share
        if span.isImported { row.isImported = true }
        if span.start < row.start || span.end > row.end {
            row.spread += share
            row.isSpread = true
        }
    }

    /// The period that a moment is in.
    private static func period(of moment: Int, _ edges: [Int]) -> Int? {
        let next = firstEdge(edges) { $0 > moment }
        return next == 0 || next == edges.count ? nil : next - 1
    }

    /// The periods that share time with one from `start` to `end`; of a moment, the one that it is in.
    private static func touched(from start: Int, to end: Int, _ edges: [Int]) -> Range<Int> {
        let count = max(edges.count - 1, 0)
        let first = max(firstEdge(edges) { $0 > start } - 1, 0)
        let last = firstEdge(edges) { $0 > start && $0 >= end }
        return min(first, count)..<min(max(first, last), count)
    }

    /// The index of the first edge that fulfils a condition all later ones fulfil, too; their count when there is none.
    private static func firstEdge(_ edges: [Int], where isPast: (Int) -> Bool) -> Int {
        var (low, high) = (0, edges.count)
        while low < high {
            let middle = low + (high - low) / 2
            if isPast(edges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Span {
    /// The part that falls into a time, when all is spread evenly. The parts of adjoining times add up to the whole: each
    /// is the difference of two sums up to a moment, rounded down.
    ///
    /// - Parameters:
    ///   - from: µs since 1970.
    ///   - to: µs since 1970.
    /// - Returns: bytes and packets.
    package func share(from: Int, to: Int) -> Flow {
        let (low, high) = (elapsed(at: from), elapsed(at: to))
        let length = elapsed(at: .max)
        func share(_ whole: UInt64) -> UInt64 {
            Self.part(whole, high, of: length) - Self.part(whole, low, of: length)
        }
        return Flow(
            rxBytes: share(flow.rxBytes),
            txBytes: share(flow.txBytes),
            rxPackets: share(flow.rxPackets),
            txPackets: share(flow.txPackets)
        )
    }

    /// How much of it has passed at a moment, in µs. One without length is over within a µs.
    private func elapsed(at moment: Int) -> UInt64 {
        let end = max(end, start < .max ? start + 1 : start)
        let (passed, overflow) = min(max(moment, start), end).subtractingReportingOverflow(start)
        return overflow ? UInt64(Int.max) : UInt64(passed)
    }

    /// `whole * elapsed / length`, rounded down, in 128 bits; `elapsed` is at most `length`.
    private static func part(_ whole: UInt64, _ elapsed: UInt64, of length: UInt64) -> UInt64 {
        if elapsed == length { return whole }
        return length.dividingFullWidth(whole.multipliedFullWidth(by: elapsed)).quotient
    }
}
