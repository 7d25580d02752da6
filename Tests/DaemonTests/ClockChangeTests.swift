import SystemCalls
import TestLinks
import Testing
import Wire

/// Days on which clocks are changed, by the command and a daemon: bytes that were booked by quarter hours are all in the
/// day, and in the hours that it has.
@Suite
struct ClockChangeTests {
    /// A day as the clocks of a zone made it.
    struct Day: Sendable, CustomTestStringConvertible {
        var zone: String
        var date: String
        var next: String
        /// In seconds since 1970; those of date(1).
        var start: Int
        /// How long each of its hours is, in quarters.
        var hours: [Int]
        var testDescription: String { "\(date), \(zone)" }

        static let all = [
            Day(
                zone: "Europe/Berlin",
                date: "2026-10-25",
                next: "2026-10-26",
                start: 1_792_879_200,
                hours: Array(repeating: 4, count: 25)
            ),
            Day(
                zone: "Europe/Berlin",
                date: "2026-03-29",
                next: "2026-03-30",
                start: 1_774_738_800,
                hours: Array(repeating: 4, count: 23)
            ),
            // The half hour that comes twice is one with the hour that it belongs to.
            Day(
                zone: "Australia/Lord_Howe",
                date: "2026-04-05",
                next: "2026-04-06",
                start: 1_775_307_600,
                hours: [4, 6] + Array(repeating: 4, count: 22)
            ),
            Day(
                zone: "Asia/Kathmandu",
                date: "2026-01-01",
                next: "2026-01-02",
                start: 1_767_204_900,
                hours: Array(repeating: 4, count: 24)
            ),
        ]
    }

    @Test(arguments: Day.all)
    func `a day has all of its bytes, and all of its hours`(_ day: Day) throws {
        if Clock.wall < (day.start + 90_000) * 1_000_000 {
            try Test.cancel("needs a clock that is past that day: nothing of the future is imported")
        }
        let directory = try TemporaryDirectory()
        let daemon = try RunningDaemon(["--state-directory", directory.path])
        var client = try daemon.client()
        // One quarter before the day, and one after it, are of other days.
        let quarters = (-1...day.hours.reduce(0, +)).map { number in
            (start: (day.start + number * 900) * 1_000_000, rx: 1_000_003 + number, tx: 17 * (number + 1))
        }
        let spans = quarters.map {
            #"{"startUSec":\#($0.start),"endUSec":\#($0.start + 900_000_000),"rxBytes":\#($0.rx),"txBytes":\#($0.tx)}"#
        }
        let reply = try client.call(
            "io.ifcount.Import",
            #"{"interface":"lo","spans":[\#(spans.joined(separator: ","))]}"#
        )
        #expect(reply.contains(#""spans":\#(quarters.count)"#), "\(reply)")
        let own = quarters.dropFirst().dropLast()

        let byQuarter = try Self.rows(day, by: "quarter", daemon)
        #expect(byQuarter.map(\.startUSec) == own.map(\.start))
        #expect(byQuarter.map(\.rx.bytes) == own.map(\.rx))
        #expect(byQuarter.map(\.tx.bytes) == own.map(\.tx))
        let byHour = try Self.rows(day, by: "hour", daemon)
        #expect(byHour.map { ($0.endUSec - $0.startUSec) / 900_000_000 } == day.hours)
        var rest = own[...]
        for (row, length) in zip(byHour, day.hours) {
            #expect(row.startUSec == rest.first?.start)
            #expect(row.rx.bytes == rest.prefix(length).reduce(0) { $0 + $1.rx })
            rest = rest.dropFirst(length)
        }
        let byDay = try Self.rows(day, by: "day", daemon)
        #expect(byDay.map(\.rx.bytes) == [own.reduce(0) { $0 + $1.rx }])
        #expect(byDay.map(\.tx.bytes) == [own.reduce(0) { $0 + $1.tx }])
    }

    private static func rows(
        _ day: Day,
        by resolution: String,
        _ daemon: borrowing RunningDaemon
    ) throws -> [GetHistory.Row] {
        let options = ["--timezone", day.zone, "--since", day.date, "--until", day.next, "--limit", "200"]
        let arguments = ["history", "lo", "--by", resolution, "--json", "--socket", daemon.socket] + options
        // The zone of the user has no part in it.
        var command = try Program("ifcount", arguments, environment: ["TZ": "America/New_York"])
        #expect(try command.wait(timeout: RawClient.patience) == .exited(0), "\(command.errorText)")
        return try Frame.decode(GetHistory.Reply.self, from: Array(command.text.utf8)).rows
    }
}
