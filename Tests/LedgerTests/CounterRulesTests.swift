import Ledger
import Testing

/// What one value means: each row is a last good value, a new one, and the verdict.
struct CounterRulesTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var mark: UInt64
        var value: UInt64
        var width: CounterWidth = .bits64
        var seconds: UInt64 = 1
        var disturbed = false
        var undecided = false
        var ghost: UInt64?
        var verdict: CounterRules.Verdict
    }

    static let table: [Row] = [
        .init(testDescription: "unchanged", mark: 500, value: 500, verdict: .count(0, mark: 500)),
        .init(testDescription: "up", mark: 500, value: 800, verdict: .count(300, mark: 800)),
        .init(
            testDescription: "up by just what a second can bring",
            mark: 0,
            value: 1 << 40,
            verdict: .count(1 << 40, mark: 1 << 40)
        ),
        .init(testDescription: "up by more than a second can bring", mark: 0, value: (1 << 40) + 1, verdict: .setAside),
        .init(
            testDescription: "the same in two seconds",
            mark: 0,
            value: (1 << 40) + 1,
            seconds: 2,
            verdict: .count((1 << 40) + 1, mark: (1 << 40) + 1)
        ),
        .init(testDescription: "up to the last number", mark: 5, value: .max, verdict: .setAside),
        .init(testDescription: "a small step back", mark: 1_000_000, value: 999_000, verdict: .hold),
        .init(testDescription: "a step back of a tenth", mark: 1_000_000, value: 900_000, verdict: .wait),
        .init(
            testDescription: "a step back of 1 MiB, small beside its value",
            mark: 1 << 40,
            value: (1 << 40) - (1 << 20),
            verdict: .wait
        ),
        .init(testDescription: "a drop", mark: 900_100_000, value: 4000, verdict: .wait),
        .init(testDescription: "a drop again", mark: 900_100_000, value: 9000, undecided: true, verdict: .reset(9000)),
        .init(
            testDescription: "back after a drop",
            mark: 900_100_000,
            value: 900_300_000,
            undecided: true,
            verdict: .count(200_000, mark: 900_300_000)
        ),
        .init(
            testDescription: "almost back after a drop: the drop was a bad reading, and so is this step",
            mark: 900_100_000,
            value: 900_099_000,
            undecided: true,
            verdict: .hold
        ),
        .init(
            testDescription: "a drop after down/up",
            mark: 9_000_000,
            value: 70,
            disturbed: true,
            verdict: .reset(70)
        ),
        .init(
            testDescription: "a reset to a value that no link can have reached",
            mark: .max,
            value: 1 << 50,
            disturbed: true,
            verdict: .setAside
        ),
        .init(
            testDescription: "32 bits: a wrap",
            mark: 4_258_368_365,
            value: 44_815_312,
            width: .bits32,
            verdict: .count(81_414_243, mark: 4_339_782_608)
        ),
        .init(
            testDescription: "32 bits: on from a mark above 4 GiB",
            mark: (1 << 32) + 100,
            value: 400,
            width: .bits32,
            verdict: .count(300, mark: (1 << 32) + 400)
        ),
        .init(
            testDescription: "32 bits: a drop after down/up",
            mark: 3_000_000_000,
            value: 2_000_000,
            width: .bits32,
            disturbed: true,
            verdict: .reset(2_000_000)
        ),
        .init(
            testDescription: "32 bits: a small step back is no wrap of 4 GiB",
            mark: 3_717_616_438,
            value: 3_717_611_343,
            width: .bits32,
            verdict: .hold
        ),
        .init(
            testDescription: "32 bits: a small step back over the edge",
            mark: (1 << 32) + 100,
            value: (1 << 32) - 50,
            width: .bits32,
            verdict: .hold
        ),
        .init(
            testDescription: "32 bits: zero is no wrap",
            mark: 3_000_000_000,
            value: 0,
            width: .bits32,
            verdict: .wait
        ),
        .init(
            testDescription: "back over a mark that two bad readings had made a reset of",
            mark: 0,
            value: 16_735_365_394,
            ghost: 16_735_165_394,
            verdict: .count(200_000, mark: 16_735_365_394)
        ),
        .init(
            testDescription: "grown past the mark before a reset",
            mark: 16_735_000_000,
            value: 16_735_365_394,
            ghost: 16_735_165_394,
            verdict: .count(365_394, mark: 16_735_365_394)
        ),
        .init(
            testDescription: "fast traffic after a reset, far past the old mark",
            mark: 2000,
            value: 500_000,
            ghost: 100_000,
            verdict: .count(498_000, mark: 500_000)
        ),
    ]

    @Test(arguments: table)
    func `a value means`(row: Row) {
        var track = Track(mark: row.mark, packets: 0, at: 10_000_000)
        track.isUndecided = row.undecided
        track.ghost = row.ghost
        let at = 10_000_000 + row.seconds * 1_000_000
        let verdict = CounterRules.judge(row.value, width: row.width, after: track, at: at, disturbed: row.disturbed)
        #expect(verdict == row.verdict)
    }

    @Test func `a clock that stands still or goes back is no reason to divide by nothing`() {
        let track = Track(mark: 100, packets: 0, at: 5_000_000)
        for at: UInt64 in [0, 5_000_000] {
            let verdict = CounterRules.judge(200, width: .bits64, after: track, at: at, disturbed: false)
            #expect(verdict == .count(100, mark: 200))
        }
    }

    @Test func `a lower bound saturates and never goes down`() {
        var bound = LowerBound()
        let fits = [UInt64(Int64.max), 1, .max].map { bound.add($0) }
        #expect(fits == [true, false, false])
        #expect(bound.value == UInt64(Int64.max))
    }

    @Test(arguments: [
        ("tun", false, true, true), ("wireguard", false, true, true), ("bridge", false, true, true),
        ("veth", false, false, true), ("veth", true, true, true), ("ethernet", false, false, false),
        ("wlan", true, false, false), ("something-new", false, false, false),
    ])
    func `which closing counters are believed`(kind: String, departed: Bool, rx: Bool, tx: Bool) {
        let trust = ClosingRules.trust(kind: kind, departed: departed)
        #expect(trust.rx == rx)
        #expect(trust.tx == tx)
    }
}
