internal import SystemCalls
internal import TestLinks
internal import Testing

@Suite("Tunnels", needsNamespace, needsTunnel)
struct TunnelTests {
    static let sizes = [28, 29, 1500, 1501, 70000, 1 << 20]

    @Test("The kernel counts what a tun received and sent, to the byte", arguments: sizes, [false, true])
    func truth(bytes: Int, tap: Bool) async throws {
        try await PrivateNamespace.run { namespace in
            var tunnel = try Tunnel("utun0", in: namespace, tap: tap)
            try tunnel.up()
            let received = max(bytes, tunnel.overhead)
            let sent = max(bytes, tunnel.overhead) + 1
            try tunnel.receive(bytes: received)
            try tunnel.transmit(bytes: sent)
            let expected = Carried(rx: UInt64(received), tx: UInt64(sent))
            #expect(tunnel.truth == expected)
            #expect(try namespace.carried(by: "utun0") == expected)
        }
    }

    @Test("Packets left unread are not counted, and go with the link")
    func unread() async throws {
        try await PrivateNamespace.run { namespace in
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.leaveUnread(bytes: 9000)
            #expect(try namespace.carried(by: "utun0") == Carried())
            #expect(try tunnel.close() == Carried())
            #expect(namespace.index(of: "utun0") == nil)
        }
    }

    @Test("A tunnel made again has a new index, or the one asked for, and counts from zero")
    func again() async throws {
        try await PrivateNamespace.run { namespace in
            var first = try Tunnel("utun0", in: namespace)
            let index = first.index
            try first.up()
            try first.receive(bytes: 1000)
            try first.close()

            let second = try Tunnel("utun0", in: namespace)
            #expect(second.index > index)
            #expect(try namespace.carried(by: "utun0") == Carried())
            try second.close()

            let third = try Tunnel("utun0", in: namespace, index: index)
            #expect(third.index == index)
            #expect(namespace.index(of: "utun0") == index)
        }
    }

    @Test("The counters go on over down and up, a new name, and a stay in another namespace")
    func life() async throws {
        try await PrivateNamespace.run { namespace in
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 5000)
            try namespace.set("utun0", up: false)
            try namespace.set("utun0", up: true)
            try namespace.rename("utun0", to: "utun9")
            #expect(namespace.index(of: "utun9") == tunnel.index)
            try tunnel.receive(bytes: 5000)
            try tunnel.transmit(bytes: 77)
            #expect(try namespace.carried(by: "utun9") == Carried(rx: 10000, tx: 77))

            let other = try namespace.another()
            try namespace.move("utun9", to: other)
            #expect(namespace.index(of: "utun9") == nil)
            try namespace.fetch("utun9", from: other)
            #expect(try namespace.carried(by: "utun9") == Carried(rx: 10000, tx: 77))
        }
    }

    @Test("A link that is down receives nothing: EIO, and the truth stays")
    func down() async throws {
        try await PrivateNamespace.run { namespace in
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try namespace.set("utun0", up: false)
            let failure = #expect(throws: LinkFailure.self) { try tunnel.receive(bytes: 100) }
            #expect(failure?.errno == Errno(5))
            #expect(tunnel.truth == Carried())
        }
    }

    @Test("What is written immediately before the end is in the truth that the end returns")
    func last() async throws {
        try await PrivateNamespace.run { namespace in
            var total = Carried()
            for round in 1...50 {
                var tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: 100 * round)
                total += try tunnel.close()
            }
            #expect(total == Carried(rx: 127_500, tx: 0))
        }
    }
}
