internal import Options
internal import SystemCalls

/// A moment as people type it. What it means depends on the zone, and for some on the present.
enum TimeText: Hashable, Sendable {
    case now
    /// The beginning of a day, so many days after today.
    case day(Int)
    /// So many µs ago.
    case ago(Int)
    /// What the clocks of the zone show.
    case local(CivilDate, hour: Int, minute: Int, second: Int)
    /// µs since 1970.
    case utc(Int)

    /// The longest time back, in µs: a hundred years.
    private static let longest = 36_525 * 86_400_000_000

    /// Reads `2026-11-30`, `2026-11-30T12:00`, `2026-11-30T12:00:05Z`, `today`, `yesterday`, `now`, `36h` or `7d`.
    ///
    /// - Parameters:
    ///   - text: what was typed.
    ///   - option: the option's name as typed, for the error.
    /// - Throws: `.badValue` with a sentence.
    init(_ text: String, option: String) throws(UsageError) {
        switch text {
        case "now": self = .now
        case "today": self = .day(0)
        case "yesterday": self = .day(-1)
        default:
            if let ago = Self.duration(text) {
                guard ago <= Self.longest else {
                    throw .badValue(option, reason: "'\(text)' is more than a hundred years")
                }
                self = .ago(ago)
            } else if let moment = try Self.moment(text, option) {
                self = moment
            } else {
                let forms = "2026-11-30, 2026-11-30T12:00, today or yesterday, or 7d or 36h for so long ago"
                throw .badValue(option, reason: "'\(text)' is no time; write \(forms)")
            }
        }
    }

    /// The moment that is meant.
    ///
    /// - Parameters:
    ///   - clock: the zone's clocks.
    ///   - now: µs since 1970.
    /// - Returns: µs since 1970; nil when the clocks of the zone never show it.
    func moment(_ clock: borrowing TimeZoneClock, now: Int) -> Int? {
        switch self {
        case .now: now
        case .day(let days):
            clock.startOfDay(CivilDate(daysSince1970: clock.local(now).date.daysSince1970 + days))
        case .ago(let time): now - time
        case .local(let date, 0, 0, 0): clock.startOfDay(date)
        case .local(let date, let hour, let minute, let second):
            clock.moment(of: date, hour: hour, minute: minute, second: second)
        case .utc(let moment): moment
        }
    }

    private static func duration(_ text: String) -> Int? {
        let days = ["d": 1, "w": 7]
        if let unit = days[String(text.suffix(1))], text.first?.isNumber == true, let number = Int(text.dropLast()) {
            let (time, overflow) = number.multipliedReportingOverflow(by: unit * 86_400_000_000)
            return overflow ? .max : time
        }
        // A number alone could be anything: a year, say.
        return text.last?.isNumber == false ? DurationText.microseconds(text) : nil
    }

    /// - Returns: nil when it does not look like a date.
    private static func moment(_ text: String, _ option: String) throws(UsageError) -> TimeText? {
        let isUTC = text.hasSuffix("Z")
        let halves = (isUTC ? text.dropLast() : text[...]).split(omittingEmptySubsequences: false) { "T ".contains($0) }
        guard halves.count <= 2, let day = numbers(halves[0], "-", [4, 2, 2]) else { return nil }
        var time = [0, 0, 0]
        if halves.count == 2 {
            let clock = halves[1]
            guard let digits = numbers(clock, ":", [2, 2, 2]) ?? numbers(clock, ":", [2, 2]) else { return nil }
            time.replaceSubrange(0..<digits.count, with: digits)
        } else if isUTC {
            return nil
        }
        let date = CivilDate(year: day[0], month: day[1], day: day[2])
        let (hour, minute, second) = (time[0], time[1], time[2])
        guard (1970...9998).contains(date.year) else {
            throw .badValue(option, reason: "'\(text)' is not between 1970 and 9998")
        }
        guard (1...12).contains(date.month), hour < 24, minute < 60, second < 60,
            (1...CivilDate.days(inMonth: date.month, of: date.year)).contains(date.day)
        else { throw .badValue(option, reason: "there is no '\(text)' in any calendar or clock") }
        if !isUTC { return .local(date, hour: hour, minute: minute, second: second) }
        return .utc((date.daysSince1970 * 86400 + hour * 3600 + minute * 60 + second) * 1_000_000)
    }

    /// Numbers of so many digits each, or nil when the text is something else.
    private static func numbers(_ text: Substring, _ separator: Character, _ lengths: [Int]) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let isRight = parts.map(\.utf8.count) == lengths
        guard isRight, parts.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return parts.compactMap { Int($0) }
    }
}
