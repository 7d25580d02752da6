import SystemCalls
import Testing
import Wire

@testable import ifcount

/// Histories that never change.
enum History {
    /// Europe/Berlin at the end of October 2026: summer time ends on the 25th at 01:00 UTC.
    static func berlin(_ moment: Int) -> LocalTime {
        LocalTime(wall: moment, offset: moment < 1_792_890_000_000_000 ? 7200 : 3600)
    }

    static func row(
        _ start: Int,
        _ end: Int,
        _ rx: Int,
        _ tx: Int,
        gaps: Int = 0,
        spread: (Int, Int) = (0, 0),
        imported: Bool = false
    ) -> GetHistory.Row {
        let isGapped = gaps > 0 || spread != (0, 0)
        return GetHistory.Row(
            startUSec: start * 1_000_000,
            endUSec: end * 1_000_000,
            rx: Amount(bytes: rx, atMost: isGapped ? nil : rx, packets: rx / 1000),
            tx: Amount(bytes: tx, atMost: isGapped ? nil : tx, packets: tx / 1000),
            quality: isGapped ? .gapped : .continuous,
            gaps: gaps,
            rxSpreadBytes: spread.0,
            txSpreadBytes: spread.1,
            imported: imported
        )
    }

    /// Five days, of which the last is not over: it is 15:00 there.
    static var days: GetHistory.Reply {
        GetHistory.Reply(
            interface: "utun0",
            timezone: "Europe/Berlin",
            rows: [
                row(1_792_706_400, 1_792_792_800, 3_000_000_000, 200_000_000, imported: true),
                row(1_792_792_800, 1_792_879_200, 0, 0),
                row(
                    1_792_879_200,
                    1_792_969_200,
                    1_500_000_000,
                    90_000_000,
                    gaps: 2,
                    spread: (1_000_000_000, 60_000_000)
                ),
                row(1_792_969_200, 1_793_055_600, 171_124_882, 12_712_345, gaps: 1),
                row(1_793_055_600, 1_793_142_000, 1_000_000, 1023),
            ],
            untimedRxBytes: 0,
            untimedTxBytes: 2048,
            nowUSec: 1_793_109_600_000_000
        )
    }

    /// The hours around the end of summer time.
    static var hours: GetHistory.Reply {
        let starts = [1_792_879_200 - 3600] + (0..<5).map { 1_792_879_200 + $0 * 3600 }
        return GetHistory.Reply(
            interface: "utun0",
            timezone: "Europe/Berlin",
            rows: starts.enumerated().map { row($1, $1 + 3600, $0 * 1024, 0) },
            untimedRxBytes: 0,
            untimedTxBytes: 0,
            nowUSec: 1_793_109_600_000_000
        )
    }

    static func lines(
        _ reply: GetHistory.Reply,
        _ resolution: GetHistory.Resolution = .day,
        width: Int?,
        forecast: Bool = false,
        monthStarts: Int = 1,
        _ style: Style = .plain
    ) -> String {
        let labels = labels(reply, resolution, monthStarts: monthStarts)
        let view = HistoryView(
            reply: reply,
            labels: labels,
            labelZone: reply.timezone,
            wantsForecast: forecast,
            style: style
        )
        return text(view.lines(width: width), style, width: width).joined(separator: "\n")
    }

    static func labels(
        _ reply: GetHistory.Reply,
        _ resolution: GetHistory.Resolution,
        monthStarts: Int = 1
    ) -> PeriodLabels {
        PeriodLabels(reply.rows.map { berlin($0.startUSec) }, resolution, monthStarts: monthStarts)
    }
}

