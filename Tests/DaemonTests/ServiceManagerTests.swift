import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// The daemon under a service manager, which is the test.
@Suite
struct ServiceManagerTests {
    @Test func `readiness, status, signs of life and the end are told`() throws {
        let manager = try NotifySocket()
        var daemon = try RunningDaemon(
            ["--interval", "1h"],
            // A third of it is the longest the daemon may stay silent.
            environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "600000"]
        )
        var told: [String] = []
        while !told.contains("READY=1") { told += try manager.next() }
        // Ready is told only once, first, and with what it does.
        #expect(told.first?.hasPrefix("STATUS=counting ") == true || told.first == "READY=1")
        #expect(told.contains { $0.hasPrefix("STATUS=counting ") && $0.hasSuffix(" from netlink every 200 ms") })
        let begin = ContinuousClock.now
        var signs = 0
        while signs < 6 { signs += try manager.next().count { $0 == "WATCHDOG=1" } }
        #expect(ContinuousClock.now - begin > .milliseconds(700), "not more often than a third of it")
        try daemon.expectAlive()
        #expect(try daemon.end() == .exited(0))
        var last = try manager.next()
        while last == ["WATCHDOG=1"] { last = try manager.next() }
        #expect(last == ["STOPPING=1"])
    }

    @Test func `a name that is no file will do to be told`() throws {
        let manager = try NotifySocket(abstract: true)
        let daemon = try RunningDaemon(["--interval", "1h"], environment: ["NOTIFY_SOCKET": manager.path])
        var told: [String] = []
        while !told.contains("READY=1") { told += try manager.next() }
        try daemon.expectAlive()
    }

    @Test func `the status tells how often counters are read: as often as the most eager watcher wants`() throws {
        let manager = try NotifySocket()
        let daemon = try RunningDaemon(["--interval", "1h"], environment: ["NOTIFY_SOCKET": manager.path])
        var watchers: [HeldConnection] = []
        for interval in [2_000_000, 300_000, 100_000] {
            let watcher = try HeldConnection(daemon.socket)
            let parameters = #"{"interfaces":["lo"],"intervalUSec":\#(interval)}"#
            watcher.offer(Array(#"{"method":"io.ifcount.Watch","parameters":\#(parameters),"more":true}"#.utf8) + [0])
            watchers.append(watcher)
        }
        var twin = try daemon.client()
        try twin.watch(["lo"], interval: 100_000)
        var told: [String] = []
        func waitForStatus(_ period: String) throws {
            while told.last != period { told += try manager.next().compactMap(Self.period) }
        }
        try waitForStatus("100 ms")
        // Another is as eager as the one that goes: it changes nothing.
        _ = watchers.popLast()
        for _ in 0..<5 { _ = try twin.reply(Watch.Reply.self) }
        while try manager.hasNext() { told += try manager.next().compactMap(Self.period) }
        #expect(told.last == "100 ms")
        told = []
        _ = consume twin
        try waitForStatus("300 ms")
        _ = watchers.popLast()
        try waitForStatus("2 s")
        #expect(told == ["300 ms", "2 s"])
        // Nobody watches any more: the next look is an hour away, and so is the status that tells of it.
        _ = watchers.popLast()
        try daemon.expectAlive()
        let client = try HeldConnection(daemon.socket)
        client.offer(
            Array(#"{"method":"io.ifcount.Watch","parameters":{"intervalUSec":500000},"more":true}"#.utf8) + [0]
        )
        try waitForStatus("500 ms")
        #expect(told == ["300 ms", "2 s", "500 ms"])
    }

    /// What a status says of how often counters are read.
    private static func period(_ assignment: String) -> String? {
        guard assignment.hasPrefix("STATUS="), let range = assignment.firstRange(of: " every ") else { return nil }
        return String(assignment[range.upperBound...])
    }

    @Test(arguments: [
        ["WATCHDOG_USEC": "600000", "WATCHDOG_PID": "1"], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "soon"],
    ])
    func `a watchdog that is not for it changes nothing`(_ environment: [String: String]) throws {
        let manager = try NotifySocket()
        let daemon = try RunningDaemon(
            ["--interval", "1h"],
            environment: environment.mapValues { $0 }.merging(["NOTIFY_SOCKET": manager.path]) { $1 }
        )
        var told: [String] = []
        while !told.contains("READY=1") { told += try manager.next() }
        #expect(told.contains { $0.hasPrefix("STATUS=counting ") && $0.hasSuffix(" every 3600 s") })
        try daemon.expectAlive()
    }

    @Test(arguments: ["/nonexistent/notify", "relative", "@nobody-listens-there", ""])
    func `a service manager that does not listen is no failure`(_ path: String) throws {
        var daemon = try RunningDaemon(environment: ["NOTIFY_SOCKET": path])
        #expect(try daemon.end() == .exited(0))
        #expect(daemon.program.errorText == "")
    }

    /// Makes the socket, hands it over as descriptor 3, and becomes the daemon.
    private static let handOver = """
        import os, socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen(16)
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS=sys.argv[2], LISTEN_PID=sys.argv[3] or str(os.getpid()))
        os.execv(sys.argv[4], sys.argv[4:])
        """

    private static func handedOver(
        _ path: String,
        count: String = "1",
        pid: String = "",
        _ arguments: [String] = [],
        environment: [String: String?] = [:]
    ) throws -> Program {
        try Program(
            "/usr/bin/env",
            ["python3", "-c", handOver, path, count, pid, Program.builtPath(of: "ifcountd"), "--state-directory=none"]
                + arguments,
            environment: RunningDaemon.environment.merging(environment) { $1 }
        )
    }

    private static let hasPython: Bool = {
        guard var python = try? Program("/usr/bin/env", ["python3", "-c", ""]) else { return false }
        return (try? python.wait(timeout: RawClient.patience)) == .exited(0)
    }()

    @Test(.enabled(if: hasPython, "needs python3")) func `a socket that is handed over is used, and left in place`()
        throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        var daemon = try Self.handedOver(path)
        try RunningDaemon.awaitAnswer(path)
        let identity = try FileStatus(at: path).identity
        daemon.terminate()
        #expect(try daemon.wait(timeout: RawClient.patience) == .exited(0))
        #expect(daemon.errorText == "")
        #expect(try FileStatus(at: path).identity == identity)
    }

    @Test(.enabled(if: hasPython, "needs python3")) func `a socket that is another's, or not wanted, is not used`()
        throws
    {
        let directory = try TemporaryDirectory()
        let own = directory.path + "/own"
        // For another process; no socket at all; one that the option overrules.
        let cases: [(name: String, pid: String, count: String)] = [("a", "1", "1"), ("b", "", "0"), ("c", "", "1")]
        for (name, pid, count) in cases {
            var daemon = try Self.handedOver(
                directory.path + "/" + name,
                count: count,
                pid: pid,
                name == "c" ? ["--socket", own] : [],
                environment: ["IFCOUNT_SOCKET": own]
            )
            try RunningDaemon.awaitAnswer(own)
            daemon.terminate()
            #expect(try daemon.wait(timeout: RawClient.patience) == .exited(0))
            #expect(throws: Errno.noEntry) { try FileStatus(at: own) }
        }
    }
}

/// The datagram socket of a service manager (sd_notify(3)).
private struct NotifySocket: ~Copyable {
    let path: String
    private let socket: Descriptor

    init(abstract: Bool = false) throws {
        let path = "/tmp/ifcount-notify-\(UInt64.random(in: 0 ... .max))"
        let ownPath = abstract ? "@" + path.dropFirst() : path
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Descriptor(owning: try retrying { Glibc.socket(AF_UNIX, type, 0) })
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(ownPath.utf8)
        if abstract { name[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let number = socket.number
        try retrying {
            unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, length) }
            }
        }
        self.socket = socket
        self.path = ownPath
    }

    deinit { if path.hasPrefix("/") { try? File.remove(path) } }

    /// Whether a datagram waits.
    func hasNext() throws -> Bool { try waitReadable([socket.number], milliseconds: 0)[0] }

    /// The assignments of the next datagram.
    func next() throws -> [String] {
        guard try waitReadable([socket.number], milliseconds: 60_000)[0] else { throw Errno.timedOut }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try socket.read(into: &buffer)
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map { String($0) }
    }
}
