/// What went through each interface: pure rules over what the kernel said.
///
/// A ledger is a value. Each look at the kernel is folded into it, and it answers with what it found out; it asks
/// nothing, knows no clock, and keeps nothing but its state. The rules stand in three places: `CounterRules` (what a value
/// means), `ClosingRules` (which closing counters can be believed) and `IncarnationRules.swift` (which link it is).
package struct Ledger: Sendable {
    /// All that has to be saved for counting to go on after the process has ended.
    package struct State: Hashable, Sendable, Codable {
        package var session: Session
        package var accounts: [Account]
        package var incarnations: [Incarnation]
        /// When the last look was taken, on CLOCK_BOOTTIME in µs of the session's boot; nil before the first.
        package var scannedAt: UInt64?
        /// The same by the wall clock, µs since 1970.
        package var scannedWall: Int

        package init(
            session: Session,
            accounts: [Account],
            incarnations: [Incarnation],
            scannedAt: UInt64?,
            scannedWall: Int
        ) {
            self.session = session
            self.accounts = accounts
            self.incarnations = incarnations
            self.scannedAt = scannedAt
            self.scannedWall = scannedWall
        }
    }

    package let session: Session
    /// One for each name, in the order in which they were seen first.
    package internal(set) var accounts: [Account] = []
    /// When the last look was taken, on CLOCK_BOOTTIME in µs; nil before the first.
    package private(set) var scannedAt: UInt64?

    var indexes: [LinkName: Int] = [:]
    /// The links that are here, or missing, by ifindex.
    var live: [Int32: Incarnation] = [:]
    /// Messages may be missing before the one that is taken now: what it says is true, and what led to it is not known. The
    /// list of all links ends that.
    private(set) var isBlind = false
    /// When nobody looked before the look that is folded now: since when, in µs. Nil while looks follow each other.
    private(set) var away: Absence?
    /// What the look that is folded now has brought.
    var happenings: [Happening] = []
    /// What the look that is folded now has counted.
    package private(set) var bookings: [Booking] = []
    /// Where the look that is folded now found that bytes may have been missed.
    package private(set) var holes: [Hole] = []
    /// The accounts for which this look has noted a gap: one hole is one gap.
    var gapsNoted: Set<Int> = []

    /// How long nobody looked, and whether the machine was started anew meanwhile.
    struct Absence: Sendable {
        var length: UInt64
        var isReboot: Bool
    }

    private var resuming: State?

    /// A ledger that has seen nothing.
    package init(session: Session) {
        self.session = session
    }

    /// A ledger that goes on where another ended.
    ///
    /// What happened in between is found out with the next look, which has to begin with a roll of all links.
    package init(resuming state: State, in session: Session) {
        self.session = session
        accounts = state.accounts
        indexes = Dictionary(state.accounts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        live = Dictionary(
            state.incarnations.filter { accounts.indices.contains($0.account) }.map { ($0.link.identity.ifindex, $0) }
        ) { first, _ in first }
        for index in accounts.indices {
            accounts[index].rest(at: accounts[index].asOf)
            if accounts[index].current == nil, accounts[index].goneSince == nil {
                accounts[index].goneSince = state.scannedWall
            }
        }
        // What did not change was not saved again, but it was read at the last look like the others.
        if let scannedAt = state.scannedAt {
            for (ifindex, incarnation) in live where incarnation.missingSince == nil {
                accounts[incarnation.account].rest(at: scannedAt)
                if !incarnation.rx.isUndecided { live[ifindex]?.rx.at = max(incarnation.rx.at, scannedAt) }
                if !incarnation.tx.isUndecided { live[ifindex]?.tx.at = max(incarnation.tx.at, scannedAt) }
            }
        }
        resuming = state
    }

    /// What has to be saved.
    package var state: State {
        State(
            session: session,
            accounts: accounts,
            incarnations: live.values.sorted { $0.link.identity.ifindex < $1.link.identity.ifindex },
            scannedAt: scannedAt,
            scannedWall: scannedWall
        )
    }

    private(set) var scannedWall = 0
    /// The moment of the look that is folded now, and the wall clock's.
    private var scanningAt: UInt64 = 0
    private(set) var scanningWall = 0

    /// The account of a name, or nil when no such interface was ever seen.
    package func account(named name: LinkName) -> Account? {
        indexes[name].map { accounts[$0] }
    }

    /// The link that has an account's name now, or nil when it is absent.
    package func incarnation(of account: Account) -> Incarnation? {
        account.current.flatMap { live[$0] }
    }

    /// Takes one look into account.
    ///
    /// - Parameters:
    ///   - scan: what the kernel said.
    ///   - wall: the wall clock of the look, µs since 1970. It names moments; nothing is measured with it.
    /// - Returns: what was found out, in order.
    package mutating func fold(_ scan: Scan, wall: Int) -> [Happening] {
        scanningAt = scan.at
        scanningWall = wall
        happenings.removeAll(keepingCapacity: true)
        gapsNoted.removeAll(keepingCapacity: true)
        bookings.removeAll(keepingCapacity: true)
        holes.removeAll(keepingCapacity: true)
        if let state = resuming {
            resuming = nil
            resume(from: state, at: scan.at, wall: wall)
        }
        isBlind = away != nil || scan.hasLostEvents
        for record in scan.records {
            switch record {
            case .link(let link, let sample):
                take(link, sample, at: scan.at, wall: wall)
            case .gone(let link, let closing, let departed):
                take(endOf: link, closing, departed: departed, at: scan.at, wall: wall)
            case .roll(let links, let uncertain):
                take(roll: links, except: uncertain, at: scan.at, wall: wall)
                if away != nil || scan.hasLostEvents || !scan.witnessed { doubtAbsent(at: scan.at) }
                isBlind = false
            }
        }
        for (ifindex, sample) in scan.samples {
            take(sample, of: ifindex, witnessed: scan.witnessed, at: scan.at)
        }
        away = nil
        scannedAt = scan.at
        scannedWall = wall
        return happenings
    }

    /// Finds out how long nobody looked, and ends the links of another boot or namespace: none of them is here.
    private mutating func resume(from state: State, at: UInt64, wall: Int) {
        let sameBoot = state.session.boot == session.boot
        if sameBoot, let before = state.scannedAt {
            away = Absence(length: at.elapsed(since: before), isReboot: false)
        } else {
            // No clock goes on over a reboot but the wall clock, which may have been set; this boot alone is sure.
            let apart = wall > state.scannedWall ? UInt64(wall - state.scannedWall) : 0
            away = Absence(length: max(at, apart), isReboot: !sameBoot)
        }
        scannedAt = state.scannedAt
        scannedWall = state.scannedWall
        guard session != state.session else { return }
        for index in accounts.indices {
            if !sameBoot { accounts[index].sinceAt = nil }
            accounts[index].forgetDeparted()
            accounts[index].asOf = 0
        }
        for ifindex in live.keys.sorted() { endUnseen(ifindex, at: at) }
    }

    // MARK: - Values

    /// Takes one link's counters: rules 4 to 7 and 9, by `CounterRules`.
    mutating func take(_ sample: Scan.Sample, of ifindex: Int32, witnessed: Bool, at: UInt64) {
        // A row whose link is not known yet waits for its event.
        guard var incarnation = live[ifindex], incarnation.missingSince == nil else { return }
        defer { live[ifindex] = incarnation }
        let index = incarnation.account
        incarnation.raw = sample.counters
        guard incarnation.isBaselined else {
            incarnation.setBaseline(sample.counters, at: at)
            accounts[index].rest(at: at)
            return
        }
        let before = incarnation.asOf
        let outcome = count(sample, into: &incarnation, at: at)
        incarnation.isDisturbed = false
        if outcome.isReset {
            accounts[index].resets += 1
            note(
                .reset,
                account: index,
                ifindex: ifindex,
                rx: true,
                tx: true,
                unobserved: at.elapsed(since: before)
            )
            tell(.reset, incarnation, gapped: true)
        }
        if outcome.isSuspect {
            accounts[index].suspect += 1
            tell(.suspect, incarnation, gapped: false)
        }
        // A counter of 32 bits hides whole wraps; a source without events hides a link that replaced another.
        if sample.width == .bits32 || (!witnessed && incarnation.link.identity.inode == nil) { accounts[index].open() }
        incarnation.watchStillness(rxMoved: outcome.rx > 0, txMoved: outcome.tx > 0, before: before, at: at)
        if incarnation.asOf == at {
            accounts[index].measure(at: at)
        } else {
            accounts[index].rate = nil
        }
    }

    /// What a sample came to.
    struct Outcome {
        var rx: UInt64 = 0
        var tx: UInt64 = 0
        var isReset = false
        var isSuspect = false
    }

    /// Judges both directions of a sample and books what they come to.
    private mutating func count(_ sample: Scan.Sample, into incarnation: inout Incarnation, at: UInt64) -> Outcome {
        let counters = sample.counters
        let before = incarnation.asOf
        let disturbed = incarnation.isDisturbed
        var outcome = Outcome()
        func judge(_ value: UInt64, _ packets: UInt64, _ track: inout Track) -> (bytes: UInt64, packets: UInt64) {
            let verdict = CounterRules.judge(value, width: sample.width, after: track, at: at, disturbed: disturbed)
            let packets = track.follow(verdict, packets: packets, width: sample.width, at: at)
            switch verdict {
            case .count(let bytes, _):
                return (bytes, packets)
            case .reset(let bytes):
                outcome.isReset = true
                return (bytes, packets)
            case .setAside:
                outcome.isSuspect = true
                return (0, 0)
            case .hold, .wait:
                return (0, 0)
            }
        }
        let rx = judge(counters.rxBytes, counters.rxPackets, &incarnation.rx)
        let tx = judge(counters.txBytes, counters.txPackets, &incarnation.tx)
        outcome.rx = rx.bytes
        outcome.tx = tx.bytes
        if incarnation.unattributedSince == nil {
            add(rx: rx, tx: tx, of: incarnation, since: before, at: at)
        } else if incarnation.asOf == at {
            incarnation.unattributedSince = nil
        }
        return outcome
    }

    /// Books bytes and packets, and says so when a total is full.
    mutating func add(
        rx: (bytes: UInt64, packets: UInt64),
        tx: (bytes: UInt64, packets: UInt64),
        of incarnation: Incarnation,
        since: UInt64,
        at: UInt64
    ) {
        let index = incarnation.account
        let rxFits = accounts[index].rx.bytes.add(rx.bytes)
        let txFits = accounts[index].tx.bytes.add(tx.bytes)
        accounts[index].rx.packets.add(rx.packets)
        accounts[index].tx.packets.add(tx.packets)
        if rx.bytes > 0 || tx.bytes > 0 {
            bookings.append(
                Booking(
                    account: index,
                    rxBytes: rx.bytes,
                    txBytes: tx.bytes,
                    rxPackets: rx.packets,
                    txPackets: tx.packets,
                    since: since == 0 ? sinceUnknown : since,
                    at: at
                )
            )
        }
        if !rxFits || !txFits {
            accounts[index].rx.isOpen = accounts[index].rx.isOpen || !rxFits
            accounts[index].tx.isOpen = accounts[index].tx.isOpen || !txFits
            tell(.saturated, incarnation, gapped: true)
        }
    }

    /// Since when what a link has carried must have passed, if it was not seen to begin: since the last look, or since the
    /// machine was started.
    private var sinceUnknown: UInt64 { away?.isReboot == true ? 0 : scannedAt ?? 0 }

    // MARK: - What is told

    /// Notes that bytes may have been missed, until now where nothing else is said. One hole is one gap, however many signs
    /// of it one look shows.
    mutating func note(
        _ gap: Happening.Gap,
        account index: Int,
        ifindex: Int32,
        rx: Bool,
        tx: Bool,
        unobserved: UInt64,
        until: UInt64? = nil
    ) {
        accounts[index].rx.isOpen = accounts[index].rx.isOpen || rx
        accounts[index].tx.isOpen = accounts[index].tx.isOpen || tx
        guard gapsNoted.insert(index).inserted else { return }
        accounts[index].closedGaps += 1
        accounts[index].overlook(unobserved)
        holes.append(Hole(account: index, cause: gap, length: unobserved, at: until ?? scanningAt))
        tell(.gap(gap), account: index, ifindex: ifindex, gapped: true)
    }

    mutating func tell(_ kind: Happening.Kind, _ incarnation: Incarnation, gapped: Bool) {
        tell(kind, account: incarnation.account, ifindex: incarnation.link.identity.ifindex, gapped: gapped)
    }

    mutating func tell(_ kind: Happening.Kind, account index: Int, ifindex: Int32, gapped: Bool) {
        let account = accounts[index]
        happenings.append(
            Happening(account: account.name, kind: kind, ifindex: ifindex, incarnation: account.lives, gapped: gapped)
        )
    }
}

extension Incarnation {
    /// Sets the values that counting begins from.
    mutating func setBaseline(_ counters: Counters, at: UInt64) {
        rx = Track(mark: counters.rxBytes, packets: counters.rxPackets, at: at)
        tx = Track(mark: counters.txBytes, packets: counters.txPackets, at: at)
        raw = counters
        isBaselined = true
    }

    /// How long one direction may stand still while the other moves before it is worth a warning: 20 minutes, in µs.
    private static let stillness: UInt64 = 20 * 60 * 1_000_000

    /// Keeps track of a direction that stands still while the other moves.
    mutating func watchStillness(rxMoved: Bool, txMoved: Bool, before: UInt64, at: UInt64) {
        if rxMoved { rx.stillSince = nil } else if txMoved, rx.stillSince == nil { rx.stillSince = before }
        if txMoved { tx.stillSince = nil } else if rxMoved, tx.stillSince == nil { tx.stillSince = before }
    }

    /// Whether received bytes have not moved for 20 minutes while sent ones did.
    package func isReceiveStill(at: UInt64) -> Bool {
        rx.stillSince.map { at >= $0 && at - $0 >= Self.stillness } ?? false
    }

    /// Whether sent bytes have not moved for 20 minutes while received ones did.
    package func isTransmitStill(at: UInt64) -> Bool {
        tx.stillSince.map { at >= $0 && at - $0 >= Self.stillness } ?? false
    }
}
