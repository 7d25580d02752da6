import FoundationEssentials
import SystemCalls
import Testing

@testable import History
@testable import Ledger

/// What is done to accounts as a whole, in the file.
struct StoreChangesTests {
    private static let wall = 1_796_083_200_000_000
    private static let hour = 3_600_000_000

    /// A ledger with links that are gone, and what they left in a journal: each 100 bytes an hour ago.
    private func past(_ names: [String], kind: String = "tun", ledger: inout Ledger, at: UInt64 = 1) throws -> Journal {
        var journal = Journal()
        var scan = Scan(at: at * 1_000_000)
        scan.records = ledger.scannedAt == nil ? [.roll([], uncertain: [])] : []
        for (index, text) in names.enumerated() {
            let name = try #require(LinkName(escaped: text))
            let identity = LinkIdentity(ifindex: Int32(index + 1))
            let link = Link(identity: identity, name: name, kind: kind, state: .up)
            let sample = Scan.Sample(Counters())
            scan.records += [.link(link, sample), .gone(link, closing: sample, departed: false)]
            let booking = Booking(account: 0, rxBytes: 100, txBytes: 1, rxPackets: 1, txPackets: 1, since: 0, at: 1)
            journal.book(booking, of: name, offset: Self.wall - Self.hour)
            journal.note(
                Hole(account: 0, cause: .unseenEnd, length: 10, at: 1),
                of: name,
                offset: Self.wall - Self.hour
            )
            journal.note(
                Occurrence(
                    at: Self.wall,
                    interface: name,
                    kind: "created",
                    ifindex: 1,
                    incarnation: 1,
                    previous: nil,
                    cause: nil,
                    isGapped: false
                )
            )
        }
        _ = ledger.fold(scan, wall: Self.wall)
        return journal
    }

