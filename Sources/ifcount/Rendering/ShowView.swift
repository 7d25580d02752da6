internal import Wire

/// The labelled block of `ifcount show`.
enum ShowView {
    /// Everything known of one interface; lines are not cut.
    static func lines(_ reading: Reading, _ style: Style) -> [Line] {
        let total = reading.total
        var pairs = [
            ("kind", reading.kind),
            ("state", reading.state),
            ("ifindex", reading.ifindex.map(String.init) ?? style.none),
            ("incarnation", "\(reading.incarnation)"),
            ("down now", reading.rate.map { Figures.rate($0.rxBytesPerSecond) } ?? style.none),
            ("up now", reading.rate.map { Figures.rate($0.txBytesPerSecond) } ?? style.none),
            ("received", amount(total.rx, style)),
            ("sent", amount(total.tx, style)),
            ("packets", both(total.rx.packets, total.tx.packets)),
            ("since", Moment.dateAndTime(total.sinceUSec)),
            ("quality", total.quality.rawValue),
            ("resets", Figures.thousands(total.resets)),
            ("gaps", gaps(total)),
        ]
        if total.suspect > 0 { pairs.append(("set aside", Figures.count(total.suspect, "reading"))) }
        if let counter = reading.counter {
            pairs += [
                ("raw counter", both(counter.rxBytes, counter.txBytes) + " (bytes of this link)"),
                ("errors", both(counter.rxErrors, counter.txErrors)),
                ("dropped", both(counter.rxDropped, counter.txDropped)),
            ]
        }
        pairs += [("sampled", Moment.dateAndTime(reading.sampledUSec)), ("source", reading.source)]
        var heading = Line(reading.interface, .strong)
        heading.append(": estimate")
        let facts = pairs.map { Line("  " + padded($0.0) + $0.1) }
        let warnings = reading.warnings.map { Line("  " + padded("warning") + $0, .warning) }
        return [heading] + facts + warnings
    }

    private static func padded(_ label: String) -> String {
        label + String(repeating: " ", count: max(13 - label.count, 1))
    }

    private static func amount(_ amount: Amount, _ style: Style) -> String {
        let bytes = "\(Figures.thousands(amount.bytes)) bytes"
        return "\(Figures.total(amount, style)), \(bytes), \(Figures.bound(amount))"
    }

    private static func both(_ received: Int, _ sent: Int) -> String {
        "\(Figures.thousands(received)) received, \(Figures.thousands(sent)) sent"
    }

    private static func gaps(_ total: Total) -> String {
        let unobserved = total.unobservedUSec > 0 ? ", unobserved for \(Figures.duration(total.unobservedUSec))" : ""
        return Figures.thousands(total.gaps) + unobserved
    }
}
