import Testing

@testable import Ledger

/// Accounts that somebody wants changed, in a ledger that goes on counting.
struct AmendmentsTests {
    private static let wall = 1_796_000_000_000_000
    private static let day = 86_400_000_000

    /// Links that carry a known number of bytes, told by their messages.
    private struct Machine {
        var ledger = Ledger(session: Session(boot: "A", namespace: "n"))
        var at: UInt64 = 1_000_000
        var wall = AmendmentsTests.wall
        private var links: [Int32: (link: Link, counters: Counters)] = [:]

        init() {
            var scan = Scan(at: at)
            scan.records = [.roll([], uncertain: [])]
            _ = ledger.fold(scan, wall: wall)
        }

        private mutating func fold(_ records: [Scan.Record]) {
            at += 1_000_000
            wall += 1_000_000
            var scan = Scan(at: at)
            scan.records = records
            scan.samples = links.map { ($0, Scan.Sample($1.counters)) }
            _ = ledger.fold(scan, wall: wall)
        }

        mutating func begin(_ text: String, _ ifindex: Int32, kind: String = "tun") throws {
            let name = try #require(LinkName(escaped: text))
            let link = Link(identity: LinkIdentity(ifindex: ifindex), name: name, kind: kind, state: .up)
            links[ifindex] = (link, Counters())
            fold([.link(link, Scan.Sample(Counters()))])
        }

        mutating func carry(_ bytes: UInt64, _ ifindex: Int32) {
            links[ifindex]?.counters.rxBytes += bytes
            links[ifindex]?.counters.rxPackets += 1
            fold([])
        }

        mutating func end(_ ifindex: Int32) throws {
            let (link, counters) = try #require(links[ifindex])
            links[ifindex] = nil
            fold([.gone(link, closing: Scan.Sample(counters), departed: false)])
        }

        /// A link that lived and carried.
        mutating func past(_ text: String, _ ifindex: Int32, kind: String = "tun", bytes: UInt64) throws {
            try begin(text, ifindex, kind: kind)
            carry(bytes, ifindex)
            try end(ifindex)
        }

        func received(_ text: String) -> UInt64? { account(text)?.rx.bytes.value }
        func account(_ text: String) -> Account? { LinkName(escaped: text).flatMap { ledger.account(named: $0) } }
    }

