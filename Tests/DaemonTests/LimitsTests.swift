import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// What no client can do to the daemon, nor to the other clients.
@Suite
struct LimitsTests {
    @Test(needsNamespace) func `half a request is given up, and a silent client is not`() async throws {
        // It takes its time, on a thread that nobody else waits for.
        try await PrivateNamespace.run { _ in try giveUpHalfARequest() }
    }

    private func giveUpHalfARequest() throws {
        let daemon = try RunningDaemon()
        var half = try daemon.client()
        var silent = try daemon.client()
        var slow = try daemon.client()
        let begin = ContinuousClock.now
        try half.send(Array(#"{"method":"#.utf8))
        try slow.send(Array(#"{"method":"#.utf8))
        // More of it does not buy more time, and a whole request begins anew.
        try slow.send(Array(#""a.B"}"#.utf8) + [0] + Array("{".utf8))
        #expect(try slow.text().contains("MethodNotFound"))
        #expect(try half.isClosed())
        let time = ContinuousClock.now - begin
        #expect(time > .seconds(9) && time < .seconds(50), "\(time)")
        #expect(try slow.isClosed())
        #expect(try silent.call("org.varlink.service.GetInfo").contains("ifcountd"))
    }

    @Test func `silent connections hinder nobody`() throws {
        let daemon = try RunningDaemon()
        var silent: [HeldConnection] = []
        for _ in 0..<300 { silent.append(try HeldConnection(daemon.socket)) }
        var client = try daemon.client()
        #expect(try client.get("lo")?.present == true)
        try client.watch(["lo"], interval: 100_000)
        for _ in 0..<5 { _ = try client.reply(Watch.Reply.self) }
        silent.removeAll()
        try daemon.expectAlive()
    }

    @Test(arguments: ["netlink", "procfs"])
    func `more connections than descriptors hinder nobody`(_ source: String) throws {
        let daemon = try RunningDaemon(
            ["--interval", "100ms", "--source", source],
            shell: "ulimit -n 64"
        )
        var watcher = try daemon.client()
        try watcher.watch(["lo"], interval: 100_000)
        // What a second of ticks costs when nothing else is.
        let usual = try Self.cost(of: 10, daemon, &watcher)
        var silent: [HeldConnection] = []
        for _ in 0..<200 { silent.append(try HeldConnection(daemon.socket)) }
        // Those who have been silent longest had to go.
        var client = try daemon.client()
        #expect(try client.call("org.varlink.service.GetInfo").contains("ifcountd"))
        // Counters are still read (a procfs source opens a file for it), and it costs what it did.
        let cost = try Self.cost(of: 10, daemon, &watcher)
        #expect(cost <= 3 * usual + 20, "\(usual) ticks before, \(cost) with all places taken")
        silent.removeAll()
        try daemon.expectAlive()
    }

    @Test func `watchers who take all places leave the daemon quiet, and others get theirs later`() throws {
        let daemon = try RunningDaemon(["--interval", "1h"], shell: "ulimit -n 64")
        var places: [HeldConnection] = []
        let watch = #"{"method":"io.ifcount.Watch","parameters":{"interfaces":["lo"]},"more":true}"# + "\0"
        for _ in 0..<80 {
            let place = try HeldConnection(daemon.socket)
            // It is answered, or the connection is closed because there is no place.
            _ = try? UnixSocket.send(place.socket.number, Array(watch.utf8)[...])
            #expect(try waitReadable([place.socket.number], milliseconds: 60_000)[0])
            places.append(place)
        }
        let before = try daemon.processorTicks()
        var late = try daemon.client()
        #expect(try late.isClosed())
        #expect(try daemon.processorTicks() - before < 50)
        places.removeAll()
        // Whether it has seen them go is not known; a place is free as soon as it has.
        let deadline = ContinuousClock.now + RawClient.patience
        var isAnswered = false
        while !isAnswered && ContinuousClock.now < deadline {
            var client = try daemon.client()
            isAnswered = ((try? client.call("org.varlink.service.GetInfo"))?.contains("ifcountd")) ?? false
        }
        #expect(isAnswered)
    }

    @Test(arguments: ["netlink", "procfs"])
    func `descriptors that run out, and are there again, are waited for`(_ source: String) throws {
        var daemon = try RunningDaemon(["--interval", "100ms", "--source", source])
        var watcher = try daemon.client()
        try watcher.watch(["lo"])
        _ = try watcher.reply(Watch.Reply.self)
        // All that the system has may be in others' hands, too: nothing that this daemon does would free one.
        try daemon.limitDescriptors(to: 3)
        var late: [HeldConnection] = []
        for _ in 0..<3 {
            late.append(try HeldConnection(daemon.socket))
            late.last?.offer(Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8) + [0])
        }
        // A netlink source needs none to go on; one of /proc goes on when there are some.
        var looks: [Int] = []
        while looks.count < 15 { looks.append(try watcher.reply(Watch.Reply.self).readings?.first?.sampledUSec ?? 0) }
        if source == "netlink" { #expect(Set(looks).count == looks.count) }
        // Who watches stays meanwhile.
        try daemon.limitDescriptors(to: 1024)
        for client in late { #expect(try waitReadable([client.socket.number], milliseconds: 60_000)[0]) }
        let last = looks.last ?? 0
        _ = try watcher.replies { ($0.readings?.first?.sampledUSec ?? 0) > last }
        #expect(try daemon.end() == .exited(0))
        let words = daemon.program.errorText.split(separator: "\n")
        #expect(words.count { $0 == "ifcountd: no more clients for now: Too many open files" } == 1, "\(words)")
        #expect(words.count == (source == "netlink" ? 1 : 3), "\(words)")
    }

    @Test func `descriptors that run out while no client is there cost nothing`() throws {
        var daemon = try RunningDaemon(["--interval", "1h"])
        try daemon.limitDescriptors(to: 3)
        var late = try daemon.client()
        try late.send(#"{"method":"org.varlink.service.GetInfo"}"#)
        let before = try daemon.processorTicks()
        usleep(1_000_000)
        #expect(try daemon.processorTicks() - before < 20)
        try daemon.limitDescriptors(to: 1024)
        #expect(try late.text().contains("ifcountd"))
        #expect(try daemon.end() == .exited(0))
        #expect(daemon.program.errorText == "ifcountd: no more clients for now: Too many open files\n")
    }

    /// The processor time of a number of new looks that a watcher is told of, in ticks of 10 ms.
    private static func cost(of looks: Int, _ daemon: borrowing RunningDaemon, _ watcher: inout RawClient) throws -> Int
    {
        // What waits in the socket was told before.
        var last = try watcher.replies { $0.readings?.first.map { $0.sampledUSec > Clock.wall - 300_000 } ?? false }
        let before = try daemon.processorTicks()
        for _ in 0..<looks { last = [try watcher.reply(Watch.Reply.self)] }
        #expect(last.first?.readings?.map(\.interface) == ["lo"])
        return try daemon.processorTicks() - before
    }

    @Test(needsNamespace, measuresMemory) func `a watcher that does not read costs no memory, and hinders nobody`()
        async throws
    {
        try await PrivateNamespace.run { namespace in
            try namespace.addMany(500, prefix: "link", kind: try namespace.simplestKind())
            let daemon = try RunningDaemon()
            var deaf = try daemon.client()
            try deaf.watch(interval: 100_000)
            var honest = try daemon.client()
            try honest.watch(["lo"], interval: 100_000)
            for _ in 0..<10 { _ = try honest.reply(Watch.Reply.self) }
            let before = try daemon.status("VmRSS")
            for _ in 0..<80 { _ = try honest.reply(Watch.Reply.self) }
            let after = try daemon.status("VmRSS")
            // Its frames of this time would have been some 20 MB.
            #expect(after - before < 4096, "\(before) kB before, \(after) kB after")
            // What it missed is not made up for: after what was on its way comes what is true now.
            let now = try honest.reply(Watch.Reply.self).readings?.first?.sampledUSec ?? .max
            let replies = try deaf.replies { ($0.readings?.first?.sampledUSec ?? 0) >= now }
            #expect(replies.count <= 5)
            #expect(replies.last?.readings?.count == 501)
        }
    }

    @Test(measuresMemory) func `a client that does not read its replies costs no memory`() throws {
        let daemon = try RunningDaemon()
        let client = try UnixSocket.connect(to: daemon.socket, nonblocking: true)
        let before = try daemon.status("VmRSS")
        let call = #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.ifcount"}}"#
        let calls = Array(String(repeating: call + "\0", count: 1000).utf8)
        // Until the daemon takes no more; it may have taken what one look into the socket gives, but not answered it all.
        var count = 0
        while count < 100, (try? UnixSocket.send(client.number, calls[...])) != nil { count += 1 }
        try daemon.expectAlive()
        let after = try daemon.status("VmRSS")
        #expect(after - before < 2048, "\(before) kB before, \(after) kB after")
    }

    @Test func `a client that has said all is answered, and then closed`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.send(#"{"method":"org.varlink.service.GetInfo"}"#)
        try client.send(#"{"method":"a.B"}"#)
        try client.finishSending()
        #expect(try client.text().contains("ifcountd"))
        #expect(try client.text().contains("MethodNotFound"))
        #expect(try client.isClosed())
        // Also when the answers are more than a socket holds.
        var greedy = try daemon.client()
        let call = #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.ifcount"}}"#
        try greedy.send(Array(String(repeating: call + "\0", count: 400).utf8))
        try greedy.finishSending()
        for _ in 0..<400 { #expect(try greedy.text().hasPrefix(#"{"parameters":{"description":"#)) }
        #expect(try greedy.isClosed())
        // With half a request behind it, too.
        var half = try daemon.client()
        try half.send(Array("{\"method\":\"a.B\"}\0{".utf8))
        try half.finishSending()
        #expect(try half.text().contains("MethodNotFound"))
        #expect(try half.isClosed())
    }

    @Test func `a watcher that has said all goes on watching`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.watch(["lo"], interval: 100_000)
        try client.finishSending()
        for _ in 0..<5 { #expect(try client.reply(Watch.Reply.self).readings?.count == 1) }
    }

    @Test func `watchers who come and go do not put ticks off`() throws {
        let daemon = try RunningDaemon(["--interval", "300ms"])
        var watcher = try daemon.client()
        try watcher.watch(["lo"])
        #expect(try watcher.reply(Watch.Reply.self).ready == true)
        // Each changes the daemon's interval, and does so again before that has passed.
        let deadline = ContinuousClock.now + .seconds(10)
        while try !waitReadable([watcher.socket.number], milliseconds: 0)[0], ContinuousClock.now < deadline {
            var restless = try daemon.client()
            try restless.watch(["lo"], interval: 100_000)
            _ = try restless.reply(Watch.Reply.self)
        }
        #expect(ContinuousClock.now < deadline)
        #expect(try watcher.reply(Watch.Reply.self).ready == nil)
    }
}
