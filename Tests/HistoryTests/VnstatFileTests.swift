import FoundationEssentials
import SystemCalls
import TestLinks
import Testing

@testable import History

/// A file like vnStat's own, in a directory of the test's.
struct VnstatFixture {
    let scratch: Scratch
    var path: String { scratch.path + "/vnstat.db" }

    /// The tables as vnStat 2.10 of Debian 12 makes them.
    private static let tables =
        """
        CREATE TABLE info(
          id       INTEGER PRIMARY KEY,
          name     TEXT UNIQUE NOT NULL,
          value    TEXT NOT NULL);
        CREATE TABLE interface(
          id           INTEGER PRIMARY KEY,
          name         TEXT UNIQUE NOT NULL,
          alias        TEXT,
          active       INTEGER NOT NULL,
          created      DATE NOT NULL,
          updated      DATE NOT NULL,
          rxcounter    INTEGER NOT NULL,
          txcounter    INTEGER NOT NULL,
          rxtotal      INTEGER NOT NULL,
          txtotal      INTEGER NOT NULL);
        INSERT INTO info VALUES (1, 'btime', '1796070523'), (2, 'dbversion', '1'), (3, 'vnstatversion', '2.10');

        """
        + ["fiveminute", "hour", "day", "month", "year", "top"].map { table in
            """
            CREATE TABLE \(table)(
              id           INTEGER PRIMARY KEY,
              interface    INTEGER REFERENCES interface(id) ON DELETE CASCADE,
              date         DATE NOT NULL,
              rx           INTEGER NOT NULL,
              tx           INTEGER NOT NULL,
              CONSTRAINT u UNIQUE (interface, date));

            """
        }.joined()

    /// The figures of `VnstatImportTests.second`.
    static let figures = """
        INSERT INTO interface VALUES
            (1, 'eth0', NULL, 1, '2026-10-20 17:31:40', '2026-10-26 14:35:59', 7, 8, 3000, 400);
        INSERT INTO fiveminute VALUES (1, 1, '2026-10-26 14:30:00', 5, 6);
        INSERT INTO hour VALUES (1, 1, '2026-10-25 02:00:00', 100, 10), (2, 1, '2026-10-26 14:00:00', 5, 6);
        INSERT INTO day VALUES
            (1, 1, '2026-10-24', 500, 50), (2, 1, '2026-10-25', 300, 30), (3, 1, '2026-10-26', 5, 6);
        INSERT INTO month VALUES (1, 1, '2026-09-01', 900, 90), (2, 1, '2026-10-01', 1805, 186);
        INSERT INTO year VALUES (1, 1, '2026-01-01', 3000, 400);
        INSERT INTO top VALUES (1, 1, '2026-10-24', 500, 50);
        """

    init(_ statements: String...) throws {
        scratch = try Scratch()
        let database = try Database(path: path)
        for sql in [Self.tables] + statements { try database.execute(sql) }
    }

    /// What lies in a directory: names, sizes, times of change, and bytes.
    static func content(_ directory: String) throws -> [String: [String]] {
        var content: [String: [String]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            let status = try FileStatus(at: directory + "/" + name)
            let bytes = status.isRegular ? try File.read(directory + "/" + name) : []
            content[name] = ["\(status.size) \(status.modifiedNSec)", String(decoding: bytes, as: UTF8.self)]
        }
        return content
    }

    /// Another directory with copies of some files of this one, as they are now: what a writer leaves that is killed.
    func left(_ names: String...) throws -> Scratch {
        let other = try Scratch()
        for name in names {
            try FileManager.default.copyItem(atPath: scratch.path + "/" + name, toPath: other.path + "/" + name)
        }
        return other
    }
}

