/// What somebody who may wants done to an account. Nothing else makes a total smaller or moves it.
package enum Amendment: Hashable, Sendable {
    /// Nothing of it is kept. One whose link is here begins anew, with the last reading as its baseline.
    case forget(LinkName)
    /// The account of a name that is gone goes on under another, which has none.
    case rename(LinkName, to: LinkName)
    /// The account of a name that is gone is added to another's.
    case merge(LinkName, into: LinkName)

    /// Why it is not done; nothing has changed then.
    package enum Refusal: Error, Hashable, Sendable {
        /// The name has no account.
        case unknown(LinkName)
        /// A link has the name now, or may still have it: what it counts next would open the account again.
        case present(LinkName)
        /// The name has an account already.
        case taken(LinkName)
    }
}

/// What has become of an account, for those who keep things by its name.
package enum AccountChange: Hashable, Sendable {
    /// All of it is gone; an account of the name that is there now is another one.
    case removed(LinkName)
    /// All of it belongs to another name now, with what that had before.
    case moved(LinkName, to: LinkName)
}

extension Ledger {
    /// Changes the accounts as somebody wants.
    ///
    /// - Returns: what has become of the account.
    /// - Throws: why not.
    package mutating func amend(_ amendment: Amendment) throws(Amendment.Refusal) -> AccountChange {
        try check(amendment)
        switch amendment {
        case .forget(let name):
            forget(name)
            return .removed(name)
        case .rename(let name, let new):
            if let index = indexes[name] { accounts[index].name = new }
            reindex()
            return .moved(name, to: new)
        case .merge(let name, let other):
            merge([name], into: other)
            return .moved(name, to: other)
        }
    }

    /// Finds out whether an amendment can be made.
    ///
    /// - Throws: why not.
    package func check(_ amendment: Amendment) throws(Amendment.Refusal) {
        switch amendment {
        case .forget(let name):
            if indexes[name] == nil { throw .unknown(name) }
        case .rename(let name, let new):
            try checkGone(name)
            if indexes[new] != nil { throw .taken(new) }
        case .merge(let name, let other):
            try checkGone(name)
            if name == other { throw .taken(other) }
            if indexes[other] == nil { throw .unknown(other) }
        }
    }

    private func checkGone(_ name: LinkName) throws(Amendment.Refusal) {
        guard let account = account(named: name) else { throw .unknown(name) }
        if account.mayGoOn { throw .present(name) }
    }

    /// Adds the accounts of links of one life that ended long ago to one account for each kind, where links of the kind
    /// come by the thousand: else a machine full of containers would remember each of them for ever.
    ///
    /// - Parameter moment: those that ended before it retire; wall clock, µs since 1970.
    /// - Returns: what has become of them.
    package mutating func retire(before moment: Int) -> [AccountChange] {
        var retired: [LinkName: [Account]] = [:]
        for account in accounts where account.isEphemeral && !account.mayGoOn {
            guard let goneSince = account.goneSince, goneSince < moment, let past = account.past else { continue }
            retired[past, default: []].append(account)
        }
        var changes: [AccountChange] = []
        for (past, members) in retired.sorted(by: { $0.key < $1.key }) {
            if indexes[past] == nil {
                indexes[past] = accounts.count
                accounts.append(Account(past: past, of: members[0]))
            }
            merge(members.map(\.name), into: past)
            changes += members.map { .moved($0.name, to: past) }
        }
        return changes
    }

    private mutating func forget(_ name: LinkName) {
        guard let index = indexes[name] else { return }
        if accounts[index].mayGoOn {
            accounts[index].beginAnew(at: scannedAt ?? 0, wall: scannedWall)
            if let current = accounts[index].current { live[current]?.life = accounts[index].lives }
        } else {
            accounts.remove(at: index)
            reindex()
        }
    }

    private mutating func merge(_ names: [LinkName], into other: LinkName) {
        guard let target = indexes[other] else { return }
        for name in names { if let index = indexes[name] { accounts[target].absorb(accounts[index]) } }
        let gone = Set(names)
        accounts.removeAll { gone.contains($0.name) }
        reindex()
    }

    /// Finds the accounts again after some have another place or name.
    private mutating func reindex() {
        let before = indexes
        indexes = Dictionary(accounts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var moved: [Int: Int] = [:]
        for (name, index) in before { if let now = indexes[name] { moved[index] = now } }
        for (ifindex, incarnation) in live {
            if let now = moved[incarnation.account] { live[ifindex]?.account = now }
        }
    }
}

extension Account {
    /// Whether a link has the name, or one that has it may turn up again.
    fileprivate var mayGoOn: Bool { current != nil || !missing.isEmpty }

    /// The kinds of links that container engines make one of for each container, under a new name each time.
    private static let ephemeralKinds: Set<String> = ["veth", "ifb", "dummy", "ipvlan", "macvlan", "macvtap"]

    /// Whether it is of a kind that comes by the thousand, and its name has not come again.
    fileprivate var isEphemeral: Bool { lives == 1 && Self.ephemeralKinds.contains(kind) }

    /// The name of the account that those of its kind retire to. No link can have it: the kernel takes no colon.
    fileprivate var past: LinkName? { LinkName(bytes: "\(kind):past".utf8) }

    /// The account that others retire to.
    fileprivate init(past name: LinkName, of first: Account) {
        self.init(name: name, kind: first.kind, at: 0, wall: first.sinceWall)
        sinceAt = first.sinceAt
    }

    /// Begins again with nothing, but for the link that has the name.
    fileprivate mutating func beginAnew(at: UInt64, wall: Int) {
        var new = Account(name: name, kind: kind, at: at, wall: wall)
        new.current = current
        new.missing = missing
        new.lives = 1
        self = new
    }
}
