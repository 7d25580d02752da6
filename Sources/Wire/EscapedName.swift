/// An interface's name as text. The kernel allows any bytes but NUL, "/" and white space; JSON allows only Unicode.
public enum EscapedName {
    /// Writes bytes that are not UTF-8 as `\xHH`, and the backslash of a literal `\xHH` as `\x5c`, so that no two names
    /// give the same text.
    public static func encode(_ name: some Collection<UInt8>) -> String {
        let bytes = Array(name)
        var text = ""
        var index = 0
        while index < bytes.count {
            let rest = bytes[index...]
            let lengths = (1...4).prefix { $0 <= rest.count }
            let valid = lengths.lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
            if let valid, !readsAsEscape(rest) {
                text += valid
                index += valid.utf8.count
            } else {
                text += escape(rest[rest.startIndex])
                index += 1
            }
        }
        return text
    }

    /// The bytes of a name: what `encode` was given. A `\xHH` of any byte is understood.
    public static func decode(_ text: String) -> [UInt8] {
        var name: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            if readsAsEscape(rest) {
                name.append(UInt8(String(decoding: rest.dropFirst(2).prefix(2), as: UTF8.self), radix: 16) ?? byte)
                rest = rest.dropFirst(4)
            } else {
                name.append(byte)
                rest = rest.dropFirst()
            }
        }
        return name
    }

    /// Writes one byte as `\xHH`.
    public static func escape(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "\\x0" + digits : "\\x" + digits
    }

    private static func readsAsEscape(_ bytes: ArraySlice<UInt8>) -> Bool {
        let four = Array(bytes.prefix(4))
        guard four.count == 4, four[0] == UInt8(ascii: "\\"), four[1] == UInt8(ascii: "x") else { return false }
        return four[2...].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}
