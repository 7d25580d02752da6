internal import Glibc

/// A wall-clock moment as the clocks somewhere show it.
package struct LocalTime: Hashable, Sendable {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int
    /// How far these clocks are ahead of UTC, in seconds.
    package var offset: Int

    /// By the clocks of the process's time zone (localtime_r(3)).
    ///
    /// - Parameter wall: µs since 1970.
    package init(wall: Int) {
        var seconds = time_t(Self.seconds(wall))
        var parts = unsafe tm()
        // Cannot fail: 64 bits of µs are less than a year of 32 bits.
        _ = unsafe localtime_r(&seconds, &parts)
        year = unsafe Int(parts.tm_year) + 1900
        month = unsafe Int(parts.tm_mon) + 1
        day = unsafe Int(parts.tm_mday)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
        second = unsafe Int(parts.tm_sec)
        offset = unsafe Int(parts.tm_gmtoff)
    }

    /// By clocks that are `offset` seconds ahead of UTC.
    ///
    /// - Parameters:
    ///   - wall: µs since 1970.
    ///   - offset: in seconds, less than a day either way.
    package init(wall: Int, offset: Int) {
        let seconds = Self.seconds(wall) + offset
        let days = seconds.dividedDown(by: 86400)
        let date = CivilDate(daysSince1970: days)
        let rest = seconds - days * 86400
        (year, month, day) = (date.year, date.month, date.day)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
        self.offset = offset
    }

    /// The date alone.
    package var date: CivilDate { CivilDate(year: year, month: month, day: day) }

    /// How many seconds the full hour is ago.
    package var secondsIntoHour: Int { minute * 60 + second }

    private static func seconds(_ wall: Int) -> Int { wall.dividedDown(by: 1_000_000) }
}

/// A day of the Gregorian calendar, also before that calendar was made.
package struct CivilDate: Hashable, Comparable, Sendable {
    package var year: Int
    /// 1 to 12.
    package var month: Int
    /// 1 to 31.
    package var day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// - Parameter days: how many days after 1970-01-01.
    package init(daysSince1970 days: Int) {
        // Years from March on, so that the leap day is a year's last; 400 of them always have 146,097 days. Day 0 is
        // 0000-03-01.
        let day = days + 719_468
        let era = day.dividedDown(by: 146_097)
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// How many days after 1970-01-01 it is.
    package var daysSince1970: Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = yearFromMarch.dividedDown(by: 400)
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// How many days a month has.
    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension Int {
    /// Division that rounds down, also below zero.
    ///
    /// - Parameter divisor: greater than zero.
    /// - Returns: the largest integer that is not above the quotient.
    package func dividedDown(by divisor: Int) -> Int {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
