import Glibc
import SystemCalls

/// A daemon that says what it was told to say: on a thread of its own, one connection after the other, one answer for
/// each call; an empty answer closes.
struct FakeDaemon: ~Copyable {
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
