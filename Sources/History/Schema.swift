internal import CSQLite

extension Database {
    /// Makes the tables of a new file, or brings those of an older format forward.
    ///
    /// - Returns: the format of the file, which may be a later one than this program's.
    func setUp(applicationID: Int, version: Int) throws(SQLiteError) -> Int {
        // Nothing is changed, not even by closing it, before the file is known to be ours and whole.
        try keepLogAtClose(true)
        try execute("PRAGMA busy_timeout = 2000")
        let found = Int(try single("PRAGMA user_version"))
        let owner = Int(try single("PRAGMA application_id"))
        let tables = try single("SELECT count(*) FROM sqlite_schema")
        let isNew = found == 0 && tables == 0
        if !isNew {
            guard owner == applicationID else { throw .senseless("it is a database of another program") }
            guard found <= version else { return found }
            try checkIntegrity()
        }
        try keepLogAtClose(false)
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA synchronous = FULL")
        try execute("PRAGMA foreign_keys = ON")
        // Few pages are written twice; 512 KiB of them are kept in memory, not the 2 MB of SQLite's own choice.
        try execute("PRAGMA cache_size = -512")
        // The log goes back to its usual size after a time in which it could not be written into the file.
        try execute("PRAGMA journal_size_limit = 1048576")
        if isNew {
            try transaction { () throws(SQLiteError) in
                try execute(Self.tables)
                try execute("PRAGMA application_id = \(applicationID)")
                try execute("PRAGMA user_version = \(version)")
            }
            // A file whose log is lost must not look like one that never held anything.
            checkpoint()
        } else if found < version {
            try transaction { () throws(SQLiteError) in
                for step in Self.steps[(found - 1)...] { try execute(step) }
                try execute("PRAGMA user_version = \(version)")
            }
        }
        return isNew ? version : found
    }

    /// Asks SQLite whether the file holds together.
    func checkIntegrity() throws(SQLiteError) {
        var findings: [String] = []
        try prepare("PRAGMA integrity_check(1)").rows { findings.append($0.text(0)) }
        if findings != ["ok"] { throw .senseless(findings.first ?? "the check of the file answers nothing") }
    }

    /// The integer that a statement answers.
    func single(_ sql: String) throws(SQLiteError) -> Int64 {
        var value: Int64 = 0
        try prepare(sql).rows { value = $0.integer(0) }
        return value
    }

    /// What brings each format forward to the next, from format 1 on.
    private static let steps = [
        // Doubts of long ago are folded.
        // What changes with each save is not written anew with all that does not; null until it has changed.
        """
        ALTER TABLE doubt ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE account ADD COLUMN rx_bytes INTEGER;
        ALTER TABLE account ADD COLUMN tx_bytes INTEGER;
        ALTER TABLE account ADD COLUMN rx_packets INTEGER;
        ALTER TABLE account ADD COLUMN tx_packets INTEGER;
        ALTER TABLE incarnation ADD COLUMN rx_bytes INTEGER;
        ALTER TABLE incarnation ADD COLUMN tx_bytes INTEGER;
        ALTER TABLE incarnation ADD COLUMN rx_packets INTEGER;
        ALTER TABLE incarnation ADD COLUMN tx_packets INTEGER;
        """
    ]

    /// Times are µs since 1970, but for `slot.start`, which is seconds: its rows are the many.
    private static let tables = """
        CREATE TABLE session (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            boot TEXT NOT NULL,
            namespace TEXT NOT NULL,
            scanned_at INTEGER,
            scanned_wall INTEGER NOT NULL,
            is_clean INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE account (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            state TEXT NOT NULL,
            rx_bytes INTEGER,
            tx_bytes INTEGER,
            rx_packets INTEGER,
            tx_packets INTEGER
        ) STRICT;
        CREATE TABLE incarnation (
            ifindex INTEGER PRIMARY KEY,
            account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
            state TEXT NOT NULL,
            rx_bytes INTEGER,
            tx_bytes INTEGER,
            rx_packets INTEGER,
            tx_packets INTEGER
        ) STRICT;
        CREATE TABLE slot (
            account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
            start INTEGER NOT NULL,
            rx_bytes INTEGER NOT NULL,
            tx_bytes INTEGER NOT NULL,
            rx_packets INTEGER NOT NULL,
            tx_packets INTEGER NOT NULL,
            PRIMARY KEY (account, start)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE span (
            account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
            start_usec INTEGER,
            end_usec INTEGER,
            rx_bytes INTEGER NOT NULL,
            tx_bytes INTEGER NOT NULL,
            rx_packets INTEGER NOT NULL,
            tx_packets INTEGER NOT NULL,
            is_imported INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX span_by_time ON span (account, end_usec);
        CREATE TABLE doubt (
            account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
            start_usec INTEGER NOT NULL,
            end_usec INTEGER NOT NULL,
            cause TEXT NOT NULL,
            count INTEGER NOT NULL DEFAULT 1
        ) STRICT;
        CREATE INDEX doubt_by_time ON doubt (account, end_usec);
        CREATE TABLE event (
            id INTEGER PRIMARY KEY,
            at_usec INTEGER NOT NULL,
            interface TEXT NOT NULL,
            kind TEXT NOT NULL,
            ifindex INTEGER,
            incarnation INTEGER,
            previous TEXT,
            cause TEXT,
            is_gapped INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX event_by_interface ON event (interface, at_usec);
        """
}

extension SQLiteError {
    /// The file is a database, but not one that this program can make sense of: treated as damage.
    static func senseless(_ message: String) -> SQLiteError { SQLiteError(code: SQLITE_CORRUPT, message: message) }
}
