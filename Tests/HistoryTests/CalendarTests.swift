internal import Glibc
internal import SystemCalls
internal import TestLinks
internal import Testing

@testable import History

/// A zone belongs to a whole process, and other tests run in this one: each case has a process of its own.
@Suite struct CalendarTests {
    /// Edges that are known: those of date(1) and of Python's zoneinfo.
    struct Case: Codable, Sendable, CustomTestStringConvertible {
        var testDescription: String
        var zone: String
        var resolution: Resolution
        /// In seconds since 1970, as are the edges.
        var from: Int
        var to: Int
        var monthStarts = 1
        var edges: [Int]

        init(
            _ zone: String,
            _ resolution: Resolution,
            _ what: String,
            _ from: Int,
            _ to: Int,
            monthStarts: Int = 1,
            _ edges: [Int]
        ) {
            testDescription = "\(zone), \(resolution): \(what)"
            self.zone = zone
            self.resolution = resolution
            self.from = from
            self.to = to
            self.monthStarts = monthStarts
            self.edges = edges
        }

        static let all = [
            Case(
                "UTC",
                .quarter,
                "floored",
                1_767_225_601,
                1_767_226_501,
                [1_767_225_600, 1_767_226_500, 1_767_227_400]
            ),
            Case("UTC", .quarter, "before 1970", -1, 0, [-900, 0]),
            Case("UTC", .day, "no length", 1_767_225_600, 1_767_225_600, [1_767_225_600, 1_767_312_000]),
            Case("UTC", .day, "backwards", 1_767_225_600, 0, [1_767_225_600, 1_767_312_000]),
            Case(
                "Europe/Berlin",
                .day,
                "23 hours",
                1_774_738_800,
                1_774_821_601,
                [1_774_738_800, 1_774_821_600, 1_774_908_000]
            ),
            Case("Europe/Berlin", .day, "25 hours", 1_792_969_199, 1_792_969_200, [1_792_879_200, 1_792_969_200]),
            Case("America/New_York", .day, "23 hours", 1_772_950_000, 1_773_028_800, [1_772_946_000, 1_773_028_800]),
            Case("America/New_York", .day, "25 hours", 1_793_505_600, 1_793_595_600, [1_793_505_600, 1_793_595_600]),
            Case(
                "Asia/Kolkata",
                .day,
                "half an hour off",
                1_767_210_000,
                1_767_220_000,
                [1_767_205_800, 1_767_292_200]
            ),
            Case(
                "Asia/Kolkata",
                .hour,
                "half an hour off",
                1_767_207_600,
                1_767_210_000,
                [1_767_205_800, 1_767_209_400, 1_767_213_000]
            ),
            Case(
                "Australia/Lord_Howe",
                .day,
                "24.5 hours",
                1_775_320_000,
                1_775_395_800,
                [1_775_307_600, 1_775_395_800]
            ),
            Case(
                "Australia/Lord_Howe",
                .day,
                "23.5 hours",
                1_791_034_200,
                1_791_118_800,
                [1_791_034_200, 1_791_118_800]
            ),
            // 01:00, then 02:00 for the second time: the clocks went from 02:00 back to 01:30.
            Case(
                "Australia/Lord_Howe",
                .hour,
                "back by half an hour",
                1_775_312_000,
                1_775_318_000,
                [1_775_311_200, 1_775_316_600, 1_775_320_200]
            ),
            // 01:00, then 03:00: the clocks went from 02:00 to 02:30.
            Case(
                "Australia/Lord_Howe",
                .hour,
                "on by half an hour",
                1_791_038_000,
                1_791_043_200,
                [1_791_037_800, 1_791_043_200]
            ),
            Case(
                "America/Sao_Paulo",
                .day,
                "before no midnight",
                1_541_214_000,
                1_541_300_400,
                [1_541_214_000, 1_541_300_400]
            ),
            Case(
                "America/Sao_Paulo",
                .day,
                "without midnight",
                1_541_300_400,
                1_541_383_200,
                [1_541_300_400, 1_541_383_200]
            ),
            Case(
                "Asia/Beirut",
                .day,
                "without midnight",
                1_774_740_000,
                1_774_740_001,
                [1_774_735_200, 1_774_818_000]
            ),
            Case(
                "America/Havana",
                .day,
                "two midnights",
                1_793_510_000,
                1_793_595_600,
                [1_793_505_600, 1_793_595_600]
            ),
            Case(
                "America/St_Johns",
                .day,
                "back at 00:01",
                1_289_097_000,
                1_289_187_000,
                [1_289_097_000, 1_289_187_000]
            ),
            Case(
                "Pacific/Apia",
                .day,
                "a day that never was",
                1_325_152_800,
                1_325_300_000,
                [1_325_152_800, 1_325_239_200, 1_325_325_600]
            ),
            Case(
                "Europe/Berlin",
                .month,
                "31 is the last day",
                1_770_000_000,
                1_777_500_000,
                monthStarts: 31,
                [1_769_814_000, 1_772_233_200, 1_774_908_000, 1_777_500_000]
            ),
            Case(
                "UTC",
                .month,
                "31 in a leap year",
                1_835_395_199,
                1_840_665_600,
                monthStarts: 31,
                [1_832_889_600, 1_835_395_200, 1_838_073_600, 1_840_665_600]
            ),
            Case(
                "UTC",
                .month,
                "15, over a year's end",
                1_767_225_600,
                1_768_435_201,
                monthStarts: 15,
                [1_765_756_800, 1_768_435_200, 1_771_113_600]
            ),
            Case(
                "America/New_York",
                .year,
                "begins on a day in January",
                1_738_299_599,
                1_769_835_600,
                monthStarts: 31,
                [1_706_677_200, 1_738_299_600, 1_769_835_600]
            ),
            Case("UTC", .year, "1970", 5, 6, [0, 31_536_000]),
        ]
    }

