internal import Glibc
internal import TestLinks

/// What the daemon is exposed to between two comparisons.
extension Churn {
    private enum Epoch: CaseIterable {
        case calm, watched, stalled, overrun, ended, killed

        var weight: Int {
            switch self {
            case .calm: 8
            case .watched, .stalled, .overrun: 2
            case .ended, .killed: 3
            }
        }
    }

    /// How often counters can be read, in ms; the shorter times more often.
    private static let intervals = [100, 100, 100, 200, 200, 500, 1000, 1000, 2000, 5000, 10_000]

    /// Lets some things happen, and compares.
    func passEpoch() throws {
        let all = Epoch.allCases
        switch pick(all, weights: all.map(\.weight)) {
        case .calm: try happen(2...24)
        case .watched: try beWatched()
        case .stalled: try stall()
        case .overrun: try overrun()
        case .ended: try restart(SIGTERM)
        case .killed: try restart(SIGKILL)
        }
        let isSaved = chance(3)
        try settle(isSaved: isSaved && interval <= Self.quickInterval)
    }

    private func beWatched() throws {
        tally[.watched, default: 0] += 1
        watcher = try daemon.watch(intervalUSec: pick([100_000, 300_000, 1_000_000]))
        try happen(2...16)
        watcher = nil
    }

    /// The daemon stands still, and the events wait for it.
    private func stall() throws {
        count(.stalled, "")
        daemon.stall()
        try happen(1...5)
        daemon.resume()
        try happen(0...2)
    }

    /// The daemon stands still for so long that the kernel drops events.
    private func overrun() throws {
        count(.overran, "")
        try happen(0...3)
        daemon.stall()
        machine.truths.beginOverrun()
        try happen(0...3)
        try machine.namespace.flood(8000, about: Machine.idle)
        try happen(1...4)
        daemon.resume()
        try happen(0...3)
    }

    /// The daemon ends, and another goes on where it was.
    private func restart(_ wanted: Int32) throws {
        let isPrepared = chance(2)
        let isBriefly = chance(4)
        if isPrepared, interval <= Self.quickInterval { try settle(isSaved: true) }
        try happen(0...4)
        // What it alone has seen, it must have time to save.
        let signal = machine.isRisky ? SIGTERM : wanted
        count(signal == SIGTERM ? .ended : .killed, "")
        daemon.end(signal)
        machine.truths.beginAbsence(isSaved: signal == SIGTERM)
        if signal == SIGTERM { machine.noteSaved() }
        try happen(0...2)
        try daemon.awaitEnd(signal)
        try happen(0...6)
        interval = pick(Self.intervals)
        if isBriefly {
            count(.killedAtStart, "")
            try daemon.start(interval: interval)
            try happen(0...1)
            pause(milliseconds: below(150))
            daemon.end(SIGKILL)
            try daemon.awaitEnd(SIGKILL)
            try happen(0...2)
        }
        try daemon.start(interval: interval)
        try happen(0...2)
        try daemon.awaitAnswer()
        note("daemon \(daemon.starts) answers, reading each \(interval) ms")
        machine.truths.endBlindness(present: machine.present)
        try happen(0...4)
    }

    // MARK: - Chance

    /// True one time in so many.
    func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }

    func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

    func pick<Value>(_ values: [Value], weights: [Int]) -> Value {
        var left = below(weights.reduce(0, +))
        for (value, weight) in zip(values, weights) {
            if left < weight { return value }
            left -= weight
        }
        return values[0]
    }

    func count(_ incident: Incident, _ words: String) {
        tally[incident, default: 0] += 1
        note("\(incident.rawValue) \(words)")
    }
}
