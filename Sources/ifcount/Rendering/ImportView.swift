internal import SystemCalls

/// The lines of `ifcount import`.
enum ImportView {
    /// What is going on.
    static func heading(_ report: ImportReport) -> [Line] {
        let what = report.dryRun ? "dry run, nothing is imported" : "imported into the history, not into totals"
        return [Line("estimate of the bytes that vnStat counted, time zone \(report.timezone): \(what)", .strong)]
    }

    /// What became of one interface.
    ///
    /// - Parameters:
    ///   - outcome: of the interface.
    ///   - clock: the zone that vnStat ran in.
    /// - Returns: a line, and one for each part that was left out.
    static func lines(_ outcome: ImportReport.Outcome, _ clock: borrowing TimeZoneClock) -> [Line] {
        let since = outcome.sinceUSec.map { moment($0, clock) } ?? ""
        if let obstacle = outcome.skipped {
            let reason =
                switch obstacle {
                case .unknown: "ifcount has never seen it"
                case .nothingBefore: "vnStat has nothing from before \(since), since when ifcount counts itself"
                case .clockNotSet: "the clock was not set when its counting began, so what was before is not known"
                }
            return [Line("\(outcome.interface)  skipped: \(reason)", .warning)]
        }
        let start = outcome.startUSec.map { moment($0, clock) } ?? ""
        let end = outcome.endUSec.map { moment($0, clock) } ?? ""
        let figures = bytes(outcome.rxBytes, outcome.txBytes)
        var lines = [
            Line("\(outcome.interface)  \(Figures.count(outcome.spans, "span")) from \(start) to \(end): \(figures)")
        ]
        if outcome.laterRxBytes > 0 || outcome.laterTxBytes > 0 {
            let figures = bytes(outcome.laterRxBytes, outcome.laterTxBytes)
            lines.append(Line("  left out: \(figures) since \(since), when ifcount began to count itself"))
        }
        if outcome.unplacedRxBytes > 0 || outcome.unplacedTxBytes > 0 {
            let figures = bytes(outcome.unplacedRxBytes, outcome.unplacedTxBytes)
            lines.append(Line("  left out: \(figures) of which vnStat does not tell the time"))
        }
        return lines
    }

    private static func bytes(_ rx: Int, _ tx: Int) -> String { "\(Figures.bytes(rx)) down, \(Figures.bytes(tx)) up" }

    private static func moment(_ wall: Int, _ clock: borrowing TimeZoneClock) -> String {
        let local = clock.local(wall)
        return "\(Moment.date(local)) \(Moment.hourAndMinute(local))"
    }
}