    private static func name(_ text: String) throws -> LinkName { try #require(LinkName(escaped: text)) }

    @Test func `one that is gone is forgotten, and the others count on where they were`() throws {
        var machine = Machine()
        try machine.past("utun0", 2, bytes: 500)
        try machine.begin("eth0", 3)
        machine.carry(70, 3)
        let change = try machine.ledger.amend(.forget(Self.name("utun0")))
        #expect(try change == .removed(Self.name("utun0")))
        #expect(machine.account("utun0") == nil)
        machine.carry(7, 3)
        #expect(machine.received("eth0") == 77)
        try machine.past("utun0", 4, bytes: 3)
        #expect(machine.received("utun0") == 3)
        #expect(machine.account("utun0")?.resets == 0)
    }

    @Test func `one that is here begins anew from its last reading`() throws {
        var machine = Machine()
        try machine.begin("eth0", 3)
        machine.carry(70, 3)
        _ = try machine.ledger.amend(.forget(Self.name("eth0")))
        let fresh = try #require(machine.account("eth0"))
        #expect(fresh.rx.bytes.value == 0)
        #expect(fresh.sinceWall == machine.wall)
        #expect(fresh.current == 3)
        machine.carry(5, 3)
        #expect(machine.received("eth0") == 5)
        #expect(machine.account("eth0")?.isContinuous == true)
        #expect(machine.account("eth0")?.lives == 1)
    }

    @Test func `one that is gone is added to another, which is no traffic of now`() throws {
        var machine = Machine()
        try machine.past("eth0", 2, bytes: 500)
        try machine.begin("enp3s0", 3)
        machine.carry(40, 3)
        let since = machine.account("eth0")?.sinceWall
        let change = try machine.ledger.amend(.merge(Self.name("eth0"), into: Self.name("enp3s0")))
        #expect(try change == .moved(Self.name("eth0"), to: Self.name("enp3s0")))
        #expect(machine.account("eth0") == nil)
        machine.carry(1000, 3)
        let account = try #require(machine.account("enp3s0"))
        #expect(account.rx.bytes.value == 1540)
        #expect(account.rate?.rxPerSecond == 1000)
        #expect(account.sinceWall == since)
        #expect(account.isContinuous)
        #expect(account.lives == 2)
    }

    @Test func `a doubt goes along with the bytes`() throws {
        var machine = Machine()
        // A veth's received bytes are not in its last message.
        try machine.past("veth1", 2, kind: "veth", bytes: 500)
        try machine.past("veth2", 3, kind: "tun", bytes: 5)
        _ = try machine.ledger.amend(.merge(Self.name("veth1"), into: Self.name("veth2")))
        #expect(machine.account("veth2")?.gaps == 1)
        #expect(machine.account("veth2")?.rxAtMost == nil)
    }

    @Test func `one that is gone goes on under another name`() throws {
        var machine = Machine()
        try machine.past("eth0", 2, bytes: 500)
        _ = try machine.ledger.amend(.rename(Self.name("eth0"), to: Self.name("enp3s0")))
        #expect(machine.account("eth0") == nil)
        try machine.past("enp3s0", 3, bytes: 41)
        try machine.past("eth0", 4, bytes: 1)
        #expect(machine.received("enp3s0") == 541)
        #expect(machine.received("eth0") == 1)
    }

    @Test func `what cannot be done is refused and changes nothing`() throws {
        var machine = Machine()
        try machine.past("old0", 2, bytes: 500)
        try machine.past("old1", 4, bytes: 50)
        try machine.begin("eth0", 3)
        let state = machine.ledger.state
        let (old, other) = (try Self.name("old0"), try Self.name("old1"))
        let (here, never) = (try Self.name("eth0"), try Self.name("none"))
        let table: [(Amendment, Amendment.Refusal)] = [
            (.forget(never), .unknown(never)),
            (.rename(never, to: other), .unknown(never)),
            (.rename(here, to: never), .present(here)),
            (.rename(old, to: here), .taken(here)),
            (.rename(old, to: other), .taken(other)),
            (.rename(old, to: old), .taken(old)),
            (.merge(never, into: old), .unknown(never)),
            (.merge(here, into: old), .present(here)),
            (.merge(old, into: never), .unknown(never)),
            (.merge(old, into: old), .taken(old)),
        ]
        for (amendment, refusal) in table {
            var ledger = machine.ledger
            do throws(Amendment.Refusal) {
                _ = try ledger.amend(amendment)
                Issue.record("\(amendment) was done")
            } catch {
                #expect(error == refusal, "\(amendment)")
            }
            #expect(ledger.state == state)
        }
        #expect(machine.ledger.state == state)
    }

    @Test func `links of one life retire to one account of their kind a month after their end`() throws {
        var machine = Machine()
        for index in 0..<3 { try machine.past("veth\(index)", Int32(10 + index), kind: "veth", bytes: 100) }
        try machine.past("utun0", 2, bytes: 7)
        try machine.past("again0", 3, kind: "veth", bytes: 5)
        try machine.past("again0", 4, kind: "veth", bytes: 5)
        try machine.begin("here0", 5, kind: "veth")
        machine.carry(9, 5)
        machine.wall += 31 * Self.day
        try machine.past("late0", 6, kind: "veth", bytes: 11)
        let changes = machine.ledger.retire(before: machine.wall - 30 * Self.day)
        let past = try Self.name("veth:past")
        let expected = try (0..<3).map { AccountChange.moved(try Self.name("veth\($0)"), to: past) }
        #expect(changes == expected)
        #expect(
            machine.ledger.accounts.map(\.name.escaped).sorted() == ["again0", "here0", "late0", "utun0", "veth:past"]
        )
        #expect(machine.received("veth:past") == 300)
        #expect(machine.account("veth:past")?.gaps == 3)
        machine.carry(1, 5)
        #expect(machine.received("here0") == 10)
        // Those that follow go to the same.
        machine.wall += 31 * Self.day
        machine.carry(1, 5)
        let more = machine.ledger.retire(before: machine.wall - 30 * Self.day)
        #expect(more.count == 1)
        #expect(machine.received("veth:past") == 311)
        let none = machine.ledger.retire(before: machine.wall)
        #expect(none.isEmpty)
    }

    @Test func `an account that is saved from before it was known when links end has that from its last look`() throws {
        var machine = Machine()
        try machine.past("veth0", 2, kind: "veth", bytes: 100)
        var state = machine.ledger.state
        state.accounts[0].goneSince = nil
        var ledger = Ledger(resuming: state, in: state.session)
        let early = ledger.retire(before: machine.wall)
        #expect(early.isEmpty)
        let late = ledger.retire(before: machine.wall + 1)
        #expect(late.count == 1)
    }
}
