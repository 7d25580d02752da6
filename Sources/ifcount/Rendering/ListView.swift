internal import Wire

/// The table of `ifcount list`.
enum ListView {
    /// - Parameters:
    ///   - readings: what to show, in this order.
    ///   - width: how many columns there are; nil for no limit.
    ///   - now: the wall clock, µs since 1970.
    ///   - style: what the reader can show.
    /// - Returns: a heading, the columns' headings, and one line for each interface.
    static func lines(_ readings: [Reading], width: Int?, now: Int, _ style: Style) -> [Line] {
        let title = Line("estimate of the bytes that went through each interface", .faint)
        if readings.isEmpty { return [title, Line("there is no interface")] }
        let table = Table(
            columns: [
                Table.Column("name", shrinksTo: 15),
                Table.Column("kind", dispensable: 3),
                Table.Column("state", dispensable: 2),
                Table.Column("down", isNumber: true, dispensable: 1),
                Table.Column("up", isNumber: true, dispensable: 1),
                Table.Column("received", isNumber: true),
                Table.Column("sent", isNumber: true),
                Table.Column("since", dispensable: 4),
                Table.Column("notes", dispensable: 5),
            ],
            rows: readings.map { reading in
                [
                    reading.interface,
                    reading.kind,
                    reading.state,
                    reading.rate.map { Figures.rate($0.rxBytesPerSecond) } ?? style.none,
                    reading.rate.map { Figures.rate($0.txBytesPerSecond) } ?? style.none,
                    Figures.total(reading.total.rx, style),
                    Figures.total(reading.total.tx, style),
                    Moment.short(reading.total.sinceUSec, now: now),
                    notes(reading),
                ]
            }
        )
        return [title] + (table.lines(style, width: width) ?? readings.flatMap { stacked($0, style) })
    }

    /// Where no table fits.
    private static func stacked(_ reading: Reading, _ style: Style) -> [Line] {
        [
            Line(reading.interface, .strong),
            Line(" rx \(Figures.total(reading.total.rx, style))"),
            Line(" tx \(Figures.total(reading.total.tx, style))"),
        ]
    }

    private static func notes(_ reading: Reading) -> String {
        var notes: [String] = []
        if reading.total.resets > 0 { notes.append(Figures.count(reading.total.resets, "reset")) }
        if reading.total.gaps > 0 { notes.append(Figures.count(reading.total.gaps, "gap")) }
        if reading.total.suspect > 0 { notes.append("\(Figures.count(reading.total.suspect, "reading")) set aside") }
        if !reading.warnings.isEmpty { notes.append(Figures.count(reading.warnings.count, "warning")) }
        return notes.joined(separator: ", ")
    }
}
