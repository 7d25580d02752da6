import TestLinks
import Testing
import Wire

/// Skips what needs Python's Varlink client, and says why.
private let needsPythonVarlink: ConditionTrait = .enabled(
    if: ForeignClientTests.interpreter != nil,
    "needs Python's package varlink: `make deps-test` installs it"
)

/// A Varlink client that is not ours: Python's.
@Suite(needsTunnel, needsPythonVarlink)
struct ForeignClientTests {
    /// A Python that has it: the one in PATH, or that of the build folder, three levels above the tests.
    fileprivate static let interpreter: [String]? = {
        let built = ((try? Program.builtPath(of: "ifcountd")) ?? "/").split(separator: "/").dropLast(3)
        let venv = "/" + built.joined(separator: "/") + "/venv/bin/python3"
        return [["python3"], [venv]].first { interpreter in
            guard var python = try? Program("/usr/bin/env", interpreter + ["-c", "import varlink.cli"]) else {
                return false
            }
            return (try? python.wait(timeout: RawClient.patience)) == .exited(0)
        }
    }()

    private static func cli(_ arguments: [String]) throws -> Program {
        let python = try #require(interpreter)
        return try Program("/usr/bin/env", python + ["-m", "varlink.cli"] + arguments)
    }

    private static func output(_ arguments: [String]) throws -> String {
        var client = try cli(arguments)
        try client.wait(timeout: RawClient.patience)
        #expect(client.errorText == "")
        return client.text
    }

    @Test func `it learns what there is`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            let info = try Self.output(["info", "unix:\(daemon.socket)"])
            #expect(info.contains("Vendor: ifcount"))
            #expect(info.contains("io.ifcount"))
            // It parses the description: were it wrong, there would be nothing to print.
            let description = try Self.output(["help", "unix:\(daemon.socket)/io.ifcount"])
            for method in ["List", "Get", "Watch"] { #expect(description.contains("method \(method)(")) }
            #expect(try Self.output(["help", "unix:\(daemon.socket)/org.varlink.service"]).contains("GetInfo"))
        }
    }

    @Test func `it asks for a tunnel, and follows it`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try daemon.client()
            var tunnel = try Tunnel("utun0", in: namespace)
            try tunnel.up()
            try tunnel.receive(bytes: 70_001)
            _ = try client.awaitReading("utun0") { $0.total.rx.bytes == 70_001 }
            let text = try Self.output(["call", "unix:\(daemon.socket)/io.ifcount.Get", #"{"interface":"utun0"}"#])
            let reply = try Frame.decode(Get.Reply.self, from: Array(text.utf8))
            #expect(reply.reading.total.rx.bytes == 70_001)

            var follower = try Self.cli(
                ["call", "--more", "unix:\(daemon.socket)/io.ifcount.Watch", #"{"interfaces":["utun0"]}"#]
            )
            try follower.waitForOutput("ready", timeout: RawClient.patience)
            try tunnel.receive(bytes: 100)
            try follower.waitForOutput("70101", timeout: RawClient.patience)
            follower.kill()
        }
    }

    @Test func `it is told of errors`() async throws {
        try await PrivateNamespace.run { namespace in
            let daemon = try RunningDaemon()
            var client = try Self.cli(["call", "unix:\(daemon.socket)/io.ifcount.Get", #"{"interface":"nosuch0"}"#])
            try client.wait(timeout: RawClient.patience)
            #expect((client.text + client.errorText).contains("io.ifcount.NoSuchInterface"))
            #expect((client.text + client.errorText).contains("nosuch0"))
        }
    }
}
