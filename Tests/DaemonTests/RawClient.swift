import Glibc
import SystemCalls
import Testing
import Wire

/// A client that sends any bytes in any pieces, and waits for what comes back no longer than a deadline.
struct RawClient: ~Copyable {
    /// A deadline passed, or the stream ended, where something was to come.
    enum Failure: Error {
        case nothingCame(after: String)
        case closed(after: String)
    }

    let socket: Descriptor
    private var received: [UInt8] = []
    /// What was asked last, for the words of a failure.
    private var asked = ""

    /// Nothing takes this long, on the slowest machine.
    static let patience: Duration = .seconds(60)

    init(_ path: String) throws { socket = try UnixSocket.connect(to: path) }

    /// Sends bytes as they are; a daemon that has closed its end meanwhile is no failure here.
    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(try UnixSocket.send(socket.number, rest))
            } catch {
                if error == .brokenPipe { return }
                throw error
            }
        }
    }

    /// Sends a message with its NUL.
    mutating func send(_ message: String) throws {
        asked = String(message.prefix(200))
        try send(Array(message.utf8) + [0])
    }

    /// Says that nothing more will be sent (shutdown(2)).
    func finishSending() throws {
        let number = socket.number
        try retrying { shutdown(number, Int32(SHUT_WR)) }
    }

    /// The next frame, without its NUL; nil when the daemon closed the connection after the last one.
    mutating func next(within time: Duration = patience) throws -> [UInt8]? {
        let deadline = ContinuousClock.now + time
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: 0) {
                defer { received.removeSubrange(...end) }
                return Array(received[..<end])
            }
            searched = received.count
            if try !receive(until: deadline) {
                guard received.isEmpty else { throw Failure.closed(after: asked) }
                return nil
            }
        }
    }

    /// The next frame as text.
    mutating func text(within time: Duration = patience) throws -> String {
        guard let frame = try next(within: time) else { throw Failure.closed(after: asked) }
        return String(decoding: frame, as: UTF8.self)
    }

    /// The next frame as JSON.
    mutating func json() throws -> JSONValue {
        guard let frame = try next() else { throw Failure.closed(after: asked) }
        return try Frame.decode(JSONValue.self, from: frame)
    }

    /// The parameters of the next frame.
    mutating func reply<Parameters: Codable & Sendable>(_: Parameters.Type) throws -> Parameters {
        guard let frame = try next() else { throw Failure.closed(after: asked) }
        return try #require(
            try Frame.decode(Reply<Parameters>.self, from: frame).parameters,
            "\(String(decoding: frame, as: UTF8.self))"
        )
    }

    /// Asks, and takes one reply as text.
    mutating func call(_ method: String, _ parameters: String = "{}") throws -> String {
        try send(#"{"method":"\#(method)","parameters":\#(parameters)}"#)
        return try text()
    }

    /// The reading of an interface; nil when the daemon never saw it.
    mutating func get(_ interface: String) throws -> Reading? {
        try send(#"{"method":"io.ifcount.Get","parameters":{"interface":"\#(interface)"}}"#)
        guard let frame = try next() else { throw Failure.closed(after: asked) }
        return (try? Frame.decode(Reply<Get.Reply>.self, from: frame))?.parameters?.reading
    }

    /// Asks for an interface until its reading is as wanted.
    ///
    /// - Returns: that reading; after the deadline the last one, which the test's expectations then tell of.
    mutating func awaitReading(_ interface: String, _ isWanted: (Reading) -> Bool) throws -> Reading? {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let reading = try get(interface)
            if reading.map(isWanted) ?? false || ContinuousClock.now > deadline { return reading }
            usleep(10_000)
        }
    }

    /// Begins a watch; nil is all interfaces, or the daemon's own interval.
    mutating func watch(_ interfaces: [String]? = nil, interval: Int? = nil) throws {
        let parameters = Watch.Parameters(interfaces: interfaces, intervalUSec: interval)
        let json = String(decoding: Frame.json(parameters), as: UTF8.self)
        try send(#"{"method":"io.ifcount.Watch","parameters":\#(json),"more":true}"#)
    }

    /// Takes replies of a watch until one is as wanted.
    ///
    /// - Returns: all that came, the wanted one last.
    mutating func replies(until isWanted: (Watch.Reply) -> Bool) throws -> [Watch.Reply] {
        let deadline = ContinuousClock.now + Self.patience
        var replies: [Watch.Reply] = []
        while ContinuousClock.now < deadline {
            let reply = try reply(Watch.Reply.self)
            replies.append(reply)
            if isWanted(reply) { return replies }
        }
        throw Failure.nothingCame(after: asked)
    }

    /// Takes replies of a watch until an event is as wanted.
    ///
    /// - Returns: all events that came, the wanted one last.
    mutating func events(until isWanted: (Event) -> Bool) throws -> [Event] {
        let events = try replies { $0.events?.contains(where: isWanted) ?? false }.flatMap { $0.events ?? [] }
        return Array(events.prefix { !isWanted($0) } + events.filter(isWanted).prefix(1))
    }

    /// How many bytes wait in the socket (unix(7), FIONREAD).
    func waitingCount() throws -> Int {
        var count: Int32 = 0
        let number = socket.number
        try retrying { unsafe ioctl(number, UInt(FIONREAD), &count) }
        return Int(count)
    }

    /// Whether something has come that was not taken yet.
    func hasMore() throws -> Bool {
        if received.contains(0) { return true }
        return try waitReadable([socket.number], milliseconds: 0)[0]
    }

    /// Whether the daemon closes the connection, and says nothing before.
    mutating func isClosed(within time: Duration = patience) throws -> Bool {
        do { return try next(within: time) == nil } catch Failure.nothingCame { return false }
    }

    /// Takes what comes next.
    ///
    /// - Returns: false when the daemon has closed the connection.
    private mutating func receive(until deadline: ContinuousClock.Instant) throws -> Bool {
        while true {
            let left = deadline - .now
            guard left > .zero else { throw Failure.nothingCame(after: asked) }
            if try waitReadable([socket.number], milliseconds: Int32(left / .milliseconds(1)) + 1)[0] { break }
        }
        var buffer = [UInt8](repeating: 0, count: 65536)
        do {
            let count = try socket.read(into: &buffer)
            received += buffer[..<count]
            return count > 0
        } catch {
            // It closed while there was something of ours that it had not read.
            if error == .connectionReset { return false }
            throw error
        }
    }
}

/// A connection that is only held open.
final class HeldConnection {
    let socket: Descriptor

    /// A connection that there is already.
    init(_ socket: consuming Descriptor) { self.socket = socket }

    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - nonblocking: whether it never waits for room.
    /// - Throws: the `Errno` of connect(2).
    init(_ path: String, nonblocking: Bool = false) throws {
        socket = try UnixSocket.connect(to: path)
        if nonblocking { try socket.setNonblocking() }
    }

    /// Whether the daemon has closed the connection, what it has sent before still being there.
    func isGivenUp() throws -> Bool {
        var set = pollfd(fd: socket.number, events: 0, revents: 0)
        try retrying { unsafe poll(&set, 1, 0) }
        return set.revents & Int16(POLLHUP) != 0
    }

    /// Sends what the daemon takes at once.
    ///
    /// - Returns: how many bytes it took.
    @discardableResult
    func offer(_ bytes: some Collection<UInt8>) -> Int {
        var rest = Array(bytes)[...]
        while !rest.isEmpty, let count = try? UnixSocket.send(socket.number, rest) { rest = rest.dropFirst(count) }
        return bytes.count - rest.count
    }
}
