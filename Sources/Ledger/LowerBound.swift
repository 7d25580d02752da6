/// A count of bytes (or packets) that were seen: it can be added to, and there is no way to make it smaller.
package struct LowerBound: Hashable, Sendable, Codable {
    /// The largest count, 2^63 − 1: what a signed integer of 64 bits holds, in JSON and in SQLite.
    package static let most = UInt64(Int64.max)

    /// What was counted.
    package private(set) var value: UInt64 = 0

    /// A count that begins at zero.
    package init() {}

    /// A count that goes on from what was saved.
    init(_ saved: UInt64) { value = min(saved, Self.most) }

    /// Adds what was seen. The count stays at `most` rather than wrap.
    ///
    /// - Returns: false when it could not take all of it.
    @discardableResult
    package mutating func add(_ seen: UInt64) -> Bool {
        let room = Self.most - value
        value += min(seen, room)
        return seen <= room
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self.init(try container.decode(UInt64.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
