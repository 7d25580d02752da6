internal import SystemCalls
package import Wire

/// A connection to the daemon: calls go out, replies come in the same order. Blocking, for one thread.
///
/// ```swift
/// let connection = try Connection(path: "/run/ifcount/io.ifcount")
/// let reply = try connection.call(Get.method, Get.Parameters(interface: "utun0"), reply: Get.Reply.self)
/// ```
package final class Connection {
    /// How long `call` waits for its answer, in ms. The daemon answers from memory.
    package static let patience: Int32 = 10_000

    /// Room for the readings of 100,000 links; a longer message is not the daemon's.
    private static let longestMessage = 1 << 27

    private let socket: Descriptor
    private var buffer = FrameBuffer(limit: longestMessage)
    private var chunk = [UInt8](repeating: 0, count: 65536)

    /// Connects to a socket path, or to an abstract name that begins with "@".
    ///
    /// - Throws: `.notReachable`.
    package init(path: String) throws(ClientError) {
        do {
            socket = try UnixSocket.connect(to: path, nonblocking: true)
        } catch {
            throw .notReachable(path: path, error)
        }
    }

    /// The descriptor, to be polled: readable when `next` may have something.
    package var number: Int32 { socket.number }

    /// Asks one question and waits for its answer, at most `patience`.
    ///
    /// - Throws: `.refused` for a Varlink error, or why there is no answer.
    package func call<Answer: Decodable>(
        _ method: String,
        _ parameters: some Encodable,
        reply: Answer.Type
    ) throws(ClientError) -> Answer {
        try send(Request(method: method, parameters: parameters))
        let message = try receive(milliseconds: Self.patience)
        guard let message else { throw .timedOut }
        return try Self.parameters(of: message, as: reply).parameters
    }

    /// Starts a stream of readings; `nextReply` gives them one by one.
    package func watch(interfaces: [String]?, intervalUSec: Int?) throws(ClientError) {
        try stream(Watch.method, Watch.Parameters(interfaces: interfaces, intervalUSec: intervalUSec))
    }

    /// The next reply of `watch`.
    ///
    /// - Parameter milliseconds: how long to wait at most; 0 only takes what is there, −1 waits for ever.
    /// - Returns: nil when nothing came in time.
    /// - Throws: `.closed` also when the daemon says that the stream has ended.
    package func nextReply(milliseconds: Int32) throws(ClientError) -> Watch.Reply? {
        guard let reply = try next(Watch.Reply.self, milliseconds: milliseconds) else { return nil }
        guard reply.continues else { throw .closed }
        return reply.parameters
    }

    /// Asks for a stream of replies; `next` gives them one by one.
    package func stream(_ method: String, _ parameters: some Encodable) throws(ClientError) {
        try send(Request(method: method, parameters: parameters, more: true))
    }

    /// The next reply of a stream.
    ///
    /// - Parameters:
    ///   - type: what the method answers.
    ///   - milliseconds: how long to wait at most; 0 only takes what is there, −1 waits for ever.
    /// - Returns: the reply and whether more follow; nil when nothing came in time.
    /// - Throws: `.refused` for a Varlink error, or why there is no reply.
    package func next<Answer: Decodable>(
        _ type: Answer.Type,
        milliseconds: Int32
    ) throws(ClientError) -> (parameters: Answer, continues: Bool)? {
        guard let message = try receive(milliseconds: milliseconds) else { return nil }
        return try Self.parameters(of: message, as: type)
    }

    /// Sends a call as it is.
    package func send(_ call: Call) throws(ClientError) {
        try write(Frame.encode(call))
    }

    /// Waits for the next reply, whatever its method, as JSON.
    ///
    /// - Returns: its parameters, and whether more replies follow.
    package func nextValue() throws(ClientError) -> (parameters: JSONValue, continues: Bool) {
        guard let message = try receive(milliseconds: -1) else { throw .closed }
        return try Self.parameters(of: message, as: JSONValue.self)
    }

    private func send(_ request: Request<some Encodable>) throws(ClientError) {
        try write(Frame.encode(request))
    }

    private func write(_ bytes: [UInt8]) throws(ClientError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(try UnixSocket.send(number, rest))
            } catch {
                guard error == .wouldBlock, (try? waitWritable(number)) != nil else { throw .closed }
            }
        }
    }

    private func receive(milliseconds: Int32) throws(ClientError) -> [UInt8]? {
        let deadline = Clock.boot + UInt64(max(milliseconds, 0)) * 1000
        while true {
            do {
                if let message = try buffer.next() { return message }
            } catch {
                throw .malformed("a message of more than \(Self.longestMessage) bytes")
            }
            let left = deadline > Clock.boot ? Int32((deadline - Clock.boot + 999) / 1000) : 0
            do {
                guard try waitReadable([number], milliseconds: milliseconds < 0 ? -1 : left)[0] else {
                    if milliseconds >= 0, left == 0 { return nil }
                    continue
                }
                let count = try socket.read(into: &chunk)
                if count == 0 { throw ClientError.closed }
                buffer.append(chunk[..<count])
            } catch {
                if error as? Errno != .wouldBlock { throw .closed }
            }
        }
    }

    private static func parameters<Value: Decodable>(
        of message: [UInt8],
        as type: Value.Type
    ) throws(ClientError) -> (parameters: Value, continues: Bool) {
        let incoming: Incoming<Value>
        do { incoming = try Frame.decode(Incoming<Value>.self, from: message) } catch {
            throw .malformed("not what the method answers")
        }
        switch incoming.content {
        case .parameters(let value): return (value, incoming.continues)
        case .error(let name, let parameters): throw .refused(error: name, parameters: parameters)
        }
    }
}

/// A call whose parameters are a type of their own.
private struct Request<Parameters: Encodable>: Encodable {
    var method: String
    var parameters: Parameters
    var more: Bool?
}

/// A reply, decoded in one pass: the shape of its parameters depends on whether it is an error.
private struct Incoming<Value: Decodable>: Decodable {
    enum Content {
        case parameters(Value)
        case error(String, JSONValue)
    }

    private enum CodingKeys: CodingKey { case parameters, error, continues }

    var content: Content
    var continues: Bool

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        continues = try container.decodeIfPresent(Bool.self, forKey: .continues) ?? false
        let empty = JSONValue.object([:])
        if let name = try container.decodeIfPresent(String.self, forKey: .error) {
            let parameters = try container.decodeIfPresent(JSONValue.self, forKey: .parameters)
            content = .error(name, parameters ?? empty)
        } else if !container.contains(.parameters), let value = empty as? Value {
            // A method without results may leave its parameters out.
            content = .parameters(value)
        } else {
            content = .parameters(try container.decode(Value.self, forKey: .parameters))
        }
    }
}
