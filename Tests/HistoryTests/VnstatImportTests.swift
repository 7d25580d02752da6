internal import SystemCalls
internal import TestLinks
internal import Testing

@testable import History

/// The zone belongs to a whole process: what needs one has a process of its own.
@Suite struct VnstatImportTests {
    /// What vnStat 2.10 of Debian 12 printed in Europe/Berlin. Its 02:00 of 2026-10-25 is an hour that came twice.
    static let second = #"""
        {"vnstatversion":"2.10","jsonversion":"2","interfaces":[{"name":"eth0","alias":"",
        "created":{"date":{"year":2026,"month":10,"day":20},"timestamp":1792479600},
        "updated":{"date":{"year":2026,"month":10,"day":26},"time":{"hour":14,"minute":35},"timestamp":1793021700},
        "traffic":{"total":{"rx":3000,"tx":400},
        "fiveminute":[{"id":1,"date":{"year":2026,"month":10,"day":26},"time":{"hour":14,"minute":30},
        "timestamp":1793021400,"rx":5,"tx":6}],
        "hour":[{"id":1,"date":{"year":2026,"month":10,"day":25},"time":{"hour":2,"minute":0},"timestamp":1792890000,
        "rx":100,"tx":10},{"id":2,"date":{"year":2026,"month":10,"day":26},"time":{"hour":14,"minute":0},
        "timestamp":1793019600,"rx":5,"tx":6}],
        "day":[{"id":1,"date":{"year":2026,"month":10,"day":24},"timestamp":1792792800,"rx":500,"tx":50},
        {"id":2,"date":{"year":2026,"month":10,"day":25},"timestamp":1792879200,"rx":300,"tx":30},
        {"id":3,"date":{"year":2026,"month":10,"day":26},"timestamp":1792969200,"rx":5,"tx":6}],
        "month":[{"id":1,"date":{"year":2026,"month":9},"timestamp":1788213600,"rx":900,"tx":90},
        {"id":2,"date":{"year":2026,"month":10},"timestamp":1790805600,"rx":1805,"tx":186}],
        "year":[{"id":1,"date":{"year":2026},"timestamp":1767222000,"rx":3000,"tx":400}],"top":[]}}]}
        """#

    /// The form of vnStat 1.18, newest first and in KiB.
    private static let first = #"""
        {"vnstatversion":"1.18","jsonversion":"1","interfaces":[{"id":"eth0","nick":"eth0",
        "created":{"date":{"year":2026,"month":9,"day":1}},
        "updated":{"date":{"year":2026,"month":10,"day":2},"time":{"hour":1,"minute":30}},
        "traffic":{"total":{"rx":700,"tx":0},
        "days":[{"id":0,"date":{"year":2026,"month":10,"day":2},"rx":30,"tx":0},
        {"id":1,"date":{"year":2026,"month":10,"day":1},"rx":70,"tx":0}],
        "months":[{"id":0,"date":{"year":2026,"month":10},"rx":100,"tx":0},
        {"id":1,"date":{"year":2026,"month":9},"rx":600,"tx":0}],
        "tops":[],"hours":[{"id":0,"date":{"year":2026,"month":10,"day":2},"rx":20,"tx":0},
        {"id":1,"date":{"year":2026,"month":10,"day":2},"rx":10,"tx":0},
        {"id":23,"date":{"year":2026,"month":10,"day":1},"rx":8,"tx":0}]}}]}
        """#

    /// - Returns: a span whose times are in seconds.
    private static func span(_ start: Int, _ end: Int, _ rx: UInt64, _ tx: UInt64) -> Span {
        let flow = Flow(rxBytes: rx, txBytes: tx)
        return Span(start: start * 1_000_000, end: end * 1_000_000, flow: flow, isImported: true)
    }

    @Test func takesWhatIsFinestForEachTime() async {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("Europe/Berlin")
            let vnstat = try VnstatImport(Array(Self.second.utf8))
            let spans = try vnstat.figures(of: "eth0", clock: clock).spans
            let known = [
                // What the year has over its months, and October over its days, from when vnStat knew the interface.
                Self.span(1_767_222_000, 1_788_213_600, 295, 124),
                Self.span(1_788_213_600, 1_790_805_600, 900, 90),
                Self.span(1_792_447_200, 1_792_792_800, 1000, 100),
                Self.span(1_792_792_800, 1_792_879_200, 500, 50),
                Self.span(1_792_879_200, 1_792_886_400, 200, 20),
                Self.span(1_792_886_400, 1_792_893_600, 100, 10),
                // The last hour was not over.
                Self.span(1_793_019_600, 1_793_021_700, 5, 6),
            ]
            #expect(spans == known)

            let before = try vnstat.figures(of: "eth0", before: 1_792_836_000_000_000, clock: clock)
            // What ended later passed later; of a day that had begun, its share by time.
            #expect(before.later == Flow(rxBytes: 250 + 200 + 100 + 5, txBytes: 25 + 20 + 10 + 6))
            #expect(before.unplaced == Flow())
            #expect(before.spans == Array(known.prefix(3)) + [Self.span(1_792_792_800, 1_792_836_000, 250, 25)])
        }
    }

    @Test func readsTheFirstVersionInKibibytes() async {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("UTC")
            let spans = try VnstatImport(Array(Self.first.utf8)).figures(of: "eth0", clock: clock).spans
            let october = 1_790_812_800
            #expect(
                spans == [
                    Self.span(october - 30 * 86400, october, 600 * 1024, 0),
                    Self.span(october, october + 23 * 3600, 62 * 1024, 0),
                    Self.span(october + 23 * 3600, october + 24 * 3600, 8 * 1024, 0),
                    Self.span(october + 24 * 3600, october + 25 * 3600, 20 * 1024, 0),
                    Self.span(october + 25 * 3600, october + 25 * 3600 + 1800, 10 * 1024, 0),
                ]
            )
        }
    }

    @Test func tellsWhatNoTimeIsLeftFor() async {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("UTC")
            let january = #""date":{"year":2026,"month":1"#
            let json = """
                {"jsonversion":"2","interfaces":[{"name":"a","traffic":{
                "day":[{\(january),"day":1},"rx":7,"tx":1}],"month":[{\(january)},"rx":10,"tx":1}],
                "year":[{"date":{"year":2026},"rx":10,"tx":1}]}}]}
                """
            let figures = try VnstatImport(Array(json.utf8)).figures(of: "a", clock: clock)
            // The month, and so the year, has 3 bytes more than its first day, and that is the oldest day there is.
            #expect(figures.spans == [Self.span(1_767_225_600, 1_767_312_000, 7, 1)])
            #expect(figures.unplaced == Flow(rxBytes: 3, txBytes: 0))
        }
    }

    @Test func namesTheInterfaces() throws {
        #expect(try VnstatImport(Array(Self.second.utf8)).interfaces == ["eth0"])
        #expect(try VnstatImport(Array(Self.first.utf8)).interfaces == ["eth0"])
        #expect(try VnstatImport(Array(#"{"jsonversion":"2","interfaces":[]}"#.utf8)).interfaces == [])
    }

    @Test(
        arguments: [
            ("", .malformed), ("{}", .malformed), ("[]", .malformed), ("null", .malformed), ("\0", .malformed),
            ("Error: Unable to open database", .malformed), (#"{"jsonversion":"2"}"#, .malformed),
            (#"{"jsonversion":"2","interfaces":{}}"#, .malformed),
            (#"{"jsonversion":"2","interfaces":[{}]}"#, .malformed),
            (#"{"jsonversion":"2","interfaces":[{"name":"a"}]}"#, .malformed),
            (#"{"jsonversion":"3","interfaces":7}"#, .unknownVersion("3")),
            (#"{"jsonversion":7}"#, .unknownVersion("7")),
            (#"{"jsonversion":"2","interfaces":[{"name":"a","traffic":{"day":{}}}]}"#, .malformed),
            (row(#""date":{"year":2026,"month":1,"day":1},"rx":-1,"tx":0"#), .malformed),
            (row(#""date":{"year":2026,"month":1,"day":1},"rx":1.5,"tx":0"#), .malformed),
            (row(#""date":{"year":2026,"month":1,"day":1},"rx":"1","tx":0"#), .malformed),
            (row(#""date":{"year":2026,"month":1,"day":1},"tx":0"#), .malformed),
            (row(#""rx":1,"tx":0"#), .malformed),
            (row(#""date":{"year":2026,"month":13,"day":1},"rx":1,"tx":0"#), .impossibleDate("2026-13-1")),
            (row(#""date":{"year":2026,"month":2,"day":29},"rx":1,"tx":0"#), .impossibleDate("2026-2-29")),
            (row(#""date":{"year":2026,"month":0,"day":0},"rx":1,"tx":0"#), .impossibleDate("2026-0-0")),
            (
                row(#""date":{"year":9223372036854775807,"month":1,"day":1},"rx":1,"tx":0"#),
                .impossibleDate("9223372036854775807-1-1")
            ),
            (
                row(
                    #""date":{"year":2026,"month":1,"day":1},"time":{"hour":24,"minute":0},"rx":1,"tx":0"#,
                    table: "hour"
                ),
                .impossibleDate("2026-1-1 24:00")
            ),
            (
                row(#""date":{"year":2026,"month":1,"day":1},"rx":1,"tx":0"#, table: "hour"),
                .impossibleDate("2026-1-1 -1:00")
            ),
            (#"{"jsonversion":"2","interfaces":[{"name":"b","traffic":{}}]}"#, .noSuchInterface("a", among: ["b"])),
        ] as [(String, VnstatError)]
    )
    func refusesWhatIsNotVnstats(_ json: String, _ error: VnstatError) throws {
        // The process's own zone: nothing of it is set or looked at before the mistake.
        let clock = try TimeZoneClock()
        do throws(VnstatError) {
            _ = try VnstatImport(Array(json.utf8)).figures(of: "a", clock: clock)
            Issue.record("it was taken")
        } catch let thrown {
            #expect(thrown == error)
        }
    }

    /// An output with one row.
    private static func row(_ members: String, table: String = "day") -> String {
        #"{"jsonversion":"2","interfaces":[{"name":"a","traffic":{"\#(table)":[{\#(members)}]}}]}"#
    }

    /// However strange the tables are, no time is booked twice.
    @Test func neverBooksTheSameTimeTwice() async {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("America/New_York")
            var random = SplitMix64(seed: 11)
            func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
            func rows(_ date: () -> String) -> String {
                (0...number(0...40)).map { _ in "{\(date()),\"rx\":\(number(0...1000)),\"tx\":\(UInt64.max)}" }
                    .joined(separator: ",")
            }
            func year() -> String { "\"date\":{\"year\":\(number(2025...2026))" }
            for _ in 0..<300 {
                let hours = rows {
                    year() + ",\"month\":\(number(2...4)),\"day\":\(number(1...28))},"
                        + "\"time\":{\"hour\":\(number(0...23)),\"minute\":0}"
                }
                let days = rows { year() + ",\"month\":\(number(1...12)),\"day\":\(number(1...28))}" }
                let months = rows { year() + ",\"month\":\(number(1...12))}" }
                let years = rows { year() + "}" }
                let tables = "\"hour\":[\(hours)],\"day\":[\(days)],\"month\":[\(months)],\"year\":[\(years)]"
                let json = "{\"jsonversion\":\"2\",\"interfaces\":[{\"name\":\"a\",\"traffic\":{\(tables)}}]}"
                let spans = try VnstatImport(Array(json.utf8)).figures(of: "a", clock: clock).spans
                #expect(zip(spans, spans.dropFirst()).allSatisfy { $0.end <= $1.start })
                #expect(spans.allSatisfy { $0.start < $0.end && $0.isImported && $0.flow.txBytes <= UInt64(Int64.max) })
            }
        }
    }
}
