import Glibc
import SystemCalls
import Testing
import Wire

@testable import ifcount

@Suite struct ProcessTests {
    @Test(arguments: [
        (["--version"], 0, "ifcount 0.1.0\n", ""),
        (["--jsn"], 2, "", "ifcount: unknown option '--jsn'; did you mean '--json'?; see \"ifcount help\"\n"),
        (
            ["list", "--socket", "/nonexistent/s"], 4, "",
            "ifcount: no daemon answers at /nonexistent/s: No such file or directory; start ifcountd there, "
                + "or leave --socket and IFCOUNT_SOCKET out to read the kernel\n"
        ),
        (
            ["call", "a.B", "--socket", "unix:/nonexistent/\u{1B}"], 4, "",
            "ifcount: no daemon answers at /nonexistent/\\x1b: No such file or directory; start ifcountd first\n"
        ),
    ])
    func endsAsScriptsExpect(_ arguments: [String], _ status: Int32, _ output: String, _ error: String) throws {
        let end = try Command.run(arguments)
        #expect(end.status == status)
        #expect(end.output == output)
        #expect(end.error == error)
    }

    @Test func tellsWhichInterfaceThereIsNot() throws {
        let refusal = answer(#"{"error":"io.ifcount.NoSuchInterface","parameters":{"interface":"nosuch0"}}"#)
        let show = try FakeDaemon([[refusal]])
        let shown = try Command.run(["show", "nosuch0", "--socket", show.path])
        #expect(shown.status == 3)
        #expect(shown.error == "ifcount: no interface \"nosuch0\" here; \"ifcount list\" shows what there is\n")

        let call = try FakeDaemon([[refusal]])
        let called = try Command.run(["call", "io.ifcount.Get", "{}"], environment: ["IFCOUNT_SOCKET=\(call.path)"])
        #expect(called.status == 3)
        #expect(called.error == "ifcount: io.ifcount.NoSuchInterface {\"interface\":\"nosuch0\"}\n")
    }

    @Test(arguments: ["C", "de_DE.UTF-8", "tr_TR.UTF-8", "POSIX"])
    func writesTheSameBytesInEveryLocale(_ locale: String) throws {
        let reply = Frame.encode(Reply(parameters: List.Reply(readings: [Fixture.reading(), Fixture.gapped])))
        func end(_ arguments: [String]) throws -> Command.End {
            let daemon = try FakeDaemon([[reply]])
            return try Command.run(
                arguments + ["--socket", daemon.path],
                environment: ["LC_ALL=\(locale)", "TZ=UTC0"]
            )
        }
        #expect(
            try end(["list", "--json"]).output == String(
                decoding: reply.dropLast().dropFirst(14).dropLast(),
                as: UTF8.self
            ) + "\n"
        )
        #expect(try end(["list"]).output.contains("  ≈ 163.2 MiB  ≈ 12.1 MiB  "))
    }

    @Test func endsQuietlyWhenNobodyReads() throws {
        let daemon = try FakeDaemon([[Frame.encode(Reply(parameters: List.Reply(readings: [Fixture.reading()])))]])
        let error = try Pipe()
        let null = try File.open("/dev/null")
        var numbers: [Int32] = [0, 0]
        try retrying { pipe(&numbers) }
        close(numbers[0])
        let output = Descriptor(owning: numbers[1])
        let command = try Command(
            ["list", "--socket", daemon.path],
            environment: [],
            null.number,
            output.number,
            error.writer.number
        )
        #expect(command.status() == 0)
        #expect(try error.text() == "")
    }

    @Test func saysWhatCannotBeWritten() throws {
        let error = try Pipe()
        let full = Descriptor(owning: try retrying { open("/dev/full", O_WRONLY | O_CLOEXEC) })
        let command = try Command(["--help"], environment: [], full.number, full.number, error.writer.number)
        #expect(command.status() == 1)
        #expect(try error.text() == "ifcount: standard output cannot be written: No space left on device\n")
    }

    /// What ends a live view.
    enum Way: CaseIterable, Sendable {
        case keyQ, escape, interrupt, terminate, hangUp, time
    }

    @Test(arguments: Way.allCases)
    func putsTheTerminalBackOnEveryWayOut(_ way: Way) throws {
        let ready = Watch.Reply(ready: true, readings: nil, events: nil)
        let tick = Watch.Reply(ready: nil, readings: [Fixture.reading()], events: nil)
        let stream = [ready, tick].flatMap { Frame.encode(Reply(parameters: $0, continues: true)) }
        let daemon = try FakeDaemon([[stream, []]])
        let terminal = try PseudoTerminal()
        let before = try terminal.modes()
        let command = try Command(
            ["watch", "utun0", "--socket", daemon.path] + (way == .time ? ["--for", "500ms"] : []),
            environment: ["TERM=xterm", "LC_ALL=C.UTF-8"],
            terminal.there.number,
            terminal.there.number,
            terminal.there.number
        )
        let view = try terminal.shown(until: "171,124,882")
        #expect(view.contains("\u{1B}[?1049h"))
        #expect(view.contains("\u{1B}[?25l"))
        #expect(try terminal.modes() == tcflag_t(ISIG))

        switch way {
        case .keyQ: try Descriptor.writeAll(terminal.here.number, Array("q".utf8))
        case .escape: try Descriptor.writeAll(terminal.here.number, [0x1B])
        case .interrupt: kill(command.process, SIGINT)
        case .terminate: kill(command.process, SIGTERM)
        case .hangUp: kill(command.process, SIGHUP)
        case .time: break
        }
        #expect(command.status() == 0)
        #expect(try terminal.modes() == before)
        let rest = try terminal.shown(until: "resets")
        #expect(rest.contains("\u{1B}[?25h\u{1B}[?1049l"))
        // The last figures stay on the normal screen.
        #expect(rest.split(separator: "\u{1B}[?1049l").last?.contains("171,124,882") == true)
    }

    @Test func anArrowKeyDoesNotQuit() throws {
        let tick = Watch.Reply(ready: true, readings: [Fixture.reading()], events: nil)
        let daemon = try FakeDaemon([[Frame.encode(Reply(parameters: tick, continues: true)), []]])
        let terminal = try PseudoTerminal()
        let command = try Command(
            ["watch", "utun0", "--socket", daemon.path],
            environment: ["TERM=xterm"],
            terminal.there.number,
            terminal.there.number,
            terminal.there.number
        )
        _ = try terminal.shown(until: "171,124,882")
        try Descriptor.writeAll(terminal.here.number, Array("\u{1B}[A".utf8))
        try Descriptor.writeAll(terminal.here.number, Array("p".utf8))
        #expect(try terminal.shown(until: "paused").contains("q quit   p go on (paused)"))
        try Descriptor.writeAll(terminal.here.number, Array("q".utf8))
        #expect(command.status() == 0)
    }
}

@Suite struct KeyTests {
    @Test(
        arguments: [
            ("q", .quit), ("Q", .quit), ("\u{1B}", .quit), ("\u{3}", .quit), ("\u{4}", .quit), ("p", .pause),
            (" ", .pause),
            ("x", .other), ("", .other), ("\u{1B}[A", .other), ("\u{1B}[Ap", .pause), ("\u{1B}[15~q", .quit),
            ("\u{1B}OPp", .pause), ("\u{1B}OP", .other), ("\u{1B}q", .other), ("\u{1B}[1;5", .other),
            ("xp\u{1B}", .quit),
        ] as [(String, Key)]
    )
    func means(_ typed: String, _ key: Key) {
        #expect(Key(Array(typed.utf8)) == key)
    }
}
