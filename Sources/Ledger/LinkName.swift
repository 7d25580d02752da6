/// The name of a network link, as the kernel keeps it: 1 to 15 bytes, compared as bytes.
///
/// A name need not be UTF-8, and two names that a reader takes for the same text (é written in two ways) are two
/// links. The name is therefore no `String`; `escaped` is its text form.
package struct LinkName: Hashable, Sendable {
    /// The longest name in bytes (IFNAMSIZ of netdevice(7), without its NUL).
    package static let longest = 15

    /// The bytes from the most significant end on, filled up with NULs, so that numbers sort as the bytes do.
    private let packed: UInt128

    /// - Parameter bytes: the name without a terminating NUL; nil when it is empty, longer than 15 bytes, or has a NUL.
    package init?(bytes: some Sequence<UInt8>) {
        var packed: UInt128 = 0
        var count = 0
        for byte in bytes {
            guard byte != 0, count < Self.longest else { return nil }
            packed |= UInt128(byte) << UInt128(120 - 8 * count)
            count += 1
        }
        guard count > 0 else { return nil }
        self.packed = packed
    }

    /// The bytes of the name.
    package var bytes: [UInt8] {
        var rest = packed
        var bytes: [UInt8] = []
        while rest != 0 {
            bytes.append(UInt8(truncatingIfNeeded: rest >> 120))
            rest <<= 8
        }
        return bytes
    }
}

extension LinkName: Comparable {
    package static func < (left: LinkName, right: LinkName) -> Bool { left.packed < right.packed }
}

// MARK: - The text form

extension LinkName {
    /// The name as text, reversible: UTF-8 stands as it is; a byte that is not UTF-8 is written `\xHH` in lower case;
    /// a backslash that would otherwise read as such an escape is written `\x5c`.
    package var escaped: String {
        let bytes = self.bytes
        var text = ""
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\\"), Self.escape(at: position, in: bytes) != nil {
                text += "\\x5c"
                position += 1
            } else if let character = Self.character(at: position, in: bytes) {
                text += character
                position += character.utf8.count
            } else {
                text += Self.escape(bytes[position])
                position += 1
            }
        }
        return text
    }

    /// Reads the text form. Any `\xHH` is taken for its byte, so that a name may also be written all in escapes.
    ///
    /// - Parameter escaped: nil results when no link can have this name.
    package init?(escaped: some StringProtocol) {
        let text = Array(escaped.utf8)
        var bytes: [UInt8] = []
        var position = 0
        while position < text.count {
            if let byte = Self.escape(at: position, in: text) {
                bytes.append(byte)
                position += 4
            } else {
                bytes.append(text[position])
                position += 1
            }
        }
        self.init(bytes: bytes)
    }

    /// The byte that `\xHH` at a position stands for, or nil when there is no such escape.
    private static func escape(at position: Int, in bytes: [UInt8]) -> UInt8? {
        guard position + 4 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "x"),
            let high = digit(bytes[position + 2]), let low = digit(bytes[position + 3])
        else { return nil }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Writes one byte as `\xHH`.
    package static func escape(_ byte: UInt8) -> String {
        (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16)
    }

    /// The one character of valid UTF-8 that begins at a position, or nil when the byte there begins none.
    private static func character(at position: Int, in bytes: [UInt8]) -> String? {
        for length in 1...4 where position + length <= bytes.count {
            if let text = String(validating: bytes[position..<position + length], as: UTF8.self) { return text }
        }
        return nil
    }
}

extension LinkName: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let name = LinkName(escaped: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no link can have this name")
        }
        self = name
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(escaped)
    }
}
