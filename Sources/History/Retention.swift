internal import Ledger

/// How long the store keeps what by the hour and by the link. What is older is folded, not forgotten: no byte leaves the
/// history.
package struct Retention: Hashable, Sendable {
    /// Quarter hours that are older than this, in µs, are folded into days of UTC, and so are spans and doubts.
    package var quarters = 400 * Self.day
    /// How long after its end the account of a link of one life retires, in µs, if it is of a kind that comes by the
    /// thousand.
    package var ephemeral = 30 * Self.day
    /// How many events are kept; the oldest go.
    package var events = 100_000

    package init() {}

    /// In µs.
    package static let day = 86_400_000_000
}

extension Store {
    /// Folds what is old: what a day's quarter hours, spans and doubts say becomes one span and one doubt of that day.
    ///
    /// - Parameters:
    ///   - retention: what is old.
    ///   - now: the wall clock, µs since 1970. One that is set wrong folds too much or too little, and loses nothing.
    /// - Returns: how many slots were folded.
    /// - Throws: `SQLiteError`; nothing was changed then.
    @discardableResult
    package func fold(_ retention: Retention, now: Int) throws(SQLiteError) -> Int {
        let limit = (now - retention.quarters) / Retention.day * Retention.day
        var folded = 0
        try database.transaction { () throws(SQLiteError) in
            folded = try foldSlots(before: limit)
            try foldSpans(before: limit)
            try foldDoubts(before: limit)
            try database.prepare("DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - ?1")
                .run(.integer(Int64(retention.events)))
        }
        return folded
    }

    private func foldSlots(before limit: Int) throws(SQLiteError) -> Int {
        let seconds = Statement.Value.integer(Int64(limit / 1_000_000))
        try database.prepare(
            """
            INSERT INTO span (account, start_usec, end_usec, rx_bytes, tx_bytes, rx_packets, tx_packets, is_imported)
            SELECT account, min(start) * 1000000, (max(start) + 900) * 1000000, sum(rx_bytes), sum(tx_bytes),
            sum(rx_packets), sum(tx_packets), 0 FROM slot WHERE start < ?1 GROUP BY account, start / 86400
            """
        ).run(seconds)
        try database.prepare("DELETE FROM slot WHERE start < ?1").run(seconds)
        return database.changes
    }

    /// Makes one span of those of one day, where there are several; those that reach over its end stay as they are.
    private func foldSpans(before limit: Int) throws(SQLiteError) {
        let old = """
            end_usec < ?1 AND is_imported = 0 AND start_usec / \(Retention.day) = (end_usec - 1) / \(Retention.day)
            """
        try merge(
            "span",
            group: "account, start_usec / \(Retention.day)",
            where: old,
            """
            INSERT INTO span (account, start_usec, end_usec, rx_bytes, tx_bytes, rx_packets, tx_packets, is_imported)
            SELECT account, min(start_usec), max(end_usec), sum(rx_bytes), sum(tx_bytes), sum(rx_packets),
            sum(tx_packets), 0
            """,
            limit
        )
    }

    private func foldDoubts(before limit: Int) throws(SQLiteError) {
        try merge(
            "doubt",
            group: "account, cause, start_usec / \(Retention.day)",
            where: "end_usec < ?1 AND start_usec / \(Retention.day) = (end_usec - 1) / \(Retention.day)",
            """
            INSERT INTO doubt (account, start_usec, end_usec, cause, count)
            SELECT account, min(start_usec), max(end_usec), cause, sum(count)
            """,
            limit
        )
    }

    /// Puts one row in the place of each group that has several.
    private func merge(
        _ table: String,
        group: String,
        where condition: String,
        _ insert: String,
        _ limit: Int
    ) throws(SQLiteError) {
        let before = Statement.Value.integer(Int64(limit))
        var last: Int64 = 0
        try database.prepare("SELECT coalesce(max(rowid), 0) FROM \(table)").rows { last = $0.integer(0) }
        try database.prepare("\(insert) FROM \(table) WHERE \(condition) GROUP BY \(group) HAVING count(*) > 1")
            .run(before)
        try database.prepare(
            """
            DELETE FROM \(table) WHERE \(condition) AND rowid <= ?2 AND (\(group)) IN
            (SELECT \(group) FROM \(table) WHERE \(condition) GROUP BY \(group) HAVING max(rowid) > ?2)
            """
        ).run(before, .integer(last))
    }
}
