package import Ledger

/// What the store keeps of other counters.
extension Store {
    /// Puts another counter's figures in the place of those that were imported for a time before, or changes nothing.
    ///
    /// - Parameters:
    ///   - interface: whose.
    ///   - time: what was imported and begins in it goes; µs since 1970.
    ///   - spans: what comes.
    /// - Returns: false when there is no account of that name on disk.
    /// - Throws: `SQLiteError`; nothing is changed then.
    package func replaceImported(
        of interface: LinkName,
        in time: Range<Int>,
        with spans: [Span]
    ) throws(SQLiteError) -> Bool {
        var account: Int64?
        try database.prepare("SELECT id FROM account WHERE name = ?").rows(.text(interface.escaped)) {
            account = $0.integer(0)
        }
        guard let account else { return false }
        let remove = try database.prepare(
            "DELETE FROM span WHERE account = ? AND is_imported = 1 AND start_usec >= ? AND start_usec < ?"
        )
        let insert = try database.prepare(
            """
            INSERT INTO span (account, start_usec, end_usec, rx_bytes, tx_bytes, rx_packets, tx_packets, is_imported)
            VALUES (?, ?, ?, ?, ?, ?, ?, 1)
            """
        )
        try database.transaction { () throws(SQLiteError) in
            try remove.run(.integer(account), .integer(Int64(time.lowerBound)), .integer(Int64(time.upperBound)))
            for span in spans {
                try insert.run(
                    .integer(account),
                    .integer(Int64(span.start)),
                    .integer(Int64(span.end)),
                    .integer(Int64(clamping: span.flow.rxBytes)),
                    .integer(Int64(clamping: span.flow.txBytes)),
                    .integer(Int64(clamping: span.flow.rxPackets)),
                    .integer(Int64(clamping: span.flow.txPackets))
                )
            }
        }
        return true
    }
}
