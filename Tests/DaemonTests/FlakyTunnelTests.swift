import Glibc
import TestLinks
import Testing
import Wire

/// The run that tools keyed on names and values get wrong: a tunnel that is recreated at random moments, with random
/// bytes, also in the last moment of each life.
@Suite(needsTunnel)
struct FlakyTunnelTests {
    private static let lives = 20

    /// Lets utun0 live and die, and returns what went through it.
    private static func run(in namespace: borrowing PrivateNamespace, seed: UInt64) throws -> Carried {
        var random = SplitMix64(seed: seed)
        var truth = Carried()
        for _ in 0..<lives {
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                try tunnel.receive(bytes: .random(in: 28...200_000, using: &random))
                try tunnel.transmit(bytes: .random(in: 28...50_000, using: &random))
                usleep(.random(in: 0...120_000, using: &random))
            }
            // The last bytes of a life, which no reading sees.
            try tunnel.receive(bytes: .random(in: 28...20_000, using: &random))
            try tunnel.transmit(bytes: .random(in: 28...20_000, using: &random))
            truth += try tunnel.close()
            usleep(.random(in: 0...200_000, using: &random))
        }
        return truth
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `with netlink not a byte is missing`(_ seed: UInt64) async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            let truth = try Self.run(in: namespace, seed: seed)
            let reading = try client.awaitReading("utun0") { !$0.present && $0.incarnation == Self.lives }
            let total = try #require(reading?.total)
            #expect(total.rx.bytes == Int(truth.rx))
            #expect(total.tx.bytes == Int(truth.tx))
            #expect(total.rx.atMost == Int(truth.rx))
            #expect(total.tx.atMost == Int(truth.tx))
            #expect(total.quality == .continuous)
            #expect(total.resets == Self.lives - 1)
            #expect(total.gaps == 0)
            #expect(total.suspect == 0)
        }
    }

    @Test(arguments: ["procfs", "getifaddrs"])
    func `without events never a byte too much`(_ source: String) async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon(["--interval", "100ms", "--source", source])
            var client = try daemon.client()
            let truth = try Self.run(in: namespace, seed: 3)
            let reading = try client.awaitReading("utun0") { !$0.present }
            let total = try #require(reading?.total)
            #expect(total.rx.bytes <= Int(truth.rx))
            #expect(total.tx.bytes <= Int(truth.tx))
            // Some of it was seen, and what was not seen has no bound.
            #expect(total.rx.bytes > 0)
            #expect(total.rx.atMost == nil)
            #expect(total.quality == .gapped)
            #expect(total.resets < Self.lives)
            #expect(total.gaps > 0)
        }
    }
}
