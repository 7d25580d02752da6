internal import CSQLite

/// What SQLite answered that was not success: a result code, with its words (sqlite3_errmsg).
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code. A number this program has no name for survives.
    package var code: Int32
    package var message: String

    /// The primary result code, without what is extended.
    package var primary: Int32 { code & 0xFF }

    /// The file is no database, or one that is damaged.
    package var isDamage: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

    /// Another program has the file.
    package var isBusy: Bool { primary == SQLITE_BUSY }

    /// A writer was ended in the middle, and one that only reads cannot undo what it has begun.
    ///
    /// - Note: SQLITE_READONLY_ROLLBACK, a macro with an operator that Swift does not import.
    var needsRollback: Bool { code == SQLITE_READONLY | 3 << 8 }

    /// It may be over the next time, with the file as it is: another program has it, the disk is full or does not work.
    package var canPass: Bool {
        [
            SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_NOMEM,
        ].contains(primary)
    }

    package var description: String { message }
}

/// One connection to a database file, owned by one thread.
@safe final class Database {
    /// - Note: closed with the database; no statement outlives it, since each holds it.
    private let handle: OpaquePointer

    /// Opens a file, which is made when it is not there.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - isShared: whether other programs may use it, too, while it is open here.
    /// - Throws: `SQLiteError`.
    convenience init(path: String, isShared: Bool = true) throws(SQLiteError) {
        try self.init(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        if !isShared { try execute("PRAGMA locking_mode = EXCLUSIVE") }
    }

    /// Opens a file only to read it: nothing is written, neither to it nor beside it.
    ///
    /// - Parameters:
    ///   - path: a file that is there.
    ///   - isUnchanging: whether nobody writes to it, and no write-ahead log belongs to it: then neither locks nor a log
    ///     are looked for.
    /// - Throws: `SQLiteError`.
    convenience init(reading path: String, isUnchanging: Bool) throws(SQLiteError) {
        // A reader who may write would make the log's index, or set its marks in it (walro.test of SQLite).
        let how = isUnchanging ? "immutable=1" : "readonly_shm=1"
        // https://www.sqlite.org/uri.html: an absolute path follows an authority, which is empty.
        let authority = path.hasPrefix("/") ? "//" : ""
        try self.init("file:\(authority)\(Self.escaped(path))?\(how)", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    private init(_ name: String, _ flags: Int32) throws(SQLiteError) {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard let handle = unsafe opened else { throw SQLiteError(code: code, message: "out of memory") }
        unsafe self.handle = handle
        if code != SQLITE_OK {
            let error = SQLiteError(code: code, message: unsafe String(cString: sqlite3_errmsg(handle)))
            throw error
        }
    }

    deinit { unsafe _ = sqlite3_close_v2(handle) }

    /// The file's absolute path, without symbolic links: what stands beside it has its name from this.
    var path: String { unsafe sqlite3_db_filename(handle, "main").map { unsafe String(cString: $0) } ?? "" }

    private static func escaped(_ path: String) -> String {
        // What ends a path there, and what escapes.
        path.unicodeScalars.map { ["%": "%25", "?": "%3f", "#": "%23"][$0] ?? String($0) }.joined()
    }

    /// Whether closing leaves the file and its write-ahead log as they are.
    func keepLogAtClose(_ isKept: Bool) throws(SQLiteError) {
        try check(unsafe ifc_sqlite_keep_log(handle, isKept ? 1 : 0))
    }

    /// Writes all of the log into the file, unless another reads from it now: then a later save will.
    func checkpoint() { try? execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    /// Runs statements that have no parameters and no rows of interest.
    func execute(_ sql: String) throws(SQLiteError) {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Compiles one statement.
    func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var statement: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        guard let statement = unsafe statement else {
            throw SQLiteError(code: SQLITE_MISUSE, message: "an empty statement: \(sql)")
        }
        return unsafe Statement(statement, of: self)
    }

    /// Runs `body` in one transaction: all of it is kept, or nothing.
    func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // After some errors SQLite has rolled back by itself, and a second time is an error of no account.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// How many rows the last statement has changed.
    var changes: Int { unsafe Int(sqlite3_changes(handle)) }

    fileprivate func check(_ code: Int32) throws(SQLiteError) {
        if code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE { return }
        throw SQLiteError(code: code, message: unsafe String(cString: sqlite3_errmsg(handle)))
    }
}

/// One compiled statement; it finalises itself.
@safe final class Statement {
    private let statement: OpaquePointer
    private let database: Database

    fileprivate init(_ statement: OpaquePointer, of database: Database) {
        unsafe self.statement = statement
        self.database = database
    }

    deinit { unsafe _ = sqlite3_finalize(statement) }

    /// What can be bound to a parameter and read from a column.
    enum Value: Hashable {
        case null
        case integer(Int64)
        case text(String)
    }

    /// Runs it with these parameters to its end, for what it does.
    func run(_ values: Value...) throws(SQLiteError) { try run(values) }

    /// Runs it with these parameters to its end, for what it does.
    func run(_ values: [Value]) throws(SQLiteError) {
        try bind(values)
        while try step() {}
        unsafe _ = sqlite3_reset(statement)
    }

    /// Runs it with these parameters and hands each row on.
    func rows(_ values: Value..., take: (Statement) throws(SQLiteError) -> Void) throws(SQLiteError) {
        try bind(values)
        defer { unsafe _ = sqlite3_reset(statement) }
        while try step() { try take(self) }
    }

    /// The integer of a column of the present row; 0 for null.
    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement, column) }

    /// The integer of a column of the present row, or nil for null.
    func optionalInteger(_ column: Int32) -> Int64? {
        unsafe sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
    }

    /// The text of a column of the present row; empty for null.
    func text(_ column: Int32) -> String {
        guard let text = unsafe sqlite3_column_text(statement, column) else { return "" }
        let length = unsafe Int(sqlite3_column_bytes(statement, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }

    /// The text of a column of the present row, or nil for null.
    func optionalText(_ column: Int32) -> String? {
        unsafe sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : text(column)
    }

    private func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(statement)
        do {
            try database.check(code)
        } catch {
            unsafe _ = sqlite3_reset(statement)
            throw error
        }
        return code == SQLITE_ROW
    }

    private func bind(_ values: [Value]) throws(SQLiteError) {
        unsafe _ = sqlite3_clear_bindings(statement)
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case .null: try database.check(unsafe sqlite3_bind_null(statement, position))
            case .integer(let integer): try database.check(unsafe sqlite3_bind_int64(statement, position, integer))
            case .text(let text):
                // SQLITE_TRANSIENT, a function-like macro: SQLite makes its own copy.
                let copy = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
                try database.check(unsafe sqlite3_bind_text(statement, position, text, -1, copy))
            }
        }
    }
}
