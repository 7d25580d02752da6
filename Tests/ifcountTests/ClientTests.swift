import SystemCalls
import Testing
import Wire

@testable import IfcountClient
@testable import ifcount

/// A reply as the daemon would send it.
func answer(_ json: String) -> [UInt8] { Array(json.utf8) + [0] }

@Suite struct ClientTests {
    @Test func asksAndIsAnswered() throws {
        let reading = Fixture.reading()
        let daemon = try FakeDaemon([[Frame.encode(Reply(parameters: Get.Reply(reading: reading)))]])
        var source = try DaemonSource(path: daemon.path)
        #expect(try source.get("utun0") == reading)
    }

    @Test func knowsAnInterfaceThatNeverWas() throws {
        let daemon = try FakeDaemon([
            [answer(#"{"error":"io.ifcount.NoSuchInterface","parameters":{"interface":"x"}}"#)]
        ])
        var source = try DaemonSource(path: daemon.path)
        #expect(try source.get("x") == nil)
    }

    @Test func tellsNobodyIsThere() {
        #expect(throws: ClientError.notReachable(path: "/nonexistent/s", .noEntry)) {
            try Connection(path: "/nonexistent/s")
        }
        #expect(throws: ClientError.notReachable(path: String(repeating: "s", count: 200), .nameTooLong)) {
            try Connection(path: String(repeating: "s", count: 200))
        }
    }

    struct Bad: CustomTestStringConvertible {
        var bytes: [UInt8]
        var error: ClientError
        var testDescription: String { String(decoding: bytes, as: UTF8.self) }
    }

    @Test(arguments: [
        Bad(bytes: [], error: .closed),
        Bad(bytes: answer("nonsense"), error: .malformed("not what the method answers")),
        Bad(bytes: answer("[]"), error: .malformed("not what the method answers")),
        Bad(bytes: answer("{}"), error: .malformed("not what the method answers")),
        Bad(bytes: answer(#"{"parameters":{"reading":3}}"#), error: .malformed("not what the method answers")),
        Bad(bytes: [0xFF, 0], error: .malformed("not what the method answers")),
        Bad(bytes: Array(#"{"parameters":"#.utf8), error: .closed),
        Bad(bytes: answer(#"{"error":"a.B"}"#), error: .refused(error: "a.B", parameters: .object([:]))),
    ])
    func survivesAnyAnswer(_ bad: Bad) throws {
        let daemon = try FakeDaemon([[bad.bytes]])
        let connection = try Connection(path: daemon.path)
        #expect(throws: bad.error) {
            try connection.call(Get.method, Get.Parameters(interface: "x"), reply: Get.Reply.self)
        }
    }

    @Test func printsWhateverAMethodAnswers() throws {
        let daemon = try FakeDaemon([[answer(#"{"parameters":{"new":[1,2.5,null]}}"#), answer("{}")]])
        let connection = try Connection(path: daemon.path)
        try connection.send(Call(method: "a.B", parameters: nil))
        let first = try connection.nextValue()
        #expect(first.parameters == .object(["new": .array([.integer(1), .number(2.5), .null])]))
        #expect(!first.continues)
        try connection.send(Call(method: "a.C", parameters: nil))
        #expect(try connection.nextValue().parameters == .object([:]))
    }

    @Test func aWatchOutlivesTheDaemon() throws {
        let ready = Frame.encode(
            Reply(parameters: Watch.Reply(ready: true, readings: nil, events: nil), continues: true)
        )
        let tick = Frame.encode(
            Reply(parameters: Watch.Reply(ready: nil, readings: [Fixture.reading()], events: nil), continues: true)
        )
        let daemon = try FakeDaemon([[ready], [ready + tick]])
        var source = try DaemonSource(path: daemon.path)
        try source.watch(interfaces: ["utun0"], intervalUSec: nil)

        var replies: [Watch.Reply] = []
        var notes: [String] = []
        let end = Clock.boot + 5_000_000
        while replies.count < 3, Clock.boot < end {
            if let reply = try source.next() {
                replies.append(reply)
            } else {
                if let note = source.note, note != notes.last { notes.append(note) }
                _ = try waitReadable(source.descriptors, milliseconds: source.timeoutMilliseconds ?? 100)
            }
        }
        #expect(replies.map(\.ready) == [true, true, nil])
        #expect(replies.last?.readings == [Fixture.reading()])
        #expect(notes == ["the daemon has gone; waiting for it at \(daemon.path)"])
        #expect(source.note == nil)
    }
}
