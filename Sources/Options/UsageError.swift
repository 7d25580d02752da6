/// A mistake on the command line. Its description is a sentence for the person who typed it; what was typed stands in
/// it as it was, so whoever prints it makes it safe for a terminal.
package enum UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownOption(String, suggestion: String?)
    case unknownCommand(String, suggestion: String?)
    case missingValue(String)
    case unexpectedValue(String)
    /// A value that cannot be used; `reason` completes "option '--x': …".
    case badValue(String, reason: String)
    /// An option that exists, but not for this command.
    case notForCommand(String, command: String)
    case missingOperand(String)
    /// What should be a JSON object, and is not.
    case badParameters(String)
    case unexpectedOperand(String)

    package var description: String {
        switch self {
        case .unknownOption(let option, let suggestion): "unknown option '\(option)'" + Self.hint(suggestion)
        case .unknownCommand(let command, let suggestion): "unknown command '\(command)'" + Self.hint(suggestion)
        case .missingValue(let option): "option '\(option)' needs a value"
        case .unexpectedValue(let option): "option '\(option)' takes no value"
        case .badValue(let option, let reason): "option '\(option)': \(reason)"
        case .notForCommand(let option, let command): "option '\(option)' does not belong to '\(command)'"
        case .missingOperand(let what): "\(what) is missing"
        case .badParameters(let text): "'\(text)' is no JSON object, such as '{\"interface\":\"eth0\"}'"
        case .unexpectedOperand(let operand): "'\(operand)' is one argument too many"
        }
    }

    private static func hint(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean '\($0)'?" } ?? ""
    }
}

/// The word that was probably meant.
package enum Suggestion {
    /// The nearest of `candidates`, or nil when none is near enough to be more than a guess.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        guard !word.isEmpty else { return nil }
        let ranked = candidates.map { (word: $0, distance: distance(word, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        if best.distance <= max(1, min(2, best.word.count / 2)) { return best.word }
        let beginnings = candidates.filter { $0.hasPrefix(word) }
        return beginnings.count == 1 ? beginnings.first : nil
    }

    /// How many letters must be inserted, deleted, replaced or exchanged with their neighbour.
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        var rows = [Array(0...other.count)]
        for i in one.indices {
            var row = [i + 1]
            for j in other.indices {
                var best = min(rows[i][j + 1], row[j]) + 1
                best = min(best, rows[i][j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