@Suite struct HistoryViewTests {
    @Test func draws80Columns() {
        #expect(
            History.lines(History.days, width: 80, forecast: true) == """
                estimate of the bytes through utun0 by day, time zone Europe/Berlin
                period             down           up        total                 notes
                2026-10-23    ≈ 2.8 GiB  ≈ 190.7 MiB    ≈ 3.0 GiB  █████████████  imported
                2026-10-24        ≈ 0 B        ≈ 0 B        ≈ 0 B
                2026-10-25    ≈ 1.4 GiB   ≈ 85.8 MiB    ≈ 1.5 GiB  ██▏░░░░        spread, 2 gaps
                2026-10-26  ≥ 163.1 MiB   ≥ 12.1 MiB  ≥ 175.3 MiB  ▊              1 gap
                2026-10-27  ≈ 976.6 KiB     ≈ 1023 B  ≈ 977.6 KiB  ▏
                  62 % of the day so far
                  forecast for 2026-10-27, if it goes on like this: 1.5 MiB down, 1.6 KiB up,
                    1.5 MiB total
                total         ≈ 4.4 GiB  ≈ 288.7 MiB    ≈ 4.6 GiB                 spread, gaps
                spread: known for a longer time only, and shared out evenly over it
                in no period, as the clock was not set then: 0 B down, 2.0 KiB up
                """
        )
    }

    @Test func draws200Columns() {
        #expect(
            History.lines(History.days, width: 200) == """
                estimate of the bytes through utun0 by day, time zone Europe/Berlin
                period             down           up        total                                                                notes
                2026-10-23    ≈ 2.8 GiB  ≈ 190.7 MiB    ≈ 3.0 GiB  ████████████████████████████████████████████████████████████  imported
                2026-10-24        ≈ 0 B        ≈ 0 B        ≈ 0 B
                2026-10-25    ≈ 1.4 GiB   ≈ 85.8 MiB    ≈ 1.5 GiB  ██████████░░░░░░░░░░░░░░░░░░░░                                spread, 2 gaps
                2026-10-26  ≥ 163.1 MiB   ≥ 12.1 MiB  ≥ 175.3 MiB  ███▌                                                          1 gap
                2026-10-27  ≈ 976.6 KiB     ≈ 1023 B  ≈ 977.6 KiB  ▏
                  62 % of the day so far
                total         ≈ 4.4 GiB  ≈ 288.7 MiB    ≈ 4.6 GiB                                                                spread, gaps
                spread: known for a longer time only, and shared out evenly over it
                in no period, as the clock was not set then: 0 B down, 2.0 KiB up
                """
        )
    }

    @Test func standsUprightAt20Columns() {
        #expect(
            History.lines(History.days, width: 20) == """
                estimate of the
                  bytes through
                  utun0 by day, time
                  zone Europe/Berlin
                2026-10-23
                 down ≈ 2.8 GiB
                 up ≈ 190.7 MiB
                 total ≈ 3.0 GiB
                 imported
                2026-10-24
                 down ≈ 0 B
                 up ≈ 0 B
                 total ≈ 0 B
                2026-10-25
                 down ≈ 1.4 GiB
                 up ≈ 85.8 MiB
                 total ≈ 1.5 GiB
                 spread, 2 gaps
                2026-10-26
                 down ≥ 163.1 MiB
                 up ≥ 12.1 MiB
                 total ≥ 175.3 MiB
                 1 gap
                2026-10-27
                 down ≈ 976.6 KiB
                 up ≈ 1023 B
                 total ≈ 977.6 KiB
                  62 % of the day so
                    far
                total
                 down ≈ 4.4 GiB
                 up ≈ 288.7 MiB
                 total ≈ 4.6 GiB
                 spread, gaps
                spread: known for a
                  longer time only,
                  and shared out
                  evenly over it
                in no period, as the
                  clock was not set
                  then: 0 B down,
                  2.0 KiB up
                """
        )
    }

    @Test func hasNoBarsInAPipe() {
        #expect(
            History.lines(History.days, width: nil) == """
                estimate of the bytes through utun0 by day, time zone Europe/Berlin
                period             down           up        total  notes
                2026-10-23    ≈ 2.8 GiB  ≈ 190.7 MiB    ≈ 3.0 GiB  imported
                2026-10-24        ≈ 0 B        ≈ 0 B        ≈ 0 B
                2026-10-25    ≈ 1.4 GiB   ≈ 85.8 MiB    ≈ 1.5 GiB  spread, 2 gaps
                2026-10-26  ≥ 163.1 MiB   ≥ 12.1 MiB  ≥ 175.3 MiB  1 gap
                2026-10-27  ≈ 976.6 KiB     ≈ 1023 B  ≈ 977.6 KiB
                  62 % of the day so far
                total         ≈ 4.4 GiB  ≈ 288.7 MiB    ≈ 4.6 GiB  spread, gaps
                spread: known for a longer time only, and shared out evenly over it
                in no period, as the clock was not set then: 0 B down, 2.0 KiB up
                """
        )
    }

    @Test func isASCIIWhereTheTerminalIs() {
        #expect(
            History.lines(History.days, width: 80, Fixture.ascii) == """
                estimate of the bytes through utun0 by day, time zone Europe/Berlin
                period              down           up         total               notes
                2026-10-23     ~ 2.8 GiB  ~ 190.7 MiB     ~ 3.0 GiB  ###########  imported
                2026-10-24         ~ 0 B        ~ 0 B         ~ 0 B
                2026-10-25     ~ 1.4 GiB   ~ 85.8 MiB     ~ 1.5 GiB  ##:::        spread, 2 gaps
                2026-10-26  >= 163.1 MiB  >= 12.1 MiB  >= 175.3 MiB  #            1 gap
                2026-10-27   ~ 976.6 KiB     ~ 1023 B   ~ 977.6 KiB  .
                  62 % of the day so far
                total          ~ 4.4 GiB  ~ 288.7 MiB     ~ 4.6 GiB               spread, gaps
                spread: known for a longer time only, and shared out evenly over it
                in no period, as the clock was not set then: 0 B down, 2.0 KiB up
                """
        )
    }

    @Test func tellsTheHourThatComesTwiceApart() {
        #expect(
            History.lines(History.hours, .hour, width: 80) == """
                estimate of the bytes through utun0 by hour, time zone Europe/Berlin
                period                         down     up       total
                2026-10-24 23:00              ≈ 0 B  ≈ 0 B       ≈ 0 B
                2026-10-25 00:00          ≈ 1.0 KiB  ≈ 0 B   ≈ 1.0 KiB  ████▊
                           01:00          ≈ 2.0 KiB  ≈ 0 B   ≈ 2.0 KiB  █████████▋
                           02:00 +02:00   ≈ 3.0 KiB  ≈ 0 B   ≈ 3.0 KiB  ██████████████▍
                           02:00 +01:00   ≈ 4.0 KiB  ≈ 0 B   ≈ 4.0 KiB  ███████████████████▎
                           03:00          ≈ 5.0 KiB  ≈ 0 B   ≈ 5.0 KiB  ████████████████████████
                total                    ≈ 15.0 KiB  ≈ 0 B  ≈ 15.0 KiB
                """
        )
    }

    @Test(arguments: 1...200)
    func neverPassesTheEdge(_ width: Int) {
        for style in [Style.plain, Fixture.ascii] {
            for reply in [History.days, History.hours] {
                let view = History.lines(reply, .hour, width: width, forecast: true, style)
                for line in view.split(separator: "\n") { #expect(SafeText.width(String(line)) <= width) }
            }
        }
    }

    @Test(
        arguments: [
            (.month, 1, ["2026-10"]), (.month, 15, ["2026-10-23"]), (.year, 1, ["2026"]), (.year, 31, ["2026-10-23"]),
            (.day, 1, ["2026-10-23"]), (.quarter, 1, ["2026-10-23 00:00"]),
        ] as [(GetHistory.Resolution, Int, [String])]
    )
    func callsPeriodsByTheirBeginning(_ resolution: GetHistory.Resolution, _ monthStarts: Int, _ names: [String]) {
        var reply = History.days
        reply.rows.removeLast(4)
        #expect(History.labels(reply, resolution, monthStarts: monthStarts).full == names)
    }

    @Test(arguments: [
        (1_793_055_600, "less than 1 % of the day so far", "too early for a forecast: it takes 5 % of the day"),
        (1_793_059_919, "4 % of the day so far", "too early for a forecast: it takes 5 % of the day"),
        (
            1_793_059_920, "5 % of the day so far",
            "forecast for 2026-10-27, if it goes on like this: "
                + "19.1 MiB down, 20.0 KiB up, 19.1 MiB total"
        ),
        (
            1_793_141_999, "99 % of the day so far",
            "forecast for 2026-10-27, if it goes on like this: "
                + "976.6 KiB down, 1023 B up, 977.6 KiB total"
        ),
        (1_793_142_000, "no forecast: the last period here is over", ""),
    ])
    func looksAheadOnceEnoughHasPassed(_ now: Int, _ first: String, _ second: String) {
        var reply = History.days
        reply.nowUSec = now * 1_000_000
        let lines = History.lines(reply, width: nil, forecast: true).split(separator: "\n")
        #expect(lines.contains("  " + first))
        if !second.isEmpty { #expect(lines.contains("  " + second)) }
        #expect(lines.filter { $0.contains("forecast") && $0.contains("estimate") }.isEmpty)
        #expect(!History.lines(reply, width: nil).contains("forecast"))
    }

    @Test func saysThatThereIsNothing() {
        var reply = History.days
        reply.rows = []
        #expect(
            History.lines(reply, width: nil) == """
                estimate of the bytes through utun0 by day, time zone Europe/Berlin
                  nothing is kept of utun0 for that time
                in no period, as the clock was not set then: 0 B down, 2.0 KiB up
                """
        )
    }

    @Test func survivesAnyNumbers() {
        var reply = History.days
        reply.interface = "\u{1B}[2J"
        reply.timezone = "\u{1B}c"
        for row in reply.rows.indices {
            reply.rows[row].rx = Amount(bytes: .max, atMost: .max, packets: .max)
            reply.rows[row].tx = Amount(bytes: .max, atMost: .max, packets: .max)
            reply.rows[row].rxSpreadBytes = .max
            reply.rows[row].txSpreadBytes = .min
        }
        reply.rows[4].tx.bytes = .min
        reply.rows[4].startUSec = .min
        reply.rows[4].endUSec = .max
        #expect(!History.lines(reply, width: 80, forecast: true).contains("\u{1B}"))
    }
}

