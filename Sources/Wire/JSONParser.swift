extension JSONValue {
    /// The bytes are no JSON text, or one that is not taken.
    package struct Malformed: Error, Hashable {}

    /// How deep arrays and objects may be nested. No method takes more than four levels, and each costs stack.
    package static let deepest = 64

    /// Parses a JSON text of somebody who need not be trusted (RFC 8259): in one pass, strictly.
    ///
    /// FoundationEssentials' decoder is for texts that are known to be what is expected: it lets trailing commas and
    /// duplicate names pass, and its time grows with the depth times the number of values, to minutes for 64 KiB.
    ///
    /// A name that is there twice in one object is refused, as nobody could say which of the two was meant; so are names
    /// that differ in nothing but their Unicode normalisation.
    ///
    /// - Parameter bytes: the text, in UTF-8.
    /// - Throws: `Malformed`.
    package init(parsing bytes: [UInt8]) throws(Malformed) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.text()
    }
}

/// A place in a JSON text, and what stands there.
private struct JSONParser {
    let bytes: [UInt8]
    var place = 0

    typealias Malformed = JSONValue.Malformed

    /// One value, and nothing behind it.
    mutating func text() throws(Malformed) -> JSONValue {
        let value = try value(depth: 0)
        guard place == bytes.count else { throw Malformed() }
        return value
    }

    /// A value, with the white space on both of its sides.
    private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
        skipSpace()
        let value: JSONValue
        switch next {
        case UInt8(ascii: "{"): value = .object(try members(depth: depth + 1))
        case UInt8(ascii: "["): value = .array(try elements(depth: depth + 1))
        case UInt8(ascii: "\""): value = .string(try string())
        case UInt8(ascii: "t"): value = try word("true", .bool(true))
        case UInt8(ascii: "f"): value = try word("false", .bool(false))
        case UInt8(ascii: "n"): value = try word("null", .null)
        default: value = try number()
        }
        skipSpace()
        return value
    }

    private mutating func members(depth: Int) throws(Malformed) -> [String: JSONValue] {
        guard depth <= JSONValue.deepest else { throw Malformed() }
        place += 1
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take("}") { return members }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            guard take(":") else { throw Malformed() }
            guard members.updateValue(try value(depth: depth), forKey: name) == nil else { throw Malformed() }
        } while take(",")
        guard take("}") else { throw Malformed() }
        return members
    }

    private mutating func elements(depth: Int) throws(Malformed) -> [JSONValue] {
        guard depth <= JSONValue.deepest else { throw Malformed() }
        place += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return elements }
        repeat { elements.append(try value(depth: depth)) } while take(",")
        guard take("]") else { throw Malformed() }
        return elements
    }

    // MARK: - Strings

    private mutating func string() throws(Malformed) -> String {
        guard take("\"") else { throw Malformed() }
        var characters: [UInt8] = []
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: characters, as: UTF8.self) else { throw Malformed() }
                return string
            case UInt8(ascii: "\\"): characters += try escaped()
            case 0..<0x20: throw Malformed()
            default: characters.append(byte)
            }
        }
        throw Malformed()
    }

    /// The character behind a backslash.
    private mutating func escaped() throws(Malformed) -> [UInt8] {
        guard let byte = next else { throw Malformed() }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(try scalar()).utf8)
        default: throw Malformed()
        }
    }

    /// The character of `\uXXXX`; beyond the first 65,536 there are two of them, a pair of surrogates.
    private mutating func scalar() throws(Malformed) -> Unicode.Scalar {
        var units = [try unit()]
        if UTF16.isLeadSurrogate(units[0]) {
            guard take("\\"), take("u") else { throw Malformed() }
            units.append(try unit())
        }
        var decoder = UTF16()
        var iterator = units.makeIterator()
        // A surrogate without its other half is no character.
        guard case .scalarValue(let scalar) = decoder.decode(&iterator), iterator.next() == nil else {
            throw Malformed()
        }
        return scalar
    }

    private mutating func unit() throws(Malformed) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw Malformed()
            }
            unit = unit << 4 | UInt16(digit)
            place += 1
        }
        return unit
    }

    // MARK: - Numbers and words

    private mutating func number() throws(Malformed) -> JSONValue {
        let start = place
        _ = take("-")
        if !take("0") { try digits() }
        let isWhole = next != UInt8(ascii: ".") && next != UInt8(ascii: "e") && next != UInt8(ascii: "E")
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw Malformed() }
        // Some write 1.0 for 1. Beyond 2^53 the digits behind the point may be lost, and nothing tells.
        if !isWhole, number.magnitude <= 0x1p53, let integer = Int(exactly: number) { return .integer(integer) }
        return .number(number)
    }

    private mutating func digits() throws(Malformed) {
        let start = place
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        if place == start { throw Malformed() }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Malformed) -> JSONValue {
        for scalar in word.description.unicodeScalars { guard take(scalar) else { throw Malformed() } }
        return value
    }

    // MARK: - Bytes

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// Passes a character of ASCII over, if it is the next.
    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard let byte = next, byte == UInt8(ascii: scalar) else { return false }
        place += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }
}
