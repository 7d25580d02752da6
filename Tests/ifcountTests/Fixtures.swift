import Glibc
import Wire

@testable import ifcount

/// Readings that never change, at 2026-07-24 12:03:11 UTC.
enum Fixture {
    static let now = 1_784_894_591_000_000
    static let ascii = Style(isColored: false, isUnicode: false)

    /// Times are written in local time: the tests are somewhere where that is UTC.
    static let isInUTC: Bool = {
        setenv("TZ", "UTC0", 1)
        tzset()
        return true
    }()

    static func reading(
        _ name: String = "utun0",
        kind: String = "tun",
        rate: Rate? = Rate(rxBytesPerSecond: 1_550_000, txBytesPerSecond: 150_000, overUSec: 1_000_000),
        rx: Amount = Amount(bytes: 171_124_882, atMost: 171_124_882, packets: 150_000),
        tx: Amount = Amount(bytes: 12_712_345, atMost: 12_712_345, packets: 9000),
        warnings: [String] = []
    ) -> Reading {
        precondition(isInUTC)
        let isGapped = rx.atMost != rx.bytes || tx.atMost != tx.bytes
        return Reading(
            interface: name,
            kind: kind,
            ifindex: 7,
            present: true,
            state: "up",
            incarnation: 4,
            counter: Counter(
                rxBytes: 5000,
                txBytes: 600,
                rxPackets: 50,
                txPackets: 6,
                rxErrors: 1,
                txErrors: 0,
                rxDropped: 0,
                txDropped: 2
            ),
            rate: rate,
            total: Total(
                quality: isGapped ? .gapped : .continuous,
                sinceUSec: now - 3_600_000_000,
                rx: rx,
                tx: tx,
                resets: 3,
                gaps: isGapped ? 1 : 0,
                unobservedUSec: isGapped ? 12_000_000 : 0,
                suspect: 0
            ),
            sampledUSec: now,
            source: "netlink",
            warnings: warnings
        )
    }

    /// Something may be missing: without limit in one direction, with a limit in the other.
    static var gapped: Reading {
        reading(
            "wg0",
            kind: "wireguard",
            rx: Amount(bytes: 3_000_000_000_000, atMost: nil, packets: 1),
            tx: Amount(bytes: 1023, atMost: 2047, packets: 1),
            warnings: ["received bytes have not moved for 20 minutes while sent bytes did"]
        )
    }

    static func event(
        _ kind: Event.Kind,
        _ name: String = "utun0",
        previous: String? = nil,
        cause: String? = nil,
        gapped: Bool = false
    ) -> Event {
        precondition(isInUTC)
        return Event(
            atUSec: now,
            interface: name,
            event: kind,
            ifindex: 7,
            incarnation: 4,
            previous: previous,
            cause: cause,
            gapped: gapped
        )
    }
}

/// Lines as they would go out.
func text(_ lines: [Line], _ style: Style = .plain, width: Int? = nil) -> [String] {
    lines.map { $0.text(style, width: width) }
}
