internal import Wire

/// Numbers for people: binary units for bytes, decimal units for rates, always with the unit, in integers throughout.
enum Figures {
    /// Bytes as `1023 B`, `1.0 KiB`, `163.2 MiB`.
    ///
    /// - Parameters:
    ///   - count: bytes.
    ///   - down: whether to cut rather than to round, for a figure that must not be above the truth.
    /// - Returns: at most one digit behind the point.
    static func bytes(_ count: Int, roundedDown down: Bool = false) -> String {
        scaled(count, base: 1024, units: ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], down: down)
    }

    /// A rate in bit/s from bytes per second: `12.4 Mbit/s`.
    static func rate(_ bytesPerSecond: Int) -> String {
        let (bits, overflow) = bytesPerSecond.multipliedReportingOverflow(by: 8)
        let units = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s", "Ebit/s"]
        return scaled(overflow ? .max : bits, base: 1000, units: units, down: false)
    }

    /// An integer with a comma between thousands, in every locale.
    static func thousands(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }

    /// A total with the sign for what it is: `≈ 163.2 MiB`, or `≥ 163.2 MiB` when something may be missing.
    static func total(_ amount: Amount, _ style: Style) -> String {
        amount.atMost == amount.bytes
            ? "\(style.about) \(bytes(amount.bytes))"
            : "\(style.atLeast) \(bytes(amount.bytes, roundedDown: true))"
    }

    /// The upper bound of a total, in words.
    static func bound(_ amount: Amount) -> String {
        guard let most = amount.atMost else { return "no upper bound" }
        return most == amount.bytes ? "nothing missing" : "at most \(thousands(most))"
    }

    /// A length of time as `0.5 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    static func duration(_ microseconds: Int) -> String {
        let seconds = microseconds / 1_000_000
        if seconds < 10 { return scaledTenths(microseconds) + " s" }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if seconds < 86400 { return "\(seconds / 3600) h \(seconds / 60 % 60) min" }
        return "\(seconds / 86400) d \(seconds / 3600 % 24) h"
    }

    /// A count with its noun: `no gaps`, `1 gap`, `3 gaps`.
    static func count(_ number: Int, _ noun: String) -> String {
        switch number {
        case 0: "no \(noun)s"
        case 1: "1 \(noun)"
        default: "\(thousands(number)) \(noun)s"
        }
    }

    private static func scaledTenths(_ microseconds: Int) -> String {
        let tenths = microseconds / 100_000
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private static func scaled(_ number: Int, base: UInt, units: [String], down: Bool) -> String {
        let magnitude = number.magnitude
        let sign = number < 0 ? "-" : ""
        var unit: UInt = 1
        var index = 0
        // The next unit begins where one digit behind the point would read 1000.0 or 1024.0.
        while index + 1 < units.count, tenths(magnitude, unit, down) >= base * 10 {
            unit *= base
            index += 1
        }
        if index == 0 { return "\(sign)\(magnitude) \(units[0])" }
        let value = tenths(magnitude, unit, down)
        return "\(sign)\(value / 10).\(value % 10) \(units[index])"
    }

    /// `number / unit` in tenths. No step overflows: the remainder is below 2^60.
    private static func tenths(_ number: UInt, _ unit: UInt, _ down: Bool) -> UInt {
        // Below the first unit there is no point to round at, and no room to multiply.
        let whole = min(number / unit, .max / 20)
        return whole * 10 + (number % unit * 10 + (down ? 0 : unit / 2)) / unit
    }
}
