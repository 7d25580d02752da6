import Glibc
import SystemCalls
import TestLinks
import Testing

@testable import History

/// Skips what needs vnStat itself, and says why.
private let needsVnstat: ConditionTrait = .enabled(
    if: RunningVnstat.root != nil,
    "needs vnstat and vnstatd: `make deps-test` brings them"
)

/// Debian's vnStat with a database of its own, in the calling thread's namespace.
private struct RunningVnstat: ~Copyable {
    private let configuration: String
    private let environment: [String: String?]
    private var daemon: Program
    /// Its database.
    let path: String

    /// What stands before /usr in the paths of its programs: in the build folder, three levels above the tests, or nothing
    /// where it is installed.
    static let root: String? = {
        let built = ((try? Program.builtPath(of: "ifcountd")) ?? "/").split(separator: "/").dropLast(3)
        return ["/" + built.joined(separator: "/") + "/vnstat", ""].first { root in
            ["bin/vnstat", "sbin/vnstatd"].allSatisfy { (try? FileStatus(following: "\(root)/usr/\($0)")) != nil }
        }
    }()

    /// Starts it with all interfaces of the namespace.
    init(in directory: String, zone: String, isLogged: Bool, isUTC: Bool) throws {
        let configuration = directory + "/vnstat.conf"
        let settings = """
            DatabaseDir "\(directory)"
            DatabaseWriteAheadLogging \(isLogged ? 1 : 0)
            UseUTC \(isUTC ? 1 : 0)
            UseLogging 0
            TimeSyncWait 0
            PollInterval 2
            UpdateInterval 2
            SaveInterval 60
            BandwidthDetection 0
            HourlyDays -1
            DailyDays -1
            MonthlyMonths -1
            """
        try ImportCommandTests.write(settings, to: configuration)
        // While it makes its file, it does not wait for who reads it.
        var maker = try Self.start(configuration, ["TZ": zone], "--initdb")
        #expect(try maker.wait(timeout: RawClient.patience) == .exited(0), "\(maker.text) \(maker.errorText)")
        let daemon = try Self.start(configuration, ["TZ": zone], "--alwaysadd", "1")
        self.configuration = configuration
        self.environment = ["TZ": zone]
        self.daemon = daemon
        path = directory + "/vnstat.db"
    }

    private static func start(
        _ configuration: String,
        _ environment: [String: String?],
        _ arguments: String...
    ) throws -> Program {
        let daemon = try #require(root) + "/usr/sbin/vnstatd"
        return try Program(daemon, ["--nodaemon", "--config", configuration] + arguments, environment: environment)
    }

    /// Waits until its database is as expected. It looks at the links every two seconds and saves what it saw when it is
    /// ended: so it is, and started again, as often as it takes.
    mutating func wait(until isSo: (VnstatImport) throws -> Bool, meanwhile: () throws -> Void = {}) throws {
        let deadline = ContinuousClock.now + RawClient.patience
        while true {
            try meanwhile()
            for _ in 0..<100 {
                // While it opens or closes it, it has it for itself.
                if let vnstat = try? VnstatImport(database: path), try isSo(vnstat) { return }
                usleep(50_000)
            }
            try #require(ContinuousClock.now < deadline, "\(daemon.text)")
            try end()
            daemon = try Self.start(configuration, environment, "--alwaysadd", "1")
        }
    }

    mutating func end() throws {
        daemon.terminate()
        #expect(try daemon.wait(timeout: RawClient.patience) == .exited(0), "\(daemon.text) \(daemon.errorText)")
    }

    /// What `vnstat --json` prints.
    func output() throws -> String {
        let vnstat = try #require(Self.root) + "/usr/bin/vnstat"
        var program = try Program(vnstat, ["--config", configuration, "--json"], environment: environment)
        #expect(try program.wait(timeout: RawClient.patience) == .exited(0), "\(program.errorText)")
        return program.text
    }
}

