/// Aligned columns that leave the least important ones out where there is no room.
struct Table: Sendable {
    /// A column and how much it matters.
    struct Column: Sendable {
        var heading: String
        var isNumber: Bool
        /// The column with the highest number goes first when there is no room; 0 stays.
        var dispensable: Int

        init(_ heading: String, isNumber: Bool = false, dispensable: Int = 0) {
            self.heading = heading
            self.isNumber = isNumber
            self.dispensable = dispensable
        }
    }

    var columns: [Column]
    /// Each as long as `columns`.
    var rows: [[String]]

    /// The heading and the rows as lines.
    ///
    /// - Parameters:
    ///   - style: what the reader can show.
    ///   - width: how many columns there are; nil for no limit.
    /// - Returns: lines that may still be too long when even the columns that stay have no room.
    func lines(_ style: Style, width: Int?) -> [Line] {
        let cells = ([columns.map(\.heading)] + rows).map { $0.map(style.safe) }
        let widths = columns.indices.map { column in cells.map { SafeText.width($0[column]) }.max() ?? 0 }
        var kept = Array(columns.indices)
        while let width, kept.map({ widths[$0] + 2 }).reduce(-2, +) > width {
            guard let next = kept.max(by: { columns[$0].dispensable < columns[$1].dispensable }),
                columns[next].dispensable > 0
            else { break }
            kept.removeAll { $0 == next }
        }
        return cells.enumerated().map { row, texts in
            var line = ""
            for column in kept {
                let padding = String(repeating: " ", count: widths[column] - SafeText.width(texts[column]))
                if column != kept.first { line += "  " }
                line += columns[column].isNumber ? padding + texts[column] : texts[column] + padding
            }
            while line.last == " " { line.removeLast() }
            return Line(line, row == 0 ? .strong : .plain)
        }
    }
}
