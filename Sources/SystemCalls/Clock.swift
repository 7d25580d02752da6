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
