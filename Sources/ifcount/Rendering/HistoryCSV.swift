internal import Wire

/// A history as comma-separated values (RFC 4180): exact integers, times in UTC, and nothing where there is no bound.
enum HistoryCSV {
    private static let header = [
        "label", "interface", "period", "timezone", "start", "end", "rx_bytes", "rx_at_most", "tx_bytes", "tx_at_most",
        "rx_packets", "tx_packets", "quality", "gaps", "rx_spread_bytes", "tx_spread_bytes", "imported",
    ]

    /// - Parameters:
    ///   - reply: what the daemon answered.
    ///   - labels: the names of its periods.
    ///   - zone: the zone of the labels.
    /// - Returns: a header and a record for each row; each line ends with CR and LF.
    static func text(_ reply: GetHistory.Reply, _ labels: PeriodLabels, zone: String) -> String {
        let records = zip(labels.full, reply.rows).map { label, row in
            [
                reply.label, reply.interface, label, zone, Moment.iso(row.startUSec), Moment.iso(row.endUSec),
                "\(row.rx.bytes)", row.rx.atMost.map(String.init) ?? "",
                "\(row.tx.bytes)", row.tx.atMost.map(String.init) ?? "",
                "\(row.rx.packets)", "\(row.tx.packets)", row.quality.rawValue, "\(row.gaps)",
                "\(row.rxSpreadBytes)", "\(row.txSpreadBytes)", "\(row.imported)",
            ]
        }
        return ([header] + records).map { $0.map(field).joined(separator: ",") + "\r\n" }.joined()
    }

    /// Control characters, which a name may hold, are written as everywhere: the file may be read on a terminal.
    private static func field(_ text: String) -> String {
        let safe = SafeText.visible(text, unicode: true)
        guard safe.contains(where: { $0 == "," || $0 == "\"" }) else { return safe }
        return "\"" + safe.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}
