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

    @Test func `old spans and doubts of one day become one of that day, and what reaches over it stays`() throws {
        let scratch = try Scratch()
        let (store, name) = try store(scratch, days: [], kind: "tun", isPresent: true)
        let old = Self.now - 450 * Self.day
        let hour = 3_600_000_000
        try store.database.execute(
            """
            INSERT INTO span (account, start_usec, end_usec, rx_bytes, tx_bytes, rx_packets, tx_packets, is_imported)
            VALUES (1, \(old), \(old + hour), 10, 1, 1, 1, 0), (1, \(old + 2 * hour), \(old + 3 * hour), 20, 2, 2, 2, 0),
            (1, \(old + 4 * hour), \(old + 5 * hour), 40, 4, 4, 4, 1), (1, \(old + 23 * hour), \(old + 25 * hour), 80, 8, 8, 8, 0),
            (1, \(Self.now - hour), \(Self.now - 1), 160, 16, 16, 16, 0), (1, \(Self.now - hour), \(Self.now), 320, 32, 32, 32, 0);
            INSERT INTO doubt (account, start_usec, end_usec, cause)
            VALUES (1, \(old), \(old + hour), 'a'), (1, \(old + 2 * hour), \(old + 3 * hour), 'a'),
            (1, \(old), \(old + hour), 'b'), (1, \(Self.now - hour), \(Self.now), 'a'), (1, \(Self.now - hour), \(Self.now), 'a')
            """
        )
        for _ in 0..<2 {
            try store.fold(Retention(), now: Self.now)
            let spans = try store.spans(of: name, in: 0..<Self.now * 2)
            #expect(spans.map(\.flow.rxBytes) == [30, 40, 80, 160, 320])
            #expect(spans[0].end - spans[0].start == 3 * hour)
            let doubts = try store.doubts(of: name, in: 0..<Self.now * 2).sorted {
                ($0.start, $0.cause) < ($1.start, $1.cause)
            }
            #expect(doubts.map(\.count) == [2, 1, 1, 1])
            #expect(doubts.map(\.cause) == ["a", "b", "a", "a"])
        }
    }

    @Test func `of events, the last ones are kept`() throws {
        let scratch = try Scratch()
        let (store, _) = try store(scratch, days: [], kind: "tun", isPresent: true)
        try store.database.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO event (at_usec, interface, kind, is_gapped) SELECT i, 'link0', 'created', 0 FROM n
            """
        )
        var retention = Retention()
        retention.events = 15
        try store.fold(retention, now: Self.now)
        #expect(try store.occurrences(of: nil, since: 0, limit: 100).map(\.at) == Array(6...20))
    }
}
