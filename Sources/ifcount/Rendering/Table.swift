/// Aligned columns that leave the least important ones out where there is no room.
struct Table: Sendable {
    /// A column and how much it matters.
    struct Column: Sendable {
        var heading: String
        var isNumber: Bool
        /// The column with the highest number goes first when there is no room; 0 stays.
        var dispensable: Int
        /// The width to which its cells may be cut before a column goes; nil when a cut would make them wrong.
        var shrinksTo: Int?

        init(_ heading: String, isNumber: Bool = false, dispensable: Int = 0, shrinksTo: Int? = nil) {
            self.heading = heading
            self.isNumber = isNumber
            self.dispensable = dispensable
            self.shrinksTo = shrinksTo
        }
    }

    var columns: [Column]
    /// Each as long as `columns`.
    var rows: [[String]]

    /// Puts a column between the others, with a cell for each row.
    mutating func insert(_ column: Column, _ cells: [String], at index: Int) {
        columns.insert(column, at: index)
        for row in rows.indices { rows[row].insert(cells[row], at: index) }
    }

    /// How wide it is with all its columns.
    func width(_ style: Style) -> Int {
        Self.total(Array(columns.indices), widths(([columns.map(\.heading)] + rows).map { $0.map(style.safe) }))
    }

    /// The heading and the rows as lines.
    ///
    /// - Parameters:
    ///   - style: what the reader can show.
    ///   - width: how many columns there are; nil for no limit.
    /// - Returns: lines that fit, or nil when even the columns that stay have no room.
    func lines(_ style: Style, width: Int?) -> [Line]? {
        var cells = ([columns.map(\.heading)] + rows).map { $0.map(style.safe) }
        var widths = widths(cells)
        var kept = Array(columns.indices)
        if let width {
            let least = columns.indices.map { min(widths[$0], columns[$0].shrinksTo ?? .max) }
            while Self.total(kept, least) > width {
                guard let next = kept.max(by: { columns[$0].dispensable < columns[$1].dispensable }),
                    columns[next].dispensable > 0
                else { return nil }
                kept.removeAll { $0 == next }
            }
            for column in kept where columns[column].shrinksTo != nil {
                let excess = max(Self.total(kept, widths) - width, 0)
                widths[column] = max(widths[column] - excess, least[column])
                for row in cells.indices {
                    cells[row][column] = Line(cells[row][column]).text(style, width: widths[column])
                }
            }
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

    private func widths(_ cells: [[String]]) -> [Int] {
        columns.indices.map { column in cells.map { SafeText.width($0[column]) }.max() ?? 0 }
    }

    /// The width of a line with two blanks between columns.
    private static func total(_ kept: [Int], _ widths: [Int]) -> Int {
        kept.reduce(-2) { $0 + widths[$1] + 2 }
    }
}
