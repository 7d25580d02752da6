import SystemCalls
import TestLinks
import Testing
import Wire

/// `ifcount import vnstat` and `ifcount export` against the daemon, all as processes.
@Suite
struct ImportCommandTests {
    /// A daemon with a history, and a place for files.
    struct Scene: ~Copyable {
        let directory: TemporaryDirectory
        let daemon: RunningDaemon

        init() throws {
            let directory = try TemporaryDirectory()
            let daemon = try RunningDaemon(["--state-directory", directory.path + "/state"])
            self.directory = directory
            self.daemon = daemon
        }

        /// Runs the command in UTC, with a file's text in place of "FILE", through a command that starts it, if there is
        /// one.
        func run(
            _ arguments: [String],
            file: String = "",
            environment: [String: String?] = [:],
            through starter: [String] = []
        ) throws -> End {
            let path = directory.path + "/vnstat.json"
            try ImportCommandTests.write(file, to: path)
            let arguments = arguments.map { $0 == "FILE" ? path : $0 }
            let surroundings = ["IFCOUNT_SOCKET": daemon.socket, "TZ": "UTC0"].merging(environment) { $1 }
            let ifcount = try Program.builtPath(of: "ifcount")
            let command = starter + [ifcount] + arguments
            var program = try Program(command[0], Array(command.dropFirst()), environment: surroundings)
            let ending = try program.wait(timeout: RawClient.patience)
            return End(ending: ending, text: program.text, errors: program.errorText)
        }

        /// The imported days of lo: date, received, sent.
        func days() throws -> [String] {
            let arguments = ["history", "lo", "--csv", "--by", "day", "--since", "2025-12-20", "--until", "2026-01-10"]
            return try run(arguments).text.split(separator: "\r\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false)
            }
            .filter { $0.last == "true" }.map { [$0[2], $0[6], $0[8]].joined(separator: " ") }
        }
    }

    struct End {
        var ending: Program.Ending
        var text: String
        var errors: String
    }

    /// Writes a file that the user has in mind.
    static func write(_ text: String, to path: String) throws {
        var writer = try Program("/bin/sh", ["-c", "printf %s \"$1\" > \"$0\"", path, text])
        #expect(try writer.wait() == .exited(0))
    }

    /// What vnStat 2 says of lo, and of an interface that is not here. December has 10 bytes more than its one day, and
    /// January 3 more than its first, which nobody knows the time of; in 2099 the daemon counts itself.
    private static let vnstat = #"""
        {"vnstatversion":"2.10","jsonversion":"2","interfaces":[{"name":"lo","alias":"",
        "created":{"date":{"year":2025,"month":12,"day":30}},
        "updated":{"date":{"year":2099,"month":1,"day":2},"time":{"hour":3,"minute":0}},
        "traffic":{"total":{"rx":4590,"tx":97},
        "hour":[{"id":1,"date":{"year":2026,"month":1,"day":1},"time":{"hour":0,"minute":0},"rx":4000,"tx":40}],
        "day":[{"id":1,"date":{"year":2025,"month":12,"day":31},"rx":500,"tx":50},
        {"id":2,"date":{"year":2026,"month":1,"day":1},"rx":4000,"tx":40},
        {"id":3,"date":{"year":2099,"month":1,"day":1},"rx":77,"tx":7}],
        "month":[{"id":1,"date":{"year":2025,"month":12},"rx":510,"tx":50},
        {"id":2,"date":{"year":2026,"month":1},"rx":4003,"tx":40}],"year":[],"top":[]}},
        {"name":"nosuch0","alias":"","created":{"date":{"year":2025,"month":12,"day":30}},
        "updated":{"date":{"year":2025,"month":12,"day":31}},"traffic":{"total":{"rx":1,"tx":1},
        "day":[{"id":1,"date":{"year":2025,"month":12,"day":30},"rx":1,"tx":1}]}}]}
        """#

    /// The first lines are what was imported; the moment at which the daemon began is left out.
    private static let report = """
        lo  3 spans from 2025-12-30 00:00 to 2026-01-01 01:00: 4.4 KiB down, 90 B up
          left out: 77 B down, 7 B up since DAEMON, when ifcount began to count itself
          left out: 3 B down, 0 B up of which vnStat does not tell the time
        nosuch0  skipped: ifcount has never seen it

