import Glibc
import SystemCalls
import Testing
import Wire

@testable import IfcountClient
@testable import ifcount

/// A daemon that says what it was told to say: on a thread of its own, one connection after the other, one answer for
/// each call; an empty answer closes.
private struct FakeDaemon: ~Copyable {
    let path: String

    init(_ connections: [[[UInt8]]]) throws {
        path = "/tmp/ifcount-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let listener = try UnixSocket.listen(at: path, backlog: 8).release()
        let thread = ThreadBody { Self.serve(Descriptor(owning: listener), connections) }
        thread.start()
    }

    deinit { try? File.remove(path) }

    private static func serve(_ listener: consuming Descriptor, _ connections: [[[UInt8]]]) {
        do {
            for answers in connections {
                while try !waitReadable([listener.number], milliseconds: 5000)[0] {}
                let client = try UnixSocket.accept(listener.number)
                var buffer = [UInt8](repeating: 0, count: 4096)
                for answer in answers {
                    _ = try waitReadable([client.number], milliseconds: 5000)
                    if try client.read(into: &buffer) == 0 || answer.isEmpty { break }
                    // In two pieces, as a stream may come.
                    _ = try UnixSocket.send(client.number, answer.prefix(5))
                    usleep(2000)
                    _ = try UnixSocket.send(client.number, answer.dropFirst(5))
                }
            }
        } catch {}
    }
}

private struct ThreadBody: Sendable {
    let body: @Sendable () -> Void

    func start() {
        let box = UnsafeMutablePointer<@Sendable () -> Void>.allocate(capacity: 1)
        box.initialize(to: body)
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { argument in
                let box = argument?.assumingMemoryBound(to: (@Sendable () -> Void).self)
                box?.move()()
                box?.deallocate()
                return nil
            },
            box
        )
        pthread_detach(thread)
    }
}

private func answer(_ json: String) -> [UInt8] { Array(json.utf8) + [0] }

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
