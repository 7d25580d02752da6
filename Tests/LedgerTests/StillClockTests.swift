import Ledger
import TestLinks
import Testing

/// Clocks that stand still, go back, or jump to the ends of their range: bytes are counted all the same, and no rate is
/// made over a time that was none.
struct StillClockTests {
    /// A clock, as a sequence of moments on CLOCK_BOOTTIME in µs.
    enum Clock: String, CaseIterable, Sendable {
        case stands, goesBack, jumps

        func moment(_ look: Int, _ random: inout SplitMix64) -> UInt64 {
            switch self {
            case .stands: 5_000_000
            case .goesBack: 900_000_000_000 - UInt64(look) * 1_000_000
            case .jumps: [0, 1, 5_000_000, UInt64(Int64.max), .max - 1, .max].randomElement(using: &random) ?? 0
            }
        }
    }

    private static let session = Session(boot: "b", namespace: "n")

    private static func scan(at: UInt64, rx: UInt64, tx: UInt64, _ records: [Scan.Record] = []) -> Scan {
        var counters = Counters()
        counters.rxBytes = rx
        counters.txBytes = tx
        var scan = Scan(at: at)
        scan.records = records
        scan.samples = [(2, Scan.Sample(counters))]
        return scan
    }

    @Test func `no rate is made of looks at one moment, and the next one is of the time that passed`() throws {
        let name = try #require(LinkName(escaped: "utun0"))
        let link = Link(identity: LinkIdentity(ifindex: 2), name: name, kind: "tun", state: .up)
        var ledger = Ledger(session: Self.session)
        func account() throws -> Account { try #require(ledger.account(named: name)) }
        /// Received and sent bytes, and over how many µs.
        func rate() throws -> [UInt64]? { try account().rate.map { [$0.rxBytes, $0.txBytes, $0.over] } }
        _ = ledger.fold(Self.scan(at: 1_000_000, rx: 1000, tx: 10, [.roll([link], uncertain: [])]), wall: 0)
        _ = ledger.fold(Self.scan(at: 2_000_000, rx: 1500, tx: 20), wall: 0)
        #expect(try rate() == [500, 10, 1_000_000])
        // The same moment again, and one before it.
        for (at, rx) in [(2_000_000, 1600), (2_000_000, 1700), (1_500_000, 1800)] as [(UInt64, UInt64)] {
            _ = ledger.fold(Self.scan(at: at, rx: rx, tx: 20), wall: 0)
            #expect(try account().rx.bytes.value == rx - 1000)
            #expect(try rate() == nil)
            #expect(try account().asOf == 2_000_000)
        }
        _ = ledger.fold(Self.scan(at: 4_000_000, rx: 2800, tx: 20), wall: 0)
        #expect(try account().rx.bytes.value == 1800 && account().rx.atMost == 1800)
        #expect(try rate() == [1000, 0, 2_000_000])
        #expect(try account().isContinuous && account().resets == 0 && account().suspect == 0)
    }

    @Test(arguments: Clock.allCases, World.Source.allCases)
    func `whatever happens meanwhile, nothing is invented`(_ clock: Clock, _ source: World.Source) {
        for seed: UInt64 in 1...60 {
            var world = World(seed: seed, source: source)
            var random = SplitMix64(seed: seed)
            var ledger = Ledger(session: world.session)
            var before: [LinkName: World.Truth] = [:]
            for step in 0..<100 {
                let isRestart = step > 0 && step % 29 == 0
                if isRestart {
                    world.goOnUnseen()
                    ledger = Ledger(resuming: ledger.state, in: world.session)
                }
                var scan = world.look(isRestart: isRestart)
                let last = ledger.scannedAt
                scan.at = clock.moment(step, &random)
                _ = ledger.fold(scan, wall: 0)
                if step == 0 { before = world.truth }
                for account in ledger.accounts {
                    let base = before[account.name] ?? World.Truth()
                    let all = world.truth[account.name] ?? World.Truth()
                    let (rx, tx) = (account.rx.bytes.value, account.tx.bytes.value)
                    // In the time of a jump, a counter that lies may have moved as far as it says.
                    let isTrue = rx <= all.rx - base.rx && tx <= all.tx - base.tx
                    #expect(isTrue || clock == .jumps, "seed \(seed) step \(step)")
                    guard let rate = account.rate else { continue }
                    #expect(rate.over > 0 && rate.rxPerSecond >= 0 && rate.txPerSecond >= 0)
                    #expect(last.map { scan.at > $0 } ?? true || clock == .jumps, "seed \(seed) step \(step)")
                }
            }
        }
    }
}
