import FoundationEssentials
import Ledger
import Testing

@testable import History

/// A directory of the test's own, removed with it.
final class Scratch {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/ifcount-history-\(UInt64.random(in: 0...(.max)))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var database: String { path + "/" + Store.fileName }
}

extension Ledger.State {
    /// What is kept of it: not the kernel's own counters, which are read anew.
    fileprivate var kept: Ledger.State {
        var kept = self
        for index in kept.incarnations.indices { kept.incarnations[index].raw = nil }
        return kept
    }
}

struct StoreTests {
    private static let name = LinkName(escaped: "utun0")
    private static let wall = 1_796_000_000_000_000

    /// A ledger that has counted `rx` bytes on utun0, and what it booked.
    private func counted(_ rx: UInt64, at: UInt64 = 3_000_000) throws -> (Ledger, Journal) {
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        var journal = Journal()
        let name = try #require(Self.name)
        let link = Link(identity: LinkIdentity(ifindex: 7), name: name, kind: "tun", state: .up)
        var scan = Scan(at: at - 1_000_000)
        scan.records = [.roll([link], uncertain: [])]
        scan.samples = [(7, Scan.Sample(Counters()))]
        _ = ledger.fold(scan, wall: Self.wall)
        var counters = Counters()
        counters.rxBytes = rx
        var next = Scan(at: at)
        next.samples = [(7, Scan.Sample(counters))]
        _ = ledger.fold(next, wall: Self.wall + 1_000_000)
        for booking in ledger.bookings { journal.book(booking, of: name, offset: Self.wall - Int(at)) }
        return (ledger, journal)
    }

    @Test func `what was saved is what is loaded`() throws {
        let scratch = try Scratch()
        let (ledger, journal) = try counted(5000)
        do {
            let store = try Store(directory: scratch.path, wall: Self.wall)
            #expect(store.left == nil)
            try store.save(ledger.state, journal, isLast: false)
        }
        let store = try Store(directory: scratch.path, wall: Self.wall)
        let loaded = try #require(store.left)
        #expect(loaded.state == ledger.state.kept)
        #expect(!loaded.isClean)
        #expect(store.putAside == nil)
    }

    @Test func `the last save of a daemon that ends in order says so`() throws {
        let scratch = try Scratch()
        let (ledger, journal) = try counted(1)
        do { try Store(directory: scratch.path, wall: Self.wall).save(ledger.state, journal, isLast: true) }
        #expect(try Store(directory: scratch.path, wall: Self.wall).left?.isClean == true)
    }

    @Test func `what is booked twice into a slot adds up`() throws {
        let scratch = try Scratch()
        let store = try Store(directory: scratch.path, wall: Self.wall)
        for _ in 0..<3 {
            let (ledger, journal) = try counted(5000)
            try store.save(ledger.state, journal, isLast: false)
        }
        var rows: [[Int64]] = []
        try store.database.prepare("SELECT start, rx_bytes, tx_bytes FROM slot").rows {
            rows.append([$0.integer(0), $0.integer(1), $0.integer(2)])
        }
        #expect(rows == [[Int64(Slot.start(of: Self.wall) / 1_000_000), 15000, 0]])
    }

    @Test func `a directory that another has is left alone`() throws {
        let scratch = try Scratch()
        let first = try Store(directory: scratch.path, wall: Self.wall)
        let failure = #expect(throws: Store.Failure.self) { try Store(directory: scratch.path, wall: Self.wall) }
        #expect(failure?.description == "another ifcountd keeps its history in \(scratch.path)")
        #expect(first.left == nil)
    }

    @Test(arguments: 0..<20)
    func `a file that was cut is put aside, or still holds all it held`(part: Int) throws {
        let scratch = try Scratch()
        let (ledger, journal) = try counted(5000)
        do {
            let store = try Store(directory: scratch.path, wall: Self.wall)
            for _ in 0..<50 { try store.save(ledger.state, journal, isLast: false) }
        }
        let whole = try Data(contentsOf: URL(filePath: scratch.database))
        let cut = whole.prefix(whole.count * part / 20)
        try cut.write(to: URL(filePath: scratch.database))
        let store = try Store(directory: scratch.path, wall: Self.wall)
        guard let aside = store.putAside else {
            // What was cut off was empty room of the last page.
            #expect(store.left?.state == ledger.state.kept)
            return
        }
        #expect(aside.path == "\(scratch.database).damaged-\(Self.wall / 1_000_000)")
        #expect(try Data(contentsOf: URL(filePath: aside.path)) == cut)
        #expect(store.left == nil)
        try store.save(ledger.state, journal, isLast: false)
    }

    @Test(arguments: [
        ("NULs", [UInt8](repeating: 0, count: 8192)), ("words", Array("this is no database, but somebody's".utf8)),
    ])
    func `what is no database is put aside as it is`(what: String, bytes: [UInt8]) throws {
        let scratch = try Scratch()
        try Data(bytes).write(to: URL(filePath: scratch.database))
        let store = try Store(directory: scratch.path, wall: Self.wall)
        let aside = try #require(store.putAside)
        #expect(try Data(contentsOf: URL(filePath: aside.path)) == Data(bytes))
    }

    @Test func `a file of a later version is refused and not touched`() throws {
        let scratch = try Scratch()
        try { try Store(directory: scratch.path, wall: Self.wall).database.execute("PRAGMA user_version = 99") }()
        let before = try Data(contentsOf: URL(filePath: scratch.database))
        let failure = #expect(throws: Store.Failure.self) { try Store(directory: scratch.path, wall: Self.wall) }
        #expect(failure?.description.contains("format 99") == true)
        #expect(try Data(contentsOf: URL(filePath: scratch.database)) == before)
    }
}
