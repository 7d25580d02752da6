import SystemCalls
import TestLinks
import Testing
import Wire

/// Another counter's figures in the history, by the socket.
@Suite
struct ImportTests {
    private static let hour = 3_600_000_000
    /// 2026-01-01 in UTC.
    private static let newYear = 1_767_225_600_000_000

    /// The parameters of a call for lo.
    private static func parameters(_ spans: [(Int, Int, Int, Int)], _ more: String = "") -> String {
        let spans = spans.map { #"{"startUSec":\#($0),"endUSec":\#($1),"rxBytes":\#($2),"txBytes":\#($3)}"# }
        return #"{"interface":"lo","spans":[\#(spans.joined(separator: ","))]\#(more)}"#
    }

    /// What a history of lo has, in rows with bytes of another counter: start, received, sent.
    private static func imported(_ client: inout RawClient, by resolution: String = "hour") throws -> [[Int]] {
        let parameters = """
            {"interface":"lo","resolution":"\(resolution)","timezone":"UTC","sinceUSec":\(newYear),\
            "untilUSec":\(newYear + 24 * hour),"limit":1000}
            """
        try client.send(#"{"method":"io.ifcount.GetHistory","parameters":\#(parameters)}"#)
        return try client.reply(GetHistory.Reply.self).rows.filter(\.imported).map {
            [($0.startUSec - newYear) / hour, $0.rx.bytes, $0.tx.bytes]
        }
    }

    @Test func `what is imported twice is counted once, marked, and in no total`() throws {
        let directory = try TemporaryDirectory()
        let state = ["--state-directory", directory.path + "/state", "--save-interval", "1h"]
        var daemon = try RunningDaemon(state)
        var client = try daemon.client()
        let before = try #require(try client.get("lo")).total
        let start = Self.newYear
        let spans = [(start, start + Self.hour, 5, 7), (start + Self.hour, start + 3 * Self.hour, 10, 0)]
        for _ in 0..<2 {
            let answer = try client.call(Import.method, Self.parameters(spans))
            #expect(answer == #"{"parameters":{"rxBytes":15,"spans":2,"txBytes":7}}"#)
            #expect(try Self.imported(&client) == [[0, 5, 7], [1, 5, 0], [2, 5, 0]])
        }
        let after = try #require(try client.get("lo")).total
        #expect(after.rx.bytes - before.rx.bytes < 10 && after.sinceUSec == before.sinceUSec)
        // It is on disk, and the next daemon knows it for what it is.
        #expect(try daemon.end() == .exited(0))
        let next = try RunningDaemon(state)
        client = try next.client()
        #expect(try Self.imported(&client) == [[0, 5, 7], [1, 5, 0], [2, 5, 0]])
        _ = try client.call(Import.method, Self.parameters([]))
        #expect(try Self.imported(&client) == [])
    }

    @Test func `a part takes the place of what begins in its time`() throws {
        let directory = try TemporaryDirectory()
        let daemon = try RunningDaemon(["--state-directory", directory.path + "/state"])
        var client = try daemon.client()
        let start = Self.newYear
        let two = start + 2 * Self.hour
        for _ in 0..<2 {
            let first = Self.parameters([(start, start + Self.hour, 1, 1)], #","untilUSec":\#(two)"#)
            #expect(try client.call(Import.method, first).contains(#""spans":1"#))
            let second = Self.parameters([(two, two + Self.hour, 2, 2)], #","fromUSec":\#(two)"#)
            #expect(try client.call(Import.method, second).contains(#""spans":1"#))
        }
        #expect(try Self.imported(&client) == [[0, 1, 1], [2, 2, 2]])
        _ = try client.call(Import.method, Self.parameters([], #","fromUSec":\#(start),"untilUSec":\#(two)"#))
        #expect(try Self.imported(&client) == [[2, 2, 2]])
        // Nobody hears of it, but it is done, and the next answer is the next question's.
        let oneway = Self.parameters([(start, start + Self.hour, 3, 3)])
        try client.send(#"{"method":"io.ifcount.Import","oneway":true,"parameters":\#(oneway)}"#)
        #expect(try Self.imported(&client) == [[0, 3, 3]])
    }

    @Test func `an old import leaves short periods answerable`() throws {
        let directory = try TemporaryDirectory()
        let daemon = try RunningDaemon(["--state-directory", directory.path + "/state"])
        var client = try daemon.client()
        // From 1971 on there are more quarter hours than an answer may have.
        _ = try client.call(Import.method, Self.parameters([(31_536_000_000_000, 31_539_600_000_000, 8, 0)]))
        for (resolution, count) in [("quarter", 96), ("hour", 48), ("day", 31), ("month", 24)] {
            let question = #"{"interface":"lo","resolution":"\#(resolution)","timezone":"Europe/Berlin"}"#
            try client.send(#"{"method":"io.ifcount.GetHistory","parameters":\#(question)}"#)
            let rows = try client.reply(GetHistory.Reply.self).rows
            #expect(rows.count == count, "\(resolution)")
            #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.endUSec == $1.startUSec })
        }
    }

    @Test func `what cannot be is refused, and changes nothing`() throws {
        let directory = try TemporaryDirectory()
        let daemon = try RunningDaemon(["--state-directory", directory.path + "/state"])
        var client = try daemon.client()
        let start = Self.newYear
        let good = (start, start + Self.hour, 1, 1)
        _ = try client.call(Import.method, Self.parameters([good]))
        let since = try #require(try client.get("lo")).total.sinceUSec
        let mistakes: [(String, String)] = [
            (Self.parameters([(start + 1, start + 1, 1, 1)]), "spans"),
            (Self.parameters([(start + 1, start, 1, 1)]), "spans"),
            (Self.parameters([good, good]), "spans"),
            (Self.parameters([good, (start + 1, start + 2 * Self.hour, 1, 1)]), "spans"),
            (Self.parameters([(start, start + 1, -1, 1)]), "spans"),
            (Self.parameters([(start, start + 1, 1, -1)]), "spans"),
            (Self.parameters([(since - 1, since + 1_000_000_000, 1, 1)]), "spans"),
            (Self.parameters([(.min, start, 1, 1)]), "spans"),
            (Self.parameters([good], #","fromUSec":\#(start + 1)"#), "spans"),
            (Self.parameters([good], #","untilUSec":\#(start)"#), "spans"),
            (Self.parameters([], #","fromUSec":2,"untilUSec":1"#), "untilUSec"),
            (Self.parameters([], #","fromUSec":1.5"#), "fromUSec"),
            (#"{"interface":"lo"}"#, "spans"), (#"{"interface":"lo","spans":null}"#, "spans"),
            (#"{"interface":"lo","spans":[{}]}"#, "spans"), (#"{"interface":"lo","spans":[7]}"#, "spans"),
            (#"{"interface":"lo","spans":[{"startUSec":1,"endUSec":2,"rxBytes":0,"tx":1}]}"#, "spans"),
            (#"{"spans":[]}"#, "interface"), (Self.parameters([], #","zone":"UTC""#), "zone"),
        ]
        for (parameters, name) in mistakes {
            let answer = try client.call(Import.method, parameters)
            #expect(answer.contains("InvalidParameter") && answer.contains("\"\(name)\""), "\(parameters): \(answer)")
        }
        let answer = try client.call(Import.method, #"{"interface":"nosuch0","spans":[]}"#)
        #expect(answer.contains("NoSuchInterface"))
        #expect(try Self.imported(&client) == [[0, 1, 1]])
    }

    @Test func `without a history there is nothing to import into`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        #expect(try client.call(Import.method, Self.parameters([])).contains("NoHistory"))
    }

    @Test(needsAnotherUser) func `another user is refused`() throws {
        let directory = try TemporaryDirectory()
        let daemon = try RunningDaemon(["--state-directory", directory.path + "/state"])
        let ifcount = try Program.builtPath(of: "ifcount")
        var command = try Program(
            nobody[0],
            nobody.dropFirst() + [ifcount, "call", Import.method, Self.parameters([]), "--socket", daemon.socket]
        )
        #expect(try command.wait(timeout: RawClient.patience) == .exited(1))
        #expect(command.errorText == "ifcount: org.varlink.service.PermissionDenied {}\n")
    }
}
