internal import SystemCalls
internal import Wire

/// The names of a history's periods.
struct PeriodLabels: Hashable, Sendable {
    /// Each name by itself: `2026-11-30`, `2026-11`, `2026-11-30 14:00`.
    let full: [String]
    /// For a column: the date stands only where it is another than above.
    let column: [String]
    /// What one period is called.
    let noun: String

    /// - Parameters:
    ///   - starts: what the clocks show at the beginning of each period.
    ///   - resolution: how long the periods are.
    ///   - monthStarts: the day that months begin on; when it is not the first, a month is called by its first day.
    init(_ starts: [LocalTime], _ resolution: GetHistory.Resolution, monthStarts: Int) {
        noun = resolution == .quarter ? "quarter hour" : resolution.rawValue
        switch resolution {
        case .quarter, .hour:
            let times = starts.map { "\(Moment.date($0)) \(Moment.hourAndMinute($0))" }
            let counts = Dictionary(times.map { ($0, 1) }, uniquingKeysWith: +)
            // What the clocks show twice is told apart by its offset from UTC.
            let all = zip(times, starts).map { time, start in
                counts[time] == 1 ? time : time + " " + Moment.offset(start.offset)
            }
            full = all
            column = all.indices.map { index in
                let isSameDay = index > 0 && starts[index - 1].date == starts[index].date
                return isSameDay ? String(repeating: " ", count: 11) + all[index].dropFirst(11) : all[index]
            }
            return
        case .month where monthStarts == 1: full = starts.map { String(Moment.date($0).dropLast(3)) }
        case .year where monthStarts == 1: full = starts.map { String(Moment.date($0).dropLast(6)) }
        case .day, .month, .year: full = starts.map(Moment.date)
        }
        column = full
    }
}
