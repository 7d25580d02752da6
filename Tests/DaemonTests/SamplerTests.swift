import Daemon
import LinkStats
import TestLinks
import Testing
import Wire

/// Counting on real links, against bytes that the test itself wrote through /dev/net/tun.
@Suite(needsTunnel)
struct SamplerTests {
    /// Expects an account to be just what went through, with nothing missing.
    private func expect(
        _ reading: Reading?,
        _ truth: Carried,
        resets: Int = 0,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(reading?.total.rx.bytes == Int(truth.rx), sourceLocation: location)
        #expect(reading?.total.tx.bytes == Int(truth.tx), sourceLocation: location)
        #expect(reading?.total.quality == .continuous, sourceLocation: location)
        #expect(reading?.total.rx.atMost == Int(truth.rx), sourceLocation: location)
        #expect(reading?.total.resets == resets, sourceLocation: location)
        #expect(reading?.total.gaps == 0, sourceLocation: location)
    }

    @Test func `both directions are counted to the byte`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 70_000)
            try tunnel.transmit(bytes: 12_345)
            try sampler.sample()
            let reading = sampler.reading(of: "utun0")
            expect(reading, Carried(rx: 70_000, tx: 12_345))
            #expect(reading?.kind == "tun")
            #expect(reading?.state == "up")
            #expect(reading?.counter?.rxBytes == 70_000)
            #expect(reading?.source == "netlink")
        }
    }

    @Test func `a link that was there before begins at a baseline`() async throws {
        try await PrivateNamespace.run { namespace in
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 5000)
            let sampler = try Sampler(source: .netlink)
            try tunnel.receive(bytes: 300)
            try sampler.sample()
            expect(sampler.reading(of: "utun0"), Carried(rx: 300, tx: 0))
            #expect(sampler.reading(of: "utun0")?.counter?.rxBytes == 5300)
        }
    }

    @Test func `bytes after the last reading are in the delete message`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            var truth = Carried(rx: 0, tx: 0)
            // The second counter ends above the first, so that only its identity tells the reset.
            for size in [1000, 50_000] {
                var tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: size)
                try sampler.sample()
                try tunnel.receive(bytes: 777)
                try tunnel.transmit(bytes: 333)
                truth += try tunnel.close()
            }
            try sampler.sample()
            let reading = sampler.reading(of: "utun0")
            expect(reading, truth, resets: 1)
            #expect(reading?.present == false)
            #expect(reading?.state == "absent")
            #expect(reading?.incarnation == 2)
        }
    }

    @Test func `a link that came and went between two readings is counted`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            var truth = Carried(rx: 0, tx: 0)
            for _ in 0..<5 {
                var tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: 4321)
                try tunnel.transmit(bytes: 99)
                truth += try tunnel.close()
            }
            try sampler.sample()
            expect(sampler.reading(of: "utun0"), truth, resets: 4)
            let kinds = sampler.takeEvents().filter { $0.interface == "utun0" && $0.event != .changed }.map(\.event)
            #expect(kinds == [.created, .removed] + Array(repeating: [.recreated, .removed], count: 4).joined())
        }
    }

    @Test func `a link recreated with its old number is another link`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            var truth = Carried(rx: 0, tx: 0)
            for size in [40_000, 90_000, 500] {
                var tunnel = try Tunnel("utun0", in: namespace, index: 77)
                try tunnel.up()
                try tunnel.receive(bytes: size)
                try sampler.sample()
                truth += try tunnel.close()
            }
            try sampler.sample()
            expect(sampler.reading(of: "utun0"), truth, resets: 2)
        }
    }

    @Test func `a renamed link goes on under its new name`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 1000)
            try sampler.sample()
            // Before the rename, but after the last reading: the message that tells of it tells of these, too.
            try tunnel.receive(bytes: 200)
            try namespace.rename("utun0", to: "vpn0")
            try tunnel.receive(bytes: 30)
            try sampler.sample()
            expect(sampler.reading(of: "utun0"), Carried(rx: 1200, tx: 0))
            // Its event may have come before the counters were read, and its row was left out then.
            try sampler.sample()
            expect(sampler.reading(of: "vpn0"), Carried(rx: 30, tx: 0))
            #expect(sampler.reading(of: "utun0")?.present == false)
            #expect(sampler.takeEvents().contains { $0.event == .renamed && $0.previous == "utun0" })
        }
    }

    @Test func `two tunnels exchange names`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            var one = try Tunnel("tun0", in: namespace)
            var two = try Tunnel("tun1", in: namespace)
            try one.up(address: IPv4(10, 66, 1, 1))
            try two.up(address: IPv4(10, 66, 2, 1))
            try one.receive(bytes: 1000)
            try two.receive(bytes: 500_000)
            try sampler.sample()
            try namespace.swapNames("tun0", "tun1")
            try one.receive(bytes: 70)
            try two.receive(bytes: 30)
            try sampler.sample()
            try sampler.sample()
            expect(sampler.reading(of: "tun0"), Carried(rx: 1030, tx: 0))
            expect(sampler.reading(of: "tun1"), Carried(rx: 500_070, tx: 0))
        }
    }

    @Test func `away to another namespace and back is the same link`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            let other = try namespace.another()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 9000)
            try sampler.sample()
            try tunnel.receive(bytes: 111)
            try namespace.move("utun0", to: other)
            try sampler.sample()
            #expect(sampler.reading(of: "utun0")?.present == false)
            expect(sampler.reading(of: "utun0"), Carried(rx: 9111, tx: 0))
            try namespace.fetch("utun0", from: other)
            try sampler.sample()
            try namespace.set("utun0", up: true)
            try tunnel.receive(bytes: 400)
            try sampler.sample()
            expect(sampler.reading(of: "utun0"), Carried(rx: 9511, tx: 0))
            let kinds = sampler.takeEvents().filter { $0.interface == "utun0" && $0.event != .changed }.map(\.event)
            #expect(kinds == [.created, .departed, .returned])
        }
    }

    @Test func `what a link carried elsewhere is not ours`() async throws {
        try await PrivateNamespace.run { namespace in
            let other = try namespace.another()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 8000)
            try namespace.move("utun0", to: other)
            let sampler = try Sampler(source: .netlink)
            try namespace.fetch("utun0", from: other)
            try sampler.sample()
            try namespace.set("utun0", up: true)
            try tunnel.receive(bytes: 64)
            try sampler.sample()
            expect(sampler.reading(of: "utun0"), Carried(rx: 64, tx: 0))
            #expect(sampler.takeEvents().contains { $0.event == .arrived })
        }
    }

    @Test func `events that overrun their buffer cost no byte of a link that lives on`() async throws {
        try await PrivateNamespace.run { namespace in
            // As much room as a process without privileges gets by default.
            let sampler = try Sampler(source: .netlink, eventRoom: 106_496)
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 1000)
            try sampler.sample()
            try namespace.addMany(500, prefix: "many", kind: try namespace.simplestKind())
            try tunnel.receive(bytes: 500)
            try sampler.sample()
            #expect(sampler.overruns > 0)
            expect(sampler.reading(of: "utun0"), Carried(rx: 1500, tx: 0))
            #expect(sampler.presentCount == 502)
            try sampler.sample()
            expect(sampler.reading(of: "utun0"), Carried(rx: 1500, tx: 0))
        }
    }

    @Test func `a veth keeps what was read, and says that its end is not known`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            try namespace.addPair("veth0", "veth1")
            for name in ["veth0", "veth1"] {
                try namespace.silence(name)
                try namespace.set(name, up: true)
            }
            try namespace.awaitCarrier(of: "veth0")
            try namespace.awaitCarrier(of: "veth1")
            try namespace.send(bytes: 5000, through: "veth0")
            try sampler.sample()
            try namespace.delete("veth0")
            try sampler.sample()
            let sent = try #require(sampler.reading(of: "veth0"))
            let received = try #require(sampler.reading(of: "veth1"))
            #expect(sent.total.tx.bytes == 5000 && sent.total.tx.atMost == 5000)
            #expect(received.total.rx.bytes == 5000 && received.total.rx.atMost == nil)
            #expect(received.total.quality == .gapped && received.total.resets == 0 && received.total.gaps == 1)
        }
    }

    @Test(arguments: [Source.procfs, .getifaddrs])
    func `sources without events stay below the truth and say so`(source: Source) async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: source)
            var truth = Carried(rx: 0, tx: 0)
            for size in [3000, 100_000, 200] {
                var tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: size)
                try sampler.sample()
                try tunnel.transmit(bytes: 700)
                truth += try tunnel.close()
            }
            try sampler.sample()
            let reading = try #require(sampler.reading(of: "utun0"))
            #expect(reading.source == source.rawValue)
            // The last bytes of each link were not seen; all that was read is counted.
            #expect(reading.total.rx.bytes == 103_200 && UInt64(reading.total.rx.bytes) <= truth.rx)
            #expect(reading.total.tx.bytes == 0)
            #expect(reading.total.quality == .gapped && reading.total.rx.atMost == nil)
            #expect(reading.total.resets == 2)
        }
    }

    @Test(arguments: Source.allCases)
    func `each source counts a link that lives on`(source: Source) async throws {
        try await PrivateNamespace.run { namespace in
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 1000)
            let sampler = try Sampler(source: source)
            try tunnel.receive(bytes: 2345)
            try tunnel.transmit(bytes: 543)
            try sampler.sample()
            let reading = try #require(sampler.reading(of: "utun0"))
            #expect(reading.total.rx.bytes == 2345 && reading.total.tx.bytes == 543)
            #expect(reading.total.resets == 0 && reading.total.gaps == 0)
        }
    }

    @Test func `hostile names are counted each by itself`() async throws {
        try await PrivateNamespace.run { namespace in
            let sampler = try Sampler(source: .netlink)
            for name in [#"a"b"#, #"a\b"#, "-x", "12345", "a|b", "$x", "a\u{1b}[31m", "é-vpn"] {
                var tunnel = try Tunnel(name, in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: 1000)
                try sampler.sample()
                #expect(sampler.reading(of: name)?.total.rx.bytes == 1000, "\(name)")
                _ = try tunnel.close()
            }
        }
    }
}
