internal import Wire

/// The table of `ifcount history`.
struct HistoryView: Sendable {
    let reply: GetHistory.Reply
    let labels: PeriodLabels
    /// The zone of the labels, where it is not that of the reply.
    let labelZone: String
    let wantsForecast: Bool
    let style: Style

    /// The longest and the shortest bars that help.
    private static let bars = 8...60

    /// - Parameter width: how many columns there are; nil for no terminal, and so no bars.
    /// - Returns: a heading, a row for each period, what is to be said of them, and their total.
    func lines(width: Int?) -> [Line] {
        let what = "estimate of the bytes through \(reply.interface) by \(labels.noun), time zone \(reply.timezone)"
        let place = labelZone == reply.timezone ? "" : "; times in \(labelZone)"
        let heading = Line.wrap(what + place, .faint, indent: 0, width: width ?? .max, style)
        if reply.rows.isEmpty {
            return heading + wrap("nothing is kept of \(reply.interface) for that time", width) + remarks(width)
        }
        let present = present(width)
        guard var table = table(width).lines(style, width: width) else {
            let blocks = zip(labels.full, reply.rows).flatMap { stacked($0, $1, notes($1)) }
            return heading + blocks + present + stacked("total", total, totalNotes) + remarks(width)
        }
        table.insert(contentsOf: present, at: table.count - 1)
        return heading + table + remarks(width)
    }

    // MARK: Rows

    private func table(_ width: Int?) -> Table {
        var table = Table(
            columns: [
                Table.Column("period"),
                Table.Column("down", isNumber: true, dispensable: 1),
                Table.Column("up", isNumber: true, dispensable: 1),
                Table.Column("total", isNumber: true),
            ],
            rows: zip(labels.column, reply.rows).map(figures) + [figures("total", total)]
        )
        let notes = reply.rows.map(notes) + [totalNotes]
        if notes.contains(where: { !$0.isEmpty }) { table.insert(Table.Column("notes", dispensable: 2), notes, at: 4) }
        guard let width else { return table }
        let room = min(width - table.width(style) - 2, Self.bars.upperBound)
        guard room >= Self.bars.lowerBound else { return table }
        let largest = reply.rows.map { $0.both.bytes }.max() ?? 0
        let bars = reply.rows.map { row in
            Bar.text(row.both.bytes, light: row.spread, of: largest, columns: room, style)
        }
        table.insert(Table.Column("", dispensable: 3), bars + [""], at: 4)
        return table
    }

    private func figures(_ label: String, _ row: GetHistory.Row) -> [String] {
        [label, figure(row.rx, row.rxSpreadBytes), figure(row.tx, row.txSpreadBytes), figure(row.both, row.spread)]
    }

    /// Where no table fits.
    private func stacked(_ label: String, _ row: GetHistory.Row, _ notes: String) -> [Line] {
        return [
            Line(label, .strong),
            Line(" down \(figure(row.rx, row.rxSpreadBytes))"),
            Line(" up \(figure(row.tx, row.txSpreadBytes))"),
            Line(" total \(figure(row.both, row.spread))"),
        ] + (notes.isEmpty ? [] : [Line(" " + notes)])
    }

    /// What was spread is about as much, and no bound of anything.
    private func figure(_ amount: Amount, _ spread: Int) -> String {
        spread > 0 ? "\(style.about) \(Figures.bytes(amount.bytes))" : Figures.total(amount, style)
    }

    private func notes(_ row: GetHistory.Row) -> String {
        var notes: [String] = []
        if row.spread > 0 { notes.append("spread") }
        if row.imported { notes.append("imported") }
        if row.gaps > 0 { notes.append(Figures.count(row.gaps, "gap")) }
        return notes.joined(separator: ", ")
    }

    /// Whether there are gaps, and not how many: one that reaches over several rows is counted in each of them.
    private var totalNotes: String {
        let isGapped = reply.rows.contains { $0.gaps > 0 }
        let words = [total.spread > 0 ? "spread" : nil, isGapped ? "gaps" : nil]
        return words.compactMap(\.self).joined(separator: ", ")
    }

