internal import TestLinks
internal import Wire

/// What a run came to, for people.
struct Report {
    private let lines: [String]
    /// Whether anything was found.
    let hasViolations: Bool

    init(of churn: Churn, peers: [(name: String, totals: [String: Carried]?)], soak: Soak?) {
        hasViolations = !churn.violations.isEmpty
        lines =
            Self.incidents(churn) + [""] + (soak.map { Self.resources($0) + [""] } ?? [])
            + Self.totals(churn, peers) + [""] + Self.findings(churn)
    }

    var text: String { lines.map { $0 + "\n" }.joined() }

    private static func incidents(_ churn: Churn) -> [String] {
        let sum = churn.tally.values.reduce(0, +)
        let seconds = churn.log.age / 1000
        let sys = churn.daemon.hasOwnSys ? "with" : "without"
        var lines = ["seed \(churn.arguments.seed), \(seconds) s, daemon \(sys) /sys of its namespace", ""]
        for incident in Incident.allCases {
            guard let count = churn.tally[incident] else { continue }
            lines.append(right(grouped(UInt64(count)), 9) + "  " + incident.rawValue)
        }
        lines.append(right(grouped(UInt64(sum)), 9) + "  incidents")
        lines.append(
            right(grouped(UInt64(churn.comparisons)), 9)
                + "  comparisons of \(churn.machine.truths.names.count) names; "
                + "\(churn.daemon.starts) daemons, events lost \(churn.daemon.overruns) times, saving awaited "
                + "\(churn.saves) times"
        )
        return lines
    }

    // MARK: - Totals

    private static func totals(_ churn: Churn, _ peers: [(name: String, totals: [String: Carried]?)]) -> [String] {
        let truths = churn.machine.truths
        let truth = truths.total
        var counted = Carried()
        var continuous = 0
        for name in truths.names.keys {
            guard let total = churn.readings[name]?.total else { continue }
            counted += Carried(rx: UInt64(total.rx.bytes), tx: UInt64(total.tx.bytes))
            if total.quality == .continuous { continuous += 1 }
        }
        let gapped = truths.names.count - continuous
        var lines = [left("", 34) + right("received", 18) + right("sent", 18) + right("error", 20)]
        lines.append(row("truth", truth))
        lines.append(row("ifcountd", counted, truth: truth))
        lines.append(left("", 34) + "\(continuous) names continuous, \(gapped) gapped: their totals are lower bounds")
        lines.append(row("seen without a break: truth", truths.seen.truth))
        lines.append(row("seen without a break: ifcountd", truths.seen.counted, truth: truths.seen.truth))
        for peer in peers {
            guard let totals = peer.totals else {
                lines.append("\(peer.name) says nothing")
                continue
            }
            let said = totals.filter { truths.names[$0.key] != nil }.values.reduce(into: Carried()) { $0 += $1 }
            lines.append(row(peer.name, said, truth: truth))
        }
        if churn.arguments.wantsPeers {
            for (name, package) in [("vnStat", "vnstat"), ("node_exporter", "prometheus-node-exporter")] {
                if !peers.contains(where: { $0.name.hasPrefix(name) }) {
                    lines.append("\(name) is absent (Debian's package \(package))")
                }
            }
        }
        return lines
    }

    private static func row(_ name: String, _ bytes: Carried, truth: Carried? = nil) -> String {
        var line = left(name, 34) + right(grouped(bytes.rx), 18) + right(grouped(bytes.tx), 18)
        if let truth { line += right(error(bytes.rx, truth.rx) + " " + error(bytes.tx, truth.tx), 20) }
        return line
    }

    /// How far a figure is from the truth: "-1.25%".
    private static func error(_ said: UInt64, _ truth: UInt64) -> String {
        if said == truth { return "0" }
        guard truth > 0 else { return "?" }
        let difference = said > truth ? said - truth : truth - said
        let hundredths = UInt64((Double(difference) / Double(truth) * 10_000).rounded())
        let fraction = String(100 + hundredths % 100).dropFirst()
        return (said > truth ? "+" : "-") + "\(hundredths / 100).\(fraction)%"
    }

    // MARK: - What the daemon takes

    private static func resources(_ soak: Soak) -> [String] {
        var lines = [
            "\(grouped(UInt64(soak.recreations))) links recreated in \(Int(soak.seconds)) s, "
                + "\(soak.manyLives.count) daemons; the history has \(grouped(UInt64(soak.historySize))) bytes",
            left("", 12) + right("one daemon", 26) + right("many daemons", 26),
            left("tenth", 12) + right("VmRSS kB", 16) + right("fds", 10) + right("VmRSS kB", 16) + right("fds", 10),
        ]
        for tenth in 0..<10 {
            var line = left("\(tenth + 1)", 12)
            for samples in [soak.oneLife, soak.manyLives] {
                let mean = Soak.mean(ofTenth: tenth, of: samples)
                line += right(grouped(UInt64(mean.memory)), 16) + right("\(mean.descriptors)", 10)
            }
            lines.append(line)
        }
        return lines
    }

    // MARK: - What was found

    private static func findings(_ churn: Churn) -> [String] {
        guard !churn.violations.isEmpty else { return ["no violations"] }
        let count = churn.violations.count
        return churn.violations.map { "VIOLATION \($0)" } + [
            "\(count) violation\(count == 1 ? "" : "s"); all that was done is in \(churn.log.path), the daemon's "
                + "history beside it; again: ifcount-churn --seed \(churn.arguments.seed)"
        ]
    }

    // MARK: - Columns

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
    }

    private static func grouped(_ number: UInt64) -> String {
        let digits = String(number)
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
            text.append(digit.element)
        }
    }
}
