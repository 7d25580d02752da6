import SystemCalls
import TestLinks
import Testing
import Wire

/// Questions that come when counters are old, and when the daemon is about to end.
@Suite
struct LateTests {
    private static let question = Array(#"{"method":"io.ifcount.Get","parameters":{"interface":"lo"}}"#.utf8) + [0]

    private static func start(_ name: String) throws -> Program {
        try Program(
            "ifcountd",
            ["--socket", name, "--interval", "1h", "--state-directory", "none"],
            environment: ["NOTIFY_SOCKET": nil, "WATCHDOG_USEC": nil, "LISTEN_FDS": nil]
        )
    }

    private static func connect(_ name: String) throws -> Descriptor {
        for _ in 0..<1000 {
            if let socket = try? UnixSocket.connect(to: name) { return socket }
            _ = try waitReadable([], milliseconds: 10)
        }
        return try UnixSocket.connect(to: name)
    }

    /// The next reply, or an empty text when the daemon hangs up.
    private static func reply(_ socket: borrowing Descriptor) throws -> String {
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while reply.last != 0 {
            guard try waitReadable([socket.number], milliseconds: 10_000)[0] else { throw Errno.timedOut }
            let count = try socket.read(into: &buffer)
            if count == 0 { break }
            reply += buffer[..<count]
        }
        return String(decoding: reply, as: UTF8.self)
    }

    private func sampledAt(_ reply: String) throws -> Int {
        let parts = reply.split(separator: #""sampledUSec":"#)
        return try #require(parts.last.flatMap { Int($0.prefix { $0.isNumber }) })
    }

    @Test func `old counters are read anew for who asks`() throws {
        let name = "@ifcount-test-\(UInt64.random(in: 0 ... .max))"
        var daemon = try Self.start(name)
        let client = try Self.connect(name)
        _ = try UnixSocket.send(client.number, Self.question[...])
        let first = try sampledAt(Self.reply(client))
        _ = try waitReadable([], milliseconds: 1200)
        _ = try UnixSocket.send(client.number, Self.question[...])
        #expect(try sampledAt(Self.reply(client)) >= first + 1_100_000)
        daemon.terminate()
        #expect(try daemon.wait() == .exited(0))
        #expect(daemon.errorText == "")
    }

    @Test func `who was accepted is answered, also at the end`() throws {
        // A test that is held up itself comes too late, as anyone may; it does not each time.
        var answers = 0
        for _ in 0..<5 where answers == 0 {
            let name = "@ifcount-test-\(UInt64.random(in: 0 ... .max))"
            var daemon = try Self.start(name)
            let silent = try Self.connect(name)
            let late = try Self.connect(name)
            let old = try Self.connect(name)
            // Who is answered shows that those before were accepted.
            _ = try UnixSocket.send(old.number, Self.question[...])
            #expect(try Self.reply(old).contains(#""interface":"lo""#))
            daemon.terminate()
            _ = try waitReadable([], milliseconds: 20)
            if (try? UnixSocket.send(late.number, Self.question[...])) != nil, try Self.reply(late).last == "\0" {
                answers += 1
            }
            // Who says nothing holds up nobody for long.
            #expect(try daemon.wait() == .exited(0))
            #expect(try Self.reply(silent) == "")
            #expect(try Self.reply(old) == "")
        }
        #expect(answers == 1)
    }
}
