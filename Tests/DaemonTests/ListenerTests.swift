import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// Whose socket file is whose.
@Suite
struct ListenerTests {
    /// Starts a daemon that must refuse, and returns what it says.
    private func refusal(_ path: String, _ location: SourceLocation = #_sourceLocation) throws -> String {
        var daemon = try RunningDaemon.start(["--socket", path])
        #expect(try daemon.wait(timeout: RawClient.patience) == .exited(1), sourceLocation: location)
        #expect(daemon.text == "", sourceLocation: location)
        #expect(daemon.errorText.split(separator: "\n").count == 1, sourceLocation: location)
        return daemon.errorText
    }

    @Test func `a second daemon on a socket refuses, and the first lives on`() throws {
        let first = try RunningDaemon()
        let identity = try FileStatus(at: first.socket).identity
        #expect(
            try refusal(first.socket)
                == "ifcountd: another ifcountd answers on \(first.socket); stop it, or choose another socket with --socket\n"
        )
        #expect(try FileStatus(at: first.socket).identity == identity)
        try first.expectAlive()
    }

    @Test func `of two that start at once one lives`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        var one = try RunningDaemon.start(["--socket", path])
        var other = try RunningDaemon.start(["--socket", path])
        try RunningDaemon.awaitAnswer(path)
        // One is to end by itself, the other only when it is told to.
        var endings: [Program.Ending?] = []
        let deadline = ContinuousClock.now + RawClient.patience
        while endings.compactMap(\.self).isEmpty && ContinuousClock.now < deadline {
            endings = [try? one.wait(timeout: .milliseconds(50)), try? other.wait(timeout: .milliseconds(50))]
        }
        #expect(endings.compactMap(\.self) == [.exited(1)])
        try RunningDaemon.awaitAnswer(path)
        one.terminate()
        other.terminate()
        endings = [try one.wait(timeout: RawClient.patience), try other.wait(timeout: RawClient.patience)]
        #expect(endings.contains(.exited(0)))
    }

    @Test func `the socket of a daemon that has ended is replaced`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        // Closed without being removed, as after kill -9.
        do { _ = try UnixSocket.listen(at: path, backlog: 1) }
        #expect(try FileStatus(at: path).isSocket)
        var daemon = try RunningDaemon.start(["--socket", path])
        try RunningDaemon.awaitAnswer(path)
        daemon.kill()
        #expect(try daemon.wait() == .signalled(SIGKILL))
        var next = try RunningDaemon.start(["--socket", path])
        try RunningDaemon.awaitAnswer(path)
        next.terminate()
        #expect(try next.wait(timeout: RawClient.patience) == .exited(0))
        #expect(throws: Errno.noEntry) { try FileStatus(at: path) }
    }

    @Test(arguments: [
        "echo precious > s", "mkdir s && echo precious > s/f", "ln -s /nonexistent s", "mkfifo s",
        "echo precious > t && ln -s t s",
    ])
    func `what is no socket is never touched`(_ making: String) throws {
        let directory = try TemporaryDirectory()
        var maker = try Program("/bin/sh", ["-c", "cd \(directory.path) && \(making)"])
        #expect(try maker.wait() == .exited(0))
        let path = directory.path + "/s"
        let identity = try FileStatus(at: path).identity
        #expect(
            try refusal(path)
                == "ifcountd: \(path) exists and is no socket; remove it, or choose another path with --socket\n"
        )
        #expect(try FileStatus(at: path).identity == identity)
        var reader = try Program("/bin/sh", ["-c", "cat \(path) \(path)/f 2>/dev/null </dev/null || :"])
        if making.contains("precious") {
            try reader.wait()
            #expect(reader.text == "precious\n")
        }
    }

    @Test func `a symbolic link to a living socket is no socket of ours`() throws {
        let daemon = try RunningDaemon()
        let directory = try TemporaryDirectory()
        var maker = try Program("/bin/ln", ["-s", daemon.socket, directory.path + "/s"])
        try maker.wait()
        #expect(try refusal(directory.path + "/s").contains("exists and is no socket"))
        try daemon.expectAlive()
    }

    @Test func `a missing directory is made, and everyone may connect`() throws {
        let daemon = try RunningDaemon()
        var lister = try Program("/usr/bin/stat", ["-c", "%a %F", daemon.socket])
        try lister.wait()
        #expect(lister.text == "666 socket\n")
    }

    @Test func `a directory that cannot be made is said`() throws {
        let directory = try TemporaryDirectory()
        #expect(
            try refusal(directory.path + "/a/b/s")
                == "ifcountd: cannot make the directory \(directory.path)/a/b: No such file or directory\n"
        )
    }

    @Test func `a path longer than the kernel takes is said`() throws {
        let path = "/tmp/" + String(repeating: "x", count: 103)
        #expect(try refusal(path) == "ifcountd: the socket's path has more than 107 bytes: \(path)\n")
    }

    @Test func `a name that is no file may be listened on`() throws {
        let name = "@ifcount-test-\(UInt64.random(in: 0 ... .max))"
        var daemon = try RunningDaemon.start(["--socket", name])
        try RunningDaemon.awaitAnswer(name)
        #expect(try refusal(name).contains("another ifcountd answers on \(name)"))
        daemon.terminate()
        #expect(try daemon.wait(timeout: RawClient.patience) == .exited(0))
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends it in order`(_ signal: Int32) throws {
        var daemon = try RunningDaemon()
        var client = try daemon.client()
        #expect(try client.get("lo") != nil)
        daemon.program.send(signal)
        #expect(try daemon.program.wait(timeout: RawClient.patience) == .exited(0))
        #expect(throws: Errno.noEntry) { try FileStatus(at: daemon.socket) }
        #expect(try client.isClosed())
        #expect(daemon.program.text == "")
        #expect(daemon.program.errorText == "")
    }

    @Test func `a file that took the place of its socket is left alone`() throws {
        var daemon = try RunningDaemon()
        try File.remove(daemon.socket)
        let other = try UnixSocket.listen(at: daemon.socket, backlog: 1)
        let identity = try FileStatus(at: daemon.socket).identity
        #expect(try daemon.end() == .exited(0))
        #expect(try FileStatus(at: daemon.socket).identity == identity)
        _ = consume other
    }
}
