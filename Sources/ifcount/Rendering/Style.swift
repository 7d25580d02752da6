/// How to write for the reader at the other end: a terminal and what it can show, or a pipe.
struct Style: Hashable, Sendable {
    /// Whether escape sequences for colour and weight are understood and wanted.
    var isColored: Bool
    /// Whether UTF-8 is shown as such. A pipe always gets it: the same bytes in every locale.
    var isUnicode: Bool

    /// For a pipe or file.
    static let plain = Style(isColored: false, isUnicode: true)

    /// Before a total from which nothing is missing.
    var about: String { isUnicode ? "≈" : "~" }
    /// Before a total from which something may be missing.
    var atLeast: String { isUnicode ? "≥" : ">=" }
    /// In the place of a figure that there is not.
    var none: String { isUnicode ? "–" : "-" }
    /// At the end of a line that was cut.
    var cut: String { isUnicode ? "…" : ">" }

    /// `SafeText.visible` for this reader.
    func safe(_ text: String) -> String { SafeText.visible(text, unicode: isUnicode) }
}
