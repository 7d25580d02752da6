/// An option that a program knows.
package struct OptionDefinition: Hashable, Sendable {
    /// The long name without its dashes.
    package let name: String
    /// The one-letter alias, if there is one.
    package let short: Character?
    /// Whether a value belongs to it.
    package let takesValue: Bool

    /// An option that is given or not given: `--json`, `-j`.
    package static func flag(_ name: String, short: Character? = nil) -> OptionDefinition {
        OptionDefinition(name: name, short: short, takesValue: false)
    }

    /// An option with a value: `--interval 1s`, `--interval=1s`, `-i 1s`, `-i1s`.
    package static func value(_ name: String, short: Character? = nil) -> OptionDefinition {
        OptionDefinition(name: name, short: short, takesValue: true)
    }
}

/// A command line taken apart as getopt_long(3) does: options and operands in any order, `--` ends the options,
/// `-` alone is an operand, and of an option given twice the last one counts. Long names are not abbreviated.
package struct ParsedArguments: Hashable, Sendable {
    /// The options that were given, by long name; a flag's value is empty.
    private var given: [String: String] = [:]
    /// The long names in the order they were first given.
    package private(set) var names: [String] = []
    /// What is not an option, in order.
    package private(set) var operands: [String] = []

    /// - Parameters:
    ///   - arguments: the command line without the program's name.
    ///   - definitions: the options that exist.
    /// - Throws: the first mistake.
    package init(_ arguments: some Sequence<String>, _ definitions: [OptionDefinition]) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                return
            }
            if argument.hasPrefix("--") {
                try takeLong(argument.dropFirst(2), from: &rest, definitions)
            } else if argument.hasPrefix("-"), argument != "-" {
                try takeShort(argument.dropFirst(), from: &rest, definitions)
            } else {
                operands.append(argument)
            }
        }
    }

    /// Whether an option was given.
    package func has(_ name: String) -> Bool { given[name] != nil }

    /// The value of an option, or nil when it was not given.
    package func value(_ name: String) -> String? { given[name] }

    private mutating func set(_ name: String, to value: String) {
        if given.updateValue(value, forKey: name) == nil { names.append(name) }
    }

    private mutating func takeLong(
        _ text: Substring,
        from rest: inout ArraySlice<String>,
        _ definitions: [OptionDefinition]
    ) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        guard let definition = definitions.first(where: { $0.name == name }) else {
            let nearest = Suggestion.nearest(to: name, among: definitions.map(\.name))
            throw .unknownOption("--" + name, suggestion: nearest.map { "--" + $0 })
        }
        if definition.takesValue {
            guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
                throw .missingValue("--" + name)
            }
            set(name, to: value)
        } else {
            if parts.count == 2 { throw .unexpectedValue("--" + name) }
            set(name, to: "")
        }
    }

    private mutating func takeShort(
        _ text: Substring,
        from rest: inout ArraySlice<String>,
        _ definitions: [OptionDefinition]
    ) throws(UsageError) {
        var letters = text
        while let letter = letters.popFirst() {
            guard let definition = definitions.first(where: { $0.short == letter }) else {
                let word = Suggestion.nearest(to: String(text), among: definitions.map(\.name))
                throw .unknownOption("-" + text, suggestion: word.map { "--" + $0 })
            }
            guard definition.takesValue else {
                set(definition.name, to: "")
                continue
            }
            guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                throw .missingValue("-" + String(letter))
            }
            set(definition.name, to: value)
            return
        }
    }
}
