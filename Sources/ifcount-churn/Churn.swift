internal import Glibc
internal import IfcountClient
internal import TestLinks
internal import Wire

/// A run: things happen to links and to the daemon, then nothing moves, and what the daemon says is held against the truth.
final class Churn {
    let arguments: Arguments
    let log: IncidentLog
    let machine: Machine
    let daemon: WatchedDaemon
    var random: SplitMix64
    var names = NamePool()
    /// How often each was done.
    var tally: [Incident: Int] = [:]
    /// What was found, in words. The run ends with the first comparison that finds something: the rest would follow from it.
    private(set) var violations: [String] = []
    /// How often all was compared.
    private(set) var comparisons = 0
    /// How often the daemon's saving was waited for.
    private(set) var saves = 0
    /// What the daemon said last, of all names.
    private(set) var readings: [String: Reading] = [:]
    /// How often the daemon reads counters, in ms.
    var interval = 100
    var watcher: Connection?
    private(set) var isInterrupted = false
    private var peers: [any Peer] = []
    private let deadline: ContinuousClock.Instant

    /// A daemon that reads more seldom than this, in ms, also saves more seldom; it is not waited for.
    static let quickInterval = 2000

    /// Takes the process into its namespace.
    ///
    /// - Throws: where namespaces or tunnels are not allowed.
    init(_ arguments: Arguments) throws {
        let namespace = try PrivateNamespace.takingProcess()
        // So that no daemon is started in vain where there can be no tunnel.
        try Tunnel("trial", in: namespace).close()
        try Interrupts.hold()
        self.arguments = arguments
        machine = try Machine(namespace)
        log = try IncidentLog()
        random = SplitMix64(seed: arguments.seed)
        let source = arguments.source.map { ["--source", $0] } ?? []
        // Without /sys of the namespace, as in a container, numbers are all there is to tell links by.
        let wantsOwnSys = Int.random(in: 0..<4, using: &random) > 0
        daemon = WatchedDaemon(in: log.directory, arguments: source, wantsOwnSys: wantsOwnSys)
        deadline = .now + arguments.seconds
    }

    var isOver: Bool {
        isInterrupted || (!arguments.isSoak && .now >= deadline)
    }

    /// Does all of it.
    ///
    /// - Returns: what came of it.
    func run() throws -> Report {
        note("seed \(arguments.seed), \(daemon.hasOwnSys ? "with" : "without") /sys of the namespace")
        if arguments.wantsPeers { startPeers() }
        var soak: Soak?
        do {
            try launch()
            if arguments.isSoak {
                soak = try self.soak()
            } else {
                for _ in 0..<6 { try perform(.created) }
                // What is killed before it has saved once leaves nothing to go on from.
                try settle(isSaved: true)
                while !isOver { try passEpoch() }
            }
            try settle(isSaved: interval <= Self.quickInterval, comparesAllHistory: true)
            daemon.end(SIGTERM)
            try daemon.awaitEnd(SIGTERM)
        } catch is Found {
            // It is told with the others.
        } catch let error as Stop {
            violate(error.description)
        } catch let error as WatchedDaemon.Unexpected {
            violate(error.description)
        }
        return Report(of: self, peers: finishPeers(), soak: soak)
    }

    /// There are violations.
    private struct Found: Error {}

    /// Why the run cannot go on.
    struct Stop: Error, CustomStringConvertible {
        var description: String
    }

    // MARK: - The daemon

    /// Starts the daemon and waits until it answers.
    func launch() throws {
        try daemon.start(interval: interval)
        try daemon.awaitAnswer()
        note("daemon \(daemon.starts) answers, reading each \(interval) ms")
        machine.truths.endBlindness(present: machine.present)
    }

    /// Waits until the daemon has seen the last byte, and holds all it says against the truth.
    ///
    /// - Parameters:
    ///   - isSaved: whether to wait, too, until all of it is on disk.
    ///   - comparesAllHistory: whether to ask for the history of all names, not only of those that something happened to.
    /// - Throws: what was found, or why it cannot go on.
    func settle(isSaved: Bool, comparesAllHistory: Bool = false) throws {
        if let difference = try machine.differenceFromKernel() {
            throw Stop(description: "the truth is wrong: \(difference)")
        }
        let patience = ContinuousClock.now + WatchedDaemon.patience
        while let unseen = try look() {
            if !violations.isEmpty { throw Found() }
            if .now > patience { throw Stop(description: "the daemon does not see \(unseen)") }
            pause(milliseconds: 10)
        }
        machine.truths.endBlindness(present: machine.present)
        for name in machine.truths.names.keys.sorted() {
            report(Audit.compare(readings[name]?.total, &machine.truths[name]), of: name)
        }
        let asked = comparesAllHistory ? Set(machine.truths.names.keys) : machine.truths.changed.union(machine.present)
        for name in asked.sorted() { try compareHistory(of: name) }
        if !violations.isEmpty { throw Found() }
        comparisons += 1
        note("compared \(machine.truths.names.count) names\(isSaved ? ", saving" : "")")
        machine.truths.settle()
        if isSaved { try awaitSaved() }
    }

