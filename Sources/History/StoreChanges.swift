internal import CSQLite
internal import Ledger
internal import SystemCalls

/// What is done to accounts as a whole.
extension Store {
    /// Makes a copy of the file as it is now, which can be put in its place.
    ///
    /// - Parameter wall: the wall clock, µs since 1970, for its name.
    /// - Returns: its path.
    /// - Throws: `SQLiteError`; no copy is left then.
    package func backUp(wall: Int) throws(SQLiteError) -> String {
        let path = Self.unusedPath("\(self.path).backup-", from: wall / 1_000_000)
        let part = path + ".part"
        do throws(SQLiteError) {
            try database.prepare("VACUUM INTO ?").run(.text(part))
            try Self.keep(part, as: path)
        } catch {
            try? File.remove(part)
            throw error
        }
        return path
    }

    /// Gives a copy its name when it is on the disk: SQLite leaves the writing of it to the system.
    private static func keep(_ part: String, as path: String) throws(SQLiteError) {
        do {
            try File.sync(part)
            try File.rename(part, to: path)
        } catch {
            throw SQLiteError(code: SQLITE_IOERR, message: "\(path): \(error)")
        }
    }

    /// Does to the tables what was done to an account.
    func make(_ change: AccountChange, _ identifiers: inout [LinkName: Int64]) throws(SQLiteError) {
        switch change {
        case .removed(let name):
            // Its slots, spans and doubts go with it.
            try database.prepare("DELETE FROM account WHERE name = ?1").run(.text(name.escaped))
            try database.prepare("DELETE FROM event WHERE interface = ?1").run(.text(name.escaped))
            identifiers[name] = nil
        case .moved(let name, let other):
            try move(name, to: other, isKnown: identifiers[other] != nil)
            identifiers[name] = nil
            try database.prepare("SELECT id FROM account WHERE name = ?").rows(.text(other.escaped)) {
                identifiers[other] = $0.integer(0)
            }
        }
    }

    /// Moves an account to a name, which may have one already: then they become one.
    private func move(_ name: LinkName, to other: LinkName, isKnown: Bool) throws(SQLiteError) {
        let names = (Statement.Value.text(name.escaped), Statement.Value.text(other.escaped))
        let from = "(SELECT id FROM account WHERE name = ?1)"
        let to = "(SELECT id FROM account WHERE name = ?2)"
        // What was imported for one name is not replaced by what is imported for another, later.
        let imported = isKnown ? "is_imported * 2" : "is_imported"
        let moves = [
            // Its state is written after this, as that of any account that has changed.
            """
            INSERT INTO account (name, state) SELECT ?2, state FROM account WHERE name = ?1 ON CONFLICT DO NOTHING
            """,
            """
            INSERT INTO slot (account, start, rx_bytes, tx_bytes, rx_packets, tx_packets)
            SELECT \(to), start, rx_bytes, tx_bytes, rx_packets, tx_packets FROM slot WHERE account = \(from)
            ON CONFLICT (account, start) DO UPDATE SET rx_bytes = rx_bytes + excluded.rx_bytes,
            tx_bytes = tx_bytes + excluded.tx_bytes, rx_packets = rx_packets + excluded.rx_packets,
            tx_packets = tx_packets + excluded.tx_packets
            """,
            "UPDATE span SET account = \(to), is_imported = \(imported) WHERE account = \(from)",
            "UPDATE doubt SET account = \(to) WHERE account = \(from)",
            "UPDATE event SET interface = ?2 WHERE interface = ?1",
        ]
        for move in moves { try database.prepare(move).run(names.0, names.1) }
        try database.prepare("DELETE FROM account WHERE name = ?").run(names.0)
    }
}
