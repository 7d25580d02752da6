internal import SystemCalls

/// Moments of the wall clock as people in the local time zone read them, the same in every locale.
enum Moment {
    /// `12:03:11`.
    static func time(_ wall: Int) -> String {
        let local = LocalTime(wall: wall)
        return "\(two(local.hour)):\(two(local.minute)):\(two(local.second))"
    }

    /// `2026-07-24 12:03:11`.
    static func dateAndTime(_ wall: Int) -> String { "\(date(wall)) \(time(wall))" }

    /// The time alone when it is on the same day as `now`, else with its date.
    static func short(_ wall: Int, now: Int) -> String {
        date(wall) == date(now) ? time(wall) : dateAndTime(wall)
    }

    private static func date(_ wall: Int) -> String {
        let local = LocalTime(wall: wall)
        return "\(local.year)-\(two(local.month))-\(two(local.day))"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
