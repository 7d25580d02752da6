/// Durations as people type them.
package enum DurationText {
    /// Reads `500ms`, `1s`, `1.5s`, `2m`, `1h`, or a plain number of seconds.
    ///
    /// - Returns: µs, or nil when the text is no duration or longer than 64 bits of µs. The caller checks its bounds.
    package static func microseconds(_ text: String) -> Int? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit: Int
        switch text[number.endIndex...] {
        case "us": unit = 1
        case "ms": unit = 1000
        case "", "s": unit = 1_000_000
        case "m", "min": unit = 60_000_000
        case "h": unit = 3_600_000_000
        default: return nil
        }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let whole = Int(first), parts.count <= 2 else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        guard parts.count == 2 else { return product }
        let fraction = parts[1]
        guard (1...6).contains(fraction.count), let digits = Int(fraction) else { return nil }
        let scale = (0..<fraction.count).reduce(1) { power, _ in power * 10 }
        let (sum, carried) = product.addingReportingOverflow(digits * unit / scale)
        return carried ? nil : sum
    }

    /// Reads the value of an option that is a duration, within bounds.
    ///
    /// - Parameters:
    ///   - text: what was typed.
    ///   - option: the option's name as typed, for the error.
    ///   - bounds: the shortest and longest that is allowed, in µs.
    /// - Returns: µs.
    /// - Throws: `.badValue` with a sentence that names the bounds.
    package static func microseconds(
        _ text: String,
        option: String,
        within bounds: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        guard let value = microseconds(text) else {
            throw .badValue(option, reason: "'\(text)' is no duration; write 500ms, 1s, 2m or 1h")
        }
        guard bounds.contains(value) else {
            let (low, high) = (describe(bounds.lowerBound), describe(bounds.upperBound))
            throw .badValue(option, reason: "'\(text)' is not between \(low) and \(high)")
        }
        return value
    }

    /// Writes µs in the largest unit that needs no fraction: `1500ms`, `2m`.
    package static func describe(_ microseconds: Int) -> String {
        let units = [(3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1000, "ms")]
        for (unit, name) in units where microseconds != 0 && microseconds % unit == 0 {
            return "\(microseconds / unit)\(name)"
        }
        return microseconds == 0 ? "0s" : "\(microseconds)us"
    }
}
