import Options
import SystemCalls
import Testing

@testable import ifcount

/// The zone is the whole process's, and other tests run in this one: each case has a process of its own.
@Suite struct TimeTextTests {
    struct Case: Codable, Sendable, CustomTestStringConvertible {
        var text: String
        var zone: String
        /// In seconds since 1970; nil when the clocks never show it.
        var moment: Int?
        var testDescription: String { "\(text) in \(zone)" }

        init(_ text: String, _ zone: String, _ moment: Int?) {
            (self.text, self.zone, self.moment) = (text, zone, moment)
        }
    }

    /// Now is 2026-11-30 23:30 in UTC.
    @Test(arguments: [
        Case("now", "UTC", 1_796_081_400),
        Case("2026-11-30", "UTC", 1_795_996_800),
        Case("2026-11-30", "Europe/Berlin", 1_795_993_200),
        Case("2026-11-30T12:00", "Europe/Berlin", 1_796_036_400),
        Case("2026-11-30 12:00:05", "Europe/Berlin", 1_796_036_405),
        Case("2026-11-30T12:00:05Z", "Europe/Berlin", 1_796_040_005),
        Case("2026-11-30T12:00Z", "Asia/Kolkata", 1_796_040_000),
        Case("today", "UTC", 1_795_996_800),
        Case("yesterday", "UTC", 1_795_910_400),
        // There it is the first of December already.
        Case("today", "Europe/Berlin", 1_796_079_600),
        Case("yesterday", "Asia/Kolkata", 1_795_977_000),
        Case("7d", "Europe/Berlin", 1_795_476_600),
        Case("2w", "UTC", 1_794_871_800),
        Case("36h", "UTC", 1_795_951_800),
        Case("90min", "UTC", 1_796_076_000),
        Case("2026-03-29T02:30", "Europe/Berlin", nil),
        Case("2026-10-25T02:30", "Europe/Berlin", 1_792_888_200),
        Case("2018-11-04", "America/Sao_Paulo", 1_541_300_400),
        Case("2018-11-04T00:30", "America/Sao_Paulo", nil),
        Case("2028-02-29", "UTC", 1_835_395_200),
    ])
    func means(_ known: Case) async {
        await #expect(processExitsWith: .success) { [known = known as Case] in
            let clock = try TimeZoneClock(known.zone)
            let moment = try TimeText(known.text, option: "--since").moment(clock, now: 1_796_081_400_000_000)
            #expect(moment == known.moment.map { $0 * 1_000_000 })
        }
    }

    @Test(arguments: [
        "", " ", "x", "7", "2026", "2026-11", "-7d", "7dd", "d", "1.5d", "99999999999999999999d", "2026-11-3",
        "20261130",
        "2026-11-30T",
        "2026-11-30T12", "2026-11-30T1:00", "2026-11-30T12:00:0", "2026-11-30Z", "Z", "2026-11-30T12:00+01:00",
        "２026-11-30", "2026-11-30T12:00T", "+026-11-30", "tomorrow", "2026-11-30\0",
    ])
    func refusesWhatIsNoTime(_ text: String) {
        let error = #expect(throws: UsageError.self) { try TimeText(text, option: "--since") }
        #expect(
            error?.description == "option '--since': '\(text)' is no time; write 2026-11-30, 2026-11-30T12:00, "
                + "today or yesterday, or 7d or 36h for so long ago"
        )
    }

    @Test(arguments: [
        ("2026-02-29", "there is no '2026-02-29' in any calendar or clock"),
        ("2026-13-01", "there is no '2026-13-01' in any calendar or clock"),
        ("2026-11-31T12:00", "there is no '2026-11-31T12:00' in any calendar or clock"),
        ("2026-11-30T24:00", "there is no '2026-11-30T24:00' in any calendar or clock"),
        ("2026-11-30T23:59:60", "there is no '2026-11-30T23:59:60' in any calendar or clock"),
        ("1969-12-31", "'1969-12-31' is not between 1970 and 9998"),
        ("9999-01-01", "'9999-01-01' is not between 1970 and 9998"),
        ("99999999999w", "'99999999999w' is more than a hundred years"),
        ("4000000000d", "'4000000000d' is more than a hundred years"),
    ])
    func saysWhatIsWrong(_ text: String, _ reason: String) {
        let error = #expect(throws: UsageError.self) { try TimeText(text, option: "--until") }
        #expect(error?.description == "option '--until': \(reason)")
    }

    @Test func asksInMoments() async {
        await #expect(processExitsWith: .success) {
            let command = HistoryCommand(
                interface: "utun0",
                resolution: .month,
                since: .day(-1),
                until: .now,
                limit: 3,
                timezone: "Europe/Berlin",
                monthStarts: 15
            )
            let parameters = try command.parameters(now: 1_796_081_400_000_000)
            #expect(parameters.sinceUSec == 1_795_993_200_000_000)
            #expect(parameters.untilUSec == 1_796_081_400_000_000)
            #expect(parameters.timezone == "Europe/Berlin")
            #expect(parameters.limit == 3)
            #expect(parameters.monthStarts == 15)

            var backwards = command
            backwards.until = .ago(86_400_000_000 * 3)
            #expect(throws: UsageError.badValue("--since", reason: "it is not before '--until'")) {
                try backwards.parameters(now: 1_796_081_400_000_000)
            }
        }
    }
}
