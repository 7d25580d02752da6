import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// Clients that want much: what is kept for them, and what time they get.
@Suite
struct GreedyClientsTests {
    /// A call with a large answer.
    private static let call =
        #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.ifcount"}}"# + "\0"

    @Test func `the kernel keeps little for a client that does not read`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.send(Array(String(repeating: Self.call, count: 400).utf8))
        try daemon.expectAlive()
        // 2,048 of them must fit into what the service may use, beside the daemon itself.
        #expect((1...65_536).contains(try client.waitingCount()))
        for _ in 0..<400 { _ = try client.text() }
    }

    @Test(measuresMemory) func `what is kept for clients that do not read has a bound for all of them`() throws {
        let daemon = try RunningDaemon()
        let before = try daemon.status("VmRSS")
        var watcher = try daemon.client()
        try watcher.watch(["lo"], interval: 100_000)
        let calls = Array(String(repeating: Self.call, count: 100).utf8)
        // For each a quarter of a MB is kept; for so many it would be 150 MB.
        var deaf: [HeldConnection] = []
        while deaf.count < 600, try deaf.first?.isGivenUp() != true {
            let client = try HeldConnection(daemon.socket, nonblocking: true)
            client.offer(calls)
            deaf.append(client)
            var honest = try daemon.client()
            #expect(try honest.get("lo")?.present == true)
        }
        // Those had to go for which it was kept longest.
        #expect(try deaf.first?.isGivenUp() == true)
        #expect(try deaf.last?.isGivenUp() == false)
        // Who takes what it is sent stays, though it was there before them all.
        let now = try watcher.reply(Watch.Reply.self).readings?.first?.sampledUSec ?? .max
        _ = try watcher.replies { ($0.readings?.first?.sampledUSec ?? 0) > now }
        for _ in 0..<20 { _ = try watcher.reply(Watch.Reply.self) }
        #expect(try daemon.status("VmRSS") - before < 90_000)
    }

    @Test(needsNamespace) func `many who ask for much do not put the next look off`() async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.addMany(300, prefix: "link", kind: try namespace.simplestKind())
            let daemon = try RunningDaemon()
            var watcher = try daemon.client()
            try watcher.watch(["lo"])
            var looks: [Int] = []
            let waited = try daemon.waitedForProcessor()
            // All are ready at once, as many as the loop takes at a time; each answer is of 300 links.
            var greedy: [HeldConnection] = []
            for _ in 0..<60 { greedy.append(try HeldConnection(daemon.socket, nonblocking: true)) }
            try daemon.expectAlive()
            let calls = Array(String(repeating: #"{"method":"io.ifcount.List"}"# + "\0", count: 100).utf8)
            for client in greedy { client.offer(calls) }
            while looks.count < 8 {
                looks.append(try watcher.reply(Watch.Reply.self).readings?.first?.sampledUSec ?? 0)
            }
            let longest = zip(looks, looks.dropFirst()).map { $1 - $0 }.max() ?? .max
            let late = try daemon.waitedForProcessor() - waited
            #expect(longest <= 200_000 + late, "\(longest) µs, \(late) µs of them without a processor")
        }
    }
}
