import SystemCalls
import Testing
import Wire

@testable import ifcount

@Suite struct ListViewTests {
    private func list(_ width: Int?, _ style: Style = .plain) -> String {
        let readings = [Fixture.reading(), Fixture.gapped, Fixture.reading("\u{1B}[2J\u{202E}隧道", rate: nil)]
        return text(ListView.lines(readings, width: width, now: Fixture.now, style), style, width: width)
            .joined(separator: "\n")
    }

    @Test func showsEverythingWhereThereIsRoom() {
        let wide = #"""
            estimate of the bytes that went through each interface
            name                     kind       state         down          up     received        sent  since     notes
            utun0                    tun        up     12.4 Mbit/s  1.2 Mbit/s  ≈ 163.2 MiB  ≈ 12.1 MiB  11:03:11  3 resets
            wg0                      wireguard  up     12.4 Mbit/s  1.2 Mbit/s    ≥ 2.7 TiB    ≥ 1023 B  11:03:11  3 resets, 1 gap, 1 warning
            \x1b[2J\xe2\x80\xae隧道  tun        up               –           –  ≈ 163.2 MiB  ≈ 12.1 MiB  11:03:11  3 resets
            """#
        #expect(list(200) == wide)
        #expect(list(nil) == wide)
    }

    @Test func leavesTheLeastImportantOutAt80Columns() {
        #expect(
            list(80) == #"""
                estimate of the bytes that went through each interface
                name                     state         down          up     received        sent
                utun0                    up     12.4 Mbit/s  1.2 Mbit/s  ≈ 163.2 MiB  ≈ 12.1 MiB
                wg0                      up     12.4 Mbit/s  1.2 Mbit/s    ≥ 2.7 TiB    ≥ 1023 B
                \x1b[2J\xe2\x80\xae隧道  up               –           –  ≈ 163.2 MiB  ≈ 12.1 MiB
                """#
        )
    }

    @Test func keepsTheTotalsAt20Columns() {
        #expect(
            list(20) == #"""
                estimate of the byt…
                utun0
                 rx ≈ 163.2 MiB
                 tx ≈ 12.1 MiB
                wg0
                 rx ≥ 2.7 TiB
                 tx ≥ 1023 B
                \x1b[2J\xe2\x80\xae…
                 rx ≈ 163.2 MiB
                 tx ≈ 12.1 MiB
                """#
        )
    }

    @Test(arguments: 1...120)
    func neverPassesTheEdge(_ width: Int) {
        for style in [Style.plain, Fixture.ascii] {
            for line in list(width, style).split(separator: "\n") { #expect(SafeText.width(String(line)) <= width) }
        }
    }

    @Test func isASCIIWhereTheTerminalIs() {
        #expect(list(80, Fixture.ascii).utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
        #expect(list(200, Fixture.ascii).contains("~ 163.2 MiB  ~ 12.1 MiB"))
        #expect(list(200, Fixture.ascii).contains(">= 2.7 TiB"))
    }

    @Test func saysThatThereIsNothing() {
        let lines = text(ListView.lines([], width: 80, now: Fixture.now, .plain))
        #expect(lines == ["estimate of the bytes that went through each interface", "there is no interface"])
    }
}

@Suite struct ShowViewTests {
    @Test func labelsEverything() {
        #expect(
            text(ShowView.lines(Fixture.gapped, .plain)).joined(separator: "\n") == """
                wg0: estimate
                  kind         wireguard
                  state        up
                  ifindex      7
                  incarnation  4
                  down now     12.4 Mbit/s
                  up now       1.2 Mbit/s
                  received     ≥ 2.7 TiB, 3,000,000,000,000 bytes, no upper bound
                  sent         ≥ 1023 B, 1,023 bytes, at most 2,047
                  packets      1 received, 1 sent
                  since        2026-07-24 11:03:11
                  quality      gapped
                  resets       3
                  gaps         1, unobserved for 12 s
                  raw counter  5,000 received, 600 sent (bytes of this link)
                  errors       1 received, 0 sent
                  dropped      0 received, 2 sent
                  sampled      2026-07-24 12:03:11
                  source       netlink
                  warning      received bytes have not moved for 20 minutes while sent bytes did
                """
        )
    }

    @Test func leavesOutWhatThereIsNot() {
        var reading = Fixture.reading(rate: nil)
        reading.present = false
        reading.state = "absent"
        reading.ifindex = nil
        reading.counter = nil
        let lines = text(ShowView.lines(reading, .plain))
        #expect(lines.contains("  ifindex      –"))
        #expect(lines.contains("  down now     –"))
        #expect(lines.contains("  received     ≈ 163.2 MiB, 171,124,882 bytes, nothing missing"))
        #expect(!lines.contains { $0.hasPrefix("  raw counter") })
    }
}

@Suite struct WatchViewTests {
    private var state: WatchState {
        var state = WatchState(wanted: ["utun0", "wg0", "tun9"])
        state.apply(
            Watch.Reply(
                ready: true,
                readings: [Fixture.reading(), Fixture.gapped],
                events: [Fixture.event(.recreated), Fixture.event(.recreated, cause: "daemon-away", gapped: true)]
            )
        )
        return state
    }

    private func screen(
        _ columns: Int,
        _ rows: Int,
        _ style: Style = .plain,
        note: String? = nil,
        state: WatchState? = nil
    ) -> [String] {
        let view = WatchView(subject: "utun0, wg0, tun9", style: style, note: note)
        let size = Terminal.Size(columns: columns, rows: rows)
        return text(view.screen(state ?? self.state, size: size, now: Fixture.now), style, width: columns)
    }

    @Test func fillsAScreenOf80Columns() {
        #expect(
            screen(80, 22).joined(separator: "\n") == """
                estimate for utun0, wg0, tun9                                           12:03:11

                utun0  tun, up, ifindex 7, incarnation 4
                        now           estimate        bytes seen
                  down  12.4 Mbit/s   ≈ 163.2 MiB    171,124,882   nothing missing
                  up    1.2 Mbit/s    ≈ 12.1 MiB      12,712,345   nothing missing
                  since 11:03:11, 3 resets, no gaps
                  12:03:11  recreated (nothing missing)
                  12:03:11  recreated, something may be missing: daemon away

                wg0  wireguard, up, ifindex 7, incarnation 4
                        now           estimate              bytes seen
                  down  12.4 Mbit/s   ≥ 2.7 TiB      3,000,000,000,000   no upper bound
                  up    1.2 Mbit/s    ≥ 1023 B                   1,023   at most 2,047
                  since 11:03:11, 3 resets, 1 gap, unobserved for 12 s
                  warning: received bytes have not moved for 20 minutes while sent bytes did

                tun9 is not there yet; waiting



                q quit   p pause
                """
        )
    }

    @Test func standsUprightAt20Columns() {
        #expect(
            screen(20, 50).joined(separator: "\n") == """
                estimate for utun0,…

                utun0
                 tun, up, ifindex 7,
                   incarnation 4
                down 12.4 Mbit/s
                 ≈ 163.2 MiB
                 171,124,882 B
                 nothing missing
                up 1.2 Mbit/s
                 ≈ 12.1 MiB
                 12,712,345 B
                 nothing missing
                 since 11:03:11, 3
                   resets, no gaps
                 12:03:11  recreated
                   (nothing missing)
                 12:03:11
                   recreated,
                   something may be
                   missing: daemon
                   away

                wg0
                 wireguard, up,
                   ifindex 7,
                   incarnation 4
                down 12.4 Mbit/s
                 ≥ 2.7 TiB
                 3,000,000,000,000 B
                 no upper bound
                up 1.2 Mbit/s
                 ≥ 1023 B
                 1,023 B
                 at most 2,047
                 since 11:03:11, 3
                   resets, 1 gap,
                   unobserved for 12
                   s
                 warning: received
                   bytes have not
                   moved for 20
                   minutes while
                   sent bytes did

                tun9
                 is not there yet;
                   waiting

                q quit   p pause
                """
        )
    }

    @Test func saysWhatItHidesWhereThereIsNoRoom() {
        let lines = screen(80, 10)
        #expect(lines.count == 10)
        #expect(lines[8] == "8 lines hidden")
        #expect(lines[9] == "q quit   p pause")
        #expect(screen(20, 1) == ["estimate for utun0,…"])
    }

    @Test func writesTheNoteAndTheClockAt200Columns() {
        let lines = screen(200, 24, note: "the daemon has gone; waiting for it at /s")
        #expect(lines.count == 24)
        #expect(lines[0] == "estimate for utun0, wg0, tun9" + String(repeating: " ", count: 163) + "12:03:11")
        #expect(lines[1] == "the daemon has gone; waiting for it at /s")
        #expect(lines[3] == "utun0  tun, up, ifindex 7, incarnation 4")
        // The rate is not that of now any more.
        #expect(lines[5] == "  down  –             ≈ 163.2 MiB    171,124,882   nothing missing")
    }

    @Test(arguments: [1, 2, 5, 19, 20, 40, 71, 72, 80, 132], [1, 2, 3, 4, 10, 24, 60])
    func neverPassesTheEdges(_ columns: Int, _ rows: Int) {
        for style in [Style.plain, Fixture.ascii] {
            let lines = screen(columns, rows, style, note: "the daemon has gone; waiting for it at /s")
            #expect(lines.count == rows)
            for line in lines { #expect(SafeText.width(line) <= columns) }
        }
    }

    @Test func isReadableWithoutUnicode() {
        let lines = screen(80, 24, Fixture.ascii)
        #expect(lines[4] == "  down  12.4 Mbit/s   ~ 163.2 MiB    171,124,882   nothing missing")
        #expect(lines[12] == "  down  12.4 Mbit/s   >= 2.7 TiB     3,000,000,000,000   no upper bound")
    }

    @Test func coloursNothingButWhatIsThereAnyway() {
        let colored = screen(80, 24, Style(isColored: true, isUnicode: true))
        #expect(colored.joined().contains("\u{1B}[33m"))
        #expect(colored.map { $0.replacing(/\u{1B}\[\d+m/, with: "") } == screen(80, 24))
    }

    @Test func keepsTheTotalOfAnInterfaceThatGoes() {
        var state = self.state
        state.apply(Watch.Reply(ready: nil, readings: [Fixture.gapped], events: [Fixture.event(.removed)]))
        let lines = screen(80, 24, state: state)
        #expect(lines[2] == "utun0  tun, absent, incarnation 4")
        #expect(lines[4] == "  down  –             ≈ 163.2 MiB    171,124,882   nothing missing")
        #expect(lines[9] == "  12:03:11  removed (nothing missing)")
    }

    @Test func comesAliveWhenTheInterfaceDoes() {
        var state = WatchState(wanted: ["utun0"])
        #expect(screen(80, 10, state: state)[2] == "utun0 waits for the first figures")
        state.apply(Watch.Reply(ready: true, readings: [], events: nil))
        #expect(screen(80, 10, state: state)[2] == "utun0 is not there yet; waiting")
        state.apply(Watch.Reply(ready: nil, readings: [Fixture.reading()], events: [Fixture.event(.created)]))
        #expect(screen(80, 10, state: state)[2] == "utun0  tun, up, ifindex 7, incarnation 4")
    }

    @Test func keepsTheLastFiveEvents() {
        var state = WatchState(wanted: nil)
        let events = (1...7).map { Fixture.event(.changed, cause: "state\($0)") }
        state.apply(Watch.Reply(ready: true, readings: [Fixture.reading()], events: events))
        let told = text(WatchView(subject: "all", style: .plain).rest(state, width: 80)).filter {
            $0.contains("now state")
        }
        #expect(told == (3...7).map { "  12:03:11  now state\($0)" })
    }
}

@Suite struct PlainWatchTests {
    @Test func writesALineForEachInterfaceAndTick() {
        var state = WatchState(wanted: ["utun0", "tun9"])
        var plain = PlainWatch(style: .plain, wanted: state.wanted)
        #expect(
            plain.heading == "time      name   state           down            up      received          sent  events"
        )

        func lines(_ reply: Watch.Reply) -> [String] {
            state.apply(reply)
            return plain.lines(reply, state, now: Fixture.now)
        }
        let early = [Fixture.event(.recreated), Fixture.event(.gap, "other", cause: "overrun", gapped: true)]
        #expect(lines(Watch.Reply(ready: true, readings: nil, events: early)) == [])
        let renamed = [Fixture.event(.renamed, "tun8", previous: "tun9")]
        #expect(
            lines(Watch.Reply(ready: nil, readings: [Fixture.reading()], events: renamed)) == [
                "12:03:11  utun0  up       12.4 Mbit/s    1.2 Mbit/s   ≈ 163.2 MiB    ≈ 12.1 MiB"
                    + "  recreated (nothing missing)",
                "12:03:11  tun9   absent             –             –             –             –"
                    + "  renamed to tun8 (nothing missing)",
            ]
        )
        #expect(
            lines(Watch.Reply(ready: nil, readings: [Fixture.reading()], events: nil)).first
                == "12:03:11  utun0  up       12.4 Mbit/s    1.2 Mbit/s   ≈ 163.2 MiB    ≈ 12.1 MiB"
        )
    }
}
