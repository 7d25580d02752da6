internal import Ledger
internal import Wire

/// Text from outside, made harmless: a link's name may hold escape sequences that reprogram a terminal, or characters
/// that turn the writing direction so that a line reads as another.
enum SafeText {
    /// Writes what a terminal would act on, or not show, as `\xHH` for each UTF-8 byte.
    ///
    /// - Parameters:
    ///   - text: anything. Text that is safe comes back as it is.
    ///   - unicode: whether the terminal shows UTF-8; otherwise everything beyond ASCII is written as `\xHH`.
    /// - Returns: the visible text.
    static func visible(_ text: String, unicode: Bool) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if unicode || scalar.isASCII, isVisible(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += Unicode.UTF8.encode(scalar).map { $0.map(LinkName.escape).joined() } ?? ""
            }
        }
        return result
    }

    /// Writes what `visible` would escape as JSON's own `\uXXXX`. The document stays the same: beyond its strings JSON is
    /// plain ASCII, and inside them the encoder has escaped U+0000 to U+001F already.
    static func json(_ document: [UInt8]) -> String {
        let text = String(decoding: document, as: UTF8.self)
        var result = ""
        for scalar in text.unicodeScalars {
            if isVisible(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in Unicode.UTF16.encode(scalar).map(Array.init) ?? [] {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            }
        }
        return result
    }

    /// How many columns a text takes, after `visible`.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    /// The longest beginning of a text that fits into a number of columns.
    static func prefix(_ text: String, columns: Int) -> String {
        var left = columns
        var result = ""
        for scalar in text.unicodeScalars {
            left -= width(scalar)
            if left < 0 { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        default: !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// The blocks that terminals show two columns wide (Unicode Standard Annex 11, W and F).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
