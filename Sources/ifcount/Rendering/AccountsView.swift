internal import Wire

/// What `ifcount accounts` says.
enum AccountsView {
    /// The table of all accounts.
    ///
    /// - Parameters:
    ///   - readings: what to show, in this order.
    ///   - width: how many columns there are; nil for no limit.
    ///   - now: the wall clock, µs since 1970.
    ///   - style: what the reader can show.
    /// - Returns: a heading, the columns' headings, and one line for each account.
    static func lines(_ readings: [Reading], width: Int?, now: Int, _ style: Style) -> [Line] {
        let title = Line("estimate of all that is kept, by name", .faint)
        if readings.isEmpty { return [title, Line("nothing is kept yet")] }
        let table = Table(
            columns: [
                Table.Column("name", shrinksTo: 15),
                Table.Column("kind", dispensable: 2),
                Table.Column("state", dispensable: 1),
                Table.Column("received", isNumber: true),
                Table.Column("sent", isNumber: true),
                Table.Column("since", dispensable: 3),
                Table.Column("until", dispensable: 3),
            ],
            rows: readings.map { reading in
                [
                    reading.interface,
                    reading.kind,
                    reading.state,
                    Figures.total(reading.total.rx, style),
                    Figures.total(reading.total.tx, style),
                    Moment.short(reading.total.sinceUSec, now: now),
                    reading.present ? "now" : Moment.short(reading.sampledUSec, now: now),
                ]
            }
        )
        return [title] + (table.lines(style, width: width) ?? readings.map { Line($0.interface) })
    }

    /// What is asked before an account is forgotten.
    static func forgetting(_ reading: Reading, _ style: Style) -> String {
        let rest = reading.present ? " It is here, and is counted anew from now on." : ""
        return "Forget \(summary(reading, style)), its history and its events?\(rest)"
    }

    /// What is asked before an account goes to another name.
    static func moving(_ reading: Reading, to action: String, _ style: Style) -> String {
        "Take \(summary(reading, style)), its history and its events, and \(action)?"
    }

    private static func summary(_ reading: Reading, _ style: Style) -> String {
        let total = reading.total
        let figures = "\(Figures.total(total.rx, style)) received, \(Figures.total(total.tx, style)) sent"
        return "\"\(reading.interface)\" (\(figures) since \(Moment.dateAndTime(total.sinceUSec)))"
    }

    /// What is said when it is done.
    static func done(_ reply: Amended) -> [Line] {
        [
            Line("done; the history as it was before is kept, until you remove it, as"),
            Line("  \(reply.backup)"),
            Line("to go back to it, stop the daemon, then run"),
            Line("  ifcountd --restore \(reply.backup)"),
        ]
    }
}
