import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// Skips what needs a /proc of its own, and says why.
private let needsOwnProc: ConditionTrait = .enabled("needs the right to mount a file system of its own") {
    var program = try Program("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", "mount -t tmpfs tmpfs /proc"])
    return try program.wait(timeout: RawClient.patience) == .exited(0)
}

/// /proc is empty, from the start or for a while, as a sandbox may make it (mount_namespaces(7)).
@Suite(needsTunnel, needsOwnProc, .disabled(if: isSanitized, "a sanitizer reads /proc"))
struct HiddenProcTests {
    /// What a shell does to become a program in a mount namespace of its own.
    private static let apart = #"exec unshare --mount "$0" "$@""#
    /// The same, with an empty /proc.
    private static let hidden =
        #"exec unshare --mount /bin/sh -c 'mount -t tmpfs tmpfs /proc && exec "$0" "$@"' "$0" "$@""#

    /// Runs a command in a daemon's mount namespace.
    private static func run(_ command: [String], beside daemon: borrowing RunningDaemon) throws {
        let enter = ["--target", "\(daemon.program.pid)", "--mount"]
        var program = try Program("/usr/bin/nsenter", enter + command)
        #expect(try program.wait(timeout: RawClient.patience) == .exited(0), "\(program.errorText)")
    }

    @Test func `netlink does without it`() async throws {
        try await PrivateNamespace.run { namespace in
            var daemon = try RunningDaemon(shell: Self.hidden)
            var client = try daemon.client()
            var truth = Carried()
            for size in [40_000, 1000] {
                var tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: size)
                try tunnel.transmit(bytes: 777)
                truth += try tunnel.close()
            }
            let reading = try #require(try client.awaitReading("utun0") { !$0.present && $0.incarnation == 2 })
            #expect(reading.total.rx.bytes == Int(truth.rx) && reading.total.rx.atMost == Int(truth.rx))
            #expect(reading.total.tx.bytes == Int(truth.tx) && reading.source == "netlink")
            #expect(try daemon.end() == .exited(0))
            #expect(daemon.program.errorText == "")
        }
    }

    @Test func `a source that needs it says so, and does not start`() async throws {
        try await PrivateNamespace.run { _ in
            let directory = try TemporaryDirectory()
            var daemon = try RunningDaemon.start(
                ["--socket", directory.path + "/s", "--source", "procfs"],
                shell: Self.hidden
            )
            #expect(try daemon.wait(timeout: RawClient.patience) == .exited(1))
            #expect(
                daemon.errorText
                    == "ifcountd: procfs: cannot read /proc/thread-self/net/dev: No such file or directory\n"
            )
        }
    }

    @Test func `a source that needs it waits for it while it is hidden, and misses nothing`() async throws {
        try await PrivateNamespace.run { namespace in
            var daemon = try RunningDaemon(["--interval", "100ms", "--source", "procfs"], shell: Self.apart)
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 10_000)
            _ = try client.awaitReading("utun0") { $0.counter?.rxBytes == 10_000 }
            try Self.run(["/bin/mount", "-t", "tmpfs", "tmpfs", "/proc"], beside: daemon)
            try daemon.program.waitForErrors("counting waits for it", timeout: RawClient.patience)
            try tunnel.receive(bytes: 5000)
            let during = try #require(try client.get("utun0"))
            #expect(during.present && during.total.rx.bytes == 10_000)
            try Self.run(["/bin/umount", "/proc"], beside: daemon)
            let after = try #require(try client.awaitReading("utun0") { $0.counter?.rxBytes == 15_000 })
            #expect(after.total.rx.bytes == 15_000 && after.total.resets == 0)
            #expect(try daemon.end() == .exited(0))
            #expect(
                daemon.program.errorText == """
                    ifcountd: procfs: cannot read /proc/thread-self/net/dev: No such file or directory; counting waits for it
                    ifcountd: the kernel can be read again, from procfs

                    """
            )
        }
    }

    @Test(needsFaults) func `where netlink is refused, too, it does not start`() async throws {
        try await PrivateNamespace.run { _ in
            let directory = try TemporaryDirectory()
            let faults = SystemCallFaults([.socket])
            faults.fail { $0.arguments[0] == UInt64(AF_NETLINK) ? Errno(EPERM) : nil }
            var daemon = try RunningDaemon.start(
                ["--socket", directory.path + "/s"],
                shell: Self.hidden,
                faults: faults
            )
            #expect(try daemon.wait(timeout: RawClient.patience) == .exited(1))
            #expect(daemon.errorText == "ifcountd: getifaddrs: cannot list the links: Operation not permitted\n")
            #expect(throws: Errno.noEntry) { try FileStatus(at: directory.path + "/s") }
        }
    }
}