struct VnstatFileTests {
    @Test func `a database and what vnStat prints of it are the same`() async {
        await #expect(processExitsWith: .success) {
            let clock = try TimeZoneClock("Europe/Berlin")
            let fixture = try VnstatFixture(VnstatFixture.figures)
            let file = try VnstatImport(database: fixture.path)
            let output = try VnstatImport(Array(VnstatImportTests.second.utf8))
            #expect(file.interfaces == ["eth0"])
            for end in [Int.max, 1_792_836_000_000_000] {
                let figures = try file.figures(of: "eth0", before: end, clock: clock)
                #expect(!figures.spans.isEmpty)
                #expect(try figures == output.figures(of: "eth0", before: end, clock: clock))
            }
        }
    }

    /// In the order of vnStat's output, also those that it has ceased to look at.
    @Test func `all interfaces are there`() throws {
        let row = "NULL, 0, '2026-10-20 17:31:40', '2026-10-26 14:35:59', 0, 0, 0, 0"
        let fixture = try VnstatFixture(
            "INSERT INTO interface VALUES (1, 'b', \(row)), (2, 'A', \(row)), (3, 'a', \(row))"
        )
        let vnstat = try VnstatImport(database: fixture.path)
        #expect(vnstat.interfaces == ["A", "a", "b"])
        let clock = try TimeZoneClock()
        #expect(throws: VnstatError.noSuchInterface("c", among: ["A", "a", "b"])) {
            try vnstat.figures(of: "c", clock: clock)
        }
    }

    // MARK: - While others write

    /// Expects what all days have in bytes, and that reading it leaves the directory as it is.
    ///
    /// It is read in another process: in the writer's own, SQLite would share the writer's locks and its map of the index.
    private static func expectDays(
        _ bytes: UInt64,
        in directory: String,
        _ location: SourceLocation = #_sourceLocation
    ) async {
        await #expect(processExitsWith: .success, sourceLocation: location) {
            [bytes = bytes as UInt64, directory = directory as String] in
            let before = try VnstatFixture.content(directory)
            let document = try VnstatFile(directory + "/vnstat.db").document()
            #expect(document.interfaces.flatMap(\.days).reduce(0) { $0 + $1.rx } == bytes)
            #expect(try VnstatFixture.content(directory) == before)
        }
    }

    private static let more = "INSERT INTO day VALUES (9, 1, '2026-10-20', 1000, 0)"

    @Test func `nothing is written beside a database with a rollback journal`() async throws {
        let fixture = try VnstatFixture(VnstatFixture.figures)
        let writer = try Database(path: fixture.path)
        try writer.execute("BEGIN IMMEDIATE")
        try writer.execute(Self.more)
        // It is in the writer's memory only, and readers go on.
        await Self.expectDays(805, in: fixture.scratch.path)
        try writer.execute("COMMIT")
        await Self.expectDays(1805, in: fixture.scratch.path)
    }

    @Test func `nothing is written beside a database with a write-ahead log`() async throws {
        let fixture = try VnstatFixture(VnstatFixture.figures)
        let killed: Scratch
        do {
            let writer = try Database(path: fixture.path)
            try writer.execute("PRAGMA journal_mode = WAL")
            // The log is there, and empty.
            await Self.expectDays(805, in: fixture.scratch.path)
            try writer.execute(Self.more)
            await Self.expectDays(1805, in: fixture.scratch.path)
            killed = try fixture.left("vnstat.db", "vnstat.db-wal", "vnstat.db-shm")
        }
        await Self.expectDays(1805, in: killed.path)
        // The last to close the other has taken the log away.
        #expect(try VnstatFixture.content(fixture.scratch.path).keys.sorted() == ["vnstat.db"])
        await Self.expectDays(1805, in: fixture.scratch.path)
    }

    @Test(.timeLimit(.minutes(5))) func `all tables are as they were at one moment`() async throws {
        let fixture = try VnstatFixture("PRAGMA journal_mode = WAL")
        let path = fixture.path
        // It keeps the log there.
        let writer = try Database(path: path)
        // Many, so that there is time between the first question and the last.
        for id in 0..<30 {
            try writer.execute(
                """
                INSERT INTO interface VALUES (\(id), \(id), '', 1, '2026-10-20 00:00:00', '2026-10-20 00:00:00', 0, 0, 0, 0);
                INSERT INTO day VALUES (\(id), \(id), '2026-10-20', 0, 0);
                """
            )
        }
        let writing = Task.detached {
            let writer = try Database(path: path)
            try writer.execute("PRAGMA synchronous = OFF; PRAGMA busy_timeout = 60000")
            while !Task.isCancelled {
                try writer.execute("UPDATE day SET rx = rx + 1")
                await Task.yield()
            }
        }
        defer { writing.cancel() }
        var seen: Set<UInt64> = []
        while seen.count < 40 {
            try Task.checkCancellation()
            let counts = Set(try VnstatFile(path).document().interfaces.flatMap(\.days).map(\.rx))
            try #require(counts.count == 1)
            seen.formUnion(counts)
            await Task.yield()
        }
    }

    @Test func `a log without its index is not made one`() throws {
        let fixture = try VnstatFixture(VnstatFixture.figures)
        let writer = try Database(path: fixture.path)
        try writer.execute("PRAGMA journal_mode = WAL")
        try writer.execute(Self.more)
        let copy = try fixture.left("vnstat.db", "vnstat.db-wal")
        let before = try VnstatFixture.content(copy.path)
        #expect(throws: VnstatError.logUnusable) { try VnstatFile(copy.path + "/vnstat.db") }
        #expect(try VnstatFixture.content(copy.path) == before)
    }

    @Test func `what changes while it is read without locks is not taken`() async throws {
        let fixture = try VnstatFixture(VnstatFixture.figures, "PRAGMA journal_mode = WAL")
        let file = try VnstatFile(fixture.path)
        do {
            let writer = try Database(path: fixture.path)
            try writer.execute(Self.more)
            #expect(throws: VnstatError.busy) { try file.document() }
        }
        // The writer came and went, and its log with it.
        #expect(throws: VnstatError.busy) { try file.document() }
        await Self.expectDays(1805, in: fixture.scratch.path)
    }

    @Test func `a writer that keeps the file for itself is told`() async throws {
        let fixture = try VnstatFixture(VnstatFixture.figures)
        let writer = try Database(path: fixture.path)
        try writer.execute("BEGIN EXCLUSIVE")
        #expect(throws: VnstatError.busy) { try VnstatImport(database: fixture.path) }
        try writer.execute("COMMIT")
        await Self.expectDays(805, in: fixture.scratch.path)
    }

    @Test func `what a writer left half done is not read`() throws {
        let fixture = try VnstatFixture(VnstatFixture.figures)
        let writer = try Database(path: fixture.path)
        // With no room in memory, a transaction is written before its end.
        try writer.execute("PRAGMA cache_size = 1")
        try writer.execute("BEGIN")
        try writer.execute(
            """
            WITH RECURSIVE number(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM number WHERE n < 2000)
            INSERT INTO day SELECT n, 1, 'day ' || n, 1, 1 FROM number
            """
        )
        let killed = try fixture.left("vnstat.db", "vnstat.db-journal")
        let before = try VnstatFixture.content(killed.path)
        #expect(throws: VnstatError.cutOff) { try VnstatImport(database: killed.path + "/vnstat.db") }
        #expect(try VnstatFixture.content(killed.path) == before)
    }

    /// A path is a path, whatever it would mean in the address that SQLite is given; and what stands beside a link is not
    /// what belongs to the file.
    @Test func `any path is read, and a link to it`() async throws {
        let fixture = try VnstatFixture(VnstatFixture.figures)
        let directory = fixture.scratch.path + "/a b%20?mode=rwc&x=1#é?\u{301}"
        try File.makeDirectory(directory, mode: 0o755)
        let path = directory + "/vnstat.db"
        try FileManager.default.moveItem(atPath: fixture.path, toPath: path)
        let writer = try Database(path: path)
        try writer.execute("PRAGMA journal_mode = WAL")
        try writer.execute(Self.more)
        await Self.expectDays(1805, in: directory)
        try FileManager.default.createSymbolicLink(atPath: fixture.path, withDestinationPath: path)
        await Self.expectDays(1805, in: fixture.scratch.path)
    }

    // MARK: - What is not vnStat's

    @Test(
        arguments: [
            ("DROP TABLE year", .notVnstats), ("DROP TABLE interface", .notVnstats),
            ("DROP TABLE hour; CREATE VIEW hour AS SELECT * FROM day", .notVnstats),
            ("DELETE FROM info", .notVnstats),
            ("UPDATE info SET value = '2' WHERE name = 'dbversion'", .unknownDatabaseVersion("2")),
            ("UPDATE info SET value = '' WHERE name = 'dbversion'", .unknownDatabaseVersion("")),
            ("ALTER TABLE day RENAME COLUMN rx TO received", .unreadable("no such column: rx")),
            ("UPDATE hour SET rx = -1", .damaged("a count in the table 'hour' is no number of bytes")),
            ("UPDATE day SET tx = 1.5", .damaged("a count in the table 'day' is no number of bytes")),
            ("UPDATE year SET tx = 'many'", .damaged("a count in the table 'year' is no number of bytes")),
            ("UPDATE month SET date = '' WHERE id = 1", .damaged("a date in the table 'month' is none")),
            ("UPDATE day SET date = date || '-1'", .damaged("a date in the table 'day' is none")),
            ("UPDATE hour SET date = date || ':00'", .damaged("a date in the table 'hour' is none")),
            ("UPDATE hour SET date = substr(date, 1, 10) || ' '", .damaged("a date in the table 'hour' is none")),
            ("UPDATE interface SET created = 'x'", .damaged("a date in the table 'interface' is none")),
            ("UPDATE interface SET updated = 1793021700", .damaged("a date in the table 'interface' is none")),
            ("UPDATE hour SET date = substr(date, 1, 10)", .impossibleDate("2026-10-25 -1:00")),
            ("UPDATE month SET date = '2026-13-01' WHERE id = 1", .impossibleDate("2026-13-1")),
        ] as [(String, VnstatError)]
    )
    func `what vnStat does not write is refused`(_ sql: String, _ error: VnstatError) throws {
        let clock = try TimeZoneClock()
        let fixture = try VnstatFixture(VnstatFixture.figures, sql)
        #expect(throws: error) { try VnstatImport(database: fixture.path).figures(of: "eth0", clock: clock) }
    }

    /// - Returns: the error of reading a file with these bytes.
    private static func error(of bytes: [UInt8]) throws -> VnstatError? {
        let scratch = try Scratch()
        try Data(bytes).write(to: URL(filePath: scratch.path + "/vnstat.db"))
        return #expect(throws: VnstatError.self) { try VnstatImport(database: scratch.path + "/vnstat.db") }
    }

    @Test func `a damaged database says so`() throws {
        let fixture = try VnstatFixture(VnstatFixture.figures)
        let whole = try File.read(fixture.path)
        func isDamage(_ bytes: [UInt8]) throws -> Bool {
            if case .damaged = try Self.error(of: bytes) { true } else { false }
        }
        #expect(try isDamage(Array(whole.prefix(whole.count / 2))))
        #expect(try isDamage(Array(whole.prefix(100))))
        // A page of a table, and one of an index, which only the check finds.
        for text in ["2026-10-24", "2026-09-01"] {
            for (number, place) in whole.indices.filter({ whole[$0...].starts(with: text.utf8) }).enumerated() {
                var bytes = whole
                bytes[place] = 0x33
                #expect(try isDamage(bytes), "\(text), place \(number)")
            }
        }
        var bytes = whole
        for index in 24..<whole.count where index % 3 == 0 { bytes[index] ^= 0x5A }
        #expect(try isDamage(bytes))
        #expect(try Self.error(of: VnstatFile.mark) == .damaged("file is not a database"))
        // A database of SQLite's without a table is whole, and not vnStat's.
        #expect(try Self.error(of: []) == .notVnstats)
    }

    @Test func `what cannot be read says why`() throws {
        let scratch = try Scratch()
        #expect(throws: VnstatError.unreadable("No such file or directory")) {
            try VnstatImport(database: scratch.path + "/vnstat.db")
        }
        #expect(throws: VnstatError.unreadable("Is a directory")) { try VnstatImport(database: scratch.path) }
    }

    @Test func `what is no text is named`() throws {
        let fixture = try VnstatFixture()
        let bytes = try File.read(fixture.path)
        #expect(VnstatImport.isDatabase(Array(bytes.prefix(VnstatImport.headLength))))
        #expect(!VnstatImport.isDatabase(Array(bytes.prefix(VnstatImport.headLength - 1))))
        #expect(throws: VnstatError.databaseAsText) { try VnstatImport(bytes) }
        for version in [[3, 0, 0, 0], [0, 0, 0, 3], [1, 0, 0, 0]] as [[UInt8]] {
            // What follows is the name of the interface.
            #expect(throws: VnstatError.firstDatabase) { try VnstatImport(version + Array("eth0\0".utf8)) }
        }
        #expect(throws: VnstatError.malformed) { try VnstatImport([4, 0, 0, 0]) }
    }
}
