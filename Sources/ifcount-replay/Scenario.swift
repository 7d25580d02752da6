internal import FoundationEssentials
internal import Ledger

/// Readings over time, as a scenario file holds them, and the looks at the kernel that they stand for.
struct Scenario: Decodable {
    /// One dump of all links, and what happened since the dump before.
    struct Step: Decodable {
        /// Seconds on the boot clock.
        var t: Double
        /// Wall clock in UTC.
        var wall: Date?
        var boot: String?
        var netns: String?
        /// The daemon was not running between the step before and this one; its saved state survives.
        var daemonRestarted: Bool?
        var links: [Row]
        /// `new I`, `del I`, `down I`, `up I`, `rename I OLD NEW`, `arrived I`.
        var ev: [String]?
        /// Counters that delete messages carried.
        var closing: [Closing]?

        enum CodingKeys: String, CodingKey {
            case t, wall, boot, netns, links, ev, closing
            case daemonRestarted = "daemon_restarted"
        }
    }

    /// One link of a dump.
    struct Row: Decodable {
        var i: Int32
        var n: String
        var rx: UInt64
        var tx: UInt64
        /// Width in bits of the source.
        var w: Int?
        var kind: String?
    }

    struct Closing: Decodable {
        var i: Int32
        var rx: UInt64
        var tx: UInt64
    }

    var steps: [Step]
}

/// A scenario that cannot be replayed, and why.
struct ScenarioError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Replays scenarios: each step is one look, folded into a ledger.
struct Replay {
    private(set) var ledger: Ledger?
    /// The links as the last steps told them, for events that name them by number only.
    private var known: [Int32: Link] = [:]

    /// The boot and namespace of a step that names none.
    private static let defaultSession = Session(boot: "A", namespace: "init")

    /// Replays a whole scenario into one ledger.
    static func run(_ scenario: Scenario) throws -> Ledger {
        guard !scenario.steps.isEmpty else { throw ScenarioError("it has no steps") }
        var replay = Replay()
        for (number, step) in scenario.steps.enumerated() {
            do {
                try replay.take(step)
            } catch let error as ScenarioError {
                throw ScenarioError("step \(number + 1): \(error)")
            }
        }
        guard let ledger = replay.ledger else { throw ScenarioError("it has no steps") }
        return ledger
    }

    private mutating func take(_ step: Scenario.Step) throws {
        guard step.t >= 0, step.t < 1e12 else { throw ScenarioError("t is \(step.t), not a time in seconds") }
        let at = UInt64(step.t * 1_000_000)
        let wall = step.wall.map { Int($0.timeIntervalSince1970 * 1_000_000) } ?? Int(at)
        let session = Session(
            boot: step.boot ?? Self.defaultSession.boot,
            namespace: step.netns ?? Self.defaultSession.namespace
        )
        // Another boot or namespace is another daemon, whether the file says so or not.
        if let before = ledger, step.daemonRestarted == true || before.session != session {
            ledger = Ledger(resuming: try saved(before.state), in: session)
        }
        var ledger = self.ledger ?? Ledger(session: session)

        var scan = Scan(at: at)
        var links: [Link] = []
        for row in step.links {
            let link = try Self.link(row)
            links.append(link)
            guard let width = CounterWidth(rawValue: row.w ?? 64) else {
                throw ScenarioError("w is \(row.w ?? 0); a counter has 32 or 64 bits")
            }
            scan.samples.append((row.i, Self.sample(rx: row.rx, tx: row.tx, width: width)))
        }
        for event in step.ev ?? [] { try take(event, of: step, links, into: &scan) }
        scan.records.append(.roll(links, uncertain: []))
        for link in links { known[link.identity.ifindex] = link }
        _ = ledger.fold(scan, wall: wall)
        self.ledger = ledger
    }

    /// What a daemon that ends leaves to the next one: the state, written down and read again.
    private func saved(_ state: Ledger.State) throws -> Ledger.State {
        try JSONDecoder().decode(Ledger.State.self, from: try JSONEncoder().encode(state))
    }

    private mutating func take(
        _ event: String,
        of step: Scenario.Step,
        _ links: [Link],
        into scan: inout Scan
    ) throws {
        let words = event.split(separator: " ").map(String.init)
        guard words.count >= 2, let ifindex = Int32(words[1]) else {
            throw ScenarioError("event “\(event)” names no link; expected a word and an ifindex, such as “new 9”")
        }
        let row = step.links.first { $0.i == ifindex }
        guard var link = known[ifindex] ?? links.first(where: { $0.identity.ifindex == ifindex }) else {
            // It came and went between two dumps, and nothing tells its name.
            return
        }
        switch words[0] {
        case "new", "arrived":
            guard let now = links.first(where: { $0.identity.ifindex == ifindex }) else { return }
            link = now
            let sample = words[0] == "new" ? nil : row.map { Self.sample(rx: $0.rx, tx: $0.tx, width: .bits64) }
            scan.records.append(.link(link, sample))
        case "del":
            let closing = step.closing?.first { $0.i == ifindex }
            let sample = closing.map { Self.sample(rx: $0.rx, tx: $0.tx, width: .bits64) }
            scan.records.append(.gone(link, closing: sample, departed: false))
            known[ifindex] = nil
            return
        case "down", "up":
            link.state = words[0] == "up" ? .up : .down
            scan.records.append(.link(link, nil))
        case "rename":
            guard words.count == 4, let name = LinkName(escaped: words[3]) else {
                throw ScenarioError("event “\(event)”: expected “rename I OLD NEW”")
            }
            link.name = name
            scan.records.append(.link(link, nil))
        default:
            throw ScenarioError("event “\(event)” is unknown; there are new, del, down, up, rename and arrived")
        }
        known[ifindex] = link
    }

    private static func link(_ row: Scenario.Row) throws -> Link {
        guard row.i > 0 else { throw ScenarioError("i is \(row.i); an ifindex is 1 or more") }
        guard let name = LinkName(escaped: row.n) else {
            throw ScenarioError("“\(row.n)” cannot be a link's name; it has 1 to 15 bytes")
        }
        return Link(identity: LinkIdentity(ifindex: row.i), name: name, kind: row.kind ?? "tun", state: .up)
    }

    private static func sample(rx: UInt64, tx: UInt64, width: CounterWidth) -> Scan.Sample {
        var counters = Counters()
        counters.rxBytes = rx
        counters.txBytes = tx
        return Scan.Sample(counters, width: width)
    }
}
