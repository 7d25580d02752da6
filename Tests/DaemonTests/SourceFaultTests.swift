import Glibc
import Synchronization
import SystemCalls
import TestLinks
import Testing
import Wire

/// The kernel refuses what it gave a moment ago, or gives nothing from the start: what can be read is, nothing is
/// invented, and the better source is taken again when it works.
@Suite(needsTunnel, needsFaults)
struct SourceFaultTests {
    /// A system call that fails for a while, and what is read meanwhile.
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The calls it may hit.
        let calls: [SystemCallFaults.Number]
        let decide: @Sendable (SystemCallFaults.Call) -> Errno?
        /// What the log says of it, behind what could not be done: that depends on the moment.
        let error: Errno

        /// A request to the kernel's links: unlike the daemon's own clients, it has an address.
        private static func isRequest(_ call: SystemCallFaults.Call) -> Bool {
            call.number == .sendto && call.arguments[4] != 0
        }

        static let all = [
            Fault(
                testDescription: "requests are not permitted",
                calls: [.sendto],
                decide: { isRequest($0) ? Errno(EPERM) : nil },
                error: Errno(EPERM)
            ),
            Fault(
                testDescription: "there is no room for requests",
                calls: [.sendto],
                decide: { isRequest($0) ? .noBufferSpace : nil },
                error: .noBufferSpace
            ),
            // Of 28 bytes are requests for statistics only: links can still be listed.
            Fault(
                testDescription: "the kernel knows no statistics",
                calls: [.sendto],
                decide: { isRequest($0) && $0.arguments[2] == 28 ? .notSupported : nil },
                error: .notSupported
            ),
            Fault(
                testDescription: "there is no memory for answers",
                calls: [.recvmsg],
                decide: { $0.number == .recvmsg ? Errno(ENOMEM) : nil },
                error: Errno(ENOMEM)
            ),
            Fault(
                testDescription: "no answer comes",
                calls: [.recvmsg],
                decide: { $0.number == .recvmsg ? .wouldBlock : nil },
                error: .timedOut
            ),
            Fault(
                testDescription: "each answer overruns its buffer",
                calls: [.recvmsg],
                decide: { $0.number == .recvmsg ? .noBufferSpace : nil },
                error: .noBufferSpace
            ),
        ]
    }

    @Test(arguments: Fault.all)
    func `what netlink does not tell is read elsewhere, until it does again`(_ fault: Fault) async throws {
        try await PrivateNamespace.run { namespace in
            let faults = SystemCallFaults(fault.calls)
            var daemon = try RunningDaemon(faults: faults)
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            func expectTruth(from source: String) throws {
                try tunnel.receive(bytes: 40_000)
                try tunnel.transmit(bytes: 5000)
                let truth = tunnel.truth
                let reading = try client.awaitReading("utun0") {
                    #expect($0.total.rx.bytes <= Int(truth.rx) && $0.total.tx.bytes <= Int(truth.tx))
                    return $0.counter?.rxBytes == Int(truth.rx) && $0.counter?.txBytes == Int(truth.tx)
                        && $0.source == source
                }
                // The link has lived through it all.
                #expect(reading?.total.rx.bytes == Int(truth.rx) && reading?.total.tx.bytes == Int(truth.tx))
                #expect(reading?.source == source && reading?.total.resets == 0 && reading?.total.suspect == 0)
            }
            try expectTruth(from: "netlink")
            faults.fail(fault.decide)
            try expectTruth(from: "procfs")
            try expectTruth(from: "procfs")
            faults.mend()
            // It is tried again after some looks.
            try expectTruth(from: "netlink")
            try expectTruth(from: "netlink")
            #expect(try daemon.end() == .exited(0))
            let words = daemon.program.errorText.split(separator: "\n")
            #expect(words.count == 2 && words.last == "ifcountd: reading from netlink again", "\(words)")
            #expect(words.first?.hasPrefix("ifcountd: netlink: cannot ") == true, "\(words)")
            #expect(words.first?.hasSuffix(": \(fault.error)") == true, "\(words)")
        }
    }

    @Test func `a link that is recreated while netlink is silent is a loss, and told as one`() async throws {
        try await PrivateNamespace.run { namespace in
            let faults = SystemCallFaults([.sendto])
            let daemon = try RunningDaemon(faults: faults)
            var client = try daemon.client()
            var truth = Carried()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 10_000)
            _ = try client.awaitReading("utun0") { $0.counter?.rxBytes == 10_000 }
            faults.fail(Fault.all[0].decide)
            _ = try client.awaitReading("utun0") { $0.source == "procfs" }
            // These nobody sees: the link ends between two looks at a file that tells of no ends.
            try tunnel.receive(bytes: 70_000)
            truth += try tunnel.close()
            _ = try client.awaitReading("utun0") { !$0.present }
            var next = try Tunnel("utun0", in: namespace)
            try next.up()
            try next.receive(bytes: 500)
            _ = try client.awaitReading("utun0") { $0.counter?.rxBytes == 500 }
            faults.mend()
            let back = try #require(try client.awaitReading("utun0") { $0.source == "netlink" })
            try next.receive(bytes: 3000)
            let reading = try #require(try client.awaitReading("utun0") { $0.counter?.rxBytes == 3500 })
            truth += next.truth
            #expect(reading.total.rx.bytes == back.total.rx.bytes + 3000)
            #expect(reading.total.rx.bytes <= Int(truth.rx) && reading.total.rx.bytes >= 13_500)
            #expect(reading.total.quality == .gapped && reading.total.rx.atMost == nil && reading.total.resets == 1)
        }
    }

    /// Lets the socket of link events overrun once. It is the first of the two that a netlink source opens, so it has the
    /// lower number; both are used in each look.
    private final class Overrun: Sendable {
        private let sockets = Mutex<[UInt64]>([])

        func decide(_ call: SystemCallFaults.Call) -> Errno? {
            sockets.withLock { sockets in
                let socket = call.arguments[0]
                if sockets.count < 2 {
                    if !sockets.contains(socket) { sockets.append(socket) }
                    return nil
                }
                guard sockets.count == 2, socket == sockets.min() else { return nil }
                // Done, and remembered.
                sockets.append(0)
                return .noBufferSpace
            }
        }
    }

    @Test func `one overrun costs no byte, and is told`() async throws {
        try await PrivateNamespace.run { namespace in
            let faults = SystemCallFaults([.recvmsg])
            var daemon = try RunningDaemon(faults: faults)
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 10_000)
            _ = try client.awaitReading("utun0") { $0.counter?.rxBytes == 10_000 }
            let overrun = Overrun()
            faults.fail { overrun.decide($0) }
            let deadline = ContinuousClock.now + RawClient.patience
            while faults.failures(of: .recvmsg) == 0, ContinuousClock.now < deadline { usleep(10_000) }
            try tunnel.receive(bytes: 2000)
            let reading = try #require(try client.awaitReading("utun0") { $0.counter?.rxBytes == 12_000 })
            #expect(reading.total.rx.bytes == 12_000 && reading.total.rx.atMost == 12_000)
            #expect(reading.source == "netlink" && reading.total.quality == .continuous && reading.total.gaps == 0)
            #expect(try daemon.end() == .exited(0))
            #expect(
                daemon.program.errorText == "ifcountd: link events were lost once; all links were listed anew\n"
            )
        }
    }

    @Test func `while nothing can be read, totals stand and are answered, and then go on`() async throws {
        try await PrivateNamespace.run { namespace in
            let faults = SystemCallFaults([.sendto, .openat])
            var daemon = try RunningDaemon(faults: faults)
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 10_000)
            let before = try #require(try client.awaitReading("utun0") { $0.counter?.rxBytes == 10_000 })
            // Neither netlink, by whomever, nor any file.
            faults.fail { $0.number == .openat ? Errno(EACCES) : Fault.all[0].decide($0) }
            try daemon.program.waitForErrors("counting waits for it", timeout: RawClient.patience)
            try tunnel.receive(bytes: 20_000)
            var watcher = try daemon.client()
            try watcher.watch(["utun0"], interval: 100_000)
            for _ in 0..<10 {
                let reading = try watcher.reply(Watch.Reply.self).readings?.first
                #expect(reading?.total.rx.bytes == 10_000 && reading?.present == true)
                // The moment for which the total is true is not that of the answer.
                #expect(abs((reading?.sampledUSec ?? 0) - before.sampledUSec) < 1_000_000)
            }
            faults.mend()
            try tunnel.receive(bytes: 3000)
            let reading = try #require(try client.awaitReading("utun0") { $0.counter?.rxBytes == 33_000 })
            #expect(reading.total.rx.bytes == 33_000 && reading.total.resets == 0)
            #expect(try daemon.end() == .exited(0))
            let words = daemon.program.errorText.split(separator: "\n").map { $0.dropFirst("ifcountd: ".count) }
            #expect(words.count { $0.hasSuffix("; counting waits for it") } == 1, "\(words)")
            #expect(words.count { $0.hasPrefix("the kernel can be read again, from ") } == 1, "\(words)")
        }
    }

    @Test(arguments: [EPERM, EACCES, EAFNOSUPPORT])
    func `where sockets of netlink are refused, the rest will do`(_ code: Int32) async throws {
        try await PrivateNamespace.run { namespace in
            let faults = SystemCallFaults([.socket])
            faults.fail { $0.arguments[0] == UInt64(AF_NETLINK) ? Errno(code) : nil }
            var daemon = try RunningDaemon(faults: faults)
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 70_000)
            try tunnel.transmit(bytes: 1234)
            let reading = try #require(try client.awaitReading("utun0") { $0.counter?.rxBytes == 70_000 })
            #expect(reading.total.rx.bytes == 70_000 && reading.total.tx.bytes == 1234)
            #expect(reading.source == "procfs" && reading.total.quality == .gapped)
            #expect(try daemon.end() == .exited(0))
            #expect(daemon.program.errorText == "ifcountd: netlink: cannot open a socket: \(Errno(code))\n")
        }
    }
}