    @Test(arguments: Case.all)
    func findsTheEdges(_ known: Case) async {
        await #expect(processExitsWith: .success) { [known = known as Case] in
            let clock = try TimeZoneClock(known.zone)
            let edges = try clock.edges(
                from: known.from * 1_000_000,
                to: known.to * 1_000_000,
                resolution: known.resolution,
                monthStarts: known.monthStarts
            )
            #expect(edges.map { $0 / 1_000_000 } == known.edges)
            #expect(edges.allSatisfy { $0 % 1_000_000 == 0 })
        }
    }

    struct Day: Codable, Sendable {
        var zone: String
        /// In seconds since 1970.
        var start: Int
        var end: Int
        var hours: Int
    }

    @Test(arguments: [
        Day(zone: "Europe/Berlin", start: 1_774_738_800, end: 1_774_821_600, hours: 23),
        Day(zone: "Europe/Berlin", start: 1_792_879_200, end: 1_792_969_200, hours: 25),
        Day(zone: "America/New_York", start: 1_772_946_000, end: 1_773_028_800, hours: 23),
        Day(zone: "America/New_York", start: 1_793_505_600, end: 1_793_595_600, hours: 25),
        Day(zone: "Asia/Kolkata", start: 1_767_205_800, end: 1_767_292_200, hours: 24),
        Day(zone: "Asia/Kathmandu", start: 1_767_204_900, end: 1_767_291_300, hours: 24),
        Day(zone: "Australia/Lord_Howe", start: 1_775_307_600, end: 1_775_395_800, hours: 24),
        Day(zone: "Australia/Lord_Howe", start: 1_791_034_200, end: 1_791_118_800, hours: 23),
        Day(zone: "America/Sao_Paulo", start: 1_541_300_400, end: 1_541_383_200, hours: 23),
        Day(zone: "America/Havana", start: 1_793_505_600, end: 1_793_595_600, hours: 25),
    ])
    func aDayHasItsHours(_ day: Day) async {
        await #expect(processExitsWith: .success) { [day = day as Day] in
            let clock = try TimeZoneClock(day.zone)
            let (start, end) = (day.start * 1_000_000, day.end * 1_000_000)
            let hours = try clock.edges(from: start, to: end, resolution: .hour)
            #expect(hours.count == day.hours + 1)
            #expect(hours.first == start)
            #expect(hours.last == end)
            #expect(hours.allSatisfy { clock.local($0).secondsIntoHour == 0 })
            #expect(hours.allSatisfy { Slot.start(of: $0) == $0 })
            #expect(try clock.edges(from: start, to: end, resolution: .day) == [start, end])
        }
    }

    /// Two weeks with the changes of the clocks in Berlin, by an hour, and on Lord Howe Island, by half of one; Nepal's
    /// days begin at a quarter to an hour.
    @Test(arguments: ["Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"])
    func addsDaysUpOfTheirQuarters(_ zone: String) async {
        await #expect(processExitsWith: .success) { [zone = zone as String] in
            let clock = try TimeZoneClock(zone)
            let (from, to) = (1_774_400_000_000_000, 1_775_600_000_000_000)
            let days = try clock.edges(from: from, to: to, resolution: .day)
            let (first, last) = (days[0], days[days.count - 1])
            let quarters = try clock.edges(from: first, to: last, resolution: .quarter)
            #expect(quarters.last == last && Set(days).isSubset(of: quarters))
            var random = SplitMix64(seed: 1)
            var truth = Flow()
            func flow() -> Flow {
                let flow = Flow(rxBytes: .random(in: 0...1_000_003, using: &random), txBytes: 7)
                truth += flow
                return flow
            }
            let slots = (0..<300).map { _ in
                SlotFlow(start: Slot.start(of: .random(in: first..<last, using: &random)), flow: flow())
            }
            let spans = (0..<100).map { _ in
                let ends = [0, 0].map { _ in Int.random(in: first..<last, using: &random) }.sorted()
                return Span(start: ends[0], end: ends[1], flow: flow())
            }
            let byDay = Aggregation.rows(edges: days, slots: slots, spans: spans, doubts: [])
            let byQuarter = Aggregation.rows(edges: quarters, slots: slots, spans: spans, doubts: [])
            for day in byDay {
                let part = byQuarter.filter { day.start <= $0.start && $0.end <= day.end }
                #expect(part.reduce(0) { $0 + $1.end - $1.start } == day.end - day.start)
                #expect(part.reduce(Flow()) { $0 + $1.flow } == day.flow)
            }
            #expect(byDay.reduce(Flow()) { $0 + $1.flow } == truth)
        }
    }

    @Test func refusesWhatHasNoEnd() async throws {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("UTC")
            #expect(throws: CalendarError.tooManyPeriods) {
                try clock.edges(from: 0, to: 100_000 * Slot.length, resolution: .quarter)
            }
            #expect(try clock.edges(from: 0, to: 99_999 * Slot.length, resolution: .quarter).count == 100_000)
            for moment in [Int.min, .max] {
                #expect(throws: CalendarError.momentOutOfRange) {
                    try clock.edges(from: moment, to: 0, resolution: .year)
                }
                #expect(throws: CalendarError.momentOutOfRange) {
                    try clock.edges(from: 0, to: moment, resolution: .year)
                }
            }
            for day in [Int.min, 0, 32] {
                #expect(throws: CalendarError.noDayOfMonth) {
                    try clock.edges(from: 0, to: 1, resolution: .month, monthStarts: day)
                }
            }
            for resolution in Resolution.allCases {
                let (first, last) = (Resolution.moments.lowerBound, Resolution.moments.upperBound)
                #expect(try clock.edges(from: first, to: first, resolution: resolution).count == 2)
                #expect(try clock.edges(from: last, to: last, resolution: resolution).count == 2)
            }
        }
    }
}

