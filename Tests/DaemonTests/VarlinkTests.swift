import TestLinks
import Testing
import Wire

/// The protocol, byte by byte, as systemd speaks it. No links are made, so any namespace will do.
@Suite
struct VarlinkTests {
    private static let getInfo = #"{"method":"org.varlink.service.GetInfo"}"#

    @Test func `GetInfo tells who answers`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        #expect(
            try client.call("org.varlink.service.GetInfo")
                == #"{"parameters":{"interfaces":["org.varlink.service","io.ifcount"],"product":"ifcountd","url":"","#
                + #""vendor":"ifcount","version":"\#(Wire.version)"}}"#
        )
    }

    @Test(arguments: [
        ("io.ifcount", ["Events", "Forget", "Get", "GetHistory", "Import", "List", "Merge", "Rename", "Watch"]),
        ("org.varlink.service", ["GetInfo", "GetInterfaceDescription"]),
    ])
    func `a description declares just the methods that are answered`(_ name: String, _ methods: [String]) throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.send(
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"\#(name)"}}"#
        )
        let lines = try #require(client.reply([String: String].self)["description"]).split(separator: "\n")
        #expect(lines.first { !$0.hasPrefix("#") } == "interface \(name)")
        let declared = lines.filter { $0.hasPrefix("method ") }.map { String($0.dropFirst(7).prefix { $0 != "(" }) }
        #expect(declared.sorted() == methods)
        for method in declared {
            #expect(try !client.call("\(name).\(method)", #"{"no":0}"#).contains("MethodNotFound"))
        }
    }

    @Test(arguments: [
        ("io.ifcount.Nothing", "{}", #"MethodNotFound","parameters":{"method":"io.ifcount.Nothing"}}"#),
        ("org.example.Get", "{}", #"MethodNotFound","parameters":{"method":"org.example.Get"}}"#),
        ("get", "{}", #"MethodNotFound","parameters":{"method":"get"}}"#),
        ("", "{}", #"MethodNotFound","parameters":{"method":""}}"#),
        ("org.varlink.service.GetInfo", #"{"a":1}"#, #"InvalidParameter","parameters":{"parameter":"a"}}"#),
        (
            "org.varlink.service.GetInterfaceDescription", "{}",
            #"InvalidParameter","parameters":{"parameter":"interface"}}"#
        ),
        (
            "org.varlink.service.GetInterfaceDescription", #"{"interface":"a.b"}"#,
            #"InterfaceNotFound","parameters":{"interface":"a.b"}}"#
        ),
        ("io.ifcount.List", #"{"some":true}"#, #"InvalidParameter","parameters":{"parameter":"some"}}"#),
        ("io.ifcount.List", #"{"all":1}"#, #"InvalidParameter","parameters":{"parameter":"all"}}"#),
        ("io.ifcount.List", #"{"all":"true"}"#, #"InvalidParameter","parameters":{"parameter":"all"}}"#),
        ("io.ifcount.Get", "{}", #"InvalidParameter","parameters":{"parameter":"interface"}}"#),
        ("io.ifcount.Get", #"{"interface":null}"#, #"InvalidParameter","parameters":{"parameter":"interface"}}"#),
        ("io.ifcount.Get", #"{"interface":7}"#, #"InvalidParameter","parameters":{"parameter":"interface"}}"#),
        (
            "io.ifcount.Get", #"{"interface":"lo","all":true}"#, #"InvalidParameter","parameters":{"parameter":"all"}}"#
        ),
        ("io.ifcount.Watch", "{}", #"ExpectedMore","parameters":{}}"#),
    ])
    func `an error names what is wrong`(_ method: String, _ parameters: String, _ error: String) throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        #expect(try client.call(method, parameters) == #"{"error":"org.varlink.service."# + error)
        // The connection goes on.
        #expect(try client.call("org.varlink.service.GetInfo").contains("ifcountd"))
    }

    @Test(arguments: [
        (#"{"intervalUSec":99999}"#, "intervalUSec"), (#"{"intervalUSec":3600000001}"#, "intervalUSec"),
        (#"{"intervalUSec":-1}"#, "intervalUSec"), (#"{"intervalUSec":1e30}"#, "intervalUSec"),
        (#"{"intervalUSec":100000.5}"#, "intervalUSec"), (#"{"intervalUSec":"1s"}"#, "intervalUSec"),
        (#"{"interfaces":"lo"}"#, "interfaces"), (#"{"interfaces":[1]}"#, "interfaces"),
        (#"{"interfaces":["lo",null]}"#, "interfaces"), (#"{"interfaces":[""]}"#, "interfaces"),
        (#"{"interfaces":["longer-than-a-name"]}"#, "interfaces"), (#"{"interface":"lo"}"#, "interface"),
    ])
    func `a watch refuses what it cannot do`(_ parameters: String, _ parameter: String) throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.send(#"{"method":"io.ifcount.Watch","parameters":\#(parameters),"more":true}"#)
        #expect(
            try client.text()
                == #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(parameter)"}}"#
        )
    }

    @Test(arguments: [100_000, 3_600_000_000])
    func `a watch takes the shortest and the longest interval`(_ interval: Int) throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.watch(["lo"], interval: interval)
        #expect(try client.reply(Watch.Reply.self).ready == true)
    }

    @Test(arguments: ["io.ifcount.List", "io.ifcount.Get", "io.ifcount.Watch", "no.such.Method"])
    func `oneway gets nothing, not even an error`(_ method: String) throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.send(#"{"method":"\#(method)","oneway":true}"#)
        try client.send(#"{"method":"\#(method)","parameters":{"no":1},"oneway":true}"#)
        #expect(try client.call("org.varlink.service.GetInfo").contains(#""product":"ifcountd""#))
    }

    @Test func `calls in one packet are answered in their order`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        let calls = ["one", "two", "three"].map { #"{"method":"\#($0).X"}"# + "\0" }
        try client.send(Array(calls.joined().utf8))
        for name in ["one", "two", "three"] { #expect(try client.text().contains(#"{"method":"\#(name).X"}"#)) }
    }

    @Test func `thousands of calls in flight are all answered`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        // Their answers are some times larger than what a socket holds, and than what the daemon keeps waiting.
        let call = #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.ifcount"}}"#
        for _ in 0..<4 {
            try client.send(Array(String(repeating: call + "\0", count: 400).utf8))
            for _ in 0..<400 { #expect(try client.text().hasPrefix(#"{"parameters":{"description":"#)) }
        }
    }

    @Test func `who reads only after all calls were sent gets all answers, in their order`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        // 400 calls of 30 KB, of which each other tells its number, and answers of more than a MB: neither the socket nor
        // the daemon keeps that much for a client that does not read.
        let large = #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.ifcount"}}"#
        let calls = (0..<200).map { #"{"method":"n\#($0).Call"}"# + "\0" + large + "\0" }
        try client.send(Array(calls.joined().utf8))
        // It has answered what it could before it answers another.
        try daemon.expectAlive()
        for number in 0..<200 {
            #expect(try client.text().hasSuffix(#""parameters":{"method":"n\#(number).Call"}}"#))
            #expect(try client.text().hasPrefix(#"{"parameters":{"description":"#))
        }
        // And then the next call, as if nothing had been.
        #expect(try client.call("last.Call").contains("last.Call"))
    }

    @Test func `a call may come byte by byte`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        for byte in Array((Self.getInfo + "\0").utf8) { try client.send([byte]) }
        #expect(try client.text().contains("ifcountd"))
    }

    @Test(arguments: [
        #"{"method":"org.varlink.service.GetInfo"}"#,
        #"{"method":"org.varlink.service.GetInfo","parameters":null}"#,
        #"{"method":"org.varlink.service.GetInfo","parameters":{}}"#,
        #"{"parameters":{},"method":"org.varlink.service.GetInfo","more":false,"oneway":false}"#,
        #"{"method":"org.varlink.service.GetInfo","more":null,"oneway":null}"#,
        #"{"method":"org.varlink.service.GetInfo","more":true}"#,
        #"{"method":"org.varlink.service.Get\u0049nfo"}"#,
        " \t\r\n{ \"method\" :\n\"org.varlink.service.GetInfo\" } \r\n",
    ])
    func `a call may be written in any legal way`(_ message: String) throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.send(message)
        let reply = try client.json()
        guard case .object(let members) = reply else {
            Issue.record("\(reply)")
            return
        }
        // No `continues`: varlinkctl breaks on one it has not asked for, and this is the only reply.
        #expect(Array(members.keys) == ["parameters"])
    }

    /// What closes a connection: nothing after it can be trusted.
    struct Broken: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]

        init(_ name: String, _ text: String) { self.init(name, Array(text.utf8) + [0]) }

        init(_ name: String, _ bytes: [UInt8]) {
            testDescription = name
            self.bytes = bytes
        }

        static let all = [
            Broken("an unknown member", #"{"method":"org.varlink.service.GetInfo","id":1}"#),
            Broken("oneway and more", #"{"method":"org.varlink.service.GetInfo","oneway":true,"more":true}"#),
            Broken("more is no boolean", #"{"method":"org.varlink.service.GetInfo","more":1}"#),
            Broken("an upgrade", #"{"method":"org.varlink.service.GetInfo","upgrade":true}"#),
            Broken("parameters are an array", #"{"method":"org.varlink.service.GetInfo","parameters":[]}"#),
            Broken("parameters are a string", #"{"method":"org.varlink.service.GetInfo","parameters":"{}"}"#),
            Broken("no method", #"{"parameters":{}}"#),
            Broken("the method is a number", #"{"method":1}"#),
            Broken("an array", "[]"),
            Broken("a string", #""org.varlink.service.GetInfo""#),
            Broken("a number", "1"),
            Broken("null", "null"),
            Broken("nothing", ""),
            Broken("white space", " \n"),
            Broken("no JSON", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            Broken("half an object", #"{"method":"org.varlink.service.GetInfo""#),
            Broken("two objects", "{}{}"),
            Broken("a trailing comma", #"{"method":"org.varlink.service.GetInfo",}"#),
            Broken("single quotes", "{'method':'org.varlink.service.GetInfo'}"),
            Broken("not UTF-8", Array(#"{"method":"a"#.utf8) + [0xC3, 0x28] + Array("\"}\0".utf8)),
            Broken("a lone surrogate", #"{"method":"\ud800"}"#),
            Broken("a raw control character", "{\"method\":\"a\u{1}\"}"),
            Broken("UTF-16", Array("{}".utf16.flatMap { [UInt8($0), 0] })),
            Broken("a member twice", #"{"method":"org.varlink.service.GetInfo","method":"io.ifcount.List"}"#),
            Broken("a member twice, the same", #"{"method":"io.ifcount.List","method":"io.ifcount.List"}"#),
            Broken("a member twice, once escaped", #"{"method":"io.ifcount.List","\u006dethod":"io.ifcount.List"}"#),
            Broken(
                "a parameter twice",
                #"{"method":"io.ifcount.Get","parameters":{"interface":"lo","interface":"lo"}}"#
            ),
            Broken(
                "a member of a parameter twice",
                #"{"method":"io.ifcount.Import","parameters":{"interface":"lo","spans":[{"startUSec":1,"startUSec":1}]}}"#
            ),
            Broken("65,000 arrays deep", String(repeating: "[", count: 65_000)),
            Broken("100,000 arrays deep", String(repeating: "[", count: 100_000)),
            Broken(
                "10,000 objects deep",
                #"{"method":"org.varlink.service.GetInfo","parameters":"#
                    + String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_001)
            ),
        ]
    }

    @Test(arguments: Broken.all)
    func `what is not Varlink closes the connection, and only that`(_ broken: Broken) throws {
        let daemon = try RunningDaemon()
        var other = try daemon.client()
        try other.watch(["lo"], interval: 100_000)
        var client = try daemon.client()
        // The call before it is answered.
        #expect(try client.call("org.varlink.service.GetInfo").contains("ifcountd"))
        try client.send(broken.bytes)
        #expect(try client.isClosed())
        try daemon.expectAlive()
        for _ in 0..<3 { _ = try other.reply(Watch.Reply.self) }
    }

    @Test(measuresMemory) func `a request of 64 MB closes the connection before it is all there`() throws {
        let daemon = try RunningDaemon()
        let before = try daemon.status("VmHWM")
        var client = try daemon.client()
        let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
        for _ in 0..<64 { try client.send(piece) }
        #expect(try client.isClosed())
        try daemon.expectAlive()
        #expect(try daemon.status("VmHWM") - before < 8192)
    }

    @Test func `a request that ends with a line feed is not answered`() throws {
        let daemon = try RunningDaemon()
        var client = try daemon.client()
        try client.send(Array((Self.getInfo + "\n").utf8))
        // The daemon has had it when it answers another who asked later.
        try daemon.expectAlive()
        #expect(throws: RawClient.Failure.self) { try client.next(within: .milliseconds(200)) }
        // The NUL that was missing makes it complete: a line feed is white space.
        try client.send([0])
        #expect(try client.text().contains("ifcountd"))
    }
}
