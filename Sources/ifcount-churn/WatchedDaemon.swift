internal import Glibc
internal import IfcountClient
internal import SystemCalls
internal import TestLinks
internal import Wire

/// The daemon that is tried: one process after the other, with one socket and one state directory.
final class WatchedDaemon {
    private let directory: String
    private let arguments: [String]
    /// Whether each process gets /sys of this namespace, so that it can tell links by their inodes.
    let hasOwnSys: Bool
    private var program: Program?
    private var connection: Connection?
    /// How many processes were started.
    private(set) var starts = 0
    /// How many times it said that it had lost events.
    private(set) var overruns = 0

    /// No machine is so slow that the daemon needs longer for anything.
    static let patience: Duration = .seconds(60)

    /// Nothing of the caller's surroundings reaches it.
    private static let environment: [String: String?] = [
        "IFCOUNT_SOCKET": nil, "NOTIFY_SOCKET": nil, "WATCHDOG_USEC": nil, "WATCHDOG_PID": nil,
        "LISTEN_FDS": nil, "LISTEN_PID": nil, "LISTEN_FDNAMES": nil,
    ]

    /// - Parameters:
    ///   - directory: where its socket and its state are.
    ///   - arguments: beside those.
    ///   - wantsOwnSys: whether to give it /sys of this namespace, where that is allowed.
    init(in directory: String, arguments: [String], wantsOwnSys: Bool) {
        self.directory = directory
        self.arguments = arguments
        hasOwnSys = wantsOwnSys && Self.canMountSys
    }

    private var socket: String { directory + "/io.ifcount" }
    /// Where its history is.
    var stateDirectory: String { directory + "/state" }
    var isRunning: Bool { program != nil }

    /// What a shell does to get a /sys of this namespace: the program that follows has its pid.
    private static let ownSys = [
        "/usr/bin/unshare", "--mount", "/bin/sh", "-c", "mount -t sysfs sysfs /sys && exec \"$0\" \"$@\"",
    ]

    private static var canMountSys: Bool {
        guard var trial = try? Program(ownSys[0], ownSys.dropFirst() + ["/bin/true"]) else { return false }
        return (try? trial.wait()) == .exited(0)
    }

    /// Starts a process; `awaitAnswer` has to follow.
    func start(interval: Int) throws(LinkFailure) {
        let own = [
            "--socket", socket, "--state-directory", stateDirectory, "--interval", "\(interval)ms", "--save-interval",
            "1s",
        ]
        let path = try Program.builtPath(of: "ifcountd")
        let command = (hasOwnSys ? Self.ownSys : []) + [path] + own + arguments
        program = try Program(command[0], Array(command.dropFirst()), environment: Self.environment)
        starts += 1
    }

    /// Waits until it answers: it has taken its first look then.
    func awaitAnswer() throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do {
                let connection = try Connection(path: socket)
                _ = try connection.call(VarlinkService.getInfo, JSONValue.object([:]), reply: JSONValue.self)
                self.connection = connection
                return
            } catch {
                if let ending = try? program?.wait(timeout: .milliseconds(2)) { throw unexpected(ending) }
                if ContinuousClock.now > deadline { throw error }
            }
        }
    }

    /// Asks it something.
    func ask<Answer: Decodable>(_ method: String, _ parameters: some Encodable, _ type: Answer.Type) throws -> Answer {
        guard let connection else { throw ClientError.closed }
        do {
            return try connection.call(method, parameters, reply: type)
        } catch ClientError.closed {
            guard let ending = try? program?.wait() else { throw ClientError.closed }
            throw unexpected(ending)
        }
    }

    /// Starts a stream of readings on a connection of its own.
    func watch(intervalUSec: Int) throws(ClientError) -> Connection {
        let connection = try Connection(path: socket)
        try connection.watch(interfaces: nil, intervalUSec: intervalUSec)
        return connection
    }

    /// Stops it in its tracks, so that events wait.
    func stall() { program?.send(SIGSTOP) }

    func resume() { program?.send(SIGCONT) }

    /// Sends it the signal that ends it: SIGTERM or SIGKILL. `awaitEnd` has to follow.
    func end(_ signal: Int32) {
        connection = nil
        program?.send(signal)
    }

    /// Waits until it has ended as it should.
    func awaitEnd(_ signal: Int32) throws {
        guard var program = program.take() else { return }
        let ending = try program.wait(timeout: Self.patience)
        noteOverruns(program.errorText)
        let isAsExpected = signal == SIGKILL ? ending == .signalled(SIGKILL) : ending == .exited(0)
        if !isAsExpected { throw Unexpected(ending: ending, words: program.errorText) }
    }

    private func noteOverruns(_ words: String) {
        for line in words.split(separator: "\n") where line.contains("link events were lost") {
            overruns += line.split(separator: " ").compactMap { Int($0) }.first ?? 1
        }
    }

    private func unexpected(_ ending: Program.Ending) -> Unexpected {
        let words = program?.errorText ?? ""
        program = nil
        return Unexpected(ending: ending, words: words)
    }

    /// It ended by itself, or not as it was told.
    struct Unexpected: Error, CustomStringConvertible {
        var ending: Program.Ending
        var words: String
        var description: String { "the daemon ended: \(ending); it said: \(words)" }
    }

    // MARK: - What it takes

    /// Its resident memory in kB (proc_pid_status(5)).
    func residentMemory() throws -> Int {
        guard let pid = program?.pid else { return 0 }
        for line in try File.text("/proc/\(pid)/status").split(separator: "\n") where line.hasPrefix("VmRSS:") {
            return line.split(whereSeparator: { " \t".contains($0) }).compactMap { Int($0) }.first ?? 0
        }
        return 0
    }

    /// How many descriptors it has open: the size of /proc/PID/fd, since Linux 6.2 (proc_pid_fd(5)); 0 before.
    func openDescriptors() throws(Errno) -> Int {
        guard let pid = program?.pid else { return 0 }
        return try FileStatus(following: "/proc/\(pid)/fd").size
    }

    /// The size of its history on disk, in bytes.
    func historySize() throws(Errno) -> Int { try FileStatus(following: stateDirectory + "/ifcount.db").size }
}
