/// One line for people, made of pieces. Whatever stands in it is made safe when it is written, so no caller can forget.
struct Line: Hashable, Sendable {
    /// What a piece is, for those who can see it; the words alone must say everything.
    enum Weight: String, Sendable {
        case plain = ""
        case strong = "1"
        case faint = "2"
        case warning = "33"
    }

    private struct Span: Hashable, Sendable {
        var text: String
        var weight: Weight
    }

    private var spans: [Span]

    init(_ text: String = "", _ weight: Weight = .plain) { spans = [Span(text: text, weight: weight)] }

    mutating func append(_ text: String, _ weight: Weight = .plain) { spans.append(Span(text: text, weight: weight)) }

    /// The line as it goes out, without its end.
    ///
    /// - Parameters:
    ///   - style: what the reader can show.
    ///   - width: how many columns there are; what is longer is cut, and marked as cut. Nil for no limit.
    /// - Returns: text of at most `width` columns.
    func text(_ style: Style, width: Int? = nil) -> String {
        var pieces = spans.map { Span(text: style.safe($0.text), weight: $0.weight) }
        if let width, pieces.reduce(0, { $0 + SafeText.width($1.text) }) > width {
            var left = max(width - 1, 0)
            pieces = pieces.map { piece in
                let text = SafeText.prefix(piece.text, columns: left)
                // A wide character that did not fit ends the line for the pieces behind it, too.
                left = text == piece.text ? left - SafeText.width(text) : 0
                return Span(text: text, weight: piece.weight)
            }
            if width > 0 { pieces.append(Span(text: style.cut, weight: .faint)) }
        }
        return pieces.reduce("") { line, piece in
            guard style.isColored, piece.weight != .plain, !piece.text.isEmpty else { return line + piece.text }
            return line + "\u{1B}[\(piece.weight.rawValue)m\(piece.text)\u{1B}[0m"
        }
    }

    /// Breaks text between words into lines of at most `width` columns, each behind `indent`; a longer word stays whole.
    static func wrap(
        _ text: String,
        _ weight: Weight = .plain,
        indent: Int,
        width: Int,
        _ style: Style
    ) -> [Line] {
        var lines: [String] = []
        // Two spaces in a row stay two: there is an empty word between them.
        for word in style.safe(text).split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
            let space = indent + (lines.isEmpty ? 0 : 2)
            if let last = lines.last, SafeText.width(last) + 1 + SafeText.width(word) <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(repeating: " ", count: space) + word)
            }
        }
        return lines.map { line in
            let end = line.lastIndex { $0 != " " }
            return Line(end.map { String(line[...$0]) } ?? "", weight)
        }
    }
}
