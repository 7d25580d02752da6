import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// What a daemon makes of what the one before it has left.
@Suite(needsTunnel)
struct ResumeTests {
    /// How the daemon before ended.
    enum End: String, CaseIterable, CustomTestStringConvertible {
        case stopped, killed
        var testDescription: String { rawValue }
    }

    private static let notInOrder = "did not end in order"

    @Test(arguments: End.allCases)
    func `bytes that passed while nobody looked are counted once`(_ end: End) async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var random = SplitMix64(seed: 1)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: directory.path)
                var client = try daemon.client()
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
                try link.carry(&random)
                switch end {
                case .stopped: #expect(try daemon.end() == .exited(0))
                case .killed: try daemon.kill()
                }
            }
            let left = Clock.boot
            for _ in 0..<10 { try link.carry(&random) }
            usleep(50_000)
            let away = Clock.boot - left
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.quality == .continuous)
            #expect(total.resets == 0)
            #expect(total.gaps == 0)
            #expect(total.unobservedUSec >= Int(away))
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
            #expect(daemon.program.errorText.contains(Self.notInOrder) == (end == .killed))
        }
    }

    @Test func `what passed in an hour away is spread over its quarters, and adds up`() async throws {
        let hour = 3_600_000_000
        // A time namespace in which the machine has run for an hour more: the daemon after seems to come an hour later.
        let later = #"exec unshare --time --boottime 3600 "$0" "$@""#
        guard try Self.canTravel() else {
            try Test.cancel("needs a time namespace of its own (unshare --time)")
        }
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var random = SplitMix64(seed: 2)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: directory.path)
                try link.rise(in: namespace)
                try link.carry(&random)
                var client = try daemon.client()
                _ = try client.awaitLast(of: link)
                #expect(try daemon.end() == .exited(0))
            }
            let known = link.truth
            for _ in 0..<10 { try link.carry(&random) }
            var daemon = try RunningDaemon(keepingIn: directory.path, shell: later)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.quality == .continuous)
            #expect((hour..<hour + 60_000_000).contains(total.unobservedUSec))
            try client.expectHistoryAddsUp()
            let rows = try client.quarters(of: "utun0").rows
            // An hour touches five quarters, unless it begins on the edge of one.
            #expect((4...5).contains(rows.count { $0.rxSpreadBytes > 0 }))
            #expect(rows.reduce(0) { $0 + $1.rxSpreadBytes } == Int(link.truth.rx - known.rx))
            #expect(rows.reduce(0) { $0 + $1.txSpreadBytes } == Int(link.truth.tx - known.tx))
            #expect(try daemon.end() == .exited(0))
        }
    }

    /// Whether a program can be started in a time namespace in which the machine has run for an hour more.
    private static func canTravel() throws -> Bool {
        let script = #"exec unshare --time --boottime 3600 cat /proc/uptime"#
        var program = try Program("/bin/sh", ["-c", script])
        guard try program.wait() == .exited(0) else { return false }
        let uptime = program.text.split(separator: ".").first.flatMap { UInt64($0) } ?? 0
        return uptime * 1_000_000 > Clock.boot + 3_000_000_000
    }

    @Test func `after a reboot the links count in full, and the end of those before is a gap`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var random = SplitMix64(seed: 3)
            var link = FlakyLink()
            try Self.reboot(to: "a", directory.path, end: .killed) { client in
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
            }
            let first = link.truth
            // The same kernel link is another one after a reboot, and what its counters say has passed since then.
            try Self.reboot(to: "b", directory.path, end: .stopped) { client in
                try link.carry(&random)
                let total = try #require(try client.awaitLast(of: link)).total
                #expect(total.rx.bytes == Int(first.rx + link.truth.rx))
                #expect(total.tx.bytes == Int(first.tx + link.truth.tx))
                #expect(total.quality == .gapped)
                #expect(total.rx.atMost == nil && total.tx.atMost == nil)
                #expect(total.resets == 1)
                #expect(total.gaps == 1)
                #expect(total.unobservedUSec > 0)
                try client.expectHistoryAddsUp()
                let events = try client.call("io.ifcount.Events", #"{"interface":"utun0"}"#)
                #expect(events.contains("unseen-end"))
            }
            // No reboot in between: nothing begins anew.
            try Self.reboot(to: "b", directory.path, end: .stopped) { client in
                let total = try #require(try client.awaitLast(of: link)).total
                #expect(total.rx.bytes == Int(first.rx + link.truth.rx))
                #expect(total.resets == 1)
                #expect(total.gaps == 1)
                try client.expectHistoryAddsUp()
            }
            // The link did not come back after this one: the total stays.
            let second = link.truth
            try link.fall()
            try Self.reboot(to: "c", directory.path, end: .stopped) { client in
                let total = try #require(try client.awaitLast(of: link)).total
                #expect(total.rx.bytes == Int(first.rx + second.rx))
                #expect(total.tx.bytes == Int(first.tx + second.tx))
                #expect(total.gaps == 2)
                try client.expectHistoryAddsUp()
            }
        }
    }

    /// Lets a daemon run in a boot of that name.
    private static func reboot(
        to boot: String,
        _ directory: String,
        end: End,
        _ body: (inout RawClient) throws -> Void
    ) throws {
        var daemon = try RunningDaemon(keepingIn: directory, environment: ["IFCOUNT_TEST_BOOT_ID": boot])
        var client = try daemon.client()
        try body(&client)
        switch end {
        case .stopped: #expect(try daemon.end() == .exited(0))
        case .killed: try daemon.kill()
        }
    }
}