    /// Asks for everything, and holds it against what must be true at any moment.
    ///
    /// - Returns: what the daemon has not seen yet; nil when it has seen all.
    @discardableResult
    private func look() throws -> String? {
        take(try daemon.ask(List.method, List.Parameters(all: true), List.Reply.self).readings)
        for link in machine.here where !Self.isCurrent(readings[link.name], link) {
            return "\(link.words), \(link.isUp ? "up" : "down"), \(link.carried); it says "
                + (readings[link.name].map { "\($0)" } ?? "nothing")
        }
        let present = machine.present
        for name in machine.truths.names.keys where !present.contains(name) && readings[name]?.present == true {
            return "that \(name) is gone"
        }
        return nil
    }

    private static func isCurrent(_ reading: Reading?, _ link: LivingLink) -> Bool {
        guard let reading, let counter = reading.counter, reading.present, reading.ifindex == link.index else {
            return false
        }
        let carried = link.carried
        return counter.rxBytes == Int(carried.rx) && counter.txBytes == Int(carried.tx)
            && (reading.state == "down") == !link.isUp
    }

    private func take(_ answered: [Reading]) {
        readings = Dictionary(answered.map { ($0.interface, $0) }) { first, _ in first }
        for (name, reading) in readings where machine.truths.names[name] != nil {
            report(Audit.follow(reading.total, &machine.truths[name]), of: name)
        }
    }

    private func compareHistory(of name: String) throws {
        guard let total = readings[name]?.total else { return }
        let parameters = GetHistory.Parameters(interface: name, resolution: .quarter, limit: 50_000)
        let history = try daemon.ask(GetHistory.method, parameters, GetHistory.Reply.self)
        report(Audit.compare(history, with: total), of: name)
    }

    private func awaitSaved() throws {
        // Two readings of two clocks may differ by a little.
        let moment = (readings.values.map(\.sampledUSec).max() ?? 0) + 50_000
        let patience = ContinuousClock.now + WatchedDaemon.patience
        while !readings.values.contains(where: { $0.persisted == true && $0.persistedUSec ?? 0 > moment }) {
            if .now > patience { throw Stop(description: "the daemon does not save") }
            pause(milliseconds: 20)
            try look()
        }
        saves += 1
        machine.noteSaved()
    }

    // MARK: - Time

    /// Sleeps, and gives the others their turn.
    func pause(milliseconds: Int) {
        if Interrupts.arrive(within: .milliseconds(milliseconds)) { isInterrupted = true }
        for peer in peers { peer.turn(at: .now) }
        followWatch()
    }

    private func followWatch() {
        while let reply = try? watcher?.nextReply(milliseconds: 0) {
            for reading in reply.readings ?? [] where machine.truths.names[reading.interface] != nil {
                // A watcher's frames may be older than the last answer: they are below the truth all the same.
                var truth = machine.truths[reading.interface]
                truth.floor = Carried()
                report(Audit.follow(reading.total, &truth), of: reading.interface)
            }
        }
    }

    // MARK: - What is found

    func note(_ words: String) { log.note(words) }

    private func report(_ found: [Violation], of name: String) {
        for violation in found {
            let words = "\(name): \(violation)"
            // Each answer says it again.
            if !violations.contains(words) { violate(words) }
        }
        guard !found.isEmpty else { return }
        note("of \(name) the truth is \(machine.truths[name]), it says \(readings[name].map { "\($0)" } ?? "nothing")")
    }

    func violate(_ words: String) {
        violations.append(words)
        note("VIOLATION \(words)")
    }

    // MARK: - Other counters

    private func startPeers() {
        peers = [Vnstat.start(in: log.directory), NodeExporter.start()].compactMap { $0 }
        let machine = machine
        peers.append(Scraper("/proc/net/dev, scraped each 5 s") { try machine.namespace.carried() })
    }

    private func finishPeers() -> [(name: String, totals: [String: Carried]?)] {
        defer { peers = [] }
        return peers.map { ($0.name, $0.finish()) }
    }
}
