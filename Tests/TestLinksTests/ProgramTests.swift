internal import SystemCalls
internal import TestLinks
internal import Testing

@Suite("Programs")
struct ProgramTests {
    @Test("Output, errors and exit status are what the program said")
    func captures() throws {
        var program = try Program("/bin/sh", ["-c", "echo one; echo two >&2; exit 7"])
        #expect(try program.wait() == .exited(7))
        #expect(program.text == "one\n")
        #expect(program.errorText == "two\n")
    }

    @Test("More output than a pipe holds arrives whole")
    func muchOutput() throws {
        var program = try Program("/bin/sh", ["-c", "head -c 1000000 /dev/zero; head -c 300000 /dev/zero >&2"])
        #expect(try program.wait() == .exited(0))
        #expect(program.output.count == 1_000_000)
        #expect(program.errors.count == 300_000)
    }

    @Test("The environment is the caller's with changes")
    func environment() throws {
        var program = try Program(
            "/bin/sh",
            ["-c", "echo ${PATH:+path} ${HOME-none} $COLOUR"],
            environment: ["COLOUR": "red", "HOME": nil]
        )
        try program.wait()
        #expect(program.text == "path none red\n")
    }

    @Test("Stdin is empty")
    func input() throws {
        var program = try Program("/bin/cat")
        #expect(try program.wait() == .exited(0))
        #expect(program.output.isEmpty)
    }

    @Test("A signal ends it", arguments: [2, 15, 9] as [Int32])
    func signals(number: Int32) throws {
        var program = try Program("/bin/sh", ["-c", "echo ready; exec sleep 60"])
        try program.waitForOutput("ready\n")
        program.send(number)
        #expect(try program.wait() == .signalled(number))
    }

    @Test("A wait that is too long is an error, and the program goes on")
    func timeout() throws {
        var program = try Program("/bin/sleep", ["60"])
        let failure = #expect(throws: LinkFailure.self) { try program.wait(timeout: .milliseconds(30)) }
        #expect(failure?.errno == .timedOut)
        #expect(program.ending == nil)
        program.kill()
        #expect(try program.wait() == .signalled(9))
    }

    @Test("Waiting for words of a program that has ended is an error")
    func endedEarly() throws {
        var program = try Program("/bin/sh", ["-c", "echo other"])
        let failure = #expect(throws: LinkFailure.self) { try program.waitForOutput("never") }
        #expect(failure?.errno == Errno(10))
    }

    @Test("A program whose output was closed meets SIGPIPE")
    func closedOutput() throws {
        var program = try Program("/bin/sh", ["-c", "while :; do echo x; done"])
        program.closeOutput()
        #expect(try program.wait() == .signalled(13))
    }

    @Test("A program that is not there is an error")
    func missing() throws {
        let failure = #expect(throws: LinkFailure.self) { _ = try Program("/no/such/program") }
        #expect(failure?.errno == .noEntry)
    }

    @Test("A program of this package is found beside the tests")
    func built() throws {
        let path = try Program.builtPath(of: "ifcount-demo")
        #expect(path.hasSuffix("/ifcount-demo"))
        var program = try Program("ifcount-demo", ["--help"])
        #expect(try program.wait() == .exited(0))
        #expect(program.text.hasPrefix("Usage: ifcount-demo"))
    }

    @Test("A seed makes the numbers repeatable")
    func random() {
        // The first outputs for the seed 1234567, as published with the algorithm's reference program.
        var generator = SplitMix64(seed: 1_234_567)
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
    }
}