    /// All rows together.
    private var total: GetHistory.Row {
        var total = GetHistory.Row(
            startUSec: reply.rows.first?.startUSec ?? 0,
            endUSec: reply.rows.last?.endUSec ?? 0,
            rx: Amount(bytes: 0, atMost: 0, packets: 0),
            tx: Amount(bytes: 0, atMost: 0, packets: 0),
            quality: .continuous,
            gaps: 0,
            rxSpreadBytes: 0,
            txSpreadBytes: 0,
            imported: false
        )
        for row in reply.rows {
            total.rx = total.rx + row.rx
            total.tx = total.tx + row.tx
            total.rxSpreadBytes = total.rxSpreadBytes.adding(row.rxSpreadBytes)
            total.txSpreadBytes = total.txSpreadBytes.adding(row.txSpreadBytes)
        }
        return total
    }

    // MARK: Sentences

    /// How much of the period that is not over has passed, and what may become of it.
    private func present(_ width: Int?) -> [Line] {
        guard let row = reply.rows.last, let label = labels.full.last, row.startUSec <= reply.nowUSec,
            reply.nowUSec < row.endUSec
        else {
            return wantsForecast ? wrap("no forecast: the last period here is over", width) : []
        }
        // A daemon may answer anything: no difference of two moments is too large for these.
        let passed = Double(reply.nowUSec) - Double(row.startUSec)
        let length = Double(row.endUSec) - Double(row.startUSec)
        let percent = Int(passed / length * 100)
        let lines = wrap("\(percent == 0 ? "less than 1" : "\(percent)") % of the \(labels.noun) so far", width)
        if !wantsForecast { return lines }
        guard passed * 20 >= length else {
            return lines + wrap("too early for a forecast: it takes 5 % of the \(labels.noun)", width)
        }
        func whole(_ bytes: Int) -> String {
            let forecast = Double(max(bytes, 0)) * length / passed
            return Figures.bytes(forecast < 9e18 ? Int(forecast) : .max)
        }
        let figures = "\(whole(row.rx.bytes)) down, \(whole(row.tx.bytes)) up, \(whole(row.both.bytes)) total"
        let basis = row.quality == .gapped ? " from figures that are not complete" : ""
        return lines + wrap("forecast for \(label), if it goes on like this\(basis): \(figures)", width)
    }

    private func remarks(_ width: Int?) -> [Line] {
        var remarks: [String] = []
        if reply.rows.contains(where: { $0.spread > 0 }) {
            remarks.append("spread: known for a longer time only, and shared out evenly over it")
        }
        if reply.untimedRxBytes > 0 || reply.untimedTxBytes > 0 {
            let (down, up) = (Figures.bytes(reply.untimedRxBytes), Figures.bytes(reply.untimedTxBytes))
            remarks.append("in no period, as the clock was not set then: \(down) down, \(up) up")
        }
        return remarks.flatMap { wrap($0, width, indent: 0) }
    }

    private func wrap(_ text: String, _ width: Int?, indent: Int = 2) -> [Line] {
        Line.wrap(text, .faint, indent: indent, width: width ?? .max, style)
    }
}

extension GetHistory.Row {
    /// Both directions together.
    var both: Amount { rx + tx }

    /// What was spread, in both directions.
    var spread: Int { rxSpreadBytes.adding(txSpreadBytes) }
}

extension Amount {
    static func + (left: Amount, right: Amount) -> Amount {
        var most: Int?
        if let one = left.atMost, let other = right.atMost { most = one.adding(other) }
        return Amount(
            bytes: left.bytes.adding(right.bytes),
            atMost: most,
            packets: left.packets.adding(right.packets)
        )
    }
}

extension Int {
    /// The sum, or the largest number where it is larger: a daemon may answer anything.
    fileprivate func adding(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
