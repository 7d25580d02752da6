import Testing

@testable import Ledger

/// A link that had another name when it was seen last, and no message tells when it changed: its bytes since then are
/// neither name's for sure.
struct UnseenRenameTests {
    private static let index: Int32 = 7

    private func link(_ text: String) throws -> Link {
        let name = try #require(LinkName(escaped: text))
        return Link(identity: LinkIdentity(ifindex: Self.index, inode: 70), name: name, kind: "tun", state: .up)
    }

    private func sample(_ bytes: UInt64) -> Scan.Sample {
        var counters = Counters()
        counters.rxBytes = bytes
        return Scan.Sample(counters)
    }

    /// A ledger that has counted 1,000 bytes of utun0 when it ends.
    private func state() throws -> Ledger.State {
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        var first = Scan(at: 1_000_000)
        first.records = [.roll([], uncertain: [])]
        _ = ledger.fold(first, wall: 0)
        var next = Scan(at: 2_000_000)
        next.records = [.link(try link("utun0"), sample(0))]
        next.samples = [(Self.index, sample(1000))]
        _ = ledger.fold(next, wall: 0)
        return ledger.state
    }

    private func received(_ ledger: Ledger, _ text: String) throws -> UInt64? {
        ledger.account(named: try link(text).name)?.rx.bytes.value
    }

    /// How the daemon after learns of the new name, at its first look.
    enum Sign: String, CaseIterable { case list, message, end }

    @Test(arguments: Sign.allCases)
    func `what passed since it was seen last counts for neither name`(_ sign: Sign) throws {
        var ledger = Ledger(resuming: try state(), in: Session(boot: "A", namespace: "n"))
        let other = try link("vpn0")
        // 500 bytes more, who knows under which name; perhaps it had a third meanwhile.
        var look = Scan(at: 9_000_000)
        switch sign {
        case .list:
            look.records = [.roll([other], uncertain: [])]
            look.samples = [(Self.index, sample(1500))]
        case .message:
            look.records = [.link(other, sample(1500)), .roll([other], uncertain: [])]
            look.samples = [(Self.index, sample(1500))]
        case .end:
            look.records = [.gone(other, closing: sample(1500), departed: false), .roll([], uncertain: [])]
        }
        _ = ledger.fold(look, wall: 0)
        #expect(try received(ledger, "utun0") == 1000)
        #expect(try received(ledger, "vpn0") == 0)
        for name in ["utun0", "vpn0"] {
            let account = try #require(ledger.account(named: try link(name).name))
            #expect(!account.isContinuous && account.gaps == 1, "\(name)")
        }
        guard sign != .end else { return }
        var later = Scan(at: 10_000_000)
        later.samples = [(Self.index, sample(1700))]
        _ = ledger.fold(later, wall: 0)
        #expect(try received(ledger, "vpn0") == 200)
    }

    @Test func `what passes elsewhere after its message of departure counts when it comes back`() throws {
        var ledger = Ledger(resuming: try state(), in: Session(boot: "A", namespace: "n"))
        let other = try link("vpn0")
        var look = Scan(at: 9_000_000)
        look.records = [.gone(other, closing: sample(1500), departed: true), .roll([], uncertain: [])]
        _ = ledger.fold(look, wall: 0)
        var back = Scan(at: 10_000_000)
        back.records = [.link(other, sample(1800))]
        back.samples = [(Self.index, sample(2000))]
        _ = ledger.fold(back, wall: 0)
        #expect(try received(ledger, "utun0") == 1000)
        #expect(try received(ledger, "vpn0") == 500)
    }

    @Test func `after the list, a message of a new name is believed again`() throws {
        var ledger = Ledger(resuming: try state(), in: Session(boot: "A", namespace: "n"))
        var look = Scan(at: 9_000_000)
        look.records = [.roll([try link("utun0")], uncertain: []), .link(try link("vpn0"), sample(1500))]
        look.samples = [(Self.index, sample(1600))]
        _ = ledger.fold(look, wall: 0)
        #expect(try received(ledger, "utun0") == 1500)
        #expect(try received(ledger, "vpn0") == 100)
    }
}
