internal import CLinux
internal import Glibc

/// Another program, run to its end for what it writes.
package struct ChildProgram: Sendable {
    /// What it wrote to standard output.
    package var output: [UInt8]
    /// Its exit status, or 128 and the number of the signal that ended it, as shells say it.
    package var status: Int32

    /// Runs a program that is looked for in PATH. Its standard input is empty, its standard error this process's.
    ///
    /// - Parameters:
    ///   - arguments: its name first.
    ///   - limit: how many bytes it may write; one that writes more is ended.
    /// - Throws: `.noEntry` when there is no such program, `.fileTooLarge` past the limit, or a call's `Errno`
    ///   (posix_spawnp(3), read(2), waitpid(2)).
    package init(running arguments: [String], limit: Int) throws(Errno) {
        var ends: [Int32] = [-1, -1]
        try retrying { unsafe pipe(&ends) }
        let reader = Descriptor(owning: ends[0])
        let writer = Descriptor(owning: ends[1])
        for end in ends { try retrying { fcntl(end, F_SETFD, FD_CLOEXEC) } }
        let process = try Self.start(arguments, output: writer)
        let result: Result<[UInt8], Errno>
        do throws(Errno) {
            result = .success(try Descriptor.readAll(reader.number, limit: limit))
        } catch {
            // It is this process's own child and not reaped yet, so the number is still its.
            _ = kill(process, SIGKILL)
            result = .failure(error)
        }
        var status: Int32 = 0
        try retrying { unsafe waitpid(process, &status, 0) }
        output = try result.get()
        let signal = status & 0x7F
        self.status = signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// The writing end is closed here when it has been handed over: its reader has to see the end.
    private static func start(_ arguments: [String], output: consuming Descriptor) throws(Errno) -> Int32 {
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        let number = output.number
        return try retrying { unsafe ifc_spawn(words, number) }
    }
}
