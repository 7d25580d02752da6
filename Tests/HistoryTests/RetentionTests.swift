import SystemCalls
import Testing

@testable import History
@testable import Ledger

struct RetentionTests {
    private static let day = 86_400_000_000
    /// A day's beginning in UTC.
    private static let now = 1_796_083_200_000_000

    /// A store in which each of some days has two quarter hours of an interface, an hour apart.
    private func store(_ scratch: Scratch, days: [Int], kind: String, isPresent: Bool) throws -> (Store, LinkName) {
        let name = try #require(LinkName(escaped: "link0"))
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        let link = Link(identity: LinkIdentity(ifindex: 7), name: name, kind: kind, state: .up)
        var scan = Scan(at: 1_000_000)
        scan.records = [.roll([], uncertain: []), .link(link, nil)]
        _ = ledger.fold(scan, wall: Self.now)
        if !isPresent {
            var end = Scan(at: 2_000_000)
            end.records = [.gone(link, closing: Scan.Sample(Counters()), departed: false)]
            _ = ledger.fold(end, wall: Self.now)
        }
        var journal = Journal()
        for day in days {
            for part in 0..<2 {
                let at = Self.now - day * Self.day + part * 3_600_000_000
                let booking = Booking(
                    account: 0,
                    rxBytes: 1000,
                    txBytes: 10,
                    rxPackets: 2,
                    txPackets: 1,
                    since: 0,
                    at: 1
                )
                journal.book(booking, of: name, offset: at)
            }
        }
        let store = try Store(directory: scratch.path, wall: Self.now)
        try store.save(ledger.state, journal, isLast: false)
        return (store, name)
    }

    @Test func `quarter hours become days when they are old, and no byte is lost`() throws {
        let scratch = try Scratch()
        let (store, name) = try store(scratch, days: [500, 401, 399, 1], kind: "tun", isPresent: true)
        let all = 0..<Self.now * 2
        #expect(try store.slots(of: name, in: all).count == 8)
        #expect(try store.fold(Retention(), now: Self.now) == 4)
        #expect(try store.slots(of: name, in: all).count == 4)
        let spans = try store.spans(of: name, in: all)
        #expect(
            spans.map(\.start) == [500, 401].map { Self.now - $0 * Self.day }
                && spans.map(\.end) == spans.map { $0.start + 4_500_000_000 }
        )
        #expect(
            spans.map(\.flow)
                == Array(repeating: Flow(rxBytes: 2000, txBytes: 20, rxPackets: 4, txPackets: 2), count: 2)
        )
        // A second time finds nothing more.
        #expect(try store.fold(Retention(), now: Self.now) == 0)
    }

    @Test(arguments: [("veth", false, 2), ("veth", true, 0), ("tun", false, 0)])
    func `a container's link becomes one span a month after its end`(kind: String, isPresent: Bool, folded: Int) throws
    {
        let scratch = try Scratch()
        let (store, name) = try store(scratch, days: [31], kind: kind, isPresent: isPresent)
        #expect(try store.fold(Retention(), now: Self.now) == folded)
        #expect(try store.spans(of: name, in: 0..<Self.now * 2).count == folded / 2)
    }
}
