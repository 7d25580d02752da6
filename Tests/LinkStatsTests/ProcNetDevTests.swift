import Ledger
import LinkStats
import Testing

/// /proc/net/dev as a whole: what is refused, and what counts as one link.
struct ProcNetDevTests {
    private static let heading = """
        Inter-|   Receive                                                |  Transmit
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed

        """

    private func parse(_ lines: String) throws -> ProcNetDev {
        try ProcNetDev.parse(Array((Self.heading + lines).utf8)[...])
    }

    @Test(arguments: [
        ("", ProcNetDev.Unreadable.empty),
        ("Inter-|   Receive", .empty),
        ("hello\nworld\n", .noHeading),
        (
            "Inter-|   Receive |  Transmit\n face |packets errs drop fifo frame|packets errs drop fifo colls carrier\n",
            .noBytes
        ),
    ])
    func `a file that tells nothing is refused`(text: String, reason: ProcNetDev.Unreadable) {
        #expect(throws: reason) { try ProcNetDev.parse(Array(text.utf8)[...]) }
    }

    @Test func `a heading alone is unreadable, never zero traffic`() {
        #expect(throws: ProcNetDev.Unreadable.empty) { try parse("") }
        #expect(throws: ProcNetDev.Unreadable.empty) { try parse("  eth0: 1 2 3\n") }
    }

    @Test func `a name that is there twice is one link, with the later line`() throws {
        let table = try parse(
            """
              tun0: 1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0
              eth0: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0
              tun0: 30 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0

            """
        )
        #expect(table.rows.map(\.name.escaped) == ["tun0", "eth0"])
        #expect(table.rows.map(\.counters.rxBytes) == [30, 5])
        #expect(table.skipped == 0)
    }

    @Test func `a torn or short line is skipped and the others stand`() throws {
        let table = try parse(
            "  eth0: 1 2 3\n  eth1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n  eth2: 5 1 0 0 0 0 0 0 6 1 0 0 0 0"
        )
        #expect(table.rows.map(\.name.escaped) == ["eth1"])
        #expect(table.skipped == 2)
    }
}
