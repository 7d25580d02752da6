internal import SystemCalls

/// vnStat's own file, vnstat.db, open for reading (vnStat 2.0 and later).
///
/// vnStat may be counting into it: it is read through SQLite, with SQLite's locks, and nothing is written, neither to it nor
/// beside it, not even by root.
struct VnstatFile {
    private let database: Database
    /// What the file was when it was opened as one that nobody writes to; nil when it was not.
    private let left: FileStatus?
    private let hasLog: Bool

    /// What every SQLite database begins with (https://www.sqlite.org/fileformat2.html).
    static let mark = Array("SQLite format 3\0".utf8)

    /// Whether a file that begins so is an SQLite database.
    static func isDatabase(_ head: [UInt8]) -> Bool { head.starts(with: mark) }

    /// - Parameter path: of an SQLite database.
    /// - Throws: `.logUnusable` or `.unreadable`.
    init(_ path: String) throws(VnstatError) {
        let isLogged = try Self.isLogged(path)
        let opened = try Self.asking { () throws(SQLiteError) in try Database(reading: path, isUnchanging: false) }
        let log = try? FileStatus(following: opened.path + "-wal")
        let index = try? FileStatus(following: opened.path + "-shm")
        hasLog = log.map { $0.size > 0 || index != nil } ?? false
        if hasLog, index == nil { throw .logUnusable }
        guard isLogged, !hasLog else {
            (database, left) = (opened, nil)
            return
        }
        // The last that had it open took the log away, and SQLite would make a new one to read it.
        left = try Self.status(opened.path)
        database = try Self.asking { () throws(SQLiteError) in try Database(reading: path, isUnchanging: true) }
    }

    /// All that it holds, as `vnstat --json` would print it.
    ///
    /// - Throws: `VnstatError`.
    func document() throws(VnstatError) -> VnstatDocument {
        do {
            let document = try read()
            try checkUnchanged()
            return document
        } catch .unreadable where hasLog {
            throw .logUnusable
        } catch {
            // What was changed meanwhile may look like damage.
            try checkUnchanged()
            throw error
        }
    }

    private func read() throws(VnstatError) -> VnstatDocument {
        let tables = try Self.asking { () throws(SQLiteError) in
            try database.execute("PRAGMA busy_timeout = 2000")
            // The file is another program's: nothing that its schema could call is called.
            try database.execute("PRAGMA trusted_schema = OFF")
            // All tables as they are at one moment.
            try database.execute("BEGIN")
            let names = Self.tables.map { "'\($0)'" }.joined(separator: ", ")
            return try database.single("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (\(names))")
        }
        guard tables == Self.tables.count else { throw .notVnstats }
        var versions: [String] = []
        try Self.asking { () throws(SQLiteError) in
            try database.checkIntegrity()
            try database.prepare("SELECT value FROM info WHERE name = 'dbversion'").rows { versions.append($0.text(0)) }
        }
        guard let version = versions.first else { throw .notVnstats }
        guard version == "1" else { throw .unknownDatabaseVersion(version) }
        return VnstatDocument(version: "2", interfaces: try interfaces())
    }

    // MARK: - Tables

    private static let tables = ["info", "interface", "hour", "day", "month", "year"]

    /// The interfaces in the order of vnStat's own output.
    private func interfaces() throws(VnstatError) -> [VnstatDocument.Interface] {
        var found: [(id: Int64, name: String, created: String, updated: String)] = []
        try Self.asking { () throws(SQLiteError) in
            try database.prepare("SELECT id, name, created, updated FROM interface ORDER BY name").rows { row in
                found.append((row.integer(0), row.text(1), row.text(2), row.text(3)))
            }
        }
        var interfaces: [VnstatDocument.Interface] = []
        for (id, name, created, updated) in found {
            // To the day and to the minute, as vnStat's own output has them: an import is the same from either.
            var created = try Self.moment(created, "interface")
            created.time = nil
            interfaces.append(
                VnstatDocument.Interface(
                    name: name,
                    created: created,
                    updated: try Self.moment(updated, "interface"),
                    hours: try rows(of: id, "hour"),
                    days: try rows(of: id, "day"),
                    months: try rows(of: id, "month").map { row in
                        var row = row
                        row.date.day = nil
                        return row
                    },
                    years: try rows(of: id, "year").map { row in
                        var row = row
                        (row.date.month, row.date.day) = (nil, nil)
                        return row
                    }
                )
            )
        }
        return interfaces
    }

