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
          --help        print this help

        It needs no root where user namespaces and /dev/net/tun are open to all.
        Ctrl-C ends it early; the truth is told all the same.

        Example: ifcount-demo --seconds 20 -- ifcount watch utun0

        """

    init(_ words: some Sequence<String>) throws(UsageError) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            switch word {
            case "--": (command, rest) = (Array(rest), [])
            case "--help", "-h": wantsHelp = true
            case "--json": wantsJSON = true
            case "--seconds": seconds = try Self.duration(word, &rest)
            case "--every": every = try Self.duration(word, &rest)
            case "--lead": lead = try Self.duration(word, &rest)
            case "--linger": linger = try Self.duration(word, &rest)
            case "--seed":
                guard let text = rest.popFirst(), let number = UInt64(text) else {
                    throw UsageError(message: "--seed needs a number")
                }
                seed = number
            default: throw UsageError(message: "unknown argument '\(word)'; the command stands after --")
            }
        }
    }

    private static func duration(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Duration {
        guard let text = rest.popFirst(), let seconds = Double(text), (0...86400).contains(seconds) else {
            throw UsageError(message: "\(option) needs a number of seconds, at most a day")
        }
        return .seconds(seconds)
    }
}

/// A command line that makes no sense.
struct UsageError: Error {
    /// Why, for people.
    let message: String
}
