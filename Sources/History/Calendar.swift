package import SystemCalls

/// How long a period is. All but `quarter` begin where the clocks of a time zone say.
package enum Resolution: String, Codable, Hashable, Sendable, CaseIterable {
    /// 15 minutes.
    case quarter
    case hour
    /// A calendar day: 23 or 25 hours long where the clocks change.
    case day
    case month
    case year
}

/// Why there is no calendar for a question.
package enum CalendarError: Error, Hashable, Sendable {
    /// There would be more edges than `Resolution.edgesAtMost`.
    case tooManyPeriods
    /// A moment before the year 1 or after the year 9999.
    case momentOutOfRange
    /// A month cannot start on that day.
    case noDayOfMonth
}

extension Resolution {
    /// How many edges there may be in one answer.
    package static let edgesAtMost = 100_000

    /// The moments that are in a year of four digits, in every zone; µs since 1970.
    package static let moments = -62_135_000_000_000_000...253_402_000_000_000_000
}

extension TimeZoneClock {
    /// The edges of the periods that a stretch of time touches: the first is at or before `from`, the last at or behind
    /// `to`, and there are always two at least.
    ///
    /// - Hours begin where the clocks show a full hour, so one in which they are changed by half an hour (Lord Howe) is
    ///   an hour and a half long.
    /// - A day begins with its first moment, which need not be 00:00. A day that a zone left out has no edge.
    ///
    /// - Parameters:
    ///   - from: µs since 1970.
    ///   - to: µs since 1970; where it is not behind `from`, the one period of `from` is answered.
    ///   - resolution: how long the periods are.
    ///   - monthStarts: the day that months begin on, and years in January, 1 to 31; in a month that is too short for it,
    ///     the last day.
    /// - Returns: moments in µs since 1970, each later than the one before.
    /// - Throws: `CalendarError`, for what a program may ask for and nobody can answer.
    package func edges(
        from: Int,
        to: Int,
        resolution: Resolution,
        monthStarts: Int = 1
    ) throws(CalendarError) -> [Int] {
        guard Resolution.moments.contains(from), Resolution.moments.contains(to) else { throw .momentOutOfRange }
        guard (1...31).contains(monthStarts) else { throw .noDayOfMonth }
        let end = max(from + 1, to)
        switch resolution {
        case .quarter:
            return try edges(from: Slot.start(of: from), until: end) { $0 + Slot.length }
        case .hour:
            // No hour is longer than two.
            var edge = nextHour(after: from - 3 * 3_600_000_000)
            while true {
                let next = nextHour(after: edge)
                if next > from { break }
                edge = next
            }
            return try edges(from: edge, until: end) { nextHour(after: $0) }
        case .day:
            return try edges(from, end, around: local(from).date.daysSince1970) { CivilDate(daysSince1970: $0) }
        case .month:
            let date = local(from).date
            return try edges(from, end, around: date.year * 12 + date.month - 1) { index in
                let year = index.dividedDown(by: 12)
                return Self.start(ofMonth: index - year * 12 + 1, year, monthStarts)
            }
        case .year:
            return try edges(from, end, around: local(from).date.year) { Self.start(ofMonth: 1, $0, monthStarts) }
        }
    }

    private static func start(ofMonth month: Int, _ year: Int, _ day: Int) -> CivilDate {
        CivilDate(year: year, month: month, day: min(day, CivilDate.days(inMonth: month, of: year)))
    }

    /// The next moment at which the clocks show a full hour.
    private func nextHour(after moment: Int) -> Int {
        let second = moment.dividedDown(by: 1_000_000) * 1_000_000
        let here = local(second)
        let hour = second + (3600 - here.secondsIntoHour) * 1_000_000
        if local(hour).offset == here.offset { return hour }
        // The clocks are changed before then, or just then.
        let change = first(from: second, to: hour) { $0.offset != here.offset }
        return local(change).secondsIntoHour == 0 ? change : nextHour(after: change)
    }

    /// The edges of periods that begin with a day; `date` gives the first day of each by its number, of which `index` is
    /// one near `from`.
    private func edges(
        _ from: Int,
        _ end: Int,
        around index: Int,
        _ date: (Int) -> CivilDate
    ) throws(CalendarError) -> [Int] {
        var index = index
        while startOfDay(date(index)) > from { index -= 1 }
        return try edges(from: startOfDay(date(index)), until: end) { edge in
            var next = edge
            while next <= edge {
                index += 1
                next = startOfDay(date(index))
            }
            return next
        }
    }

    private func edges(
        from first: Int,
        until end: Int,
        _ next: (Int) -> Int
    ) throws(CalendarError) -> [Int] {
        var edges = [first]
        var edge = first
        while edge < end {
            if edges.count == Resolution.edgesAtMost { throw .tooManyPeriods }
            edge = next(edge)
            edges.append(edge)
        }
        return edges
    }
}
