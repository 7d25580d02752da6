internal import Ledger

/// How long the store keeps quarter hours. What is older is folded, not forgotten: no byte leaves the history.
package struct Retention: Hashable, Sendable {
    /// Quarter hours that are older than this, in µs, are folded into days of UTC.
    package var quarters = 400 * Self.day
    /// The history of a link that was there once, and has been gone for longer than this, in µs, is folded into one span
    /// if it is of a kind that comes by the thousand.
    package var ephemeral = 30 * Self.day

    package init() {}

    private static let day = 86_400_000_000

    /// The kinds of links that container engines make one of for each container.
    static let ephemeralKinds: Set<String> = ["veth", "ifb", "dummy", "ipvlan", "macvlan", "macvtap"]
}

extension Store {
    /// Folds what is old: a day's quarter hours become one span of that day, a dead ephemeral link's become one span.
    ///
    /// - Parameters:
    ///   - retention: what is old.
    ///   - now: the wall clock, µs since 1970. One that is set wrong folds too much or too little, and loses nothing.
    /// - Returns: how many slots were folded.
    /// - Throws: `SQLiteError`; nothing was changed then.
    @discardableResult
    package func fold(_ retention: Retention, now: Int) throws(SQLiteError) -> Int {
        var folded = 0
        try database.transaction { () throws(SQLiteError) in
            let limit = Int64((now - retention.quarters) / 1_000_000 / 86400 * 86400)
            folded += try fold(where: "start < ?1", by: "start / 86400", .integer(limit))
            for account in try deadEphemerals(since: now - retention.ephemeral) {
                folded += try fold(where: "account = ?1", by: "start * 0", .integer(account))
            }
        }
        return folded
    }

    /// Makes one span of each group of an account's slots that a condition picks: from the first slot's beginning to the last one's end.
    private func fold(
        where condition: String,
        by group: String,
        _ value: Statement.Value
    ) throws(SQLiteError) -> Int {
        try database.prepare(
            """
            INSERT INTO span (account, start_usec, end_usec, rx_bytes, tx_bytes, rx_packets, tx_packets, is_imported)
            SELECT account, min(start) * 1000000, (max(start) + 900) * 1000000, sum(rx_bytes), sum(tx_bytes),
            sum(rx_packets), sum(tx_packets), 0 FROM slot WHERE \(condition) GROUP BY account, \(group)
            """
        ).run(value)
        try database.prepare("DELETE FROM slot WHERE \(condition)").run(value)
        return database.changes
    }

    /// Accounts of links that were there once, are of an ephemeral kind, and have been gone since before a moment.
    private func deadEphemerals(since moment: Int) throws(SQLiteError) -> [Int64] {
        let kinds = Retention.ephemeralKinds.sorted().map { "'\($0)'" }.joined(separator: ", ")
        var accounts: [Int64] = []
        try database.prepare(
            """
            SELECT id FROM account
            WHERE json_extract(state, '$.kind') IN (\(kinds)) AND json_extract(state, '$.lives') = 1
            AND json_extract(state, '$.current') IS NULL
            AND (SELECT count(*) FROM slot WHERE account = id) > 0
            AND (SELECT max(start) FROM slot WHERE account = id) * 1000000 < ?1
            """
        ).rows(.integer(Int64(moment))) { accounts.append($0.integer(0)) }
        return accounts
    }
}
