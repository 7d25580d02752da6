import TestLinks
import Testing
import Wire

/// The command against the daemon, both as processes.
@Suite(needsTunnel)
struct CommandTests {
    /// How the command ended, and what it said.
    private struct End {
        var ending: Program.Ending
        var text: String
        var errors: String
    }

    private static func run(
        _ arguments: [String],
        on socket: String,
        environment: [String: String?] = [:]
    ) throws -> End {
        let surroundings: [String: String?] = ["IFCOUNT_SOCKET": socket, "NO_COLOR": nil, "LC_ALL": "C.UTF-8"]
        var command = try Program("ifcount", arguments, environment: surroundings.merging(environment) { $1 })
        let ending = try command.wait(timeout: RawClient.patience)
        return End(ending: ending, text: command.text, errors: command.errorText)
    }

    /// What a reply's parameters are as text.
    private static func parameters(_ reply: String) -> String {
        String(reply.dropFirst(#"{"parameters":"#.count).dropLast())
    }

    /// A daemon whose next look at the counters is an hour away, and an absent tunnel: its figures stand still.
    private static func withAbsentTunnel(
        _ body: @Sendable @escaping (borrowing RunningDaemon) throws -> Void
    ) async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 163_000)
            try tunnel.close()
            _ = try client.awaitReading("utun0") { !$0.present }
            try body(daemon)
        }
    }

    @Test func `show and call print what Get answers`() async throws {
        try await Self.withAbsentTunnel { daemon in
            var client = try daemon.client()
            // The moments in it are of the last look, and the rate goes: only between two equal answers is it known
            // what a third must have been.
            for _ in 0..<100 {
                let before = try client.call("io.ifcount.Get", #"{"interface":"utun0"}"#)
                let show = try Self.run(["show", "utun0", "--json"], on: daemon.socket)
                let call = try Self.run(["call", "io.ifcount.Get", #"{"interface":"utun0"}"#], on: daemon.socket)
                guard try before == client.call("io.ifcount.Get", #"{"interface":"utun0"}"#) else { continue }
                #expect(show.ending == .exited(0))
                #expect(show.text == Self.parameters(before) + "\n")
                #expect(show.errors == "")
                #expect(call.ending == .exited(0))
                let value = try Frame.decode(JSONValue.self, from: Array(call.text.utf8))
                #expect(try value == Frame.decode(JSONValue.self, from: Array(Self.parameters(before).utf8)))
                return
            }
            Issue.record("the figures of an absent interface do not stand still")
        }
    }

    @Test func `list prints one document with all readings`() async throws {
        try await Self.withAbsentTunnel { daemon in
            let end = try Self.run(["list", "--json", "--all"], on: "unix:\(daemon.socket)")
            #expect(end.ending == .exited(0))
            #expect(end.errors == "")
            #expect(end.text.split(separator: "\n").count == 1)
            let reply = try Frame.decode(List.Reply.self, from: Array(end.text.utf8))
            #expect(reply.readings.map(\.interface) == ["lo", "utun0"])
            #expect(reply.readings.last?.total.rx.bytes == 163_000)
            let present = try Self.run(["list", "--json"], on: daemon.socket)
            #expect(
                try Frame.decode(List.Reply.self, from: Array(present.text.utf8)).readings.map(\.interface) == ["lo"]
            )
        }
    }

    @Test func `an interface that never was ends with 3 and one line`() async throws {
        try await Self.withAbsentTunnel { daemon in
            for arguments in [["show", "nosuch0"], ["show", "nosuch0", "--json"]] {
                let end = try Self.run(arguments, on: daemon.socket)
                #expect(end.ending == .exited(3))
                #expect(end.text == "")
                #expect(end.errors.hasPrefix("ifcount: no interface \"nosuch0\""))
                #expect(end.errors.split(separator: "\n").count == 1)
            }
            let call = try Self.run(["call", "io.ifcount.Get", #"{"interface":"nosuch0"}"#], on: daemon.socket)
            #expect(call.ending == .exited(3))
            #expect(call.errors == "ifcount: io.ifcount.NoSuchInterface {\"interface\":\"nosuch0\"}\n")
            let method = try Self.run(["call", "io.ifcount.Nothing"], on: daemon.socket)
            #expect(method.ending == .exited(1))
            #expect(method.errors.contains("MethodNotFound"))
        }
    }

    @Test func `a socket where nobody is ends with 4`() throws {
        for arguments in [["list"], ["show", "lo"], ["watch", "lo", "--json"], ["call", "a.B"]] {
            let end = try Self.run(arguments + ["--socket", "/nonexistent/s"], on: "")
            #expect(end.ending == .exited(4))
            #expect(end.text == "")
            #expect(end.errors.hasPrefix("ifcount: no daemon answers at /nonexistent/s"))
        }
    }

    @Test func `watch prints a line for each reply, and ends in time`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            let end = try Self.run(
                ["watch", "lo", "--json", "--interval", "100ms", "--for", "1s"],
                on: daemon.socket
            )
            #expect(end.ending == .exited(0))
            let lines = end.text.split(separator: "\n").map { Array($0.utf8) }
            let replies = try lines.map { try Frame.decode(Watch.Reply.self, from: $0) }
            #expect(replies.first?.ready == true)
            // How many a second has, the machine decides; the end comes all the same.
            #expect((1...20).contains(replies.count))
            #expect(replies.dropFirst().allSatisfy { $0.ready == nil && $0.readings?.map(\.interface) == ["lo"] })
        }
    }

    @Test func `watch goes on when the tunnel is recreated, and ends with the daemon`() async throws {
        try await PrivateNamespace.run { namespace in
            var daemon = try RunningDaemon()
            var command = try Program(
                "ifcount",
                ["watch", "utun0", "--json", "--interval", "100ms", "--socket", daemon.socket]
            )
            try command.waitForOutput(#""ready":true"#, timeout: RawClient.patience)
            for event in ["created", "recreated"] {
                var tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: 5000)
                try command.waitForOutput(#""event":"\#(event)""#, timeout: RawClient.patience)
                try tunnel.close()
            }
            try command.waitForOutput(#""bytes":10000"#, timeout: RawClient.patience)
            #expect(try daemon.end() == .exited(0))
            try command.waitForErrors("\n", timeout: RawClient.patience)
            command.terminate()
            _ = try command.wait(timeout: RawClient.patience)
        }
    }

    @Test(arguments: ResumeTests.End.allCases)
    func `events are followed through a restart, and each is told once`(_ ending: ResumeTests.End) async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var link = FlakyLink()
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var command = try Program(
                "ifcount",
                ["events", "utun0", "--follow", "--json", "--limit", "1", "--socket", daemon.socket]
            )
            try command.waitForOutput("events", timeout: RawClient.patience)
            try link.rise(in: namespace)
            try link.fall()
            try link.rise(in: namespace)
            try command.waitForOutput(#""event":"recreated""#, timeout: RawClient.patience)
            switch ending {
            case .stopped: #expect(try daemon.end() == .exited(0))
            case .killed: try daemon.kill()
            }
            try command.waitForErrors("\n", timeout: RawClient.patience)
            try link.fall()
            let arguments = ["--socket", daemon.socket] + RunningDaemon.keeping(in: directory.path)
            var next = try RunningDaemon.start(arguments)
            try RunningDaemon.awaitAnswer(daemon.socket)
            try link.rise(in: namespace)
            try link.fall()
            try link.rise(in: namespace)
            let index = link.index ?? 0
            try link.fall()
            let last = #""event":"removed","gapped":false,"ifindex":\#(index)"#
            try command.waitForOutput(last, timeout: RawClient.patience)
            let told = try command.text.split(separator: "\n").flatMap {
                try Frame.decode(Events.Reply.self, from: Array($0.utf8)).events
            }
            let kept = try Self.run(["events", "utun0", "--json"], on: daemon.socket)
            let all = try Frame.decode(Events.Reply.self, from: Array(kept.text.utf8)).events
            #expect(told.contains { $0.event == .created })
            #expect(Set(told).count == told.count)
            // What a killed daemon had told of and not saved, nobody knows but who heard it.
            #expect(ending == .killed ? told.filter(all.contains) == all : told == all)
            #expect(command.errorText == "ifcount: the daemon has gone; waiting for it at \(daemon.socket)\n")
            next.terminate()
            #expect(try next.wait(timeout: RawClient.patience) == .exited(0))
            command.terminate()
            _ = try command.wait(timeout: RawClient.patience)
        }
    }

    @Test func `no locale changes a byte`() async throws {
        try await Self.withAbsentTunnel { daemon in
            let socket = daemon.socket
            let expected = try Self.outputs("C", socket)
            #expect(expected.last == "true")
            #expect(try Self.outputs("de_DE.UTF-8", socket) == expected)
            #expect(try Self.outputs("tr_TR.UTF-8", socket) == expected)
        }
    }

    /// What the command prints in a locale, without what is different each time.
    private static func outputs(_ locale: String, _ socket: String) throws -> [String] {
        let environment: [String: String?] = ["LC_ALL": locale, "TZ": "UTC0"]
        let json = try run(["show", "utun0", "--json"], on: socket, environment: environment).text
        var reading = try Frame.decode(Get.Reply.self, from: Array(json.utf8)).reading
        // The moment of the last look, and what it makes of the rate.
        (reading.sampledUSec, reading.total.sinceUSec, reading.rate) = (0, 0, nil)
        let error = try run(["show", "nosuch0"], on: socket, environment: environment).errors
        return [String(decoding: Frame.json(reading), as: UTF8.self), error, "\(json.contains("163000"))"]
    }

    @Test func `hostile names reach nobody raw`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            let kind = try namespace.simplestKind()
            for (number, name) in HostileName.all.enumerated() {
                try namespace.add("plain\(number)", kind: kind)
                try namespace.rename("plain\(number)", to: name.bytes)
            }
            for name in HostileName.all {
                let text = try Self.awaitPresent(name.json, &client)
                #expect(text.contains("\"interface\":\"\(name.json)\","))
                #expect(text.contains("\"present\":true"))
            }
            for arguments in [["list"], ["watch", "--for", "300ms"], ["show", "--", "a\u{1B}[31m"]] {
                let end = try Self.run(arguments, on: daemon.socket)
                #expect(end.ending == .exited(0))
                #expect(!end.text.isEmpty)
                #expect(!(end.text + end.errors).utf8.contains(0x1B), "\(end.text)")
            }
            // The escaped form leads back to the link.
            let end = try Self.run(["show", #"b\xff\xc3"#, "--json"], on: daemon.socket)
            #expect(end.ending == .exited(0))
            #expect(end.text.contains(#""interface":"b\\xff\\xc3""#))
        }
    }

    /// A name that a terminal or JSON would take for something else.
    private struct HostileName {
        var bytes: [UInt8]
        /// As it is between JSON's quotation marks.
        var json: String

        init(_ bytes: [UInt8], _ json: String) {
            self.bytes = bytes
            self.json = json
        }

        init(_ name: String, _ json: String) { self.init(Array(name.utf8), json) }

        static let all: [HostileName] = [
            HostileName("a\u{1B}[31m", #"a\u001b[31m"#), HostileName(#"q"\"#, #"q\"\\"#),
            HostileName([0x62, 0xFF, 0xC3] as [UInt8], #"b\\xff\\xc3"#), HostileName(#"\x41"#, #"\\x5cx41"#),
            HostileName("é", "é"), HostileName("-n", "-n"),
        ]
    }

    private static func awaitPresent(_ name: String, _ client: inout RawClient) throws -> String {
        _ = try client.awaitReading(name) { $0.present }
        return try client.call("io.ifcount.Get", #"{"interface":"\#(name)"}"#)
    }
}