    private func name(_ text: String) throws -> LinkName { try #require(LinkName(escaped: text)) }

    /// Bytes, doubts and events that the store has of a name.
    private func kept(_ store: Store, _ text: String) throws -> [Int] {
        let name = try name(text)
        let all = 0..<Self.wall * 2
        let slots = try store.slots(of: name, in: all).map(\.flow.rxBytes)
        let spans = try store.spans(of: name, in: all).map(\.flow.rxBytes)
        return [
            Int((slots + spans).reduce(0, +)), try store.doubts(of: name, in: all).count,
            try store.occurrences(of: name, since: 0, limit: 100).count,
        ]
    }

    @Test func `all of an account goes with it, or to another, and the rest stays`() throws {
        let scratch = try Scratch()
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        let journal = try past(["a", "b", "c", "d"], ledger: &ledger)
        do {
            let store = try Store(directory: scratch.path, wall: Self.wall)
            try store.save(ledger.state, journal, isLast: false)
            // Not all at once: what is moved first is moved on with the rest.
            let changes = [
                try ledger.amend(.forget(name("a"))), try ledger.amend(.rename(name("b"), to: name("x"))),
                try ledger.amend(.merge(name("x"), into: name("c"))),
            ]
            try store.save(ledger.state, Journal(), after: changes, isLast: false)
            #expect(try kept(store, "a") == [0, 0, 0])
            #expect(try kept(store, "b") == [0, 0, 0])
            #expect(try kept(store, "c") == [200, 2, 2])
            #expect(try kept(store, "d") == [100, 1, 1])
            // What was not handed over before lands where it belongs, too.
            let more = try past(["c"], ledger: &ledger, at: 2)
            try store.save(ledger.state, more, isLast: true)
            #expect(try kept(store, "c") == [300, 3, 3])
        }
        let store = try Store(directory: scratch.path, wall: Self.wall)
        #expect(store.left?.state.accounts.map(\.name.escaped) == ["c", "d"])
        #expect(store.putAside == nil)
    }

    @Test func `what is not saved yet follows`() throws {
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        var journal = try past(["a", "b", "c"], ledger: &ledger)
        journal.follow(try ledger.amend(.forget(name("a"))))
        journal.follow(try ledger.amend(.merge(name("b"), into: name("c"))))
        #expect(try journal.slots(of: name("a")).isEmpty)
        #expect(try journal.slots(of: name("b")).isEmpty)
        #expect(try journal.slots(of: name("c")).map(\.flow.rxBytes) == [200])
        #expect(try journal.doubts[name("c")]?.count == 2)
        #expect(try journal.occurrences.map(\.interface) == [name("c"), name("c")])
    }

    @Test func `what was imported for a name that was added to another stays when that is imported again`() throws {
        let scratch = try Scratch()
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        let journal = try past(["a", "b"], ledger: &ledger)
        let store = try Store(directory: scratch.path, wall: Self.wall)
        try store.save(ledger.state, journal, isLast: false)
        let span = Span(start: 1_700_000_000_000_000, end: 1_700_000_100_000_000, flow: Flow(rxBytes: 7, txBytes: 0))
        for interface in ["a", "b"] {
            #expect(try store.replaceImported(of: name(interface), in: 0..<Self.wall, with: [span]))
        }
        let change = try ledger.amend(.merge(name("a"), into: name("b")))
        try store.save(ledger.state, Journal(), after: [change], isLast: false)
        for _ in 0..<2 { #expect(try store.replaceImported(of: name("b"), in: 0..<Self.wall, with: [span])) }
        let imported = try store.spans(of: name("b"), in: 0..<Self.wall * 2).filter(\.isImported)
        #expect(imported.map(\.flow.rxBytes) == [7, 7])
    }

    @Test func `a copy put in its place is the history again, and what it replaces is kept`() throws {
        let scratch = try Scratch()
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        let journal = try past(["a", "b"], ledger: &ledger)
        let copy: String
        do {
            let store = try Store(directory: scratch.path, wall: Self.wall)
            try store.save(ledger.state, journal, isLast: false)
            copy = try store.backUp(wall: Self.wall)
            #expect(try store.backUp(wall: Self.wall) != copy)
            let change = try ledger.amend(.forget(name("a")))
            try store.save(ledger.state, Journal(), after: [change], isLast: true)
            // Not while it is in use.
            #expect(throws: Store.Failure.self) { _ = try Store.restore(copy, to: scratch.path, wall: Self.wall) }
        }
        let replaced = try #require(try Store.restore(copy, to: scratch.path, wall: Self.wall))
        do {
            let store = try Store(directory: scratch.path, wall: Self.wall)
            #expect(try kept(store, "a") == [100, 1, 1])
            #expect(store.left?.state.accounts.count == 2)
        }
        _ = try Store.restore(replaced, to: scratch.path, wall: Self.wall)
        #expect(try Store(directory: scratch.path, wall: Self.wall).left?.state.accounts.count == 1)
    }

    @Test func `what is no copy is not put in its place`() throws {
        let scratch = try Scratch()
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        let journal = try past(["a"], ledger: &ledger)
        try Store(directory: scratch.path, wall: Self.wall).save(ledger.state, journal, isLast: true)
        let rubbish = scratch.path + "/rubbish"
        try "no database, but long enough to be looked at".write(toFile: rubbish, atomically: true, encoding: .utf8)
        for file in [rubbish, scratch.path + "/nothing"] {
            #expect(throws: Store.Failure.self) { _ = try Store.restore(file, to: scratch.path, wall: Self.wall) }
        }
        #expect(try Store(directory: scratch.path, wall: Self.wall).left?.state.accounts.count == 1)
    }

    @Test func `the file of a machine full of containers does not grow for ever`() throws {
        let scratch = try Scratch()
        let store = try Store(directory: scratch.path, wall: Self.wall)
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        var sizes: [Int] = []
        for generation in 1...4 {
            let names = (0..<5000).map { "veth\(generation)x\($0)" }
            let journal = try past(names, kind: "veth", ledger: &ledger, at: UInt64(generation))
            try store.save(ledger.state, journal, isLast: false)
            let changes = ledger.retire(before: Self.wall + 1)
            #expect(changes.count == 5000)
            try store.save(ledger.state, Journal(), after: changes, isLast: false)
            var retention = Retention()
            retention.events = 1000
            retention.quarters = -2 * Retention.day
            try store.fold(retention, now: Self.wall)
            #expect(ledger.accounts.count == 1)
            store.database.checkpoint()
            sizes.append(try FileStatus(at: scratch.database).size)
        }
        #expect(try kept(store, "veth:past")[0] == 4 * 5000 * 100)
        #expect(sizes[3] <= sizes[1] + sizes[1] / 20, "\(sizes)")
    }

    @Test func `a file of the first format is brought forward`() throws {
        let scratch = try Scratch()
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        let journal = try past(["a"], ledger: &ledger)
        do {
            let store = try Store(directory: scratch.path, wall: Self.wall)
            try store.save(ledger.state, journal, isLast: true)
            var columns = "ALTER TABLE doubt DROP COLUMN count;"
            for table in ["account", "incarnation"] {
                for column in ["rx_bytes", "tx_bytes", "rx_packets", "tx_packets"] {
                    columns += "ALTER TABLE \(table) DROP COLUMN \(column);"
                }
            }
            try store.database.execute(columns + "PRAGMA user_version = 1")
        }
        let store = try Store(directory: scratch.path, wall: Self.wall)
        #expect(store.putAside == nil)
        #expect(try store.doubts(of: name("a"), in: 0..<Self.wall * 2).map(\.count) == [1])
        #expect(try kept(store, "a") == [100, 1, 1])
    }
}
