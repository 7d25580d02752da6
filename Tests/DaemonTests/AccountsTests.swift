import FoundationEssentials
import SystemCalls
import TestLinks
import Testing
import Wire

/// `ifcount accounts` against the daemon, with a real link that comes and goes.
@Suite(needsTunnel)
struct AccountsTests {
    private struct End {
        var ending: Program.Ending
        var text: String
        var errors: String
    }

    /// Runs the command on a daemon's socket.
    private static func run(
        _ daemon: borrowing RunningDaemon,
        _ arguments: [String],
        as user: [String] = []
    ) throws -> End {
        let ifcount = try Program.builtPath(of: "ifcount")
        let command = user + [ifcount] + arguments
        let surroundings = ["IFCOUNT_SOCKET": daemon.socket, "TZ": "UTC0"]
        var program = try Program(command[0], Array(command.dropFirst()), environment: surroundings)
        let ending = try program.wait(timeout: RawClient.patience)
        return End(ending: ending, text: program.text, errors: program.errorText)
    }

    @Test func `a link that is here is forgotten, counted anew, and as it was when the copy is put back`() async throws
    {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var random = SplitMix64(seed: 3)
            var link = FlakyLink()
            var backup = ""
            do {
                var daemon = try RunningDaemon(keepingIn: directory.path)
                try link.rise(in: namespace)
                try link.carry(&random)
                var client = try daemon.client()
                let before = try #require(try client.awaitLast(of: link))
                let done = try Self.run(daemon, ["accounts", "forget", "utun0", "--yes", "--json"])
                #expect(done.ending == .exited(0), "\(done.errors)")
                backup = try Frame.decode(Amended.self, from: Array(done.text.utf8)).backup
                let fresh = try #require(try client.get("utun0"))
                #expect(fresh.total.rx.bytes == 0)
                #expect(fresh.present)
                #expect(fresh.counter == before.counter)
                #expect(fresh.persisted == true)
                try link.carry(&random)
                let after = try #require(try client.awaitLast(of: link))
                #expect(after.total.rx.bytes == Int(link.truth.rx) - before.total.rx.bytes)
                #expect(after.total.quality == .continuous)
                try client.expectHistoryAddsUp()
                #expect(try daemon.end() == .exited(0))
            }
            var restoring = try RunningDaemon.start(["--restore", backup, "--state-directory", directory.path])
            #expect(try restoring.wait() == .exited(0), "\(restoring.errorText)")
            #expect(restoring.text.contains("\(backup) is the history now; what was there before is kept as"))
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.quality == .continuous)
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
        }
    }

    @Test func `one that is gone is renamed, merged and forgotten, also for the daemon after`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var random = SplitMix64(seed: 4)
            var link = FlakyLink()
            var truth = 0
            do {
                var daemon = try RunningDaemon(keepingIn: directory.path)
                var client = try daemon.client()
                for name in ["first", "second"] {
                    try link.rise(in: namespace)
                    try link.carry(&random)
                    try link.fall()
                    _ = try client.awaitLast(of: link)
                    truth = Int(link.truth.rx)
                    let renamed = try Self.run(daemon, ["accounts", "rename", "utun0", name, "-y"])
                    #expect(renamed.ending == .exited(0), "\(renamed.errors)")
                    #expect(renamed.text.contains("ifcountd --restore \(directory.path)/ifcount.db.backup-"))
                    #expect(try client.get("utun0") == nil)
                }
                let merged = try Self.run(daemon, ["accounts", "merge", "first", "second", "-y"])
                #expect(merged.ending == .exited(0), "\(merged.errors)")
                #expect(try client.get("first") == nil)
                #expect(try client.get("second")?.total.rx.bytes == truth)
                // Its history and its events have gone with it.
                let history = try client.quarters(of: "second")
                #expect(history.rows.reduce(0) { $0 + $1.rx.bytes } == truth)
                let events = try Self.run(daemon, ["events", "second"]).text
                #expect(events.components(separatedBy: "created").count == 3, "\(events)")
                try daemon.kill()
            }
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            #expect(try client.get("first") == nil)
            #expect(try client.get("second")?.total.rx.bytes == truth)
            #expect(try Self.run(daemon, ["accounts", "forget", "second", "-y"]).ending == .exited(0))
            #expect(try client.get("second") == nil)
            #expect(try daemon.end() == .exited(0))
        }
    }

    @Test func `what cannot be done is said, and nothing is changed`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var link = FlakyLink()
            try link.rise(in: namespace)
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            let before = try client.get("utun0")?.total.sinceUSec
            let table: [(arguments: [String], user: [String], status: Int32, words: String)] = [
                (["forget", "nosuch0", "-y"], [], 3, "no interface \"nosuch0\" here"),
                (["rename", "utun0", "new0", "-y"], [], 1, "\"utun0\" is here now"),
                (["merge", "utun0", "lo", "-y"], [], 1, "\"utun0\" is here now"),
                (["forget", "utun0"], [], 2, "say --yes"),
                (["forget", "utun0", "-y"], nobody, 1, "run it again with sudo"),
                (["forget"], [], 2, "the interface to forget is missing"),
                (["forgit", "utun0"], [], 2, "did you mean 'accounts forget'?"),
                (["rename", "utun0"], [], 2, "the name that utun0 is to have is missing"),
                (["forget", "utun0", "lo"], [], 2, "'lo' is one argument too many"),
            ]
            for (arguments, user, status, words) in table {
                let end = try Self.run(daemon, ["accounts"] + arguments, as: user)
                #expect(end.ending == .exited(status), "\(arguments): \(end.errors)")
                #expect(end.errors.contains(words), "\(arguments): \(end.errors)")
                #expect(end.text.isEmpty)
            }
            #expect(try client.get("utun0")?.total.sinceUSec == before)
            let list = try Self.run(daemon, ["accounts"])
            #expect(list.text.contains("utun0") && list.text.contains("estimate"))
            #expect(try daemon.end() == .exited(0))
        }
    }

    @Test func `where no copy can be made nothing is changed`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var link = FlakyLink()
            try link.rise(in: namespace)
            var daemon = try RunningDaemon(keepingIn: directory.path + "/state")
            var client = try daemon.client()
            let reading = try #require(try client.get("utun0"))
            try client.awaitSaved(reading)
            // A directory stands where the copies would; and so on for the next seconds.
            let second = Clock.wall / 1_000_000
            for part in 0..<60 {
                try File.makeDirectory("\(directory.path)/state/ifcount.db.backup-\(second + part).part", mode: 0o700)
            }
            let end = try Self.run(daemon, ["accounts", "forget", "utun0", "-y"])
            #expect(end.ending == .exited(1))
            #expect(end.errors.contains("nothing was changed, for no copy of the history could be made"))
            #expect(try client.get("utun0")?.total.sinceUSec == reading.total.sinceUSec)
            #expect(try client.get("utun0")?.persisted == true)
            #expect(try daemon.end() == .exited(0))
        }
    }
}
