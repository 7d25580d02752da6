import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// System calls that a signal interrupts are made again, wherever they are (signal(7)).
@Suite
struct InterruptionTests {
    @Test(arguments: [0, 1, 3, 1000]) func `a call is made again as often as it is interrupted`(_ times: Int) throws {
        var calls = 0
        let result = try retrying { () -> Int32 in
            calls += 1
            if calls > times { return 7 }
            errno = EINTR
            return -1
        }
        #expect(result == 7 && calls == times + 1)
    }

    @Test(arguments: [EAGAIN, EPERM, ENOBUFS, 4095]) func `any other error is thrown, also after interruptions`(
        _ code: Int32
    ) {
        var calls = 0
        #expect(throws: Errno(code)) {
            try retrying { () -> Int in
                calls += 1
                errno = calls < 3 ? EINTR : code
                return -1
            }
        }
        #expect(calls == 3)
    }

    /// Lets a tunnel live three times, and expects every byte of it to be counted, kept and answered.
    private static func live(
        in namespace: borrowing PrivateNamespace,
        _ daemon: inout RunningDaemon,
        _ meanwhile: (borrowing RunningDaemon) -> Void
    ) throws {
        var watcher = try daemon.client()
        try watcher.watch(["utun0"])
        var client = try daemon.client()
        var truth = Carried()
        for size in [40_000, 2000, 90_000] {
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            meanwhile(daemon)
            for _ in 0..<5 {
                try tunnel.receive(bytes: size)
                try tunnel.transmit(bytes: 3000)
                _ = try watcher.reply(Watch.Reply.self)
                meanwhile(daemon)
            }
            truth += try tunnel.close()
        }
        let reading = try #require(try client.awaitReading("utun0") { !$0.present && $0.incarnation == 3 })
        #expect(reading.total.rx.bytes == Int(truth.rx) && reading.total.rx.atMost == Int(truth.rx))
        #expect(reading.total.tx.bytes == Int(truth.tx) && reading.total.tx.atMost == Int(truth.tx))
        #expect(reading.total.quality == .continuous && reading.source == "netlink")
        try client.awaitSaved(reading)
        try client.expectHistoryAddsUp()
        meanwhile(daemon)
        #expect(try daemon.end() == .exited(0))
        #expect(daemon.program.errorText == "")
    }

    @Test(needsTunnel, needsFaults) func `with three of four calls interrupted not a byte is missing`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let calls: [SystemCallFaults.Number] = [
                .accept4, .epollControl, .epollWait, .read, .recvmsg, .sendto, .write,
            ]
            let faults = SystemCallFaults(calls)
            var daemon = try RunningDaemon(RunningDaemon.keeping(in: directory.path + "/state"), faults: faults)
            // Not before: the loader of programs is not ours.
            faults.fail { $0.ordinal % 4 == 3 ? nil : .interrupted }
            try Self.live(in: namespace, &daemon) { _ in }
            for call in calls { #expect(faults.failures(of: call) > 0, "call \(call.number)") }
        }
    }

    @Test(needsTunnel, needsFaults) func `nor where the counters are read from a file`() async throws {
        try await PrivateNamespace.run { namespace in
            let calls: [SystemCallFaults.Number] = [.openat, .read, .timerSet]
            let faults = SystemCallFaults(calls)
            let daemon = try RunningDaemon(["--interval", "1s", "--source", "procfs"], faults: faults)
            faults.fail { $0.ordinal % 4 == 3 ? nil : .interrupted }
            var watcher = try daemon.client()
            try watcher.watch(["utun0"], interval: 100_000)
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            for _ in 0..<10 {
                try tunnel.receive(bytes: 5000)
                try tunnel.transmit(bytes: 700)
                _ = try watcher.reply(Watch.Reply.self)
            }
            let last = try watcher.replies { $0.readings?.first?.counter?.rxBytes == 50_000 }.last?.readings?.first
            #expect(last?.total.rx.bytes == 50_000 && last?.total.tx.bytes == 7000 && last?.source == "procfs")
            for call in calls { #expect(faults.failures(of: call) > 0, "call \(call.number)") }
        }
    }

    @Test(needsTunnel) func `stopped and continued over and over, not a byte is missing`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            var daemon = try RunningDaemon(keepingIn: directory.path + "/state")
            // To be continued interrupts epoll_wait(2) and, with a timeout, recvmsg(2), though no signal is handled.
            try Self.live(in: namespace, &daemon) { daemon in
                for _ in 0..<20 {
                    daemon.program.send(SIGSTOP)
                    usleep(500)
                    daemon.program.send(SIGCONT)
                    usleep(500)
                }
            }
        }
    }
}
