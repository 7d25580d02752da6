import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// An empty directory for one test, removed with all that is in it.
struct TemporaryDirectory: ~Copyable {
    let path: String

    init() throws {
        path = "/tmp/ifcount-test-\(UInt64.random(in: 0 ... .max))"
        try File.makeDirectory(path, mode: 0o755)
    }

    deinit {
        if var remover = try? Program("/bin/rm", ["-rf", path]) { _ = try? remover.wait() }
    }
}

/// `ifcountd` as a process in the calling thread's namespace, on a socket of its own.
struct RunningDaemon: ~Copyable {
    private let directory: TemporaryDirectory
    var program: Program
    /// The socket's path.
    let socket: String
    /// A directory for its history, if it is told to keep one.
    var stateDirectory: String { directory.path + "/state" }

    /// Nothing of the caller's surroundings reaches it.
    static let environment: [String: String?] = [
        "IFCOUNT_SOCKET": nil, "NOTIFY_SOCKET": nil, "WATCHDOG_USEC": nil, "WATCHDOG_PID": nil,
        "LISTEN_FDS": nil, "LISTEN_PID": nil, "LISTEN_FDNAMES": nil,
    ]

    /// Starts it and waits until it has taken its first look: what the test does next is counted.
    ///
    /// - Parameters:
    ///   - arguments: beside `--socket`.
    ///   - environment: beside `RunningDaemon.environment`.
    ///   - shell: what a shell does before it becomes the daemon, such as `ulimit -n 32`.
    ///   - faults: who decides which of its system calls fail.
    /// - Throws: what kept it from starting, or from answering.
    init(
        _ arguments: [String] = ["--interval", "100ms"],
        environment: [String: String?] = [:],
        shell: String? = nil,
        faults: SystemCallFaults? = nil
    ) throws {
        let directory = try TemporaryDirectory()
        let socket = directory.path + "/run/io.ifcount"
        let program = try Self.start(
            ["--socket", socket] + arguments,
            environment: environment,
            shell: shell,
            faults: faults
        )
        try Self.awaitAnswer(socket)
        self.directory = directory
        self.program = program
        self.socket = socket
    }

    /// Starts the daemon's program as it is told.
    static func start(
        _ arguments: [String],
        environment: [String: String?] = [:],
        shell: String? = nil,
        faults: SystemCallFaults? = nil
    ) throws -> Program {
        let environment = Self.environment.merging(environment) { $1 }
        // A history is kept only where a test asks for one.
        let hasState = arguments.contains { $0.hasPrefix("--state-directory") }
        let arguments = (hasState ? [] : ["--state-directory=none"]) + arguments
        guard let shell else {
            return try Program("ifcountd", arguments, environment: environment, faults: faults)
        }
        let path = try Program.builtPath(of: "ifcountd")
        return try Program(
            "/bin/sh",
            ["-c", "\(shell); exec \"$0\" \"$@\"", path] + arguments,
            environment: environment,
            faults: faults
        )
    }

    /// Waits until somebody answers on a socket.
    static func awaitAnswer(_ socket: String) throws {
        let deadline = ContinuousClock.now + RawClient.patience
        while true {
            do {
                var client = try RawClient(socket)
                _ = try client.call("org.varlink.service.GetInfo")
                return
            } catch let error as Errno where ContinuousClock.now < deadline {
                guard error == .noEntry || error == .connectionRefused else { throw error }
                usleep(5000)
            }
        }
    }

    /// A new client of it.
    func client() throws -> RawClient { try RawClient(socket) }

    /// Expects it to live and to answer a new client.
    func expectAlive(_ location: SourceLocation = #_sourceLocation) throws {
        var client = try client()
        #expect(try client.call("org.varlink.service.GetInfo").contains("ifcountd"), sourceLocation: location)
    }

    /// Ends it by SIGTERM.
    mutating func end() throws -> Program.Ending {
        program.terminate()
        return try program.wait(timeout: RawClient.patience)
    }

    /// A figure of /proc/PID/status in kB, such as VmRSS (proc_pid_status(5)).
    func status(_ name: String) throws -> Int {
        let lines = try File.text("/proc/\(program.pid)/status").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("\(name):") })
        return try #require(line.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) })
    }

    /// How many descriptors it has open.
    func descriptorCount() throws -> Int {
        guard let stream = unsafe opendir("/proc/\(program.pid)/fd") else { throw Errno.current }
        defer { unsafe _ = closedir(stream) }
        var count = 0
        while unsafe readdir(stream) != nil { count += 1 }
        return count - 2
    }

    /// Changes how many descriptors it may have open, whatever it has open now (prlimit(1)).
    func limitDescriptors(to count: Int) throws {
        var changer = try Program("/usr/bin/prlimit", ["--pid", "\(program.pid)", "--nofile=\(count):"])
        #expect(try changer.wait(timeout: RawClient.patience) == .exited(0), "\(changer.errorText)")
    }

    /// How long its loop has been ready and got no processor, in µs (Documentation/scheduler/sched-stats.rst).
    func waitedForProcessor() throws -> Int {
        let fields = try File.text("/proc/\(program.pid)/schedstat").split(separator: " ")
        return try #require(Int(fields[1])) / 1000
    }

    /// How long it has used a processor, in ticks of 10 ms (proc_pid_stat(5), fields 14 and 15).
    func processorTicks() throws -> Int {
        // Past the program's name in parentheses, the first field is the third.
        let fields = try File.text("/proc/\(program.pid)/stat").split(separator: ")")[1].split(separator: " ")
        return try #require(Int(fields[11])) + #require(Int(fields[12]))
    }
}
