internal import SystemCalls
internal import TestLinks
internal import Testing

/// Skips what needs links of its own, and says why.
private let needsNamespace: any SuiteTrait = .enabled(
    if: PrivateNamespace.available,
    "needs root, or `unshare -Urn`, to make network namespaces"
)
private let needsTunnel: any SuiteTrait = .enabled(
    if: Tunnel.unavailable == nil,
    "needs an open /dev/net/tun"
)

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

@Suite("Links", needsNamespace)
struct LinksTests {
    @Test("A body runs on the thread of its namespace, also after it has waited")
    func thread() async throws {
        let names = try await PrivateNamespace.run { namespace in
            let before = PrivateNamespace.currentThread
            #expect(before == namespace.thread)
            try await Task.sleep(for: .milliseconds(5))
            #expect(PrivateNamespace.currentThread == namespace.thread)
            return try namespace.carried().keys.sorted()
        }
        #expect(names == ["lo"])
    }

    @Test("Two namespaces at once do not see each other's links")
    func apart() async throws {
        async let one = PrivateNamespace.run { namespace in
            try namespace.add("one", kind: "bridge")
            try await Task.sleep(for: .milliseconds(20))
            return try namespace.carried().keys.sorted()
        }
        async let two = PrivateNamespace.run { namespace in
            try namespace.add("two", kind: "bridge")
            try await Task.sleep(for: .milliseconds(20))
            return try namespace.carried().keys.sorted()
        }
        #expect(try await [one, two] == [["lo", "one"], ["lo", "two"]])
    }

    @Test("Names are given, swapped and taken away")
    func names() async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.addPair("left", "right")
            let (left, right) = (namespace.index(of: "left"), namespace.index(of: "right"))
            try namespace.set("left", up: true)
            try namespace.swapNames("left", "right")
            #expect(namespace.index(of: "right") == left)
            #expect(namespace.index(of: "left") == right)
            try namespace.rename("left", to: "a\u{1b}\"b")
            #expect(namespace.index(of: "a\u{1b}\"b") == right)
            // With one end goes the other.
            try namespace.delete("right")
            #expect(try namespace.carried().keys.sorted() == ["lo"])
        }
    }

    @Test("A link visits another namespace")
    func move() async throws {
        try await PrivateNamespace.run { namespace in
            let other = try namespace.another()
            try namespace.addPair("left", "right")
            try namespace.move("right", to: other)
            #expect(try namespace.carried().keys.sorted() == ["left", "lo"])
            let visited = try namespace.visit(other) { () throws(LinkFailure) in
                try namespace.carried().keys.sorted()
            }
            #expect(visited == ["lo", "right"])
            try namespace.fetch("right", from: other)
            #expect(try namespace.carried().keys.sorted() == ["left", "lo", "right"])
        }
    }

    @Test("What one end of a veth sends the other receives, to the byte", arguments: [14, 1514, 1515, 1 << 20])
    func pair(bytes: Int) async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.addPair("left", "right")
            for name in ["left", "right"] {
                try namespace.silence(name)
                try namespace.set(name, up: true)
            }
            try namespace.send(bytes: bytes, through: "left")
            #expect(try namespace.carried(by: "left") == Carried(rx: 0, tx: UInt64(bytes)))
            #expect(try namespace.carried(by: "right") == Carried(rx: UInt64(bytes), tx: 0))
        }
    }

    @Test("A program is started in the namespace that is visited")
    func visiting() async throws {
        try await PrivateNamespace.run { namespace in
            let other = try namespace.another()
            try namespace.addPair("left", "right")
            try namespace.move("right", to: other)
            var program = try namespace.visit(other) { () throws(LinkFailure) in
                try Program("/bin/cat", ["/proc/net/dev"])
            }
            #expect(try program.wait() == .exited(0))
            #expect(program.text.contains("right:"))
            #expect(!program.text.contains("left:"))
        }
    }

    @Test("A bridge takes a port and lets it go; a link takes an MTU")
    func bridge() async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.add("br0", kind: "bridge")
            try namespace.addPair("left", "right")
            try namespace.set("left", master: "br0")
            // A bridge has no room for itself.
            #expect(throws: LinkFailure.self) { try namespace.set("br0", master: "br0") }
            try namespace.release("left")
            try namespace.set("left", mtu: 9000)
            #expect(throws: LinkFailure.self) { try namespace.set("left", mtu: 1) }
        }
    }

    @Test("Five hundred links in a burst", .timeLimit(.minutes(1)))
    func burst() async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.addMany(500, prefix: "burst", kind: try namespace.simplestKind())
            let names = try namespace.carried().keys.filter { $0.hasPrefix("burst") }
            #expect(names.count == 500)
            #expect(namespace.index(of: "burst499") != nil)
            #expect(throws: LinkFailure.self) { try namespace.addMany(1, prefix: "burst", kind: "bridge") }
        }
    }

    @Test("A kind the kernel does not have is an error with its name")
    func unknownKind() async throws {
        try await PrivateNamespace.run { namespace in
            let failure = #expect(throws: LinkFailure.self) { try namespace.add("x", kind: "nonesuch") }
            #expect(failure?.description == "cannot make x, a nonesuch: Operation not supported")
        }
    }

    @Test("A program started in a namespace sees its links")
    func program() async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.add("br0", kind: "bridge")
            var program = try Program("/bin/cat", ["/proc/net/dev"])
            #expect(try program.wait() == .exited(0))
            let names = program.text.split(separator: "\n").dropFirst(2).map { $0.prefix { $0 != ":" } }
            #expect(names.count == 2)
            #expect(program.text.contains("br0:"))
        }
    }
}
