internal import History

/// What became of an import; as JSON, what `ifcount import --json` prints.
struct ImportReport: Codable, Hashable, Sendable {
    /// Why nothing of an interface is imported.
    enum Obstacle: String, Codable, Sendable {
        /// The daemon never saw it.
        case unknown
        /// There is nothing in it from before counting began.
        case nothingBefore
        /// The clock was not set when counting began, so nobody knows what was before.
        case clockNotSet
    }

    /// One interface.
    struct Outcome: Codable, Hashable, Sendable {
        var interface: String
        var skipped: Obstacle?
        /// When the daemon's own counting began, µs since 1970.
        var sinceUSec: Int?
        var spans = 0
        var rxBytes = 0
        var txBytes = 0
        /// From when to when it was imported, µs since 1970.
        var startUSec: Int?
        var endUSec: Int?
        /// What passed when the daemon counted itself.
        var laterRxBytes = 0
        var laterTxBytes = 0
        /// What nobody knows the time of.
        var unplacedRxBytes = 0
        var unplacedTxBytes = 0

        init(interface: String) { self.interface = interface }

        /// Takes the figures over.
        mutating func take(_ figures: VnstatImport.Figures) {
            let whole = figures.spans.reduce(Flow()) { $0 + $1.flow }
            spans = figures.spans.count
            (rxBytes, txBytes) = Self.bytes(whole)
            startUSec = figures.spans.first?.start
            endUSec = figures.spans.last?.end
            (laterRxBytes, laterTxBytes) = Self.bytes(figures.later)
            (unplacedRxBytes, unplacedTxBytes) = Self.bytes(figures.unplaced)
        }

        private static func bytes(_ flow: Flow) -> (rx: Int, tx: Int) {
            (Int(clamping: flow.rxBytes), Int(clamping: flow.txBytes))
        }
    }

    /// Always "estimate".
    private(set) var label = "estimate"
    /// Whether nothing was changed.
    var dryRun: Bool
    /// The zone that vnStat's dates were read in.
    var timezone: String
    var interfaces: [Outcome]

    init(dryRun: Bool, timezone: String, interfaces: [Outcome]) {
        self.dryRun = dryRun
        self.timezone = timezone
        self.interfaces = interfaces
    }
}
