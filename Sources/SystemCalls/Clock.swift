internal import Glibc

/// The two clocks of clock_gettime(2) that are used here.
package enum Clock {
    /// CLOCK_BOOTTIME in µs: never set, goes on during suspend. All intervals come from it.
    package static var boot: UInt64 {
        let time = now(CLOCK_BOOTTIME)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    /// CLOCK_REALTIME in µs since 1970. It can be set, so it names moments and measures nothing.
    package static var wall: Int {
        let time = now(CLOCK_REALTIME)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    private static func now(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // Cannot fail: both clocks exist since Linux 2.6.39, and the pointer is good.
        _ = unsafe clock_gettime(clock, &time)
        return time
    }
}

/// A wall-clock moment as a person in the local time zone reads it (localtime_r(3)).
package struct LocalTime: Sendable {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    /// - Parameter wall: µs since 1970.
    package init(wall: Int) {
        var seconds = time_t(wall / 1_000_000)
        var parts = unsafe tm()
        _ = unsafe localtime_r(&seconds, &parts)
        year = unsafe Int(parts.tm_year) + 1900
        month = unsafe Int(parts.tm_mon) + 1
        day = unsafe Int(parts.tm_mday)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
        second = unsafe Int(parts.tm_sec)
    }
}
