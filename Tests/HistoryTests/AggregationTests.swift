internal import TestLinks
internal import Testing

@testable import History

@Suite struct AggregationTests {
    private static let edges = [0, 100, 200, 350]

    private func rows(_ slots: [SlotFlow] = [], _ spans: [Span] = [], _ doubts: [Doubt] = []) -> [PeriodFlow] {
        Aggregation.rows(edges: Self.edges, slots: slots, spans: spans, doubts: doubts)
    }

    private func flow(_ rx: UInt64, _ tx: UInt64 = 0) -> Flow { Flow(rxBytes: rx, txBytes: tx) }

    @Test func booksASlotWhereItBegins() {
        let rows = rows([
            SlotFlow(start: -1, flow: flow(1)), SlotFlow(start: 0, flow: flow(2)),
            SlotFlow(start: 99, flow: flow(4, 5)),
            SlotFlow(start: 100, flow: flow(8), isImported: true), SlotFlow(start: 350, flow: flow(16)),
        ])
        #expect(rows.map(\.flow) == [flow(6, 5), flow(8), flow(0)])
        #expect(rows.map(\.isImported) == [false, true, false])
        #expect(rows.map(\.isContinuous) == [true, false, true])
        #expect(rows.allSatisfy { $0.gaps == 0 })
        #expect(rows.map(\.start) == [0, 100, 200])
        #expect(rows.map(\.end) == [100, 200, 350])
    }

    struct Spread: Sendable, CustomTestStringConvertible {
        var start: Int
        var end: Int
        var bytes: UInt64
        /// What each row gets, and whether it is a share of something longer.
        var shares: [UInt64]
        var isSpread: [Bool]
        var testDescription: String { "\(bytes) from \(start) to \(end)" }
    }

    @Test(arguments: [
        Spread(start: 0, end: 100, bytes: 7, shares: [7, 0, 0], isSpread: [false, false, false]),
        Spread(start: 10, end: 20, bytes: 7, shares: [7, 0, 0], isSpread: [false, false, false]),
        Spread(start: 100, end: 100, bytes: 7, shares: [0, 7, 0], isSpread: [false, false, false]),
        Spread(start: 50, end: 150, bytes: 7, shares: [3, 4, 0], isSpread: [true, true, false]),
        Spread(start: 0, end: 350, bytes: 2, shares: [0, 1, 1], isSpread: [true, true, true]),
        Spread(start: 0, end: 350, bytes: 0, shares: [0, 0, 0], isSpread: [false, false, false]),
        Spread(start: -100, end: 100, bytes: 7, shares: [4, 0, 0], isSpread: [true, false, false]),
        Spread(start: 300, end: 400, bytes: 8, shares: [0, 0, 4], isSpread: [false, false, true]),
        Spread(start: -10, end: 0, bytes: 8, shares: [0, 0, 0], isSpread: [false, false, false]),
        Spread(start: 350, end: 360, bytes: 8, shares: [0, 0, 0], isSpread: [false, false, false]),
        // Longer than a number can tell: spread over what it can.
        Spread(start: .min, end: .max, bytes: 0, shares: [0, 0, 0], isSpread: [false, false, false]),
        Spread(start: .max, end: .max, bytes: 9, shares: [0, 0, 0], isSpread: [false, false, false]),
        Spread(
            start: 0,
            end: 200,
            bytes: UInt64(Int64.max),
            shares: [UInt64(Int64.max) / 2, UInt64(Int64.max) / 2 + 1, 0],
            isSpread: [true, true, false]
        ),
    ])
    func spreadsASpan(_ spread: Spread) {
        let span = Span(start: spread.start, end: spread.end, flow: flow(spread.bytes, 0), isImported: true)
        let rows = rows([], [span])
        #expect(rows.map(\.flow.rxBytes) == spread.shares)
        #expect(rows.map(\.isSpread) == spread.isSpread)
        #expect(rows.map(\.isContinuous) == rows.map { !$0.isSpread && !$0.isImported })
        #expect(rows.map(\.spread.rxBytes) == zip(spread.shares, spread.isSpread).map { $1 ? $0 : 0 })
        #expect(rows.allSatisfy { !$0.isImported || $0.isSpread || $0.flow.rxBytes > 0 })
    }

    @Test(
        arguments: [
            (10, 20, [1, 0, 0]), (0, 100, [1, 0, 0]), (99, 101, [1, 1, 0]), (100, 100, [0, 1, 0]),
            (-50, 500, [1, 1, 1]),
            (-50, 0, [0, 0, 0]), (350, 360, [0, 0, 0]), (349, 360, [0, 0, 1]), (.min, .max, [1, 1, 1]),
        ] as [(Int, Int, [Int])]
    )
    func countsADoubtWhereverItTouches(_ start: Int, _ end: Int, _ gaps: [Int]) {
        let rows = rows([], [], [Doubt(start: start, end: end, cause: "overrun")])
        #expect(rows.map(\.gaps) == gaps)
        #expect(rows.map(\.isContinuous) == gaps.map { $0 == 0 })
    }

    @Test func staysAtTheLargestNumber() {
        let large = flow(UInt64(Int64.max), UInt64(Int64.max))
        let rows = rows([SlotFlow(start: 0, flow: large)], [Span(start: 0, end: 350, flow: large)])
        #expect(rows[0].flow == large)
    }

    @Test(arguments: [[], [5]])
    func hasNoRowsWithoutPeriods(_ edges: [Int]) {
        let slots = [SlotFlow(start: 5, flow: flow(1))]
        let doubts = [Doubt(start: 5, end: 9, cause: "x")]
        let spans = [Span(start: 0, end: 9, flow: flow(1))]
        #expect(Aggregation.rows(edges: edges, slots: slots, spans: spans, doubts: doubts).isEmpty)
    }

    /// Whatever the periods are, together they hold each byte once.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func losesAndInventsNothing(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func moment() -> Int { Int.random(in: 0..<1_000_000_000, using: &random) }
        func flow() -> Flow {
            func number() -> UInt64 { random.next() >> UInt64.random(in: 8...63, using: &random) }
            return Flow(rxBytes: number(), txBytes: number(), rxPackets: number(), txPackets: number())
        }
        let edges = Set((0..<30).map { _ in moment() } + [0, 1_000_000_000]).sorted()
        let slots = (0..<20).map { _ in SlotFlow(start: moment(), flow: flow()) }
        let spans = (0..<20).map { _ in
            let ends = [moment(), moment()].sorted()
            return Span(start: ends[0], end: ends[1], flow: flow())
        }
        let rows = Aggregation.rows(edges: edges, slots: slots, spans: spans, doubts: [])
        var sum = Flow()
        for row in rows { sum += row.flow }
        var truth = Flow()
        for flow in slots.map(\.flow) + spans.map(\.flow) { truth += flow }
        #expect(sum == truth)
        for (low, high) in [(0, edges.count / 2), (edges.count / 2, edges.count - 1)] {
            // The rows of a shorter question are those of the longer one.
            let part = Aggregation.rows(edges: Array(edges[low...high]), slots: slots, spans: spans, doubts: [])
            #expect(part == Array(rows[low..<high]))
        }
    }
}
