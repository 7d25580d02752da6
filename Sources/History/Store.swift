internal import FoundationEssentials
package import Ledger
package import SystemCalls

/// The history on disk: one SQLite file in the state directory, owned by one thread.
///
/// One transaction carries what was counted and the raw counters that it was counted from: whenever the process ends,
/// nothing is lost that was saved, and nothing is counted twice.
///
/// No other program can open the file meanwhile: SQLite would map an index into memory that all share (-shm), and the kernel
/// kills who writes to a page of it for which the disk has no room or which it has shut down (SIGBUS). One that had it open
/// before is put up with.
///
/// `synchronous=FULL` with a write-ahead log: each save is one write and one flush of a few pages, at most one a minute. A
/// power cut costs what was counted since the last save. A killed process costs nothing of the links that are still there,
/// for the kernel counts on; of those that ended since the last save, it costs what they had carried since.
package final class Store {
    /// Why there is no store.
    package enum Failure: Error, Sendable, CustomStringConvertible {
        /// The directory cannot be made or used.
        case directory(String, Errno)
        /// Another daemon has it.
        case locked(String)
        /// A later version of the program has made it.
        case tooNew(String, version: Int)
        /// SQLite cannot use it.
        case unusable(String, SQLiteError)

        package var description: String {
            switch self {
            case .directory(let path, let error): "the state directory \(path) cannot be used: \(error)"
            case .locked(let path): "another ifcountd keeps its history in \(path)"
            case .tooNew(let path, let version):
                "\(path) is of a later ifcount (format \(version)); install that one, or choose another --state-directory"
            case .unusable(let path, let error): "\(path): \(error)"
            }
        }
    }

    /// The file's name in the state directory.
    package static let fileName = "ifcount.db"
    /// What the file's format is called in it (PRAGMA user_version).
    static let version = 2
    /// Marks the file as ifcount's (PRAGMA application_id): "ifct".
    static let applicationID = 0x6966_6374

    /// A damaged file that was put aside when the store was opened: its new path, and what was wrong.
    package private(set) var putAside: (path: String, reason: String)?

    /// Why a new file could not be made yet, such as for want of room: each save tries again. Nil when there is one.
    package private(set) var unmade: SQLiteError?

    /// What a daemon has left to the next one.
    package struct Legacy: Sendable {
        package var state: Ledger.State
        /// Whether it ended in order.
        package var isClean: Bool
    }

    /// What the last daemon left when the store was opened; nil when there was none.
    package let left: Legacy?

    /// The file's.
    let path: String
    /// In memory for as long as the file is not made.
    private(set) var database: Database
    /// Held for as long as the store is open (flock(2)).
    private let lock: Descriptor
    /// What was saved last, to save only what is different.
    private var saved: Ledger.State?
    private var identifiers: [LinkName: Int64]

    /// Opens the store of a directory, which is made when it is not there.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - wall: the wall clock, µs since 1970, for the name of a damaged file that is put aside.
    /// - Throws: `Failure`; nothing was changed then.
    package init(directory: String, wall: Int) throws(Failure) {
        lock = try Self.acquire(directory)
        path = "\(directory)/\(Self.fileName)"
        do {
            (database, left, identifiers, unmade) = try Self.open(path)
        } catch {
            guard case .unusable(_, let reason) = error, reason.isDamage else { throw error }
            // What cannot be read is kept: it may be worth more to its owner than it is to this program.
            let aside = try Self.move(path, aside: "damaged", directory, wall: wall)
            (database, left, identifiers, unmade) = try Self.open(path)
            putAside = (aside, reason.message)
        }
        saved = left?.state
    }

    // MARK: - The ledger's state

    /// Reads what the last daemon left, and how the store calls the accounts.
    static func load(_ database: Database) throws(SQLiteError) -> (Legacy?, [LinkName: Int64]) {
        var session: (session: Session, at: UInt64?, wall: Int, isClean: Bool)?
        try database.prepare("SELECT boot, namespace, scanned_at, scanned_wall, is_clean FROM session").rows { row in
            session = (
                Session(boot: row.text(0), namespace: row.text(1)),
                row.optionalInteger(2).map { UInt64(clamping: $0) },
                Int(row.integer(3)),
                row.integer(4) != 0
            )
        }
        var accounts: [Account] = []
        var indexes: [Int64: Int] = [:]
        var identifiers: [LinkName: Int64] = [:]
        let select = "SELECT id, state, rx_bytes, tx_bytes, rx_packets, tx_packets FROM account ORDER BY id"
        try database.prepare(select).rows { (row) throws(SQLiteError) in
            var account = try decode(Account.self, row.text(1))
            if let counts = row.counts(from: 2) { account.counts = counts }
            indexes[row.integer(0)] = accounts.count
            identifiers[account.name] = row.integer(0)
            accounts.append(account)
        }
        var incarnations: [Incarnation] = []
        let links = "SELECT account, state, rx_bytes, tx_bytes, rx_packets, tx_packets FROM incarnation"
        try database.prepare(links).rows { (row) throws(SQLiteError) in
            var incarnation = try decode(Incarnation.self, row.text(1))
            guard let index = indexes[row.integer(0)] else { return }
            incarnation.account = index
            // What the kernel said then is not what it says now.
            incarnation.raw = nil
            if let counts = row.counts(from: 2) { incarnation.counts = counts }
            incarnations.append(incarnation)
        }
        guard let session else { return (nil, identifiers) }
        let state = Ledger.State(
            session: session.session,
            accounts: accounts,
            incarnations: incarnations,
            scannedAt: session.at,
            scannedWall: session.wall
        )
        return (Legacy(state: state, isClean: session.isClean), identifiers)
    }

    /// Saves a state, and what was counted on the way to it, or nothing of both.
    ///
    /// - Parameters:
    ///   - state: the ledger's.
    ///   - journal: what was counted since the last save that succeeded.
    ///   - changes: what was done to accounts since then, before what `journal` has.
    ///   - isLast: whether the daemon ends with this.
    /// - Throws: `SQLiteError`; nothing of it is saved then.
    package func save(
        _ state: Ledger.State,
        _ journal: Journal,
        after changes: [AccountChange] = [],
        isLast: Bool
    ) throws(SQLiteError) {
        if unmade != nil {
            // Whatever has come into being there is somebody else's.
            guard (try? FileStatus(at: path)) == nil else { throw .senseless("\(path) was not made by this daemon") }
            database = try Self.create(path)
            unmade = nil
        }
        var identifiers = self.identifiers
        // Accounts have another place then, and what was saved at it is another's.
        let saved = changes.isEmpty ? self.saved : nil
        try database.transaction { () throws(SQLiteError) in
            for change in changes { try make(change, &identifiers) }
            if !changes.isEmpty { try database.execute("DELETE FROM incarnation") }
            try write(state, besides: saved, &identifiers)
            try write(journal, identifiers)
            try database.prepare(
                """
                INSERT INTO session (id, boot, namespace, scanned_at, scanned_wall, is_clean) VALUES (1, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET boot = excluded.boot, namespace = excluded.namespace,
                scanned_at = excluded.scanned_at, scanned_wall = excluded.scanned_wall, is_clean = excluded.is_clean
                """
            ).run(
                .text(state.session.boot),
                .text(state.session.namespace),
                state.scannedAt.map { .integer(Int64(clamping: $0)) } ?? .null,
                .integer(Int64(state.scannedWall)),
                .integer(isLast ? 1 : 0)
            )
        }
        self.identifiers = identifiers
        // From the first save on the file itself says where counting began: a log that is lost takes the last saves with it,
        // but never the accounts. After the last save nothing is left in the log.
        if self.saved == nil || isLast { database.checkpoint() }
        self.saved = state
    }

    private func write(
        _ state: Ledger.State,
        besides saved: Ledger.State?,
        _ identifiers: inout [LinkName: Int64]
    ) throws(SQLiteError) {
        let put = try database.prepare(
            """
            INSERT INTO account (rx_bytes, tx_bytes, rx_packets, tx_packets, name, state) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET state = excluded.state, rx_bytes = excluded.rx_bytes,
            tx_bytes = excluded.tx_bytes, rx_packets = excluded.rx_packets, tx_packets = excluded.tx_packets
            """
        )
        let count = try database.prepare(
            "UPDATE account SET rx_bytes = ?, tx_bytes = ?, rx_packets = ?, tx_packets = ? WHERE name = ?"
        )
        let identify = try database.prepare("SELECT id FROM account WHERE name = ?")
        for (index, account) in state.accounts.enumerated() {
            let before = saved.flatMap { $0.accounts.indices.contains(index) ? $0.accounts[index] : nil }
            if before?.settled != account.settled {
                try put.run(account.counts.values + [.text(account.name.escaped), .text(Self.encode(account))])
            } else if before?.counts != account.counts {
                try count.run(account.counts.values + [.text(account.name.escaped)])
            }
            if identifiers[account.name] == nil {
                try identify.rows(.text(account.name.escaped)) { identifiers[account.name] = $0.integer(0) }
            }
        }
        try write(state.incarnations, of: state.accounts, besides: saved?.incarnations ?? [], identifiers)
    }

    private func write(
        _ incarnations: [Incarnation],
        of accounts: [Account],
        besides saved: [Incarnation],
        _ identifiers: [LinkName: Int64]
    ) throws(SQLiteError) {
        let before = Dictionary(saved.map { ($0.link.identity.ifindex, $0) }) { first, _ in first }
        let now = Set(incarnations.map(\.link.identity.ifindex))
        let remove = try database.prepare("DELETE FROM incarnation WHERE ifindex = ?")
        for ifindex in before.keys where !now.contains(ifindex) { try remove.run(.integer(Int64(ifindex))) }
        let put = try database.prepare(
            """
            INSERT OR REPLACE INTO incarnation (rx_bytes, tx_bytes, rx_packets, tx_packets, ifindex, account, state)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        )
        let count = try database.prepare(
            "UPDATE incarnation SET rx_bytes = ?, tx_bytes = ?, rx_packets = ?, tx_packets = ? WHERE ifindex = ?"
        )
        for incarnation in incarnations {
            let before = before[incarnation.link.identity.ifindex]
            let ifindex = Statement.Value.integer(Int64(incarnation.link.identity.ifindex))
            if before?.settled != incarnation.settled {
                guard let account = identifiers[accounts[incarnation.account].name] else { continue }
                let state = Self.encode(incarnation)
                try put.run(incarnation.counts.values + [ifindex, .integer(account), .text(state)])
            } else if before?.counts != incarnation.counts {
                try count.run(incarnation.counts.values + [ifindex])
            }
        }
    }

    private func write(_ journal: Journal, _ identifiers: [LinkName: Int64]) throws(SQLiteError) {
        let slot = try database.prepare(
            """
            INSERT INTO slot (account, start, rx_bytes, tx_bytes, rx_packets, tx_packets) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (account, start) DO UPDATE SET rx_bytes = rx_bytes + excluded.rx_bytes,
            tx_bytes = tx_bytes + excluded.tx_bytes, rx_packets = rx_packets + excluded.rx_packets,
            tx_packets = tx_packets + excluded.tx_packets
            """
        )
        for (key, flow) in journal.slots {
            guard let account = identifiers[key.interface] else { continue }
            try slot.run(
                .integer(account),
                .integer(Int64(key.start / 1_000_000)),
                flow.rxBytes.value,
                flow.txBytes.value,
                flow.rxPackets.value,
                flow.txPackets.value
            )
        }
        let span = try database.prepare(
            """
            INSERT INTO span (account, start_usec, end_usec, rx_bytes, tx_bytes, rx_packets, tx_packets, is_imported)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        for (interface, spans) in journal.spans {
            guard let account = identifiers[interface] else { continue }
            for one in spans {
                try span.run(
                    .integer(account),
                    .integer(Int64(one.start)),
                    .integer(Int64(one.end)),
                    one.flow.rxBytes.value,
                    one.flow.txBytes.value,
                    one.flow.rxPackets.value,
                    one.flow.txPackets.value,
                    .integer(one.isImported ? 1 : 0)
                )
            }
        }
        for (interface, flow) in journal.untimed {
            guard let account = identifiers[interface] else { continue }
            try span.run(
                .integer(account),
                .null,
                .null,
                flow.rxBytes.value,
                flow.txBytes.value,
                flow.rxPackets.value,
                flow.txPackets.value,
                .integer(0)
            )
        }
        let doubt = try database.prepare("INSERT INTO doubt (account, start_usec, end_usec, cause) VALUES (?, ?, ?, ?)")
        for (interface, doubts) in journal.doubts {
            guard let account = identifiers[interface] else { continue }
            for one in doubts {
                try doubt.run(
                    .integer(account),
                    .integer(Int64(one.start)),
                    .integer(Int64(one.end)),
                    .text(one.cause)
                )
            }
        }
        let event = try database.prepare(
            """
            INSERT INTO event (at_usec, interface, kind, ifindex, incarnation, previous, cause, is_gapped)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        for one in journal.occurrences {
            try event.run(
                .integer(Int64(one.at)),
                .text(one.interface.escaped),
                .text(one.kind),
                one.ifindex.map { .integer(Int64($0)) } ?? .null,
                one.incarnation.map { .integer(Int64($0)) } ?? .null,
                one.previous.map { .text($0.escaped) } ?? .null,
                one.cause.map { .text($0) } ?? .null,
                .integer(one.isGapped ? 1 : 0)
            )
        }
    }

    // MARK: - Values as text

    private static func encode(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("the ledger's values are numbers, strings and booleans, which JSON can write")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws(SQLiteError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw .senseless("a row of \(type) makes no sense")
        }
    }
}

extension UInt64 {
    /// As SQLite keeps it, whose integers have a sign.
    fileprivate var value: Statement.Value { .integer(Int64(clamping: self)) }
}

extension Counts {
    /// As SQLite keeps them: the bits as they are, since a counter of 64 bits may have the highest set.
    fileprivate var values: [Statement.Value] {
        [rxBytes, txBytes, rxPackets, txPackets].map { .integer(Int64(bitPattern: $0)) }
    }
}

extension Statement {
    /// Counts from four columns; nil where they were never written by themselves.
    fileprivate func counts(from column: Int32) -> Counts? {
        guard optionalInteger(column) != nil else { return nil }
        let values = (0..<4).map { UInt64(bitPattern: integer(column + $0)) }
        return Counts(rxBytes: values[0], txBytes: values[1], rxPackets: values[2], txPackets: values[3])
    }
}