@Suite struct BarTests {
    @Test(arguments: [
        (0, 0, 100, "", ""), (100, 0, 100, "██████████", "##########"), (50, 0, 100, "█████", "#####"),
        (1, 0, 100, "▏", "."), (1, 0, .max, "▏", "."), (55, 0, 100, "█████▌", "######"),
        (.max, 0, .max, "██████████", "##########"), (.max - 1, 0, .max, "██████████", "##########"),
        (100, 50, 100, "█████░░░░░", "#####:::::"), (100, 100, 100, "░░░░░░░░░░", "::::::::::"),
        (5, 5, 0, "▏", "."), (-1, 0, 100, "", ""), (200, 0, 100, "██████████", "##########"),
    ])
    func isAsLongAsItsFigure(_ whole: Int, _ light: Int, _ largest: Int, _ bar: String, _ ascii: String) {
        #expect(Bar.text(whole, light: light, of: largest, columns: 10, .plain) == bar)
        #expect(Bar.text(whole, light: light, of: largest, columns: 10, Fixture.ascii) == ascii)
    }
}

@Suite struct HistoryCSVTests {
    @Test func writesExactIntegers() {
        var reply = History.hours
        reply.rows = Array(reply.rows[3...4])
        reply.rows[0] = History.row(1_792_886_400, 1_792_890_000, 9_007_199_254_740_993, 5, gaps: 1, spread: (7, 0))
        reply.rows[1].endUSec += 1
        reply.interface = "a,\"b\u{1B}"
        let text = HistoryCSV.text(reply, History.labels(reply, .hour), zone: "Europe/Berlin")
        #expect(
            text == """
                label,interface,period,timezone,start,end,rx_bytes,rx_at_most,tx_bytes,tx_at_most,rx_packets,tx_packets,\
                quality,gaps,rx_spread_bytes,tx_spread_bytes,imported\r
                estimate,"a,""b\\x1b",2026-10-25 02:00 +02:00,Europe/Berlin,2026-10-25T00:00:00Z,2026-10-25T01:00:00Z,\
                9007199254740993,,5,,9007199254740,0,gapped,1,7,0,false\r
                estimate,"a,""b\\x1b",2026-10-25 02:00 +01:00,Europe/Berlin,2026-10-25T01:00:00Z,\
                2026-10-25T02:00:00.000001Z,4096,4096,0,0,4,0,continuous,0,0,0,false\r

                """
        )
    }
}

@Suite struct EventsViewTests {
    @Test func writesALineForEachEvent() {
        let events = [
            Fixture.event(.created), Fixture.event(.recreated, "wg\u{1B}", gapped: true),
            Fixture.event(.gap, "wg\u{1B}", cause: "unseen-end", gapped: true),
            Fixture.event(.renamed, "tun3", previous: "utun0"),
        ]
        #expect(
            text(EventsView.lines(events, of: nil, follows: false, .plain)).joined(separator: "\n") == #"""
                2026-07-24 12:03:11  utun0   created (nothing missing)
                2026-07-24 12:03:11  wg\x1b  recreated, something may be missing: its end was not seen
                2026-07-24 12:03:11  tun3    renamed, it was utun0 (nothing missing)
                """#
        )
        #expect(
            text(EventsView.lines([events[0]], of: nil, follows: true, .plain)) == [
                "2026-07-24 12:03:11  utun0            created (nothing missing)"
            ]
        )
    }

    @Test func saysThatThereIsNothing() {
        #expect(
            text(EventsView.lines([], of: "utun0", follows: false, .plain)) == [
                "nothing is kept that happened to utun0 in that time"
            ]
        )
        #expect(EventsView.lines([], of: nil, follows: true, .plain) == [])
    }
}
