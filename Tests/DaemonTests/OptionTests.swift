import TestLinks
import Testing
import Wire

/// The daemon's command line.
@Suite
struct OptionTests {
    @Test func `the version is told`() throws {
        var daemon = try RunningDaemon.start(["--version"])
        #expect(try daemon.wait() == .exited(0))
        #expect(daemon.text == "ifcountd \(Wire.version)\n")
        #expect(daemon.errorText == "")
    }

    @Test(arguments: ["--help", "-h"])
    func `help names each option, in 100 columns`(_ option: String) throws {
        var daemon = try RunningDaemon.start([option])
        #expect(try daemon.wait() == .exited(0))
        for option in ["--socket", "--interval", "--source", "--version", "--help"] {
            #expect(daemon.text.contains("  \(option) "))
        }
        #expect(daemon.text.split(separator: "\n").allSatisfy { $0.count <= 110 })
        #expect(daemon.errorText == "")
    }

    @Test(arguments: [
        (["--intervall", "1s"], "--intervall"), (["--no-such"], "--no-such"), (["-x"], "-x"),
        (["--interval", "50ms"], "50ms"), (["--interval", "2h"], "2h"), (["--interval", "abc"], "abc"),
        (["--interval", ""], "--interval"), (["--interval"], "--interval"), (["--interval", "-1s"], "-1s"),
        (["--source", "sysfs"], "'sysfs' is none of netlink, procfs, getifaddrs"), (["--source"], "--source"),
        (["--socket"], "--socket"), (["utun0"], "utun0"), (["--version=1"], "--version"),
    ])
    func `a mistake is said on one line, and ends with 2`(_ arguments: [String], _ part: String) throws {
        let directory = try TemporaryDirectory()
        var daemon = try RunningDaemon.start(
            arguments,
            environment: ["IFCOUNT_SOCKET": directory.path + "/s"]
        )
        #expect(try daemon.wait(timeout: RawClient.patience) == .exited(2))
        #expect(daemon.text == "")
        #expect(daemon.errorText.hasPrefix("ifcountd: "))
        #expect(daemon.errorText.contains(part))
        #expect(daemon.errorText.hasSuffix("; see ifcountd --help\n"))
        #expect(daemon.errorText.split(separator: "\n").count == 1)
    }

    @Test func `the environment names the socket, and the option comes first`() throws {
        let directory = try TemporaryDirectory()
        let named = directory.path + "/named"
        let other = directory.path + "/other"
        let one = try RunningDaemon.start([], environment: ["IFCOUNT_SOCKET": "unix:\(named);mode=0666"])
        try RunningDaemon.awaitAnswer(named)
        let two = try RunningDaemon.start(["--socket", "unix:\(other)"], environment: ["IFCOUNT_SOCKET": named])
        try RunningDaemon.awaitAnswer(other)
        one.kill()
        two.kill()
    }
}
