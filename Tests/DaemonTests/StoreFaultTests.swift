import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

@testable import History

/// The store's troubles, one by one: none stops the counting, none is hidden, and what cannot be read is kept.
@Suite(needsTunnel)
struct StoreFaultTests {
    // MARK: - A store that takes long

    /// Another program's database, which it had open before the daemon did.
    private static func openBefore(_ directory: String) throws -> Database {
        do { _ = try Store(directory: directory, wall: Clock.wall) }
        let database = try Database(path: "\(directory)/\(Store.fileName)")
        try database.execute("SELECT count(*) FROM account")
        return database
    }

    @Test func `while another holds the database, ticks and answers go on`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let database = try Self.openBefore(directory.path)
            var random = SplitMix64(seed: 5)
            var link = FlakyLink()
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            try client.awaitSavedBeginning(of: &link, in: namespace, &random)
            var watcher = try daemon.client()
            try watcher.watch(["utun0"], interval: 100_000)
            var asker = try daemon.client()
            do {
                try database.execute("BEGIN IMMEDIATE")
                let end = Clock.boot + 4_000_000
                var ticks = 0
                while Clock.boot < end {
                    try link.carry(&random)
                    let counted = link.truth
                    // What was counted comes with one of the next ticks, whatever the disk does.
                    ticks += try watcher.replies { reply in
                        reply.readings?.contains { $0.total.rx.bytes == Int(counted.rx) } ?? false
                    }.count
                    let reading = try #require(try client.get("utun0"))
                    #expect(reading.total.rx.bytes == Int(counted.rx))
                }
                #expect(ticks >= 10)
                let behind = try #require(try client.awaitReading("utun0") { $0.persisted == false })
                #expect(behind.persisted == false)
                // One who asks for the history waits for the disk, and finds each byte once, though a save comes between.
                try asker.expectHistoryAddsUp()
                try database.execute("ROLLBACK")
            }
            try client.awaitSaved(try #require(try client.get("utun0")))
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
            daemon.expectOneFailure()
        }
    }

    @Test func `the last figures that cannot be saved are told of, and not lost with a link that stays`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let database = try Self.openBefore(directory.path)
            var random = SplitMix64(seed: 10)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: directory.path)
                var client = try daemon.client()
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
                try database.execute("BEGIN IMMEDIATE")
                try link.carry(&random)
                #expect(try daemon.end() == .exited(1))
                let log = daemon.program.errorText
                #expect(log.contains("the last figures could not be saved: database is locked"), "\(log)")
                try database.execute("ROLLBACK")
            }
            let daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.quality == .continuous)
            try client.expectHistoryAddsUp()
        }
    }

    @Test func `the last figures are tried again, as whoever holds the database may let it go`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let database = try Self.openBefore(directory.path)
            var random = SplitMix64(seed: 15)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: directory.path)
                var client = try daemon.client()
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
                try database.execute("BEGIN IMMEDIATE")
                try link.carry(&random)
                try link.fall()
                _ = try client.awaitLast(of: link)
                daemon.program.terminate()
                // Longer than SQLite waits for another program by itself.
                usleep(3_000_000)
                try database.execute("ROLLBACK")
                #expect(try daemon.program.wait(timeout: RawClient.patience) == .exited(0))
                let log = daemon.program.errorText
                #expect(!log.contains("the last figures"), "\(log)")
            }
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
            #expect(daemon.program.errorText == "")
        }
    }

    // MARK: - A store that does not answer

    /// Events that can be written and not read: abs(3) of the least integer is an error.
    private static let unreadable = """
        ALTER TABLE event RENAME TO kept;
        CREATE VIEW event AS SELECT id, abs(-9223372036854775808) AS at_usec, interface, kind, ifindex, incarnation,
            previous, cause, is_gapped FROM kept;
        CREATE TRIGGER keep INSTEAD OF INSERT ON event BEGIN
            INSERT INTO kept (at_usec, interface, kind, ifindex, incarnation, previous, cause, is_gapped)
            VALUES (new.at_usec, new.interface, new.kind, new.ifindex, new.incarnation, new.previous, new.cause,
                new.is_gapped);
        END;
        """

    @Test func `a question that fails says nothing of what is saved`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let database = try Self.openBefore(directory.path)
            var random = SplitMix64(seed: 14)
            var link = FlakyLink()
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            try client.awaitSavedBeginning(of: &link, in: namespace, &random)
            try database.execute(Self.unreadable)
            for _ in 0..<20 {
                #expect(try client.call("io.ifcount.Events").contains("io.ifcount.NoHistory"))
                #expect(try client.get("utun0")?.persisted == true)
            }
            try link.carry(&random)
            try link.fall()
            try client.awaitSaved(try #require(try client.awaitLast(of: link)))
            try database.execute("DROP VIEW event; ALTER TABLE kept RENAME TO event")
            let events = try client.call("io.ifcount.Events")
            #expect(events.contains(#""event":"created""#) && events.contains(#""event":"removed""#))
            #expect(try daemon.end() == .exited(0))
            // Once, however often it was asked.
            let words = "a question to the history could not be answered: integer overflow"
            #expect(daemon.program.errorText == "ifcountd: \(words)\n")
        }
    }

    // MARK: - Directories

    @Test(needsMount)
    func `a directory that cannot be written is refused in one line`() async throws {
        let directory = try TemporaryDirectory()
        let mount = #"mount -t tmpfs -o ro tmpfs \#(directory.path) && exec "$0" "$@""#
        try Self.expectRefusal(
            directory.path,
            shell: #"exec unshare --mount /bin/sh -c '\#(mount)' "$0" "$@""#,
            "the state directory \(directory.path) cannot be used: Read-only file system"
        )
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to give a directory to somebody else"))
    func `another user's directory is refused in one line`() async throws {
        let directory = try TemporaryDirectory()
        var giver = try Program("/bin/chown", ["65534", directory.path])
        #expect(try giver.wait() == .exited(0))
        try Self.expectRefusal(
            directory.path,
            // Root without the right to overlook whose a directory is.
            shell: #"exec setpriv --bounding-set=-dac_override,-dac_read_search "$0" "$@""#,
            "the state directory \(directory.path) cannot be used: Permission denied"
        )
    }

    @Test func `a second daemon on one directory is refused, and the first lives on`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var random = SplitMix64(seed: 6)
            var link = FlakyLink()
            var first = try RunningDaemon(keepingIn: directory.path)
            try Self.expectRefusal(directory.path, "another ifcountd keeps its history in \(directory.path)")
            try link.rise(in: namespace)
            try link.carry(&random)
            var client = try first.client()
            let reading = try #require(try client.awaitLast(of: link))
            #expect(reading.total.rx.bytes == Int(link.truth.rx))
            try client.awaitSaved(reading)
            #expect(try first.end() == .exited(0))
            #expect(first.program.errorText == "")
        }
    }

    /// Expects a daemon to say one line, to leave no socket, and to end with 1.
    private static func expectRefusal(_ directory: String, shell: String? = nil, _ reason: String) throws {
        let own = try TemporaryDirectory()
        let socket = own.path + "/socket"
        let arguments = ["--socket", socket] + RunningDaemon.keeping(in: directory)
        var program = try RunningDaemon.start(arguments, shell: shell)
        #expect(try program.wait(timeout: RawClient.patience) == .exited(1))
        #expect(program.errorText == "ifcountd: \(reason)\n")
        #expect(throws: Errno.noEntry) { try FileStatus(at: socket) }
    }

    // MARK: - Damage

    /// What has become of a database.
    enum Damage: String, CaseIterable, CustomTestStringConvertible {
        case emptied = "cut at its beginning"
        case cutInHeader = "cut in its header"
        case cutInHalf = "cut in half"
        case withoutEnd = "cut before its last page"
        case filledWithNULs = "filled with NULs from its second page on"
        case ofAnotherProgram = "of another program"

        var testDescription: String { rawValue }

        /// What is left of a whole database's bytes.
        func damaged(_ whole: [UInt8], aside path: String) throws -> [UInt8] {
            switch self {
            case .emptied: return []
            case .cutInHeader: return Array(whole.prefix(70))
            case .cutInHalf: return Array(whole.prefix(whole.count / 2))
            case .withoutEnd: return Array(whole.dropLast(4096))
            case .filledWithNULs: return whole.prefix(4096) + [UInt8](repeating: 0, count: whole.count - 4096)
            case .ofAnotherProgram:
                try { try Database(path: path).execute("CREATE TABLE bookmark (address TEXT)") }()
                return try File.read(path)
            }
        }
    }

    /// Lets utun0 carry something under a daemon that is killed, and writes all of its log into the file.
    private static func count(
        in directory: String,
        _ link: inout FlakyLink,
        _ namespace: borrowing PrivateNamespace
    ) throws {
        var random = SplitMix64(seed: 7)
        var daemon = try RunningDaemon(keepingIn: directory)
        var client = try daemon.client()
        try client.awaitSavedBeginning(of: &link, in: namespace, &random)
        #expect(try daemon.end() == .exited(0))
    }

    @Test(arguments: Damage.allCases)
    func `a damaged file is kept aside as it was, and told of`(_ damage: Damage) async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let path = "\(directory.path)/\(Store.fileName)"
            var random = SplitMix64(seed: 8)
            var link = FlakyLink()
            try Self.count(in: directory.path, &link, namespace)
            let bytes = try damage.damaged(File.read(path), aside: directory.path + "/other")
            try Self.write(bytes, to: path)
            // The log that a killed daemon leaves beside it is kept with it.
            let log = Array("somebody may know how to read this".utf8)
            try Self.write(log, to: path + "-wal")
            var daemon = try RunningDaemon(keepingIn: directory.path)
            let before = link.truth
            try link.carry(&random)
            var client = try daemon.client()
            let reading = try #require(try client.awaitLast(of: link))
            // It begins anew, and says since when.
            #expect(reading.total.rx.bytes == Int(link.truth.rx - before.rx))
            try client.awaitSaved(reading)
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
            let errors = daemon.program.errorText
            let aside = try #require(Self.pathAside(in: errors), "\(errors)")
            #expect(errors.contains("the history could not be read") && errors.contains("a new one begins"))
            #expect(try File.read(aside) == bytes)
            #expect(try File.read(aside + "-wal") == log)
            #expect(try File.read(path).count > 0)
        }
    }

    /// What has become of the log that a killed daemon has left.
    enum LogDamage: String, CaseIterable, CustomTestStringConvertible {
        case lost = "lost"
        case cut = "cut in half"
        case rubbish = "rubbish"
        var testDescription: String { rawValue }
    }

    @Test(arguments: LogDamage.allCases)
    func `a log that cannot be read takes no account with it`(_ damage: LogDamage) async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let log = "\(directory.path)/\(Store.fileName)-wal"
            var random = SplitMix64(seed: 11)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: directory.path)
                var client = try daemon.client()
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
                try daemon.kill()
            }
            let bytes = try File.read(log)
            #expect(bytes.count > 0)
            switch damage {
            case .lost: try File.remove(log)
            case .cut: try Self.write(Array(bytes.prefix(bytes.count / 2)), to: log)
            case .rubbish: try Self.write([UInt8](repeating: 0x5A, count: bytes.count), to: log)
            }
            let daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            try client.expectHistoryAddsUp()
        }
    }

    @Test func `rubbish after the end of a file costs nothing`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let path = "\(directory.path)/\(Store.fileName)"
            var link = FlakyLink()
            try Self.count(in: directory.path, &link, namespace)
            try Self.write(File.read(path) + [UInt8](repeating: 0x5A, count: 5000), to: path)
            var daemon = try RunningDaemon(keepingIn: directory.path)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(try daemon.end() == .exited(0))
            let isAside = Self.pathAside(in: daemon.program.errorText) != nil
            #expect(isAside || total.rx.bytes == Int(link.truth.rx))
        }
    }

    @Test func `a file of a later version is refused and not touched`() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/\(Store.fileName)"
        do {
            _ = try Store(directory: directory.path, wall: Clock.wall)
            try Database(path: path).execute("PRAGMA user_version = 99")
        }
        let before = try File.read(path)
        try Self.expectRefusal(
            directory.path,
            "\(path) is of a later ifcount (format 99); install that one, or choose another --state-directory"
        )
        #expect(try File.read(path) == before)
    }

    /// The path that a damaged file has now, by the daemon's words.
    private static func pathAside(in log: String) -> String? {
        let words = log.split(whereSeparator: { " ,;\n".contains($0) })
        return words.first { $0.contains(".damaged-") }.map { String($0) }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let number = try retrying { unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640) }
        defer { close(number) }
        try Descriptor.writeAll(number, bytes)
    }
}
