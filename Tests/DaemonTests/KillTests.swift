import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// The daemon is killed at random moments, while it counts, while it saves and while it starts, and bytes go through utun0
/// all the time. IFCOUNT_KILL_ROUNDS=200 makes the run a long one.
@Suite(needsTunnel)
struct KillTests {
    private static let rounds = ThisProcess.environment("IFCOUNT_KILL_ROUNDS").flatMap { Int($0) } ?? 12

    /// What was found at a moment when nothing moved.
    private struct Finding {
        var total: Total
        /// How much less than the truth was counted, in bytes.
        var rxShort: Int
        var txShort: Int
        /// Which link utun0 is; nil when it is absent. Numbers are not given twice.
        var ifindex: Int?

        init(_ reading: Reading, truth: Carried) {
            total = reading.total
            rxShort = Int(truth.rx) - total.rx.bytes
            txShort = Int(truth.tx) - total.tx.bytes
            ifindex = reading.ifindex
        }

        func isSameLink(as other: Finding) -> Bool { ifindex != nil && ifindex == other.ifindex }
    }

    /// What a run came to.
    private struct Figures {
        var kills = 0
        var killsAtStart = 0
        var livedThrough = 0
        var recreated = 0
        var continuous = 0
        var gapped = 0
        var lives = 0
        var truth = Carried()
        var short = Carried()
    }

    @Test func `killed at any moment, it never counts a byte twice and hides no loss`() async throws {
        let figures = try await PrivateNamespace.run { namespace in
            var random = SplitMix64(seed: 9)
            var figures = Figures()
            while figures.kills < Self.rounds { try Self.play(in: namespace, &figures, &random) }
            return figures
        }
        #expect(figures.livedThrough > 0)
        #expect(figures.recreated > 0)
        guard ThisProcess.environment("IFCOUNT_KILL_ROUNDS") != nil else { return }
        print(
            """
            killed \(figures.kills) times and \(figures.killsAtStart) times at its start; \
            the link lived through \(figures.livedThrough), was another after \(figures.recreated); \
            equal to the truth and continuous \(figures.continuous) times, gapped \(figures.gapped) times; \
            \(figures.lives) links, truth \(figures.truth), short of it by \(figures.short)
            """
        )
    }

    /// Keeps one history through kills until something was lost, and a little longer: who has told of one loss would not be
    /// caught hiding the next.
    private static func play(
        in namespace: borrowing PrivateNamespace,
        _ figures: inout Figures,
        _ random: inout SplitMix64
    ) throws {
        var link = FlakyLink()
        let directory = try TemporaryDirectory()
        let state = directory.path + "/state"
        var before: Finding?
        while true {
            var daemon = try RunningDaemon(keepingIn: state)
            let round = figures.kills
            let isFirst = before == nil
            // In the first round there is nothing yet: all that will ever go through is counted from its first byte.
            if isFirst { try link.rise(in: namespace) }
            let reading = try look(daemon, link)
            let now = Finding(reading, truth: link.truth)
            expect(now, after: before, in: round)
            if let before {
                if now.total.quality == .gapped { figures.gapped += 1 } else { figures.continuous += 1 }
                if now.isSameLink(as: before) { figures.livedThrough += 1 } else { figures.recreated += 1 }
            }
            before = now
            let mayEnd = now.total.quality == .gapped && Int.random(in: 0..<3, using: &random) == 0
            if figures.kills >= rounds || mayEnd { break }
            // Half of the kills meet a link that has been saved once and lives through them.
            let isRecreated = !isFirst && Bool.random(using: &random) || link.index == nil
            if !isRecreated || isFirst { try awaitSaved(daemon, reading) }
            let time = Duration.milliseconds(Int.random(in: 0...900, using: &random))
            try link.live(for: time, in: namespace, recreated: isRecreated, &random)
            try daemon.kill()
            figures.kills += 1
            try link.live(for: .milliseconds(50), in: namespace, recreated: isRecreated, &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                try beKilledAtStart(state, directory.path + "/brief", &link, isRecreated, in: namespace, &random)
                figures.killsAtStart += 1
            }
        }
        figures.lives += link.lives
        figures.truth += link.truth
        figures.short += Carried(rx: UInt64(max(before?.rxShort ?? 0, 0)), tx: UInt64(max(before?.txShort ?? 0, 0)))
        try link.fall()
    }

    /// What a daemon says once it has seen the last byte; its history adds up to it.
    private static func look(_ daemon: borrowing RunningDaemon, _ link: borrowing FlakyLink) throws -> Reading {
        var client = try daemon.client()
        let reading = try #require(try client.awaitLast(of: link))
        try client.expectHistoryAddsUp()
        return reading
    }

    private static func awaitSaved(_ daemon: borrowing RunningDaemon, _ reading: Reading) throws {
        var client = try daemon.client()
        try client.awaitSaved(reading)
    }

    private static func expect(_ now: Finding, after before: Finding?, in round: Int) {
        let total = now.total
        #expect(now.rxShort >= 0 && now.txShort >= 0, "round \(round): never above the truth")
        if now.rxShort != 0 || now.txShort != 0 { #expect(total.quality == .gapped, "round \(round): a loss is told") }
        if total.quality == .continuous {
            #expect(total.rx.atMost == total.rx.bytes && total.tx.atMost == total.tx.bytes)
        } else {
            #expect(total.rx.atMost == nil || total.tx.atMost == nil)
        }
        guard let before else { return }
        // What was lost once cannot be counted any more. If it seems to be, something else was counted twice.
        #expect(now.rxShort >= before.rxShort && now.txShort >= before.txShort, "round \(round): nothing twice")
        guard now.isSameLink(as: before) else { return }
        // The link has lived through the kill: not a byte is lost, and there is no new doubt.
        #expect(now.rxShort == before.rxShort && now.txShort == before.txShort, "round \(round): nothing lost")
        #expect(total.rx.bytes >= before.total.rx.bytes && total.tx.bytes >= before.total.tx.bytes)
    }

    /// A daemon that is killed before it is through with starting.
    private static func beKilledAtStart(
        _ state: String,
        _ directory: String,
        _ link: inout FlakyLink,
        _ isRecreated: Bool,
        in namespace: borrowing PrivateNamespace,
        _ random: inout SplitMix64
    ) throws {
        try File.makeDirectory(directory, mode: 0o755)
        let arguments = ["--socket", directory + "/socket"] + RunningDaemon.keeping(in: state)
        var daemon = try RunningDaemon.start(arguments)
        let time = Duration.milliseconds(Int.random(in: 0...150, using: &random))
        try link.live(for: time, in: namespace, recreated: isRecreated, &random)
        daemon.kill()
        #expect(try daemon.wait(timeout: RawClient.patience) == .signalled(SIGKILL), "\(daemon.errorText)")
    }
}