/// `ifcount import vnstat` from vnStat's own file, all as processes.
@Suite
struct VnstatDatabaseTests {
    private typealias Scene = ImportCommandTests.Scene

    /// Older figures, in the form in which vnStat writes them. An hour came twice in Berlin, and 3 bytes of 2025 have no
    /// month.
    private static let older = """
        PRAGMA busy_timeout = 10000;
        UPDATE interface SET created = '2024-12-31 17:31:40' WHERE id = 1;
        INSERT INTO hour (interface, date, rx, tx)
            VALUES (1, '2025-03-30 03:00:00', 70, 7), (1, '2025-10-26 02:00:00', 4000000000000, 9), (1, '2025-10-26 03:00:00', 5, 5);
        INSERT INTO day (interface, date, rx, tx)
            VALUES (1, '2025-03-30', 100, 7), (1, '2025-10-26', 4000000001000, 99);
        INSERT INTO month (interface, date, rx, tx)
            VALUES (1, '2025-03-01', 500, 8), (1, '2025-10-01', 4000000002000, 999);
        INSERT INTO year (interface, date, rx, tx) VALUES (1, '2025-01-01', 4000000002503, 1007);
        INSERT INTO interface VALUES
            (99, 'gone0', 'old', 0, '2025-01-01 00:00:00', '2025-01-02 00:00:00', 0, 0, 1, 1);
        INSERT INTO day (interface, date, rx, tx) VALUES (99, '2025-01-01', 1, 1);
        """

    @Test(needsTunnel, needsVnstat, arguments: [(false, false), (true, true)])
    func `vnStat's file and its output are the same`(_ isLogged: Bool, _ isUTC: Bool) async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            let berlin = "Europe/Berlin"
            var vnstat = try RunningVnstat(in: directory.path, zone: berlin, isLogged: isLogged, isUTC: isUTC)
            try vnstat.wait { $0.interfaces == ["utun0"] }
            let clock = try TimeZoneClock()
            try vnstat.wait {
                try !$0.figures(of: "utun0", clock: clock).spans.isEmpty
            } meanwhile: {
                try tunnel.receive(bytes: 70_001)
            }
            try Database(path: vnstat.path).execute(Self.older)

