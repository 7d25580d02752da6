internal import Options

/// What the command line asks for.
struct Arguments {
    /// How long to go on.
    var seconds = Duration.seconds(60)
    /// Makes the same choices again; what they meet depends on the machine's pace.
    var seed: UInt64 = .random(in: 0...UInt64.max)
    /// Whether other counters read the same links.
    var wantsPeers = true
    /// Whether to recreate and restart as fast as it goes, and look at what the daemon takes.
    var isSoak = false
    /// In a soak, how many links are recreated.
    var recreations = 10_000
    /// In a soak, how many daemons are started.
    var restarts = 1_000
    /// The source that the daemon is told to use.
    var source: String?
    var wantsHelp = false

    static let help = """
        Usage: ifcount-churn [OPTION]...
        Try to break ifcountd with real links in a private network namespace: bytes go through tunnels and
        veths that are recreated, renamed, moved and swapped at random, while the daemon is stopped, killed
        and overrun. What it says is held against the truth; any violation is told, with exit status 1.

          --seconds N      go on for N seconds (60)
          --seed N         make the choices of an earlier run again
          --quick          20 seconds with a seed that is always the same, and without other counters
          --no-peers       without vnStat, node_exporter and a reader of /proc/net/dev beside it
          --source NAME    tell the daemon to read this source; all but netlink miss bytes, so violations
                           are to be found
          --soak           recreate and restart as fast as it goes, and print the daemon's memory and
                           descriptors
          --recreations N  in a soak: recreate N links (10000)
          --restarts N     in a soak: start N daemons (1000)
          -h, --help       print this help

        It needs no root where user namespaces and /dev/net/tun are open to all.
        Ctrl-C ends it early; what was found is told all the same.

        """

    private static let options: [OptionDefinition] = [
        .value("seconds"), .value("seed"), .value("source"), .value("recreations"), .value("restarts"),
        .flag("quick"), .flag("no-peers"), .flag("soak"), .flag("help", short: "h"),
    ]

    /// - Parameter words: the command line without the program's name.
    /// - Throws: the first mistake.
    init(_ words: some Collection<String>) throws(UsageError) {
        let parsed = try ParsedArguments(words, Self.options)
        wantsHelp = parsed.has("help")
        if wantsHelp { return }
        if let operand = parsed.operands.first { throw .unexpectedOperand(operand) }
        if parsed.has("quick") {
            seconds = .seconds(20)
            seed = 1
            wantsPeers = false
        }
        isSoak = parsed.has("soak")
        if isSoak || parsed.has("no-peers") { wantsPeers = false }
        if let text = parsed.value("seconds") {
            let time = try DurationText.microseconds(text, option: "--seconds", within: 0...86_400_000_000)
            seconds = .microseconds(time)
        }
        seed = try Self.number("seed", parsed) ?? seed
        recreations = try Self.count("recreations", parsed) ?? recreations
        restarts = try Self.count("restarts", parsed) ?? restarts
        source = parsed.value("source")
    }

    private static func number(_ option: String, _ parsed: ParsedArguments) throws(UsageError) -> UInt64? {
        guard let text = parsed.value(option) else { return nil }
        if let number = UInt64(text) { return number }
        throw .badValue("--\(option)", reason: "'\(text)' is no whole number below 2^64")
    }

    private static func count(_ option: String, _ parsed: ParsedArguments) throws(UsageError) -> Int? {
        guard let text = parsed.value(option) else { return nil }
        if let number = Int(text), (1...1_000_000).contains(number) { return number }
        throw .badValue("--\(option)", reason: "'\(text)' is not between 1 and 1000000")
    }
}
