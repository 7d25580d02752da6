internal import Ledger
internal import Options
internal import SystemCalls
internal import Wire

/// What the command line asks for.
struct Invocation: Hashable, Sendable {
    /// What to do.
    enum Command: Hashable, Sendable {
        case list(all: Bool)
        case show([String])
        /// `duration` in µs, nil until the end.
        case watch([String], intervalUSec: Int?, duration: Int?)
        case history(HistoryCommand)
        case events(EventsCommand)
        case importing(ImportCommand)
        case export(ExportCommand)
        case accounts(AccountsCommand)
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
        .flag("all", short: "a"), .flag("csv"), .flag("dry-run"), .flag("follow", short: "f"), .flag("forecast"),
        .flag("help", short: "h"), .flag("json", short: "j"), .flag("more"), .flag("no-color"), .flag("version"),
        .flag("yes", short: "y"), .value("by"), .value("for"), .value("interface"), .value("interval", short: "i"),
        .value("limit", short: "n"),
        .value("month-starts"), .value("since"), .value("socket"), .value("timezone"), .value("until"),
    ]

    /// The options that belong to some commands; the others belong to all.
    private static let owners = [
        "all": ["list"], "more": ["call"], "for": ["watch"], "interval": ["watch"], "follow": ["events"],
        "since": ["history", "events"], "limit": ["history", "events"], "by": ["history"], "csv": ["history"],
        "forecast": ["history"], "month-starts": ["history"], "timezone": ["history", "import"], "until": ["history"],
        "dry-run": ["import"], "interface": ["import"], "yes": ["accounts"],
    ]

    private static let commands = [
        "list", "show", "watch", "history", "events", "accounts", "import", "export", "call", "help",
    ]

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
            guard let owners = Self.owners[option], !owners.contains(name) else { continue }
            throw .notForCommand("--\(option)", command: name)
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
        case "history": return .history(try history(operands, parsed))
        case "events": return .events(try events(operands, parsed))
        case "import": return .importing(try importing(operands, parsed))
        case "export":
            var seen: Set<String> = []
            return .export(ExportCommand(interfaces: operands.map(canonical).filter { seen.insert($0).inserted }))
        case "accounts": return .accounts(try accounts(operands, parsed))
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

    private static func history(
        _ operands: [String],
        _ parsed: ParsedArguments
    ) throws(UsageError) -> HistoryCommand {
        guard let interface = operands.first else { throw .missingOperand("the interface whose history to show") }
        if operands.count > 1 { throw .unexpectedOperand(operands[1]) }
        var history = HistoryCommand(interface: canonical(interface))
        if let text = parsed.value("by") {
            guard let resolution = GetHistory.Resolution(rawValue: text) else {
                let words = GetHistory.Resolution.allCases.map(\.rawValue)
                let hint = Suggestion.nearest(to: text, among: words).map { "; did you mean '\($0)'?" } ?? ""
                let reason = "'\(text)' is none of \(words.joined(separator: ", "))\(hint)"
                throw .badValue("--by", reason: reason)
            }
            history.resolution = resolution
        }
        history.since = try time("since", parsed)
        history.until = try time("until", parsed)
        history.limit = try number("limit", parsed, within: limits)
        history.monthStarts = try number("month-starts", parsed, within: 1...31)
        if history.monthStarts != nil, ![.month, .year].contains(history.resolution) {
            throw .badValue("--month-starts", reason: "it needs '--by month' or '--by year'")
        }
        history.timezone = try zone(parsed)
        history.form = try form(parsed)
        return history
    }

    private static func form(_ parsed: ParsedArguments) throws(UsageError) -> HistoryCommand.Form {
        let chosen = ["json", "csv", "forecast"].filter(parsed.has)
        // A program gets what was counted, and makes its own guesses.
        if chosen.count > 1 { throw .badValue("--\(chosen[1])", reason: "not together with '--\(chosen[0])'") }
        switch chosen.first {
        case "json": return .json
        case "csv": return .csv
        default: return .table(forecast: chosen.first == "forecast")
        }
    }

    private static func events(_ operands: [String], _ parsed: ParsedArguments) throws(UsageError) -> EventsCommand {
        if operands.count > 1 { throw .unexpectedOperand(operands[1]) }
        return EventsCommand(
            interface: operands.first.map(canonical),
            since: try time("since", parsed),
            limit: try number("limit", parsed, within: limits),
            follows: parsed.has("follow"),
            isJSON: parsed.has("json")
        )
    }

    private static func importing(_ operands: [String], _ parsed: ParsedArguments) throws(UsageError) -> ImportCommand {
        guard let source = operands.first else { throw .missingOperand("what to import from, 'vnstat',") }
        guard source == "vnstat" else { throw .unknownCommand("import \(source)", suggestion: "import vnstat") }
        if operands.count > 2 { throw .unexpectedOperand(operands[2]) }
        return ImportCommand(
            file: operands.count == 2 ? operands[1] : nil,
            interface: parsed.value("interface").map(canonical),
            timezone: try zone(parsed),
            isDry: parsed.has("dry-run"),
            isJSON: parsed.has("json")
        )
    }

    private static func accounts(
        _ operands: [String],
        _ parsed: ParsedArguments
    ) throws(UsageError) -> AccountsCommand {
        let words = ["forget": 1, "rename": 2, "merge": 2]
        var command = AccountsCommand(isConfirmed: parsed.has("yes"), isJSON: parsed.has("json"))
        guard let word = operands.first else { return command }
        guard let count = words[word] else {
            let nearest = Suggestion.nearest(to: word, among: words.keys.sorted())
            throw .unknownCommand("accounts \(word)", suggestion: nearest.map { "accounts \($0)" })
        }
        let names = operands.dropFirst().map(canonical)
        if names.count > count { throw .unexpectedOperand(names[count]) }
        switch (word, names.count) {
        case ("forget", 1): command.action = .forget(names[0])
        case ("rename", 2): command.action = .rename(names[0], to: names[1])
        case ("merge", 2): command.action = .merge(names[0], into: names[1])
        case (_, 0): throw .missingOperand("the interface to \(word)")
        case ("rename", _): throw .missingOperand("the name that \(names[0]) is to have")
        default: throw .missingOperand("the interface that \(names[0]) is to be added to")
        }
        return command
    }

    private static func zone(_ parsed: ParsedArguments) throws(UsageError) -> String? {
        let zone = parsed.value("timezone")
        if let zone, !TimeZoneClock.isKnown(zone) {
            throw .badValue("--timezone", reason: UnknownTimeZone(name: zone).description)
        }
        return zone
    }

    private static let limits = 1...100_000

    private static func time(_ option: String, _ parsed: ParsedArguments) throws(UsageError) -> TimeText? {
        guard let text = parsed.value(option) else { return nil }
        return try TimeText(text, option: "--\(option)")
    }

    private static func number(
        _ option: String,
        _ parsed: ParsedArguments,
        within bounds: ClosedRange<Int>
    ) throws(UsageError) -> Int? {
        guard let text = parsed.value(option) else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            let reason = "'\(text)' is no number from \(bounds.lowerBound) to \(bounds.upperBound)"
            throw .badValue("--\(option)", reason: reason)
        }
        return number
    }

    private static func call(_ operands: [String], more: Bool) throws(UsageError) -> Command {
        guard let method = operands.first else { throw .missingOperand("the method to call, such as \(Get.method),") }
        if operands.count > 2 { throw .unexpectedOperand(operands[2]) }
        guard let value = try? JSONValue(parsing: Array((operands.dropFirst().first ?? "{}").utf8)),
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