            let scene = try Scene()
            let zone = ["--timezone", isUTC ? "UTC" : berlin]
            func imported(_ file: String) throws -> [String] {
                let source = file.isEmpty ? vnstat.path : "FILE"
                let report = try scene.run(["import", "vnstat", source, "--json"] + zone, file: file)
                #expect(report.ending == .exited(0), "\(report.errors)")
                let text = try scene.run(["import", "vnstat", source] + zone, file: file).text
                #expect(text.contains("gone0  skipped: ifcount has never seen it"))
                let history = ["history", "utun0", "--csv", "--until", "2025-10-27"] + zone
                let days = try scene.run(history + ["--by", "day", "--limit", "400"]).text
                let hours = try scene.run(history + ["--by", "hour", "--since", "2025-10-26"]).text
                #expect(days.contains(",4000000001000,,99,,"))
                return [report.text, text, days, hours]
            }
            // While it counts, and when it has ended: with the write-ahead log and without.
            for isRunning in [true, false] {
                if !isRunning { try vnstat.end() }
                let byOutput = try imported(vnstat.output())
                #expect(try imported("") == byOutput)
            }
        }
    }

    // MARK: - Places

    /// A database like vnStat's, with one day of lo.
    private static func makeDatabase(in directory: String) throws {
        let database = try Database(path: directory + "/vnstat.db")
        let tables = ["hour", "day", "month", "year"].map { "CREATE TABLE \($0) (interface, date, rx, tx);" }.joined()
        try database.execute(
            """
            CREATE TABLE info (name, value);
            CREATE TABLE interface (id, name, created, updated);
            \(tables)
            INSERT INTO info VALUES ('dbversion', '1');
            INSERT INTO interface VALUES (1, 'lo', '2025-12-20 00:00:00', '2026-01-02 00:00:00');
            INSERT INTO day VALUES (1, '2025-12-31', 500, 50);
            """
        )
    }

    @Test(needsMount) func `without vnstat, its database is read at the usual place`() throws {
        let scene = try Scene()
        let directory = scene.directory.path + "/vnstat"
        try File.makeDirectory(directory, mode: 0o755)
        let arguments = ["import", "vnstat"]
        let mount = #"/bin/mount --bind "$1" /var/lib && shift && exec "$@""#
        let starter = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", mount, "sh", scene.directory.path]
        let surroundings = ["PATH": "/nonexistent"]
        let none = try scene.run(arguments, environment: surroundings, through: starter)
        #expect(none.ending == .exited(1))
        let sentence = "vnstat is not installed here, and /var/lib/vnstat/vnstat.db cannot be read: "
        let advice =
            #"No such file or directory; give a file with the output of "vnstat --json", - for standard input, "#
            + "or vnStat's database\n"
        #expect(none.errors == "ifcount: \(sentence)\(advice)")
        try Self.makeDatabase(in: directory)
        let end = try scene.run(arguments, environment: surroundings, through: starter)
        #expect(end.ending == .exited(0), "\(end.errors)")
        #expect(try scene.days() == ["2025-12-31 500 50"])
    }

    @Test(needsAnotherUser) func `who may read a database and no more can read it`() throws {
        let scene = try Scene()
        let directory = scene.directory.path + "/vnstat"
        try File.makeDirectory(directory, mode: 0o755)
        try Self.makeDatabase(in: directory)
        let path = directory + "/vnstat.db"
        let writer = try Database(path: path)
        try writer.execute("PRAGMA journal_mode = WAL")
        try writer.execute("UPDATE day SET rx = 700")
        func look() throws -> ImportCommandTests.End {
            try scene.run(["import", "vnstat", path, "--dry-run"], through: nobody)
        }
        for name in ["", "-wal", "-shm"] { try File.setMode(path + name, 0o644) }
        let seen = try look()
        #expect(seen.ending == .exited(0) && seen.text.contains("700 B down, 50 B up"), "\(seen.text) \(seen.errors)")
        try File.setMode(path + "-shm", 0o600)
        let log = try look()
        #expect(log.ending == .exited(1))
        #expect(log.errors.hasPrefix("ifcount: \(path): vnStat's database has a write-ahead log that cannot be used: "))
        try File.setMode(path, 0o600)
        let none = try look()
        #expect(none.ending == .exited(1))
        #expect(none.errors == "ifcount: \(path) cannot be read: Permission denied\n")
    }

    @Test func `what is refused says which file it was`() throws {
        let scene = try Scene()
        let path = scene.directory.path + "/other.db"
        try Database(path: path).execute("CREATE TABLE info (name, value)")
        func look(_ name: String) throws -> String {
            let end = try scene.run(["import", "vnstat", name])
            #expect(end.ending == .exited(1) && end.text == "")
            return end.errors
        }
        #expect(try look(path) == "ifcount: \(path): this is an SQLite database, but not vnStat's\n")
        let legacy = scene.directory.path + "/eth0"
        var writer = try Program("/bin/sh", ["-c", #"printf '\003\0\0\0eth0\0' >"$0""#, legacy])
        #expect(try writer.wait() == .exited(0))
        #expect(try look(legacy).hasPrefix("ifcount: \(legacy): this is a database of vnStat 1; give what its "))
        // It would have to be read in its place.
        let cat = ["/bin/sh", "-c", #"cat "$0" | "$@""#, path]
        let piped = try scene.run(["import", "vnstat", "-"], through: cat)
        let sentence = "this is a database, which is not read from a stream; give the path of its file"
        #expect(piped.errors == "ifcount: standard input: \(sentence)\n")
        let pipe = try scene.run(["import", "vnstat", "/dev/stdin"], through: cat)
        #expect(pipe.errors == "ifcount: /dev/stdin: \(sentence)\n")
    }
}