@Suite struct TimeZoneClockTests {
    @Test(arguments: ["Europe/Berlin", "UTC", "Etc/UTC", "Etc/GMT+5", "America/Argentina/Buenos_Aires"])
    func knowsTheZonesOfTheDatabase(_ name: String) {
        #expect(TimeZoneClock.isKnown(name))
    }

    @Test(arguments: [
        "", "Europe", "Europe/Berlim", "europe/berlin/", "/usr/share/zoneinfo/UTC", ":UTC", ":/etc/passwd",
        "/etc/passwd",
        "../zoneinfo/UTC", "Europe/../UTC", "./UTC", "Europe//Berlin", "CET-1CEST", "UTC0", "<+03>-3", "zone.tab",
        "right/Europe/Berlin", "Europe/Berlin\0", "Europe/Berlin\n", "\u{1B}[2J",
        String(repeating: "a/", count: 4000) + "a",
    ])
    func refusesEverythingElse(_ name: String) {
        #expect(!TimeZoneClock.isKnown(name))
        do throws(UnknownTimeZone) {
            _ = try TimeZoneClock(name)
            Issue.record("it was taken")
        } catch {
            #expect(error.name == name)
        }
    }

    struct Local: Codable, Sendable {
        var variable: String
        var name: String
    }

    @Test(arguments: [
        Local(variable: "Europe/Berlin", name: "Europe/Berlin"),
        Local(variable: ":Europe/Berlin", name: "Europe/Berlin"),
        Local(variable: "/usr/share/zoneinfo/Asia/Kolkata", name: "Asia/Kolkata"),
        Local(variable: "", name: "UTC"),
        Local(variable: "UTC0", name: "UTC"),
        Local(variable: "CET-1CEST,M3.5.0,M10.5.0/3", name: "CET-1CEST,M3.5.0,M10.5.0/3"),
    ])
    func namesItsOwnZone(_ local: Local) async {
        await #expect(processExitsWith: .success) { [local = local as Local] in
            setZone(local.variable)
            let clock = try TimeZoneClock()
            #expect(clock.name == local.name)
        }
    }

    @Test func putsTheZoneBack() async {
        await #expect(processExitsWith: .success) {
            setZone("Asia/Kolkata")
            let outer = try TimeZoneClock()
            #expect(outer.local(0).hour == 5)
            func inner() throws {
                let clock = try TimeZoneClock("America/New_York")
                #expect(clock.name == "America/New_York")
                #expect(clock.local(0) == LocalTime(wall: 0, offset: -18000))
            }
            try inner()
            #expect(outer.local(0) == LocalTime(wall: 0, offset: 19800))
            setZone(nil)
            try inner()
            #expect(ThisProcess.environment("TZ") == nil)
        }
    }

    @Test func findsMomentsThatExist() async {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("Europe/Berlin")
            let (spring, autumn) = (CivilDate(year: 2026, month: 3, day: 29), CivilDate(year: 2026, month: 10, day: 25))
            #expect(clock.moment(of: spring, hour: 1, minute: 59, second: 59) == 1_774_745_999_000_000)
            #expect(clock.moment(of: spring, hour: 2, minute: 30) == nil)
            #expect(clock.moment(of: spring, hour: 3) == 1_774_746_000_000_000)
            // Twice that night; the first time is summer time.
            #expect(clock.moment(of: autumn, hour: 2, minute: 30) == 1_792_888_200_000_000)
            #expect(clock.moment(of: autumn, hour: 3) == 1_792_893_600_000_000)
        }
    }

    @Test func agreesWithTheCLibrary() async {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("UTC")
            var random = SplitMix64(seed: 7)
            for _ in 0..<20_000 {
                let moment = Int.random(in: Resolution.moments, using: &random)
                let time = clock.local(moment)
                #expect(time == LocalTime(wall: moment, offset: 0))
                #expect(time.date.daysSince1970 == moment.dividedDown(by: 86_400_000_000))
            }
        }
    }
}

/// Sets the TZ of this process.
private func setZone(_ value: String?) {
    if let value { unsafe setenv("TZ", value, 1) } else { unsafe unsetenv("TZ") }
}
