internal import Daemon
internal import Glibc
internal import LinkStats
internal import Options
internal import SystemCalls
internal import Wire

/// Options and wiring of the daemon.
@main
struct Main {
    private static let help = """
        Usage: ifcountd [OPTION…]

        Counts the bytes that go through each network interface, and answers on a Unix socket.

          --socket PATH      the socket to listen on; default: the service manager's, else $IFCOUNT_SOCKET,
                             else /run/ifcount/io.ifcount for root, else $XDG_RUNTIME_DIR/ifcount/io.ifcount
          --interval TIME    how often counters are read, 100ms to 1h; default 1s
          --source SOURCE    netlink, procfs or getifaddrs; default: the first of them that works
          --state-directory DIR
                             where the history is kept, or "none" to keep totals in memory only; default: the service
                             manager's ($STATE_DIRECTORY), else /var/lib/ifcount for root, else
                             $XDG_STATE_HOME/ifcount or ~/.local/state/ifcount
          --save-interval TIME
                             how often the history is saved, 1s to 1h; default 60s. A power cut costs what was counted
                             since; a crash costs that of the interfaces only that ended since
          --restore FILE     put a copy that "ifcount accounts" has made in the place of the history, and end; the
                             daemon must not run. What is replaced is kept beside it
          --version          the version
          --help             this text

        Exit: 0 after SIGTERM, SIGINT or SIGHUP; 1 failed, also to save the last figures within 10 s; 2 usage.
        """

    private static let options: [OptionDefinition] = [
        .value("socket"), .value("interval"), .value("source"), .value("state-directory"), .value("save-interval"),
        .value("restore"),
        .flag("version"), .flag("help", short: "h"),
    ]

    static func main() {
        exit(run(ThisProcess.arguments.dropFirst().map { String(decoding: $0, as: UTF8.self) }))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        do {
            let parsed = try ParsedArguments(arguments, options)
            if parsed.has("help") { return put(help) }
            if parsed.has("version") { return put("ifcountd \(Wire.version)") }
            if let operand = parsed.operands.first { throw UsageError.unexpectedOperand(operand) }
            let configuration = try configuration(parsed)
            if let file = parsed.value("restore") { return try restore(file, configuration) }
            return try serve(configuration, socket: parsed.value("socket")) ? 0 : 1
        } catch let error as UsageError {
            log("\(error); see ifcountd --help")
            return 2
        } catch {
            log("\(error)")
            return 1
        }
    }

    private static func configuration(_ parsed: ParsedArguments) throws(UsageError) -> Configuration {
        var configuration = Configuration()
        if let text = parsed.value("interval") {
            let bounds = Configuration.intervals
            configuration.interval = UInt64(
                try DurationText.microseconds(text, option: "--interval", within: bounds)
            )
        }
        if let text = parsed.value("save-interval") {
            let bounds = Configuration.saveIntervals
            configuration.saveInterval = UInt64(
                try DurationText.microseconds(text, option: "--save-interval", within: bounds)
            )
        }
        configuration.stateDirectory = stateDirectory(parsed.value("state-directory"))
        if let text = parsed.value("source") {
            guard let source = Source(rawValue: text) else {
                throw .badValue("--source", reason: "'\(text)' is none of netlink, procfs, getifaddrs")
            }
            configuration.source = source
        }
        return configuration
    }

    /// Where the history is kept; nil for nowhere.
    private static func stateDirectory(_ option: String?) -> String? {
        if let option { return option == "none" ? nil : option }
        // The service manager may name several, with colons between them: the first is ours.
        if let given = environment("STATE_DIRECTORY"), let first = given.split(separator: ":").first {
            return String(first)
        }
        if geteuid() == 0 { return "/var/lib/ifcount" }
        if let home = environment("XDG_STATE_HOME"), home.hasPrefix("/") { return home + "/ifcount" }
        return environment("HOME").map { $0 + "/.local/state/ifcount" }
    }

    private static func restore(_ file: String, _ configuration: Configuration) throws -> Int32 {
        guard let directory = configuration.stateDirectory else {
            throw UsageError.badValue(
                "--restore",
                reason: "there is no state directory; name one with --state-directory"
            )
        }
        guard let replaced = try Daemon.restore(file, to: directory) else { return put("\(file) is the history now") }
        return put("\(file) is the history now; what was there before is kept as \(replaced)")
    }

    /// Counts until the end.
    ///
    /// - Returns: whether all that was to be saved is.
    private static func serve(_ configuration: Configuration, socket: String?) throws -> Bool {
        let manager = ServiceManager(environment: environment)
        let path = SocketPath.resolveForDaemon(option: socket, environment: environment, isRoot: geteuid() == 0)
        let listener: Listener
        if socket == nil, let inherited = manager.listener {
            listener = try Listener(inherited: inherited)
        } else if let path {
            listener = try Listener.bind(path.path)
        } else {
            throw Failure("there is no place for a socket: XDG_RUNTIME_DIR is not set; name one with --socket")
        }
        // A terminal or pipe that has gone away is no reason to stop counting.
        _ = signal(SIGPIPE, SIG_IGN)
        return try Daemon(configuration, listener: listener, manager: manager, log: log).run()
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func put(_ text: String) -> Int32 {
        do {
            try Descriptor.writeAll(STDOUT_FILENO, Array("\(text)\n".utf8))
            return 0
        } catch {
            log("standard output: \(error)")
            return 1
        }
    }

    private static func log(_ text: String) {
        try? Descriptor.writeAll(STDERR_FILENO, Array("ifcountd: \(text)\n".utf8))
    }
}