        """

    private static func text(_ report: String) -> String {
        report.replacing(/since [-0-9]+ [:0-9]+,/) { _ in "since DAEMON," }
    }

    @Test func `what vnStat counted is in the history, once, and marked`() throws {
        let scene = try Scene()
        let heading = "estimate of the bytes that vnStat counted, time zone UTC"
        let dry = try scene.run(["import", "vnstat", "FILE", "--dry-run"], file: Self.vnstat)
        #expect(Self.text(dry.text) == "\(heading): dry run, nothing is imported\n" + Self.report)
        #expect(try scene.days() == [])
        for _ in 0..<2 {
            let end = try scene.run(["import", "vnstat", "FILE"], file: Self.vnstat)
            #expect(end.ending == .exited(0))
            #expect(Self.text(end.text) == "\(heading): imported into the history, not into totals\n" + Self.report)
            #expect(end.errors == "")
            #expect(try scene.days() == ["2025-12-30 10 0", "2025-12-31 500 50", "2026-01-01 4000 40"])
        }
        let json = try scene.run(["import", "vnstat", "FILE", "--json"], file: Self.vnstat).text
        #expect(json.split(separator: "\n").count == 1)
        #expect(json.contains(#""rxBytes":4510"#) && json.contains(#""unplacedRxBytes":3"#))
        #expect(json.contains(#""laterTxBytes":7"#) && json.contains(#""skipped":"unknown""#))
    }

    @Test func `dates are those of the zone that vnStat ran in`() throws {
        let scene = try Scene()
        let end = try scene.run(["import", "vnstat", "FILE", "--timezone", "Asia/Tokyo"], file: Self.vnstat)
        #expect(end.text.contains("from 2025-12-30 00:00 to 2026-01-01 01:00"))
        let history = ["history", "lo", "--csv", "--by", "hour", "--since", "2025-12-31T15:00Z"]
        #expect(try scene.run(history + ["--until", "2025-12-31T16:00Z"]).text.contains(",4000,"))
    }

    @Test func `many spans come in parts`() throws {
        let scene = try Scene()
        let hours = (0..<1000).map { hour in
            let date = #""date":{"year":2025,"month":\#(hour / 672 + 2),"day":\#(hour % 672 / 24 + 1)}"#
            return #"{\#(date),"time":{"hour":\#(hour % 24),"minute":0},"rx":\#(hour + 1),"tx":1}"#
        }
        let file = """
            {"jsonversion":"2","interfaces":[{"name":"lo","traffic":{"hour":[\(hours.joined(separator: ","))]}}]}
            """
        for _ in 0..<2 {
            #expect(try scene.run(["import", "vnstat", "FILE"], file: file).text.contains("lo  1,000 spans from"))
            let history = ["history", "lo", "--csv", "--by", "year", "--until", "2026-01-01"]
            #expect(try scene.run(history).text.contains(",500500,"))
        }
    }

    @Test func `a file from before and a running vnstat are the same`() throws {
        let scene = try Scene()
        let directory = scene.directory.path + "/bin"
        try File.makeDirectory(directory, mode: 0o755)
        try Self.write(
            "#!/bin/sh\n[ \"$*\" = --json ] && cat <<'END'\n\(Self.vnstat)\nEND\n",
            to: directory + "/vnstat"
        )
        try File.setMode(directory + "/vnstat", 0o755)
        let end = try scene.run(["import", "vnstat"], environment: ["PATH": "\(directory):/bin:/usr/bin"])
        #expect(end.ending == .exited(0))
        #expect(try scene.days().count == 3)
        // It tells its mistakes on standard output.
        try Self.write("#!/bin/sh\necho Error: no database.; echo See man.; exit 1\n", to: directory + "/vnstat")
        let failed = try scene.run(["import", "vnstat"], environment: ["PATH": "\(directory):/bin:/usr/bin"])
        #expect(failed.ending == .exited(1))
        #expect(failed.errors == "ifcount: vnstat failed with exit status 1: Error: no database.\n")
    }

    @Test(arguments: [
        ("", "this is neither what vnstat --json prints nor vnStat's database"),
        ("{", "this is neither what vnstat --json prints nor vnStat's database"),
        ("Error: no database", "this is neither what vnstat --json prints nor vnStat's database"),
        (#"{"jsonversion":"3","interfaces":[]}"#, "vnStat's jsonversion 3 is not known here"),
        (#"{"jsonversion":"2","interfaces":[]}"#, "nothing was imported"),
        (
            #"{"jsonversion":"2","interfaces":[{"name":"lo","traffic":{"day":"#
                + #"[{"date":{"year":2026,"month":2,"day":30},"rx":1,"tx":1}]}}]}"#,
            "lo: there is no 2026-2-30 in any calendar"
        ),
        (#"{"jsonversion":"2","interfaces":[{"name":"lo","traffic":{}}]}"#, "nothing was imported"),
    ])
    func `what vnStat does not print is refused`(_ file: String, _ sentence: String) throws {
        let scene = try Scene()
        let end = try scene.run(["import", "vnstat", "FILE"], file: file)
        #expect(end.ending == .exited(1))
        #expect(end.errors.hasPrefix("ifcount: ") && end.errors.hasSuffix("\(sentence)\n"), "\(end.errors)")
        #expect(try scene.days() == [])
    }

    @Test func `an import of nothing leaves what was imported`() throws {
        let scene = try Scene()
        _ = try scene.run(["import", "vnstat", "FILE"], file: Self.vnstat)
        let file = #"{"jsonversion":"2","interfaces":[{"name":"lo","traffic":{}}]}"#
        #expect(
            try scene.run(["import", "vnstat", "FILE"], file: file).text.contains("lo  skipped: vnStat has nothing")
        )
        #expect(try scene.days().count == 3)
    }

    @Test func `one interface alone can be chosen`() throws {
        let scene = try Scene()
        let lo = try scene.run(["import", "vnstat", "FILE", "--interface", "lo"], file: Self.vnstat)
        #expect(lo.ending == .exited(0) && !lo.text.contains("nosuch0"))
        let unknown = try scene.run(["import", "vnstat", "FILE", "--interface", "nosuch0"], file: Self.vnstat)
        #expect(unknown.ending == .exited(3))
        let missing = try scene.run(["import", "vnstat", "FILE", "--interface", "x"], file: Self.vnstat)
        #expect(missing.ending == .exited(1))
        #expect(missing.errors == "ifcount: vnStat has no interface 'x' there, only 'lo', 'nosuch0'\n")
    }

    @Test(needsAnotherUser) func `another user is told to use sudo`() throws {
        let scene = try Scene()
        let end = try scene.run(["import", "vnstat", "FILE"], file: Self.vnstat, through: nobody)
        #expect(end.ending == .exited(1))
        let sentence = "only root and the daemon's own user may change the history; run it again with sudo"
        #expect(end.errors == "ifcount: \(sentence)\n")
        #expect(try scene.days() == [])
        // To look is free.
        #expect(
            try scene.run(["import", "vnstat", "FILE", "--dry-run"], file: Self.vnstat, through: nobody).ending
                == .exited(0)
        )
    }

    /// A line of an export, as far as this test looks at it.
    private struct Line: Decodable {
        var format: String?
        var version: Int?
        var reading: Reading?
        var rows: [GetHistory.Row]?
        var events: [Event]?
        var untimedRxBytes: Int?
    }

    @Test func `an export has all that is kept`() throws {
        let scene = try Scene()
        _ = try scene.run(["import", "vnstat", "FILE"], file: Self.vnstat)
        for arguments in [["export"], ["export", "lo", "--json"]] {
            let end = try scene.run(arguments)
            #expect(end.ending == .exited(0))
            #expect(end.errors == "")
            let lines = try end.text.split(separator: "\n").map { try Frame.decode(Line.self, from: Array($0.utf8)) }
            #expect(lines[0].format == "ifcount-export" && lines[0].version == 1)
            let lo = try #require(lines.first { $0.reading?.interface == "lo" })
            let rows = try #require(lo.rows)
            let imported = rows.filter(\.imported)
            #expect(imported.reduce(0) { $0 + $1.rx.bytes } == 4510 && imported.reduce(0) { $0 + $1.tx.bytes } == 90)
            #expect(rows.allSatisfy { $0.endUSec - $0.startUSec == 900_000_000 })
            #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.endUSec <= $1.startUSec })
            #expect(lo.events != nil && lo.untimedRxBytes == 0)
        }
        #expect(try scene.run(["export", "lo", "nosuch0"]).ending == .exited(3))
    }

    @Test func `without a history there is nothing to export`() throws {
        let daemon = try RunningDaemon()
        var program = try Program("ifcount", ["export", "lo", "--socket", daemon.socket])
        #expect(try program.wait(timeout: RawClient.patience) == .exited(1))
        #expect(program.errorText.contains("keeps no history"))
    }
}
