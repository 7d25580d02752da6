internal import SystemCalls
internal import TestLinks
internal import Testing

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

    @Test("A bridge receives what its port receives, and no more once it has let the port go")
    func bridge() async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.add("br0", kind: "bridge")
            try namespace.addPair("left", "right")
            try namespace.set("left", master: "br0")
            for name in ["br0", "left", "right"] {
                try namespace.silence(name)
                try namespace.set(name, up: true)
            }
            try namespace.awaitCarrier(of: "br0")
            try namespace.send(bytes: 1000, through: "right")
            // A bridge counts without the Ethernet header.
            #expect(try namespace.carried(by: "br0")?.rx == 986)
            try namespace.release("left")
            try namespace.send(bytes: 1000, through: "right")
            #expect(try namespace.carried(by: "br0")?.rx == 986)
            #expect(try namespace.carried(by: "left")?.rx == 2000)
        }
    }

    @Test("A link refuses a frame larger than its MTU and header")
    func mtu() async throws {
        try await PrivateNamespace.run { namespace in
            try namespace.addPair("left", "right")
            for name in ["left", "right"] {
                try namespace.silence(name)
                try namespace.set(name, mtu: 1000)
                try namespace.set(name, up: true)
            }
            try namespace.send(bytes: 1014, through: "left")
            let failure = #expect(throws: LinkFailure.self) { try namespace.send(bytes: 1015, through: "left") }
            #expect(failure?.errno == .messageTooLong)
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
