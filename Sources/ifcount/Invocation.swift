internal import Ledger
internal import Options
internal import Wire

/// What the command line asks for.
struct Invocation: Hashable, Sendable {
    /// What to do.
    enum Command: Hashable, Sendable {
        case list(all: Bool)
        case show([String])
        /// `duration` in µs, nil until the end.
        case watch([String], intervalUSec: Int?, duration: Int?)
        case call(method: String, parameters: JSONValue, more: Bool)
        case help(topic: String?)
        case version
    }

    var command: Command
    /// Whether the replies are printed as JSON.
    var isJSON: Bool
    /// The value of `--socket`.
    var socket: String?
    /// Whether `--no-color` was not given.
    var wantsColor: Bool

    private static let definitions: [OptionDefinition] = [
        .flag("all", short: "a"), .flag("help", short: "h"), .flag("json", short: "j"), .flag("more"),
        .flag("no-color"), .flag("version"), .value("for"), .value("interval", short: "i"), .value("socket"),
    ]

    /// The options that belong to one command each; the others belong to all.
    private static let owners = ["all": "list", "more": "call", "for": "watch", "interval": "watch"]

    private static let commands = ["list", "show", "watch", "call", "help"]

    /// - Parameter arguments: the command line without the program's name.
    /// - Throws: the first mistake.
    init(_ arguments: [String]) throws(UsageError) {
        let parsed = try ParsedArguments(arguments, Self.definitions)
        isJSON = parsed.has("json")
        socket = parsed.value("socket")
        wantsColor = !parsed.has("no-color")
        let word = parsed.operands.first
        let operands = Array(parsed.operands.dropFirst())
        if parsed.has("help") {
            command = .help(topic: word.flatMap { Self.commands.contains($0) ? $0 : nil })
            return
        }
        if parsed.has("version") {
            command = .version
            return
        }
        let name = word ?? "list"
        guard Self.commands.contains(name) else {
            throw .unknownCommand(name, suggestion: Suggestion.nearest(to: name, among: Self.commands))
        }
        for option in parsed.names {
            if let owner = Self.owners[option], owner != name { throw .notForCommand("--\(option)", command: name) }
        }
        command = try Self.command(name, operands, parsed)
    }

    private static func command(
        _ name: String,
        _ operands: [String],
        _ parsed: ParsedArguments
    ) throws(UsageError) -> Command {
        switch name {
        case "show":
            if operands.isEmpty { throw .missingOperand("the interface to show") }
            return .show(operands.map(canonical))
        case "watch":
            var seen: Set<String> = []
            let names = operands.map(canonical).filter { seen.insert($0).inserted }
            return .watch(
                names,
                intervalUSec: try duration("interval", parsed, within: Watch.intervals),
                duration: try duration("for", parsed, within: 0...(366 * 86_400_000_000))
            )
        case "call": return try call(operands, more: parsed.has("more"))
        case "help":
            if operands.count > 1 { throw .unexpectedOperand(operands[1]) }
            if let topic = operands.first, !commands.contains(topic) {
                throw .unknownCommand(topic, suggestion: Suggestion.nearest(to: topic, among: commands))
            }
            return .help(topic: operands.first)
        default:
            if let operand = operands.first { throw .unexpectedOperand(operand) }
            return .list(all: parsed.has("all"))
        }
    }

    private static func call(_ operands: [String], more: Bool) throws(UsageError) -> Command {
        guard let method = operands.first else { throw .missingOperand("the method to call, such as \(Get.method),") }
        if operands.count > 2 { throw .unexpectedOperand(operands[2]) }
        guard let value = try? Frame.decode(JSONValue.self, from: Array((operands.dropFirst().first ?? "{}").utf8)),
            case .object = value
        else { throw .badParameters(operands[1]) }
        return .call(method: method, parameters: value, more: more)
    }

    private static func duration(
        _ option: String,
        _ parsed: ParsedArguments,
        within bounds: ClosedRange<Int>
    ) throws(UsageError) -> Int? {
        guard let text = parsed.value(option) else { return nil }
        return try DurationText.microseconds(text, option: "--\(option)", within: bounds)
    }

    /// The one spelling of a name that the daemon uses: `\xFF` and `\xff` are the same byte.
    private static func canonical(_ name: String) -> String { LinkName(escaped: name)?.escaped ?? name }
}
