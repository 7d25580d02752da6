import TestLinks
import Testing
import Wire

/// Streams: their beat, and what they tell of a real tunnel.
@Suite(needsTunnel)
struct WatchTests {
    @Test func `a stream begins with ready, and ticks though nothing moves`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            try client.watch(["lo"])
            var moments: [Int] = []
            for number in 0..<6 {
                let text = try client.text()
                #expect(text.hasPrefix(#"{"continues":true,"parameters":{"#))
                let reply = try #require(Frame.decode(Reply<Watch.Reply>.self, from: Array(text.utf8)).parameters)
                #expect(reply.ready == (number == 0 ? true : nil))
                #expect(reply.events == nil)
                #expect(reply.readings?.map(\.interface) == ["lo"])
                moments.append(reply.readings?.first?.sampledUSec ?? 0)
            }
            // Each is of a look of its own; how far apart, the machine decides.
            #expect(zip(moments, moments.dropFirst()).allSatisfy { $0 < $1 }, "\(moments)")
        }
    }

    @Test func `each watcher has its own interval`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon(["--interval", "1h"])
            var fast = try daemon.client()
            var slow = try daemon.client()
            var own = try daemon.client()
            try own.watch(["lo"])
            try slow.watch(["lo"], interval: 1_000_000)
            try fast.watch(["lo"], interval: 100_000)
            #expect(try own.reply(Watch.Reply.self).ready == true)
            for _ in 0..<3 { _ = try slow.reply(Watch.Reply.self) }
            // Two whole seconds have passed; the frames of the fast one have waited in its socket.
            let moment = try slow.reply(Watch.Reply.self).readings?.first?.sampledUSec ?? 0
            var count = 0
            while try fast.reply(Watch.Reply.self).readings?.first?.sampledUSec ?? 0 < moment { count += 1 }
            // As many as twenty; a machine that is held up leaves some out, and makes none up.
            #expect((4...40).contains(count), "\(count) ticks at 100 ms in three at 1 s")
            // The daemon's own hour has not passed.
            #expect(throws: RawClient.Failure.self) { try own.next(within: .milliseconds(1)) }
        }
    }

    @Test func `events tell of a tunnel's lives`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            try client.watch(["utun0"])
            let ready = try client.reply(Watch.Reply.self)
            // It is not there, and waited for.
            #expect(ready == Watch.Reply(ready: true, readings: [], events: nil))
            #expect(try client.reply(Watch.Reply.self) == Watch.Reply(ready: nil, readings: [], events: nil))

            var tunnel = try Tunnel("utun0", in: namespace)
            let first = tunnel.index
            var event = try #require(client.events { $0.event == .created }.last)
            #expect(event.interface == "utun0")
            #expect(event.ifindex == first)
            #expect(event.incarnation == 1)
            #expect(event.gapped == false)
            #expect(event.previous == nil)

            // The event before was taken, so that this one cannot be seen together with it.
            try tunnel.up()
            event = try #require(client.events { $0.event == .changed }.last)
            #expect(event.cause == "up")

            try tunnel.receive(bytes: 4321)
            try tunnel.close()
            let replies = try client.replies { $0.events?.contains { $0.event == .removed } ?? false }
            event = try #require(replies.last?.events?.last { $0.event == .removed })
            #expect(event.ifindex == first)
            #expect(event.gapped == false)
            // The readings beside an event are of after it.
            #expect(replies.last?.readings?.first?.present == false)
            #expect(replies.last?.readings?.first?.state == "absent")
            #expect(replies.last?.readings?.first?.total.rx.bytes == 4321)

            let again = try Tunnel("utun0", in: namespace)
            event = try #require(client.events { $0.event == .recreated }.last)
            #expect(event.ifindex == again.index)
            #expect(event.incarnation == 2)
            #expect(event.gapped == false)

            try namespace.rename("utun0", to: "vpn0")
            event = try #require(client.events { $0.event == .renamed }.last)
            #expect(event.interface == "vpn0")
            #expect(event.previous == "utun0")
            #expect(event.ifindex == again.index)
            try again.close()
        }
    }

    @Test func `events are told at once, also when they follow each other`() async throws {
        try await PrivateNamespace.run { namespace in
            // No tick will come in this test's time.
            let daemon = try RunningDaemon(["--interval", "1h"])
            var client = try daemon.client()
            try client.watch()
            _ = try client.reply(Watch.Reply.self)
            for _ in 0..<5 {
                let tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.close()
            }
            var events: [Event] = []
            while events.count(where: { $0.event == .removed }) < 5 {
                events += try client.reply(Watch.Reply.self).events ?? []
            }
            #expect(events.filter { $0.event == .created }.count == 1)
            #expect(events.filter { $0.event == .recreated }.map(\.incarnation) == [2, 3, 4, 5])
        }
    }

    @Test func `a polled source tells a slow watcher of events, too`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon(["--interval", "100ms", "--source", "procfs"])
            var client = try daemon.client()
            try client.watch(["utun0"], interval: 3_600_000_000)
            _ = try client.reply(Watch.Reply.self)
            let tunnel = try Tunnel("utun0", in: namespace)
            _ = try client.events { $0.event == .created }
            try tunnel.close()
            let event = try client.events { $0.event == .removed }.last
            #expect(event?.interface == "utun0")
        }
    }

    @Test func `a watcher hears only of what it watches`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var all = try daemon.client()
            var one = try daemon.client()
            try all.watch()
            try one.watch(["utun1", "utun1", "lo"])
            _ = try one.reply(Watch.Reply.self)
            _ = try all.reply(Watch.Reply.self)
            let other = try Tunnel("utun0", in: namespace)
            let watched = try Tunnel("utun1", in: namespace)
            let replies = try one.replies { $0.events?.contains { $0.interface == "utun1" } ?? false }
            #expect(Set(replies.flatMap { $0.events ?? [] }.map(\.interface)) == ["utun1"])
            #expect(replies.last?.readings?.map(\.interface) == ["utun1", "lo"])
            let seen = try all.replies { $0.readings?.contains { $0.interface == "utun1" } ?? false }
            #expect(seen.last?.readings?.map(\.interface) == ["lo", "utun0", "utun1"])
            try other.close()
            try watched.close()
        }
    }

    @Test func `names that look the same are two links, each with its own watcher`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            // é as one character, and as an e with an accent: equal as text, not as bytes.
            let names = ["\u{e9}", "e\u{301}"]
            var one = try daemon.client()
            var other = try daemon.client()
            try one.watch([names[0]], interval: 100_000)
            try other.watch([names[1]], interval: 100_000)
            _ = try one.reply(Watch.Reply.self)
            _ = try other.reply(Watch.Reply.self)
            var first = try Tunnel(names[0], in: namespace)
            var second = try Tunnel(names[1], in: namespace)
            try first.up(address: IPv4(10, 66, 1, 1))
            try second.up(address: IPv4(10, 66, 2, 1))
            try first.receive(bytes: 1000)
            try second.receive(bytes: 70_000)
            func indexes(_ replies: [Watch.Reply]) -> Set<Int?> {
                Set(replies.flatMap { ($0.readings ?? []).map(\.ifindex) + ($0.events ?? []).map(\.ifindex) })
            }
            let ones = try one.replies { $0.readings?.first?.counter?.rxBytes == 1000 }
            let others = try other.replies { $0.readings?.first?.counter?.rxBytes == 70_000 }
            #expect(indexes(ones) == [first.index] && indexes(others) == [second.index])
            for _ in 0..<5 {
                #expect(try one.reply(Watch.Reply.self).readings?.map(\.total.rx.bytes) == [1000])
                #expect(try other.reply(Watch.Reply.self).readings?.map(\.total.rx.bytes) == [70_000])
            }
        }
    }

    @Test func `the last frame has the bytes of the last moment`() async throws {
        try await PrivateNamespace.run { namespace in
            var daemon = try RunningDaemon(["--interval", "1h"])
            var client = try daemon.client()
            try client.watch(["utun0"])
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            _ = try client.replies { $0.readings?.first?.state == "up" }
            try tunnel.receive(bytes: 54_321)
            try tunnel.transmit(bytes: 99)
            #expect(try daemon.end() == .exited(0))
            var last: Watch.Reply?
            while let frame = try client.next() {
                last = try Frame.decode(Reply<Watch.Reply>.self, from: frame).parameters
            }
            #expect(last?.readings?.first?.total.rx.bytes == 54_321)
            #expect(last?.readings?.first?.total.tx.bytes == 99)
        }
    }
}
