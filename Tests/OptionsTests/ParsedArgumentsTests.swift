import Testing

@testable import Options

private let definitions: [OptionDefinition] = [
    .flag("json", short: "j"), .flag("help", short: "h"), .value("interval", short: "i"), .value("socket"),
]

@Suite struct ParsedArgumentsTests {
    struct Good: CustomTestStringConvertible {
        var arguments: [String]
        var options: [String: String] = [:]
        var operands: [String] = []
        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        Good(arguments: []),
        Good(arguments: ["list"], operands: ["list"]),
        Good(arguments: ["--json", "list"], options: ["json": ""], operands: ["list"]),
        Good(arguments: ["list", "-j"], options: ["json": ""], operands: ["list"]),
        Good(arguments: ["-jh"], options: ["json": "", "help": ""]),
        Good(arguments: ["--interval", "1s"], options: ["interval": "1s"]),
        Good(arguments: ["--interval=1s"], options: ["interval": "1s"]),
        Good(arguments: ["--interval="], options: ["interval": ""]),
        Good(arguments: ["--socket=a=b"], options: ["socket": "a=b"]),
        Good(arguments: ["-i", "1s"], options: ["interval": "1s"]),
        Good(arguments: ["-ji1s"], options: ["json": "", "interval": "1s"]),
        Good(arguments: ["--interval", "1s", "--interval", "2s"], options: ["interval": "2s"]),
        Good(arguments: ["--interval", "--json"], options: ["interval": "--json"]),
        Good(arguments: ["show", "--", "-x", "--json", "--"], operands: ["show", "-x", "--json", "--"]),
        Good(arguments: ["-", "\\xff"], operands: ["-", "\\xff"]),
        Good(arguments: [""], operands: [""]),
    ])
    func takesApart(_ good: Good) throws {
        let parsed = try ParsedArguments(good.arguments, definitions)
        #expect(parsed.operands == good.operands)
        #expect(Set(parsed.names) == Set(good.options.keys))
        for (name, value) in good.options { #expect(parsed.value(name) == value) }
    }

    @Test(arguments: [
        (["--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
        (["--josn"], "unknown option '--josn'; did you mean '--json'?"),
        (["--inter"], "unknown option '--inter'; did you mean '--interval'?"),
        (["--nothing-like-it"], "unknown option '--nothing-like-it'"),
        (["--=x"], "unknown option '--'"),
        (["-z"], "unknown option '-z'"),
        (["-json"], "unknown option '-json'; did you mean '--json'?"),
        (["--interval"], "option '--interval' needs a value"),
        (["list", "-i"], "option '-i' needs a value"),
        (["--json=yes"], "option '--json' takes no value"),
    ])
    func saysWhatIsWrong(_ arguments: [String], _ sentence: String) {
        let error = #expect(throws: UsageError.self) { try ParsedArguments(arguments, definitions) }
        #expect(error?.description == sentence)
    }
}

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("wacth", "watch"), ("wtch", "watch"), ("lst", "list"), ("shwo", "show"), ("hel", "help"), ("w", "watch"),
        ("status", nil), ("", nil), ("xyzzy", nil),
    ])
    func finds(_ word: String, _ meant: String?) {
        #expect(Suggestion.nearest(to: word, among: ["list", "show", "watch", "call", "help"]) == meant)
    }
}

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("500ms", 500_000), ("1s", 1_000_000), ("2m", 120_000_000), ("1h", 3_600_000_000), ("3", 3_000_000),
        ("0", 0), ("1.5s", 1_500_000), ("0.1", 100_000), ("1.25ms", 1250), ("7us", 7),
        ("", nil), ("s", nil), ("1 s", nil), ("-1s", nil), ("1d", nil), ("1S", nil), ("1.", nil), (".5", nil),
        ("1.2.3", nil), ("1e3", nil), ("9223372036854775807h", nil), ("99999999999999999999", nil), ("٣s", nil),
        ("1.1234567s", nil),
    ])
    func reads(_ text: String, _ microseconds: Int?) {
        #expect(DurationText.microseconds(text) == microseconds)
    }

    @Test func namesItsBounds() {
        func message(_ text: String) -> String? {
            #expect(throws: UsageError.self) {
                try DurationText.microseconds(text, option: "--interval", within: 100_000...3_600_000_000)
            }?.description
        }
        #expect(message("50ms") == "option '--interval': '50ms' is not between 100ms and 1h")
        #expect(message("2h") == "option '--interval': '2h' is not between 100ms and 1h")
        #expect(message("soon") == "option '--interval': 'soon' is no duration; write 500ms, 1s, 2m or 1h")
    }

    @Test(arguments: [(1_000_000, "1s"), (1_500_000, "1500ms"), (0, "0s"), (90_000_000, "90s"), (1, "1us")])
    func writes(_ microseconds: Int, _ text: String) {
        #expect(DurationText.describe(microseconds) == text)
    }
}
