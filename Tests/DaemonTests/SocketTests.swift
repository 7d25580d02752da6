import TestLinks
import Testing
import Wire

/// The daemon's figures over its socket, on a real tunnel whose bytes are known.
@Suite(needsTunnel)
struct SocketTests {
    @Test(arguments: ["netlink", "procfs", "getifaddrs"])
    func `each source counts both directions to the byte`(_ source: String) async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon(["--interval", "100ms", "--source", source])
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 70_000)
            try tunnel.transmit(bytes: 12_345)
            let reading = try client.awaitReading("utun0") {
                $0.counter?.rxBytes == 70_000 && $0.counter?.txBytes == 12_345
            }
            #expect(reading?.total.rx.bytes == 70_000)
            #expect(reading?.total.tx.bytes == 12_345)
            #expect(reading?.source == source)
            #expect(reading?.kind == (source == "netlink" ? "tun" : reading?.kind))
            #expect(reading?.present == true)
        }
    }

    @Test func `recreations are counted to the byte`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            var truth = Carried()
            for size in [1000, 50_000, 777] {
                var tunnel = try Tunnel("utun0", in: namespace)
                try tunnel.up()
                try tunnel.receive(bytes: size)
                _ = try client.awaitReading("utun0") { $0.counter?.rxBytes == size }
                // Nobody reads these before the link is gone.
                try tunnel.receive(bytes: 222)
                try tunnel.transmit(bytes: 333)
                truth += try tunnel.close()
            }
            let reading = try client.awaitReading("utun0") { !$0.present && $0.incarnation == 3 }
            #expect(reading?.total.rx == Amount(bytes: Int(truth.rx), atMost: Int(truth.rx), packets: 39))
            #expect(reading?.total.tx == Amount(bytes: Int(truth.tx), atMost: Int(truth.tx), packets: 3))
            #expect(reading?.total.quality == .continuous)
            #expect(reading?.total.resets == 2)
            #expect(reading?.total.gaps == 0)
            #expect(reading?.state == "absent")
            #expect(reading?.ifindex == nil)
            #expect(reading?.counter == nil)
        }
    }

    @Test func `absent interfaces are listed when asked for`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            let tunnel = try Tunnel("utun0", in: namespace)
            _ = try client.awaitReading("utun0") { $0.present }
            func names(_ parameters: String) throws -> [String] {
                try client.send(#"{"method":"io.ifcount.List","parameters":\#(parameters)}"#)
                return try client.reply(List.Reply.self).readings.map(\.interface)
            }
            #expect(try names("{}") == ["lo", "utun0"])
            try tunnel.close()
            _ = try client.awaitReading("utun0") { !$0.present }
            #expect(try names("{}") == ["lo"])
            #expect(try names(#"{"all":false}"#) == ["lo"])
            #expect(try names(#"{"all":true}"#) == ["lo", "utun0"])
        }
    }

    @Test func `an interface that never was is an error with its name`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            #expect(
                try client.call("io.ifcount.Get", #"{"interface":"nosuch0"}"#)
                    == #"{"error":"io.ifcount.NoSuchInterface","parameters":{"interface":"nosuch0"}}"#
            )
            // Names that no link can have are interfaces that never were, too.
            for name in ["", "a/b", "a-name-of-16-byte", #"\\x00"#] {
                #expect(try client.call("io.ifcount.Get", #"{"interface":"\#(name)"}"#).contains("NoSuchInterface"))
            }
        }
    }

    @Test func `a reply has just the members of the contract, nulls included`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon(["--interval", "1h"])
            var client = try daemon.client()
            var watcher = try daemon.client()
            try watcher.watch(["utun0"], interval: 100_000)
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 1528)
            let index = tunnel.index
            let present = try client.awaitReading("utun0") { $0.total.rx.bytes == 1528 && $0.state == "up" }
            #expect(
                try masked(client.call("io.ifcount.Get", #"{"interface":"utun0"}"#), present)
                    == #"{"parameters":{"reading":{"counter":{"rxBytes":1528,"rxDropped":0,"rxErrors":0,"rxPackets":2,"#
                    + #""txBytes":0,"txDropped":0,"txErrors":0,"txPackets":0},"ifindex":\#(index),"incarnation":1,"#
                    + #""interface":"utun0","kind":"tun","persisted":null,"persistedUSec":null,"present":true,"rate":RATE,"sampledUSec":SAMPLED,"#
                    + #""source":"netlink","state":"up","total":{"gaps":0,"label":"estimate","quality":"continuous","#
                    + #""resets":0,"rx":{"atMost":1528,"bytes":1528,"packets":2},"sinceUSec":SINCE,"suspect":0,"#
                    + #""tx":{"atMost":0,"bytes":0,"packets":0},"unobservedUSec":0},"warnings":[]}}}"#
            )
            try tunnel.close()
            let absent = try client.awaitReading("utun0") { !$0.present }
            #expect(
                try masked(client.call("io.ifcount.Get", #"{"interface":"utun0"}"#), absent)
                    == #"{"parameters":{"reading":{"counter":null,"ifindex":null,"incarnation":1,"interface":"utun0","#
                    + #""kind":"tun","persisted":null,"persistedUSec":null,"present":false,"rate":RATE,"sampledUSec":SAMPLED,"source":"netlink","#
                    + #""state":"absent","total":{"gaps":0,"label":"estimate","quality":"continuous","resets":0,"#
                    + #""rx":{"atMost":1528,"bytes":1528,"packets":2},"sinceUSec":SINCE,"suspect":0,"#
                    + #""tx":{"atMost":0,"bytes":0,"packets":0},"unobservedUSec":0},"warnings":[]}}}"#
            )
        }
    }

    @Test func `an upper bound that there is none of is null`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon(["--interval", "100ms", "--source", "procfs"])
            var client = try daemon.client()
            let tunnel = try Tunnel("utun0", in: namespace)
            _ = try client.awaitReading("utun0") { $0.present }
            try tunnel.close()
            _ = try client.awaitReading("utun0") { !$0.present }
            let text = try client.call("io.ifcount.Get", #"{"interface":"utun0"}"#)
            #expect(text.contains(#""quality":"gapped""#))
            #expect(text.contains(#""rx":{"atMost":null,"bytes":0,"packets":0}"#))
        }
    }

    /// The reply with what differs from run to run replaced by words, after a look that it is what it can be.
    private func masked(_ text: String, _ reading: Reading?) throws -> String {
        var text = text
        let reply = try Frame.decode(Reply<Get.Reply>.self, from: Array(text.utf8))
        let now = try #require(reply.parameters?.reading)
        #expect(abs(now.sampledUSec - (reading?.sampledUSec ?? 0)) < 3_600_000_000)
        #expect(now.total.sinceUSec <= now.sampledUSec)
        text = text.replacingFirst(#""sampledUSec":\#(now.sampledUSec)"#, #""sampledUSec":SAMPLED"#)
        text = text.replacingFirst(#""sinceUSec":\#(now.total.sinceUSec)"#, #""sinceUSec":SINCE"#)
        let rate = now.rate.map { String(decoding: Frame.json($0), as: UTF8.self) } ?? "null"
        return text.replacingFirst(#""rate":\#(rate)"#, #""rate":RATE"#)
    }
}

extension String {
    /// The text with the first occurrence of a part replaced.
    fileprivate func replacingFirst(_ part: String, _ other: String) -> String {
        var text = self
        if let range = text.firstRange(of: part) { text.replaceSubrange(range, with: other) }
        return text
    }
}
