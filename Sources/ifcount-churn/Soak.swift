internal import Glibc
internal import TestLinks

/// What the daemon took over time.
struct Soak {
    struct Sample {
        /// Resident memory in kB.
        var memory: Int
        var descriptors: Int
    }

    /// While one daemon saw half of the links recreated.
    var oneLife: [Sample] = []
    /// At the end of each of many daemons, one after the other on the same history.
    var manyLives: [Sample] = []
    var recreations = 0
    /// The size of the history at the end, in bytes.
    var historySize = 0
    var seconds = 0.0

    /// A tenth of the samples, on average.
    static func mean(ofTenth tenth: Int, of samples: [Sample]) -> Sample {
        let part = samples[(samples.count * tenth / 10)..<(samples.count * (tenth + 1) / 10)]
        let count = max(part.count, 1)
        return Sample(
            memory: part.reduce(0) { $0 + $1.memory } / count,
            descriptors: part.reduce(0) { $0 + $1.descriptors } / count
        )
    }
}

extension Churn {
    private static let soakNames = ["utun0", "utun1", "utun2"]
    /// How many recreations there are between two samples of one life.
    private static let stride = 25

    /// Recreates tunnels and restarts the daemon, as fast as it goes.
    func soak() throws -> Soak {
        var soak = Soak()
        let start = ContinuousClock.now
        for name in Self.soakNames { try machine.make(name, .tun) }
        try settle(isSaved: true)
        let half = arguments.recreations / 2
        while soak.recreations < half, !isOver {
            try recreate(min(Self.stride, half - soak.recreations), &soak)
            try settle(isSaved: false)
            soak.oneLife.append(try sample())
        }
        let rest = arguments.recreations - half
        for restart in 0..<arguments.restarts where !isOver {
            let done = rest * restart / arguments.restarts
            let next = rest * (restart + 1) / arguments.restarts
            try recreate(next - done, &soak)
            try settle(isSaved: false)
            soak.manyLives.append(try sample())
            let signal = chance(2) ? SIGTERM : SIGKILL
            count(signal == SIGTERM ? .ended : .killed, "")
            daemon.end(signal)
            machine.truths.beginAbsence(isSaved: signal == SIGTERM)
            if signal == SIGTERM { machine.noteSaved() }
            try carry()
            try daemon.awaitEnd(signal)
            try launch()
        }
        soak.seconds = (ContinuousClock.now - start) / .seconds(1)
        soak.historySize = try daemon.historySize()
        return soak
    }

    private func recreate(_ times: Int, _ soak: inout Soak) throws {
        for _ in 0..<times where !isOver {
            try perform(.recreated)
            try carry()
            soak.recreations += 1
        }
        // The links live on at least until the daemon is asked.
        pause(milliseconds: 0)
    }

    private func sample() throws -> Soak.Sample {
        Soak.Sample(memory: try daemon.residentMemory(), descriptors: try daemon.openDescriptors())
    }
}
