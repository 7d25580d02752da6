internal import TestLinks
internal import Testing

@Suite("ifcount-demo", needsNamespace, needsTunnel)
struct DemonstrationTests {
    @Test("The command runs in the namespace before the tunnel is there, and is interrupted at the end")
    func command() throws {
        let script = #"""
            trap 'echo interrupted; exit 0' INT
            grep -c : /proc/net/dev
            while :; do sleep 0.02; done
            """#
        var demo = try Program(
            "ifcount-demo",
            ["--seconds", "0.6", "--every", "0.2", "--linger", "100ms", "--json", "--", "sh", "-c", script]
        )
        #expect(try demo.wait() == .exited(0))
        let lines = demo.text.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(lines[0] == "1")
        #expect(lines[1] == "interrupted")
        #expect(lines[2].wholeMatch(of: /\{"interface":"utun0","rx":\d+,"tx":\d+,"connections":\d+\}/) != nil)
    }

    @Test("A signal ends it early, with the truth")
    func interrupted() throws {
        var demo = try Program("ifcount-demo", ["--seconds", "60", "--linger", "0", "--", "echo", "ready"])
        try demo.waitForOutput("ready")
        demo.terminate()
        #expect(try demo.wait() == .exited(0))
        #expect(demo.text.contains("\nsent: rx "))
    }

    @Test(
        "Exit status and words of what goes wrong",
        arguments: [
            (["--", "sh", "-c", "exit 3"], 1, "ifcount-demo: sh ended with status 3\n"),
            (["--", "/no/such"], 1, "ifcount-demo: cannot start /no/such: No such file or directory\n"),
            (
                ["--every", "-1"], 2,
                "ifcount-demo: option '--every': '-1' is no duration; write 500ms, 1s, 2m or 1h\n"
            ),
            (["--lead", "25h"], 2, "ifcount-demo: option '--lead': '25h' is not between 0s and 24h\n"),
            (["--seed", "-1"], 2, "ifcount-demo: option '--seed': '-1' is no whole number below 2^64\n"),
            (["--seconds"], 2, "ifcount-demo: option '--seconds' needs a value\n"),
            (["--sed", "1"], 2, "ifcount-demo: unknown option '--sed'; did you mean '--seed'?\n"),
            (["watch"], 2, "ifcount-demo: '--' before the command 'watch' is missing\n"),
        ] as [([String], Int32, String)]
    )
    func wrong(arguments: [String], status: Int32, words: String) throws {
        var demo = try Program("ifcount-demo", arguments)
        #expect(try demo.wait() == .exited(status))
        #expect(demo.errorText.hasPrefix(words))
    }
}
