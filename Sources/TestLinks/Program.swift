internal import CTestLinks
internal import Glibc
internal import SystemCalls

/// A program started by a test, in the namespaces of the calling thread, with its output captured through pipes.
///
/// It is killed and reaped, by its own pid, when the value ends. Only the functions that wait read the pipes: a
/// program that prints more than 64 KiB stops until one of them is called.
package struct Program: ~Copyable {
    /// How a program ended.
    package enum Ending: Hashable, Sendable {
        /// It exited with this status.
        case exited(Int32)
        /// This signal ended it.
        case signalled(Int32)
    }

    /// Its process id.
    package let pid: Int32
    /// What it has written to stdout, as far as it has been read.
    package private(set) var output: [UInt8] = []
    /// What it has written to stderr, as far as it has been read.
    package private(set) var errors: [UInt8] = []
    /// How it ended, once a wait has seen that.
    package private(set) var ending: Ending?

    private let command: String
    private let pidfd: Int32
    private var outputReader: Int32
    private var errorsReader: Int32

    /// What is read of a pipe at a time: as much as it holds.
    private static let pipeCapacity = 65536

    /// Starts a program, with stdin from /dev/null.
    ///
    /// - Parameters:
    ///   - name: a program of this package, or a path with a slash in it.
    ///   - arguments: what follows the program's name.
    ///   - environment: changes to the caller's environment; nil removes a variable.
    ///   - faults: who decides which of its system calls fail; nil for none.
    /// - Throws: `LinkFailure`; ENOENT when there is no such program.
    package init(
        _ name: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        faults: SystemCallFaults? = nil
    ) throws(LinkFailure) {
        let path = name.contains("/") ? name : try Self.builtPath(of: name)
        var outputEnds: [Int32] = [-1, -1]
        var errorsEnds: [Int32] = [-1, -1]
        defer {
            for end in [outputEnds[1], errorsEnds[1]] where end >= 0 { close(end) }
        }
        do throws(LinkFailure) {
            try succeeding("make a pipe", unsafe ifct_pipe(&outputEnds))
            try succeeding("make a pipe", unsafe ifct_pipe(&errorsEnds))
            pid = try spawn(
                path,
                isSearched: false,
                [path] + arguments,
                changed(environment),
                input: -1,
                output: outputEnds[1],
                errors: errorsEnds[1],
                faults: faults
            )
        } catch {
            for end in [outputEnds[0], errorsEnds[0]] where end >= 0 { close(end) }
            throw error
        }
        // It cannot fail on a child that is not reaped, short of descriptors; then poll(2) overlooks -1.
        pidfd = ifct_pidfd(pid)
        command = name
        outputReader = outputEnds[0]
        errorsReader = errorsEnds[0]
    }

    deinit {
        if ending == nil {
            _ = Glibc.kill(pid, SIGKILL)
            while ifct_reap(pid) == -EAGAIN { usleep(200) }
        }
        for descriptor in [pidfd, outputReader, errorsReader] where descriptor >= 0 { close(descriptor) }
    }

    /// The path of a program of this package: it was built beside the program that is running now.
    ///
    /// - Throws: `LinkFailure` when it is not there.
    package static func builtPath(of name: String) throws(LinkFailure) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let size = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard size > 0 else { throw LinkFailure("find the build directory", .current) }
        let own = String(decoding: buffer.prefix(size).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = own[...(own.lastIndex(of: "/") ?? own.startIndex)] + name
        guard unsafe access(String(path), X_OK) == 0 else { throw LinkFailure("find \(path)", .current) }
        return String(path)
    }

    /// What it has written to stdout, as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    /// What it has written to stderr, as text.
    package var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// Waits until the program has ended and all it wrote is read.
    ///
    /// - Throws: `LinkFailure` with ETIMEDOUT; the program goes on then.
    @discardableResult
    package mutating func wait(timeout: Duration = .seconds(10)) throws(LinkFailure) -> Ending {
        let deadline = ContinuousClock.now + timeout
        while true {
            if let ending { return ending }
            try readSome(until: deadline, "wait for \(command)")
        }
    }

    /// Waits until the program has written `part` to stdout.
    ///
    /// - Throws: `LinkFailure`: ETIMEDOUT, or ECHILD when the program ended without having written it.
    package mutating func waitForOutput(_ part: String, timeout: Duration = .seconds(10)) throws(LinkFailure) {
        let deadline = ContinuousClock.now + timeout
        while !text.contains(part) {
            guard ending == nil else { throw LinkFailure("read '\(part)' from \(command)", Errno(ECHILD)) }
            try readSome(until: deadline, "read '\(part)' from \(command)")
        }
    }

    /// Waits until the program has written `part` to stderr.
    ///
    /// - Throws: `LinkFailure`: ETIMEDOUT, or ECHILD when the program ended without having written it.
    package mutating func waitForErrors(_ part: String, timeout: Duration = .seconds(10)) throws(LinkFailure) {
        let deadline = ContinuousClock.now + timeout
        while !errorText.contains(part) {
            guard ending == nil else { throw LinkFailure("read '\(part)' from \(command)", Errno(ECHILD)) }
            try readSome(until: deadline, "read '\(part)' from \(command)")
        }
    }

    /// Closes this end of the program's stdout, so that its next write there meets EPIPE.
    package mutating func closeOutput() {
        if outputReader >= 0 { close(outputReader) }
        outputReader = -1
    }

    /// Sends a signal, unless a wait has seen the program end (then its pid may be another's).
    package func send(_ signal: Int32) {
        if ending == nil { _ = Glibc.kill(pid, signal) }
    }

    /// Asks it to end: SIGINT.
    package func interrupt() { send(SIGINT) }

    /// Asks it to end: SIGTERM.
    package func terminate() { send(SIGTERM) }

    /// Ends it at once: SIGKILL.
    package func kill() { send(SIGKILL) }

    /// Waits for output or the end, and takes what there is.
    private mutating func readSome(until deadline: ContinuousClock.Instant, _ attempt: String) throws(LinkFailure) {
        let left = deadline - .now
        guard left > .zero else { throw LinkFailure(attempt, .timedOut) }
        var waiting = [outputReader, errorsReader, pidfd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Without a descriptor for its end, look now and then.
        let milliseconds = pidfd < 0 ? 5 : Int32(min(left, .seconds(60)) / .milliseconds(1)) + 1
        do throws(Errno) {
            _ = try retrying { unsafe poll(&waiting, 3, milliseconds) }
        } catch { throw LinkFailure(attempt, error) }
        // Before the pipes: what was written before the end is in them then.
        let answer = ifct_reap(pid)
        let hasEnded = answer >= 0
        outputReader = Self.drain(outputReader, into: &output)
        errorsReader = Self.drain(errorsReader, into: &errors)
        if hasEnded { ending = answer < 256 ? .exited(answer) : .signalled(answer - 256) }
    }

    /// Reads what a pipe holds without waiting for more.
    ///
    /// - Returns: the descriptor, or -1 when it was the end and it is closed.
    private static func drain(_ descriptor: Int32, into bytes: inout [UInt8]) -> Int32 {
        var piece = [UInt8](repeating: 0, count: pipeCapacity)
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while descriptor >= 0, unsafe poll(&ready, 1, 0) == 1 {
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count > 0 else {
                close(descriptor)
                return -1
            }
            bytes += piece.prefix(count)
        }
        return descriptor
    }
}

/// The caller's environment with some variables set, or removed by nil, as `NAME=value`.
private func changed(_ changes: [String: String?]) -> [String] {
    var result = changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
    var next = unsafe ifct_environment()
    while let entry = unsafe next.pointee {
        let text = unsafe String(cString: entry)
        if changes[String(text.prefix { $0 != "=" })] == nil { result.append(text) }
        unsafe next += 1
    }
    return result
}

/// Starts a program; without an `environment` it has the caller's.
///
/// - Returns: its pid.
func spawn(
    _ path: String,
    isSearched: Bool,
    _ arguments: [String],
    _ environment: [String]?,
    input: Int32,
    output: Int32,
    errors: Int32,
    faults: SystemCallFaults? = nil
) throws(LinkFailure) -> Int32 {
    let arguments = unsafe arguments.map { unsafe strdup($0) } + [nil]
    let variables = unsafe (environment ?? []).map { unsafe strdup($0) } + [nil]
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    let answer = unsafe path.withCString { path in
        unsafe arguments.withUnsafeBufferPointer { arguments in
            unsafe variables.withUnsafeBufferPointer { variables -> Int32 in
                // Neither is empty: each ends with a NULL.
                guard let words = arguments.baseAddress else { return -EINVAL }
                var program = unsafe ifct_program(
                    path: path,
                    search: isSearched,
                    arguments: words,
                    environment: environment == nil ? nil : variables.baseAddress,
                    input: input,
                    output: output,
                    errors: errors
                )
                return unsafe faults?.spawn(&program) ?? ifct_spawn(&program)
            }
        }
    }
    return try succeeding("start \(path)", answer)
}
