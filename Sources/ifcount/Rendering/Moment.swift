internal import SystemCalls

/// Moments of the wall clock as people in the local time zone read them, the same in every locale.
enum Moment {
    /// `12:03:11`.
    static func time(_ wall: Int) -> String {
        let local = LocalTime(wall: wall)
        return "\(hourAndMinute(local)):\(two(local.second))"
    }

    /// `2026-07-24 12:03:11`.
    static func dateAndTime(_ wall: Int) -> String { "\(date(LocalTime(wall: wall))) \(time(wall))" }

    /// The time alone when it is on the same day as `now`, else with its date.
    static func short(_ wall: Int, now: Int) -> String {
        LocalTime(wall: wall).date == LocalTime(wall: now).date ? time(wall) : dateAndTime(wall)
    }

    /// `2026-07-24`.
    static func date(_ local: LocalTime) -> String {
        let year = String(local.year)
        return String(repeating: "0", count: max(4 - year.count, 0)) + "\(year)-\(two(local.month))-\(two(local.day))"
    }

    /// `12:03`.
    static func hourAndMinute(_ local: LocalTime) -> String { "\(two(local.hour)):\(two(local.minute))" }

    /// `+05:30`, from seconds.
    static func offset(_ seconds: Int) -> String {
        let minutes = abs(seconds) / 60
        return "\(seconds < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
    }

    /// `2026-07-24T12:03:11Z`: in UTC as ISO 8601 has it, with a fraction only where there is one.
    static func iso(_ wall: Int) -> String {
        let utc = LocalTime(wall: wall, offset: 0)
        let rest = wall - wall.dividedDown(by: 1_000_000) * 1_000_000
        let fraction = rest == 0 ? "" : "." + String(String(1_000_000 + rest).dropFirst())
        return "\(date(utc))T\(hourAndMinute(utc)):\(two(utc.second))\(fraction)Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
