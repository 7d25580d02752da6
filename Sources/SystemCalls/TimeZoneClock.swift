internal import Glibc

/// A name that no time zone of this machine has.
package struct UnknownTimeZone: Error, Hashable, Sendable, CustomStringConvertible {
    /// As it was asked for; whoever prints it makes it safe.
    package var name: String

    package init(name: String) { self.name = name }

    package var description: String { "no time zone '\(name)' here; names are those of the tz database, such as UTC" }
}

/// The clocks of one time zone, by the C library and the tz database (tzset(3), localtime_r(3), tzfile(5)).
///
/// While it lives, the TZ of the *process* is that zone. So at most one thread of a process may use these, one after the
/// other or one within the other, and no other thread may ask for local time or change the environment meanwhile. When
/// the zone is the process's own already, nothing is touched.
package struct TimeZoneClock: ~Copyable {
    /// The zone's name: of the tz database, or what TZ says, or "local" when it cannot be found out.
    package let name: String

    /// The TZ before.
    private let previous: String?
    /// Whether TZ has to be put back.
    private let isSet: Bool

    /// Takes the zone of a name.
    ///
    /// - Parameter zone: a name of the tz database; nil for the process's own zone.
    /// - Throws: `UnknownTimeZone` for everything that is no name of a file of the tz database; nothing else is
    ///   understood, no path and no rules as TZ may hold them.
    package init(_ zone: String? = nil) throws(UnknownTimeZone) {
        // Everything is found out before anything is stored: a value without copies that is given up half made is
        // released wrongly by the optimiser of Swift 6.3.
        if let zone, !Self.isKnown(zone) { throw UnknownTimeZone(name: zone) }
        let previous = ThisProcess.environment("TZ")
        let name = zone ?? Self.localName() ?? previous ?? "local"
        // Needs no file: a machine without the tz database still has UTC.
        let value = zone.map { $0 == "UTC" ? "UTC0" : $0 }
        let isSet = value != nil && value != previous
        if isSet { Self.set(value) }
        tzset()
        self.name = name
        self.previous = previous
        self.isSet = isSet
    }

    deinit {
        if isSet {
            Self.set(previous)
            tzset()
        }
    }

    /// What the clocks show at a moment.
    ///
    /// - Parameter moment: µs since 1970.
    /// - Returns: date, time and offset.
    package func local(_ moment: Int) -> LocalTime { LocalTime(wall: moment) }

    /// The moment at which the clocks show something: the first one, where they show it twice.
    ///
    /// - Returns: µs since 1970; nil when the clocks never show it, because they are put forward over it.
    package func moment(of date: CivilDate, hour: Int = 0, minute: Int = 0, second: Int = 0) -> Int? {
        let asUTC = (date.daysSince1970 * 86400 + hour * 3600 + minute * 60 + second) * 1_000_000
        // Whatever the offset is then, it is the one of a day before or of a day after.
        let candidates = [-Self.reach, Self.reach].map { asUTC - local(asUTC + $0).offset * 1_000_000 }
        return candidates.filter { candidate in
            let shown = local(candidate)
            return shown.date == date && (shown.hour, shown.minute, shown.second) == (hour, minute, second)
        }.min()
    }

    /// The first moment of a day, also where its midnight does not exist: clocks were put forward at it, or, in a zone
    /// that changed sides of the date line, over the whole day. µs since 1970.
    package func startOfDay(_ date: CivilDate) -> Int {
        if let midnight = moment(of: date) { return midnight }
        let asUTC = date.daysSince1970 * 86_400_000_000
        return first(from: asUTC - Self.reach, to: asUTC + Self.reach) { $0.date >= date }
    }

    /// The first whole second in a time, both ends in µs, at which the clocks fulfil a condition: false at its
    /// beginning, true at its end.
    package func first(from start: Int, to end: Int, where isPast: (LocalTime) -> Bool) -> Int {
        var (low, high) = (start.dividedDown(by: 1_000_000), end.dividedDown(by: 1_000_000))
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if isPast(local(middle * 1_000_000)) { high = middle } else { low = middle }
        }
        return high * 1_000_000
    }

    /// The name of the process's own zone: by TZ, else by the link /etc/localtime, which the C library reads, else by
    /// /etc/timezone.
    ///
    /// - Returns: a name of the tz database; nil when the zone has none, as with rules in TZ.
    package static func localName() -> String? {
        if let value = ThisProcess.environment("TZ") {
            if ["", "UTC0"].contains(value) { return "UTC" }
            return name(of: value.hasPrefix(":") ? String(value.dropFirst()) : value)
        }
        if let link = try? File.destination(ofLink: "/etc/localtime") { return name(of: link) }
        return (try? File.text("/etc/timezone")).flatMap { name(of: $0) }
    }

    /// Whether it is the name of a zone: UTC, or of a file in TZDIR or /usr/share/zoneinfo that tzfile(5) describes.
    package static func isKnown(_ name: String) -> Bool {
        if name == "UTC" { return true }
        // The zones in "right" count leap seconds, which µs since 1970 leave out.
        guard name.utf8.count <= 255, name.utf8.allSatisfy(isOfName), !name.hasPrefix("right/"),
            name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ !["", ".", ".."].contains($0) })
        else { return false }
        var magic = [UInt8](repeating: 0, count: 4)
        guard let file = try? File.open("\(directory)/\(name)"), let count = try? file.read(into: &magic) else {
            return false
        }
        return count == 4 && magic == Array("TZif".utf8)
    }

    private static var directory: String {
        ThisProcess.environment("TZDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/share/zoneinfo"
    }

    /// A zone's name from a path or a name.
    private static func name(of path: String) -> String? {
        if isKnown(path) { return path }
        let parts = path.split(separator: "/")
        let folder = directory.split(separator: "/")
        let isThere = parts.starts(with: folder)
        let rest = isThere ? parts.dropFirst(folder.count) : parts.drop { $0 != "zoneinfo" }.dropFirst()
        let name = rest.joined(separator: "/")
        return isKnown(name) ? name : nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "+"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func set(_ value: String?) {
        let result = if let value { unsafe setenv("TZ", value, 1) } else { unsafe unsetenv("TZ") }
        precondition(result == 0, "no memory for the environment")
    }

    /// Longer than any offset from UTC, and shorter than between two changes of one: in µs.
    private static let reach = 26 * 3_600_000_000
}
