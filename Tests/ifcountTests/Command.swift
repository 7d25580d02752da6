import Glibc
import SystemCalls

/// The built command as a process of its own.
struct Command: ~Copyable {
    /// What a process left behind.
    struct End: Sendable {
        /// The exit status, or 128 and the signal that ended it.
        var status: Int32
        var output: String
        var error: String
    }

    /// The command stands beside the tests.
    private static let path: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let runner = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return runner.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/ifcount"
    }()

    let process: pid_t

    /// Starts it with descriptors of this process as its standard ones.
    init(_ arguments: [String], environment: [String], _ input: Int32, _ output: Int32, _ error: Int32) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, source) in [(Int32(0), input), (1, output), (2, error)] {
            posix_spawn_file_actions_adddup2(&actions, source, number)
        }
        let words = ([Self.path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var process = pid_t()
        let failure = posix_spawn(&process, Self.path, &actions, nil, words, variables)
        if failure != 0 { throw Errno(failure) }
        self.process = process
    }

    /// Waits for its end, which must come within seconds.
    func status() -> Int32 {
        var status: Int32 = 0
        for _ in 0..<1000 {
            if waitpid(process, &status, WNOHANG) == process {
                return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
            }
            usleep(10_000)
        }
        kill(process, SIGKILL)
        waitpid(process, &status, 0)
        return -1
    }

    /// Runs it to its end, with pipes; its output is short enough for them.
    static func run(_ arguments: [String], environment: [String] = []) throws -> End {
        let output = try Pipe()
        let error = try Pipe()
        let null = try File.open("/dev/null")
        let command = try Command(
            arguments,
            environment: environment,
            null.number,
            output.writer.number,
            error.writer.number
        )
        let status = command.status()
        return End(status: status, output: try output.text(), error: try error.text())
    }
}

/// A pipe whose text is read after its writers have gone.
struct Pipe: ~Copyable {
    let reader: Descriptor
    let writer: Descriptor

    init() throws {
        var numbers: [Int32] = [0, 0]
        try retrying { pipe(&numbers) }
        for number in numbers { try retrying { fcntl(number, F_SETFD, FD_CLOEXEC) } }
        reader = Descriptor(owning: numbers[0])
        writer = Descriptor(owning: numbers[1])
    }

    func text() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 65536)
        guard try waitReadable([reader.number], milliseconds: 0)[0] else { return "" }
        return String(decoding: buffer[..<(try reader.read(into: &buffer))], as: UTF8.self)
    }
}

/// A terminal of 80 by 24 whose other end is here.
struct PseudoTerminal: ~Copyable {
    let here: Descriptor
    let there: Descriptor

    init() throws {
        let here = Descriptor(
            owning: try retrying { open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK) }
        )
        // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), which the Glibc module leaves out.
        var number: Int32 = 0
        try retrying { ioctl(here.number, 0x4004_5431, &number) }
        try retrying { ioctl(here.number, 0x8004_5430, &number) }
        let path = "/dev/pts/\(number)"
        let there = Descriptor(owning: try retrying { open(path, O_RDWR | O_NOCTTY | O_CLOEXEC) })
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        try retrying { ioctl(there.number, UInt(TIOCSWINSZ), &size) }
        self.here = here
        self.there = there
    }

    /// The flags of line mode and echo.
    func modes() throws -> tcflag_t {
        var settings = termios()
        try retrying { tcgetattr(there.number, &settings) }
        return settings.c_lflag & tcflag_t(ICANON | ECHO | ISIG)
    }

    /// Takes in what is shown until `text` is in it, for seconds at most.
    func shown(until text: String) throws -> String {
        var all = ""
        var buffer = [UInt8](repeating: 0, count: 65536)
        for _ in 0..<100 where !all.contains(text) {
            guard try waitReadable([here.number], milliseconds: 50)[0] else { continue }
            all += String(decoding: buffer[..<(try here.read(into: &buffer))], as: UTF8.self)
        }
        return all
    }
}