    /// What one table has of an interface; a month and a year by their first day.
    private func rows(of interface: Int64, _ table: String) throws(VnstatError) -> [VnstatDocument.Row] {
        func count(_ column: String) -> String { "iif(typeof(\(column)) = 'integer', \(column), NULL)" }
        let sql = "SELECT date, \(count("rx")), \(count("tx")) FROM \(table) WHERE interface = ? ORDER BY date"
        var found: [(date: String, rx: Int64?, tx: Int64?)] = []
        try Self.asking { () throws(SQLiteError) in
            try database.prepare(sql).rows(.integer(interface)) { row in
                found.append((row.text(0), row.optionalInteger(1), row.optionalInteger(2)))
            }
        }
        var rows: [VnstatDocument.Row] = []
        for (date, rx, tx) in found {
            let moment = try Self.moment(date, table)
            guard let rx = rx.flatMap(UInt64.init(exactly:)), let tx = tx.flatMap(UInt64.init(exactly:)) else {
                throw .damaged("a count in the table '\(table)' is no number of bytes")
            }
            rows.append(VnstatDocument.Row(id: nil, date: moment.date, time: moment.time, rx: rx, tx: tx))
        }
        return rows
    }

    /// "2026-10-25", or "2026-10-25 02:00:00": on the clocks of the zone that vnStat runs in, or in UTC by its
    /// configuration; the file does not tell which.
    private static func moment(_ text: String, _ table: String) throws(VnstatError) -> VnstatDocument.Moment {
        func numbers(_ text: Substring, _ separator: Character) -> [Int]? {
            let numbers = text.split(separator: separator, omittingEmptySubsequences: false).compactMap { Int($0) }
            return numbers.count == 3 ? numbers : nil
        }
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let time = parts.dropFirst().first.map { numbers($0, ":") }
        guard let date = parts.first.flatMap({ numbers($0, "-") }), time != .some(nil) else {
            throw .damaged("a date in the table '\(table)' is none")
        }
        return VnstatDocument.Moment(
            date: .init(year: date[0], month: date[1], day: date[2]),
            time: time.flatMap { $0 }.map { .init(hour: $0[0], minute: $0[1]) }
        )
    }

    // MARK: - The file

    /// Whether its writers use a write-ahead log.
    private static func isLogged(_ path: String) throws(VnstatError) -> Bool {
        do throws(Errno) {
            var head = [UInt8](repeating: 0, count: 20)
            let count = try File.open(path).read(into: &head)
            // The version that a reader has to know: 2 is with a log.
            return count == head.count && head[19] == 2
        } catch {
            throw .unreadable("\(error)")
        }
    }

    private static func status(_ path: String) throws(VnstatError) -> FileStatus {
        do { return try FileStatus(following: path) } catch { throw .unreadable("\(error)") }
    }

    /// Without locks, it shows only afterwards whether somebody wrote.
    private func checkUnchanged() throws(VnstatError) {
        guard let left else { return }
        let log = try? FileStatus(following: database.path + "-wal")
        let present = try Self.status(database.path)
        if present != left || log.map({ $0.size > 0 }) ?? false { throw .busy }
    }

    /// Asks SQLite, and says in vnStat's terms what is wrong.
    @discardableResult
    private static func asking<Answer>(
        _ question: () throws(SQLiteError) -> Answer
    ) throws(VnstatError) -> Answer {
        do throws(SQLiteError) {
            return try question()
        } catch {
            if error.isDamage { throw .damaged(error.message) }
            if error.needsRollback { throw .cutOff }
            throw error.isBusy ? .busy : .unreadable(error.message)
        }
    }
}
