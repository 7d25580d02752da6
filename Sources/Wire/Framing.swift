internal import FoundationEssentials

/// Varlink's framing: each message is one JSON object followed by one NUL byte.
public enum Frame {
    /// Encodes a message with its NUL; keys are sorted, so the same message always gives the same bytes.
    package static func encode(_ message: some Encodable) -> [UInt8] {
        let json = data(message)
        var bytes: [UInt8] = []
        // At once: an array that grows by its last byte takes twice the room, and a frame may wait for its client.
        bytes.reserveCapacity(json.count + 1)
        bytes.append(contentsOf: json)
        bytes.append(0)
        return bytes
    }

    /// Encodes a value as one line of JSON with sorted keys.
    package static func json(_ value: some Encodable) -> [UInt8] { Array(data(value)) }

    private static func data(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(value)
        } catch {
            // Every message is made of strings, integers, booleans, arrays and objects: all of them can be written.
            preconditionFailure("a message could not be written as JSON: \(error)")
        }
    }

    /// Decodes a message without its NUL.
    package static func decode<Message: Decodable>(_ type: Message.Type, from bytes: [UInt8]) throws -> Message {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// Bytes that came in pieces, given back message by message.
package struct FrameBuffer: Sendable {
    /// A message was longer than the limit.
    package struct TooLong: Error {}

    private var bytes: [UInt8] = []
    /// Where the next message begins.
    private var start = 0
    /// Where the search for a NUL goes on, so that no byte is looked at twice.
    private var searched = 0
    private let limit: Int

    /// - Parameter limit: the longest message in bytes, without its NUL.
    package init(limit: Int) { self.limit = limit }

    /// How many bytes are kept.
    package var count: Int { bytes.count }

    /// Whether a message has begun and is not complete.
    package var isPartial: Bool { start < bytes.count }

    /// Whether a complete message waits.
    package var hasMessage: Bool { bytes[searched...].contains(0) }

    /// Adds bytes as they came.
    package mutating func append(_ piece: some Sequence<UInt8>) { bytes.append(contentsOf: piece) }

    /// Takes the next complete message, without its NUL, or nil when there is none yet.
    package mutating func next() throws(TooLong) -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: 0) else {
            dropTaken()
            searched = bytes.count
            if bytes.count > limit { throw TooLong() }
            return nil
        }
        if end - start > limit { throw TooLong() }
        let message = Array(bytes[start..<end])
        start = end + 1
        searched = start
        if start == bytes.count { dropTaken() }
        return message
    }

    /// Gives back what was taken, and its room: that of many who wait would be much.
    private mutating func dropTaken() {
        guard start > 0 else { return }
        bytes = Array(bytes[start...])
        searched -= start
        start = 0
    }
}
