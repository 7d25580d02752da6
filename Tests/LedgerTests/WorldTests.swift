import FoundationEssentials
import Ledger
import Testing

/// What must hold of a ledger whatever happens: it never has more than the truth, and says "continuous" only of the truth.
struct WorldTests {
    /// The state of a ledger, and how it came there, for the report of a violation.
    private static func violation(
        of account: Account,
        _ truth: World.Truth,
        lied: Bool
    ) -> String? {
        let (rx, tx) = (account.rx.bytes.value, account.tx.bytes.value)
        if rx > truth.rx || tx > truth.tx { return "invented: \(rx)/\(tx) of \(truth.rx)/\(truth.tx)" }
        // While the counters lie, the totals are those of the look before.
        if lied { return nil }
        if let most = account.rxAtMost, most < truth.rx { return "rx at most \(most), in truth \(truth.rx)" }
        if let most = account.txAtMost, most < truth.tx { return "tx at most \(most), in truth \(truth.tx)" }
        if account.isContinuous && (rx != truth.rx || tx != truth.tx) {
            return "continuous: \(rx)/\(tx) of \(truth.rx)/\(truth.tx)"
        }
        return nil
    }

    @Test(arguments: World.Source.allCases)
    func `the truth lies between the bounds, and continuous means equal`(source: World.Source) throws {
        for seed: UInt64 in 1...300 {
            var world = World(seed: seed, source: source)
            var ledger = Ledger(session: world.session)
            // What went through before a ledger knew of the name is not its.
            var before: [LinkName: World.Truth] = [:]
            var bounds: [LinkName: World.Truth] = [:]
            for step in 0..<150 {
                var isRestart = false
                if step > 0 && step % 29 == 0 {
                    isRestart = true
                    if step % 58 == 0 { world.reboot() } else { world.goOnUnseen() }
                    let saved = try JSONEncoder().encode(ledger.state)
                    let state = try JSONDecoder().decode(Ledger.State.self, from: saved)
                    ledger = Ledger(resuming: state, in: world.session)
                }
                let scan = world.look(isRestart: isRestart)
                _ = ledger.fold(scan, wall: 0)
                before.merge(world.truth.filter { step == 0 || ledger.account(named: $0.key) == nil }) { $1 }
                for account in ledger.accounts {
                    let base = before[account.name] ?? World.Truth()
                    let all = world.truth[account.name] ?? World.Truth()
                    let truth = World.Truth(rx: all.rx - base.rx, tx: all.tx - base.tx)
                    // A reading that is not decided yet leaves the totals true for the look before.
                    let isBehind = account.current != nil && account.asOf < scan.at
                    let lied = !world.lied.isEmpty || isBehind
                    if let violation = Self.violation(of: account, truth, lied: lied) {
                        Issue.record("\(source) seed \(seed) step \(step) \(account.name.escaped): \(violation)")
                        return
                    }
                    let last = bounds[account.name] ?? World.Truth()
                    #expect(account.rx.bytes.value >= last.rx && account.tx.bytes.value >= last.tx)
                    bounds[account.name] = World.Truth(rx: account.rx.bytes.value, tx: account.tx.bytes.value)
                }
            }
        }
    }
}
