package import Ledger

/// What is asked of the store.
extension Store {
    /// The times in which an interface's history lies, from the first byte to the last; µs since 1970.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: `SQLiteError`.
    package func extent(of interface: LinkName) throws(SQLiteError) -> Range<Int>? {
        var first = Int.max
        var last = Int.min
        let account = Statement.Value.text(interface.escaped)
        let sql = """
            SELECT min(start) * 1000000, max(start) * 1000000 + \(Slot.length) FROM slot WHERE account = \(Self.account)
            UNION ALL SELECT min(start_usec), max(end_usec) FROM span WHERE account = \(Self.account)
            """
        try database.prepare(sql).rows(account) { row in
            if let start = row.optionalInteger(0) { first = min(first, Int(start)) }
            if let end = row.optionalInteger(1) { last = max(last, Int(end)) }
        }
        return first < last ? first..<last : nil
    }

    /// The slots that begin within a time; µs since 1970.
    ///
    /// - Throws: `SQLiteError`.
    package func slots(of interface: LinkName, in time: Range<Int>) throws(SQLiteError) -> [SlotFlow] {
        var slots: [SlotFlow] = []
        try database.prepare(
            """
            SELECT start, rx_bytes, tx_bytes, rx_packets, tx_packets FROM slot
            WHERE account = \(Self.account) AND start * 1000000 >= ?2 AND start * 1000000 < ?3 ORDER BY start
            """
        ).rows(.text(interface.escaped), .moment(time.lowerBound), .moment(time.upperBound)) { row in
            slots.append(SlotFlow(start: Int(row.integer(0)) * 1_000_000, flow: row.flow(from: 1)))
        }
        return slots
    }

    /// The spans that share time with another; µs since 1970.
    ///
    /// - Throws: `SQLiteError`.
    package func spans(of interface: LinkName, in time: Range<Int>) throws(SQLiteError) -> [Span] {
        var spans: [Span] = []
        try database.prepare(
            """
            SELECT start_usec, end_usec, is_imported, rx_bytes, tx_bytes, rx_packets, tx_packets FROM span
            WHERE account = \(Self.account) AND end_usec >= ?2 AND start_usec < ?3 ORDER BY start_usec
            """
        ).rows(.text(interface.escaped), .moment(time.lowerBound), .moment(time.upperBound)) { row in
            spans.append(
                Span(
                    start: Int(row.integer(0)),
                    end: Int(row.integer(1)),
                    flow: row.flow(from: 3),
                    isImported: row.integer(2) != 0
                )
            )
        }
        return spans
    }

    /// The times, among those that share time with another, in which bytes may have been missed; µs since 1970.
    ///
    /// - Throws: `SQLiteError`.
    package func doubts(of interface: LinkName, in time: Range<Int>) throws(SQLiteError) -> [Doubt] {
        var doubts: [Doubt] = []
        try database.prepare(
            """
            SELECT start_usec, end_usec, cause, count FROM doubt
            WHERE account = \(Self.account) AND end_usec >= ?2 AND start_usec < ?3 ORDER BY start_usec
            """
        ).rows(.text(interface.escaped), .moment(time.lowerBound), .moment(time.upperBound)) { row in
            doubts.append(
                Doubt(
                    start: Int(row.integer(0)),
                    end: Int(row.integer(1)),
                    cause: row.text(2),
                    count: Int(row.integer(3))
                )
            )
        }
        return doubts
    }

    /// What was counted of an interface while the clock was not set.
    ///
    /// - Throws: `SQLiteError`.
    package func untimed(of interface: LinkName) throws(SQLiteError) -> Flow {
        var flow = Flow()
        try database.prepare(
            """
            SELECT rx_bytes, tx_bytes, rx_packets, tx_packets FROM span
            WHERE account = \(Self.account) AND end_usec IS NULL
            """
        ).rows(.text(interface.escaped)) { flow += $0.flow(from: 0) }
        return flow
    }

    /// The last things that happened, in order.
    ///
    /// - Parameters:
    ///   - interface: nil for all.
    ///   - since: only what happened since then, µs since 1970.
    ///   - limit: how many at most.
    /// - Returns: the oldest first.
    /// - Throws: `SQLiteError`.
    package func occurrences(
        of interface: LinkName?,
        since: Int,
        limit: Int
    ) throws(SQLiteError) -> [Occurrence] {
        var found: [Occurrence] = []
        let name = interface.map { Statement.Value.text($0.escaped) } ?? .null
        try database.prepare(
            """
            SELECT at_usec, interface, kind, ifindex, incarnation, previous, cause, is_gapped FROM event
            WHERE at_usec >= ?2 AND (?1 IS NULL OR interface = ?1 OR previous = ?1) ORDER BY id DESC LIMIT ?3
            """
        ).rows(name, .moment(since), .moment(limit)) { row in
            guard let interface = LinkName(escaped: row.text(1)) else { return }
            found.append(
                Occurrence(
                    at: Int(row.integer(0)),
                    interface: interface,
                    kind: row.text(2),
                    ifindex: row.optionalInteger(3).map { Int($0) },
                    incarnation: row.optionalInteger(4).map { Int($0) },
                    previous: LinkName(escaped: row.text(5)),
                    cause: row.optionalText(6),
                    isGapped: row.integer(7) != 0
                )
            )
        }
        return found.reversed()
    }

    /// The account of the name that is the first parameter.
    private static let account = "(SELECT id FROM account WHERE name = ?1)"
}

extension Statement {
    /// Bytes and packets from four columns.
    fileprivate func flow(from column: Int32) -> Flow {
        Flow(
            rxBytes: UInt64(clamping: integer(column)),
            txBytes: UInt64(clamping: integer(column + 1)),
            rxPackets: UInt64(clamping: integer(column + 2)),
            txPackets: UInt64(clamping: integer(column + 3))
        )
    }
}

extension Statement.Value {
    fileprivate static func moment(_ value: Int) -> Statement.Value { .integer(Int64(value)) }
}
