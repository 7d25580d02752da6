internal import Options

/// What the command line asks for.
struct Arguments {
    /// How long to drive traffic.
    var seconds = Duration.seconds(60)
    /// The mean time between two reconnects.
    var every = Duration.seconds(5)
    /// How long the command runs before the tunnel is there.
    var lead = Duration.milliseconds(500)
    /// How long the command goes on after the last byte.
    var linger = Duration.seconds(2)
    /// Makes a run repeatable, but for the machine's own pace.
    var seed: UInt64 = .random(in: 0...UInt64.max)
    var wantsJSON = false
    var wantsHelp = false
    /// What to run in the namespace; empty for nothing.
    var command: [String] = []

    static let help = """
        Usage: ifcount-demo [OPTION]... [-- COMMAND [ARGUMENT]...]
        Drive random traffic through a tunnel, utun0, that reconnects again and again, in a
        private network namespace. Run COMMAND there meanwhile, and say at the end what truly
        went through.

          --seconds N   drive traffic for N seconds (60)
          --every N     reconnect every N seconds, more or less (5)
          --lead N      let COMMAND run for N seconds before the tunnel is there (0.5)
          --linger N    let COMMAND run for N seconds after the last byte (2)
          --seed N      repeat the random choices of an earlier run
          --json        print the truth as one line of JSON
          -h, --help    print this help

        A time may have a unit instead, such as 500ms, 2m or 1h; it is at most a day.
        It needs no root where user namespaces and /dev/net/tun are open to all.
        Ctrl-C ends it early; the truth is told all the same.

        Example: ifcount-demo --seconds 20 -- ifcount watch utun0

        """

    private static let options: [OptionDefinition] = [
        .value("seconds"), .value("every"), .value("lead"), .value("linger"), .value("seed"), .flag("json"),
        .flag("help", short: "h"),
    ]

    /// - Parameter words: the command line without the program's name.
    /// - Throws: the first mistake.
    init(_ words: some Collection<String>) throws(UsageError) {
        // What follows -- is a command, and what stands before it by mistake is none.
        let parts = words.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
        let parsed = try ParsedArguments(parts[0], Self.options)
        wantsHelp = parsed.has("help")
        if wantsHelp { return }
        if let operand = parsed.operands.first { throw .missingOperand("'--' before the command '\(operand)'") }
        wantsJSON = parsed.has("json")
        seconds = try Self.duration("seconds", parsed) ?? seconds
        every = try Self.duration("every", parsed) ?? every
        lead = try Self.duration("lead", parsed) ?? lead
        linger = try Self.duration("linger", parsed) ?? linger
        if let text = parsed.value("seed") {
            guard let number = UInt64(text) else {
                throw .badValue("--seed", reason: "'\(text)' is no whole number below 2^64")
            }
            seed = number
        }
        if parts.count == 2 { command = Array(parts[1]) }
    }

    private static func duration(_ option: String, _ parsed: ParsedArguments) throws(UsageError) -> Duration? {
        guard let text = parsed.value(option) else { return nil }
        return .microseconds(try DurationText.microseconds(text, option: "--\(option)", within: 0...86_400_000_000))
    }
}
