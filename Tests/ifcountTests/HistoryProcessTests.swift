import SystemCalls
import Testing
import Wire

@testable import ifcount

@Suite struct HistoryProcessTests {
    private static let noSuch = #"{"error":"io.ifcount.NoSuchInterface","parameters":{"interface":"x"}}"#

    /// Runs the command against a daemon that answers each call with one message.
    private func run(_ arguments: [String], _ answers: [[UInt8]], environment: [String] = ["TZ=UTC0"]) throws
        -> Command.End
    {
        let daemon = try FakeDaemon([answers])
        return try Command.run(arguments + ["--socket", daemon.path], environment: environment)
    }

    private func encoded(_ reply: GetHistory.Reply) -> [UInt8] { Frame.encode(Reply(parameters: reply)) }

    @Test func printsTheReplyAsItIs() throws {
        let end = try run(["history", "utun0", "--json"], [encoded(History.days)])
        #expect(end.status == 0)
        #expect(end.output == String(decoding: Frame.json(History.days), as: UTF8.self) + "\n")
    }

    @Test(arguments: ["C", "de_DE.UTF-8", "tr_TR.UTF-8"])
    func namesThePeriodsByTheReplysZone(_ locale: String) throws {
        let end = try run(
            ["history", "utun0", "--by", "hour"],
            [encoded(History.hours)],
            environment: ["TZ=Asia/Tokyo", "LC_ALL=\(locale)"]
        )
        #expect(end.output == History.lines(History.hours, .hour, width: nil) + "\n")
    }

    @Test func saysWhenItDoesNotKnowTheReplysZone() throws {
        var reply = History.days
        reply.timezone = "Mars/Olympus"
        let end = try run(["history", "utun0"], [encoded(reply)])
        #expect(
            end.output.hasPrefix("estimate of the bytes through utun0 by day, time zone Mars/Olympus; times in UTC\n")
        )
        #expect(end.output.contains("\n2026-10-22 "))
    }

    @Test func drawsBarsOnATerminal() throws {
        let daemon = try FakeDaemon([[encoded(History.days)]])
        let terminal = try PseudoTerminal()
        let command = try Command(
            ["history", "utun0", "--socket", daemon.path],
            environment: ["TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=1"],
            terminal.there.number,
            terminal.there.number,
            terminal.there.number
        )
        let shown = try terminal.shown(until: "2.0 KiB up")
        #expect(command.status() == 0)
        #expect(shown.replacing("\r\n", with: "\n") == History.lines(History.days, width: 80) + "\n")
    }

    @Test func tellsOfBytesWithoutTimeBesideTheCSV() throws {
        let end = try run(["history", "utun0", "--csv"], [encoded(History.days)])
        #expect(end.output == HistoryCSV.text(History.days, History.labels(History.days, .day), zone: "Europe/Berlin"))
        #expect(end.error == "ifcount: in no period, as the clock was not set then: 0 bytes received, 2048 sent\n")
    }

    @Test(arguments: [
        (["history", "x"], noSuch, 3, "no interface \"x\" here; \"ifcount list --all\" shows what there is"),
        (["events", "x"], noSuch, 3, "no interface \"x\" here; \"ifcount list --all\" shows what there is"),
        (
            ["history", "x"], #"{"error":"org.varlink.service.MethodNotFound","parameters":{}}"#, 1,
            "the daemon at PATH keeps no history; it is older than this command"
        ),
        (
            ["history", "x"],
            #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"timezone"}}"#, 1,
            "the daemon at PATH does not take that value of 'timezone'"
        ),
        (
            ["history", "x"], #"{"parameters":{}}"#, 1,
            "the daemon's answer makes no sense: not what the method answers"
        ),
    ])
    func saysWhyThereIsNoHistory(_ arguments: [String], _ reply: String, _ status: Int32, _ sentence: String) throws {
        let daemon = try FakeDaemon([[answer(reply)]])
        let end = try Command.run(arguments + ["--socket", daemon.path])
        #expect(end.status == status)
        #expect(end.output == "")
        #expect(end.error == "ifcount: \(sentence.replacing("PATH", with: daemon.path))\n")
    }

    @Test(arguments: ["history", "events"])
    func needsTheDaemon(_ command: String) throws {
        let end = try Command.run([command, "x", "--socket", "/nonexistent/s"])
        #expect(end.status == 4)
        #expect(
            end.error == "ifcount: no daemon answers at /nonexistent/s: No such file or directory; "
                + "history is the daemon's, so start ifcountd first\n"
        )
    }

    @Test func refusesTimesThatDoNotExist() throws {
        let end = try Command.run(
            [
                "history", "x", "--since", "2026-03-29T02:30", "--timezone", "Europe/Berlin", "--socket",
                "/nonexistent/s",
            ]
        )
        #expect(end.status == 2)
        #expect(end.error.contains("the clocks of Europe/Berlin never show that time"))
    }

    private func events(_ events: [Event], continues: Bool? = nil) -> [UInt8] {
        Frame.encode(Reply(parameters: Events.Reply(events: events), continues: continues))
    }

    @Test func printsEvents() throws {
        let end = try run(["events"], [events([Fixture.event(.created), Fixture.event(.removed)])])
        #expect(
            end.output == """
                2026-07-24 12:03:11  utun0  created (nothing missing)
                2026-07-24 12:03:11  utun0  removed (nothing missing)

                """
        )
        let reply = Events.Reply(events: [Fixture.event(.created)])
        let json = try run(["events", "--json"], [events(reply.events)])
        #expect(json.output == String(decoding: Frame.json(reply), as: UTF8.self) + "\n")
    }

    @Test func followsAgainWhatTheDaemonSaysAfterItsEnd() throws {
        var returned = Fixture.event(.recreated)
        returned.incarnation = 2
        let connections = [
            [Fixture.event(.created)], [], [Fixture.event(.removed)],
        ].map { events($0, continues: true) }
        // Both times are the same, and one was told.
        let again = [
            events([Fixture.event(.removed), returned], continues: true), answer(#"{"error":"io.ifcount.NoHistory"}"#),
        ]
        let daemon = try FakeDaemon([[connections.flatMap(\.self)], [again.flatMap(\.self)]])
        let end = try Command.run(
            ["events", "utun0", "--follow", "--socket", daemon.path],
            environment: ["TZ=UTC0"]
        )
        #expect(
            end.output == """
                2026-07-24 12:03:11  utun0            created (nothing missing)
                2026-07-24 12:03:11  utun0            removed (nothing missing)
                2026-07-24 12:03:11  utun0            recreated (nothing missing)

                """
        )
        #expect(end.status == 1)
        let lines = end.error.split(separator: "\n")
        #expect(lines.first == "ifcount: the daemon has gone; waiting for it at \(daemon.path)")
        #expect(lines.count == 2 && lines.last?.contains("keeps no history") == true, "\(end.error)")
    }
}
