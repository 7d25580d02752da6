/// Which link it is: identity before value (rules 1 to 3 and 8).
extension Ledger {
    /// Takes a message that a link exists and looks like this now.
    mutating func take(_ link: Link, _ sample: Scan.Sample?, at: UInt64, wall: Int) {
        let ifindex = link.identity.ifindex
        if live[ifindex]?.isSame(as: link) == true {
            update(link, sample, isSeen: !isBlind, at: at, wall: wall)
        } else {
            // The number is another link's now, and nobody told that its link had ended.
            endUnseen(ifindex, at: at)
            beginSeen(link, sample, at: at, wall: wall)
        }
    }

    /// Takes the roll of all links: those that are not in it have gone unseen, new ones have begun unseen.
    mutating func take(roll links: [Link], except uncertain: Set<Int32>, at: UInt64, wall: Int) {
        let isFirst = scannedAt == nil
        let present = Set(links.map(\.identity.ifindex))
        for ifindex in live.keys.sorted() where !present.contains(ifindex) && !uncertain.contains(ifindex) {
            miss(ifindex, at: at)
        }
        for link in links where !uncertain.contains(link.identity.ifindex) {
            let ifindex = link.identity.ifindex
            if live[ifindex]?.isSame(as: link) == true {
                update(link, nil, isSeen: false, at: at, wall: wall)
                if let away, let index = live[ifindex]?.account { accounts[index].overlook(away.length) }
                continue
            }
            endUnseen(ifindex, at: at)
            if isFirst {
                // Its first reading is where counting begins.
                begin(link, account: account(for: link, at: at, wall: wall), at: at)
            } else {
                beginUnseen(link, at: at, wall: wall)
            }
        }
    }

    /// After a time in which links may have come and gone unseen, an absent name may have missed a whole one. One doubt is
    /// as good as many: an account that has no upper bound already is left as it is.
    mutating func doubtAbsent(at: UInt64) {
        for (index, account) in accounts.enumerated() where account.current == nil {
            if account.rxAtMost == nil && account.txAtMost == nil { continue }
            let unobserved = away?.length ?? at.elapsed(since: account.asOf)
            note(.unseenLife, account: index, ifindex: 0, rx: true, tx: true, unobserved: unobserved)
        }
    }

    /// Takes a delete message: rule 2.
    mutating func take(endOf link: Link, _ closing: Scan.Sample?, departed: Bool, at: UInt64, wall: Int) {
        let ifindex = link.identity.ifindex
        if live[ifindex] == nil {
            // Before the first roll, a link that is gone is none of ours; after it, its beginning was lost.
            guard scannedAt != nil else { return }
            beginUnseen(link, at: at, wall: wall)
        }
        if let known = live[ifindex], known.link.name != link.name {
            rename(known, to: link, isSeen: false, at: at, wall: wall)
        }
        guard var incarnation = live.removeValue(forKey: ifindex) else { return }
        let index = incarnation.account
        accounts[index].missing.removeAll { $0 == ifindex }
        let trust = ClosingRules.trust(kind: incarnation.link.kind, departed: departed)
        let before = incarnation.asOf
        var rxSure = trust.rx
        var txSure = trust.tx
        if let closing, incarnation.isBaselined {
            incarnation.raw = closing.counters
            let counters = closing.counters
            let rx = close(counters.rxBytes, counters.rxPackets, closing.width, \.rx, of: &incarnation, at: at)
            let tx = close(counters.txBytes, counters.txPackets, closing.width, \.tx, of: &incarnation, at: at)
            // From here on it is counted under this name, should it have moved and come back.
            if rx && tx { incarnation.unattributedSince = nil }
            rxSure = rx && rxSure
            txSure = tx && txSure
        } else {
            rxSure = false
            txSure = false
        }
        tell(departed ? .departed : .removed, incarnation, gapped: !(rxSure && txSure))
        if !rxSure || !txSure {
            let cause: Happening.Gap = closing == nil ? .unseenEnd : .unsureClosing
            let unobserved = at.elapsed(since: before)
            note(cause, account: index, ifindex: ifindex, rx: !rxSure, tx: !txSure, unobserved: unobserved)
        }
        accounts[index].endedSurely = rxSure && txSure
        leave(ifindex, index, at: at)
        if departed { accounts[index].remember(incarnation) }
    }

    /// Counts a closing counter of one direction. A lower one is never a reset.
    ///
    /// - Returns: whether it continued the last good value.
    private mutating func close(
        _ value: UInt64,
        _ packets: UInt64,
        _ width: CounterWidth,
        _ direction: WritableKeyPath<Incarnation, Track>,
        of incarnation: inout Incarnation,
        at: UInt64
    ) -> Bool {
        let track = incarnation[keyPath: direction]
        let verdict = CounterRules.judge(value, width: width, after: track, at: at, disturbed: false)
        switch verdict {
        case .count(let bytes, _):
            let packets = incarnation[keyPath: direction].follow(verdict, packets: packets, width: width, at: at)
            if incarnation.unattributedSince != nil { return width == .bits64 }
            if direction == \Incarnation.rx {
                add(rx: (bytes, packets), tx: (0, 0), of: incarnation, since: track.at, at: at)
            } else {
                add(rx: (0, 0), tx: (bytes, packets), of: incarnation, since: track.at, at: at)
            }
            return width == .bits64
        case .setAside:
            accounts[incarnation.account].suspect += 1
            return false
        case .hold, .wait, .reset:
            return false
        }
    }

    // MARK: - Beginnings

    /// A link that was seen to begin: born here, come in from elsewhere, or come back.
    private mutating func beginSeen(_ link: Link, _ sample: Scan.Sample?, at: UInt64, wall: Int) {
        let index = account(for: link, at: at, wall: wall)
        if let departed = accounts[index].recall(where: { $0.isContinued(by: link, sample) }) {
            comeBack(departed, to: index, as: link, sample, at: at)
            return
        }
        begin(link, account: index, at: at)
        guard var incarnation = live[link.identity.ifindex] else { return }
        if let counters = sample?.counters, counters.rxBytes > 0 || counters.txBytes > 0 {
            incarnation.setBaseline(counters, at: at)
            tell(.arrived, incarnation, gapped: false)
        } else {
            incarnation.isBaselined = true
            tell(incarnation.life == 1 ? .created : .recreated, incarnation, gapped: !accounts[index].endedSurely)
        }
        live[link.identity.ifindex] = incarnation
        accounts[index].rest(at: at)
    }

    /// A link that was found: it counts in full, in a gap, since others of its name may have come and gone.
    private mutating func beginUnseen(_ link: Link, at: UInt64, wall: Int) {
        let ifindex = link.identity.ifindex
        let index = account(for: link, at: at, wall: wall)
        let before = max(accounts[index].asOf, away == nil ? scannedAt ?? at : 0)
        let unobserved = away?.length ?? at.elapsed(since: before)
        if let departed = accounts[index].recall(where: { $0.isContinued(by: link) }) {
            let isSure = departed.link.identity.inode != nil && link.identity.inode != nil
            comeBack(departed, to: index, as: link, nil, at: at)
            if !isSure {
                note(.unseenBirth, account: index, ifindex: ifindex, rx: true, tx: true, unobserved: unobserved)
            }
            return
        }
        if let departed = recallRenamed(link) {
            live[ifindex] = departed
            rename(departed, to: link, isSeen: false, at: at, wall: wall)
            live[ifindex]?.link = link
            return
        }
        begin(link, account: index, at: at)
        guard var incarnation = live[ifindex] else { return }
        // One that moved away may have come back under another number: then what it counts was counted before. So
        // counting begins with its next reading.
        incarnation.isBaselined = accounts[index].departed.isEmpty && !accounts[index].hasForgottenDeparted
        // It may have begun at any moment since the machine was started.
        incarnation.rx.at = 0
        incarnation.tx.at = 0
        live[ifindex] = incarnation
        tell(incarnation.life == 1 ? .created : .recreated, incarnation, gapped: true)
        note(.unseenBirth, account: index, ifindex: ifindex, rx: true, tx: true, unobserved: unobserved)
        accounts[index].rest(at: at)
    }

    /// The link that had moved away under another name and is this one: what it counts was counted there before.
    private mutating func recallRenamed(_ link: Link) -> Incarnation? {
        for index in accounts.indices {
            guard var departed = accounts[index].recall(where: { $0.isContinued(by: link) }) else { continue }
            // Accounts may have other places since it left.
            departed.account = index
            return departed
        }
        return nil
    }

    /// Opens an incarnation: a reset of the account, when it had one before.
    private mutating func begin(_ link: Link, account index: Int, at: UInt64) {
        confirmMissing(of: index)
        accounts[index].lives += 1
        if accounts[index].lives > 1 { accounts[index].resets += 1 }
        accounts[index].kind = link.kind
        accounts[index].current = link.identity.ifindex
        let track = Track(mark: 0, packets: 0, at: at)
        live[link.identity.ifindex] = Incarnation(
            link: link,
            account: index,
            life: accounts[index].lives,
            rx: track,
            tx: track,
            isBaselined: false
        )
    }

    /// A link that had moved to another namespace is here again: the same incarnation, its counters continued.
    private mutating func comeBack(
        _ departed: Incarnation,
        to index: Int,
        as link: Link,
        _ sample: Scan.Sample?,
        at: UInt64
    ) {
        var incarnation = departed
        incarnation.account = index
        incarnation.link = link
        accounts[index].current = link.identity.ifindex
        live[link.identity.ifindex] = incarnation
        tell(.returned, incarnation, gapped: false)
        if let sample { rise(sample, of: link.identity.ifindex, at: at) }
        accounts[index].rest(at: at)
    }

    /// The account of a link's name; it is opened when there is none.
    private mutating func account(for link: Link, at: UInt64, wall: Int) -> Int {
        if let index = indexes[link.name] { return index }
        accounts.append(Account(name: link.name, kind: link.kind, at: at, wall: wall))
        indexes[link.name] = accounts.count - 1
        return accounts.count - 1
    }

    // MARK: - Changes

    /// A link that is known: it may have another name, have gone up or down, or be here again after it was missing.
    private mutating func update(_ link: Link, _ sample: Scan.Sample?, isSeen: Bool, at: UInt64, wall: Int) {
        let ifindex = link.identity.ifindex
        if live[ifindex]?.missingSince != nil {
            live[ifindex]?.missingSince = nil
            if let index = live[ifindex]?.account {
                accounts[index].missing.removeAll { $0 == ifindex }
                accounts[index].current = ifindex
            }
        }
        if let known = live[ifindex], known.link.name != link.name {
            // What the message counted so far belongs to the name before.
            if let sample, isSeen { take(sample, of: ifindex, witnessed: true, at: at) }
            rename(known, to: link, isSeen: isSeen, at: at, wall: wall)
        } else if let sample {
            // And here to the time before a driver may reset it, going down.
            rise(sample, of: ifindex, at: at)
        }
        guard let before = live[ifindex]?.link else { return }
        if (before.state == .down) != (link.state == .down) { live[ifindex]?.isDisturbed = true }
        var link = link
        link.identity.inode = link.identity.inode ?? before.identity.inode
        live[ifindex]?.link = link
        if before.state != link.state, let incarnation = live[ifindex] {
            tell(.changed(link.state), incarnation, gapped: false)
        }
    }

    /// Moves an incarnation to the account of its new name; its counters go on.
    ///
    /// Where there was no message of it, what the counters have counted since the last reading is neither name's for sure,
    /// and counting goes on with the next.
    private mutating func rename(_ known: Incarnation, to link: Link, isSeen: Bool, at: UInt64, wall: Int) {
        let ifindex = link.identity.ifindex
        let old = known.account
        let new = account(for: link, at: at, wall: wall)
        leave(ifindex, old, at: at)
        confirmMissing(of: new)
        accounts[new].lives += 1
        accounts[new].current = ifindex
        accounts[new].kind = link.kind
        accounts[new].rest(at: at)
        live[ifindex]?.account = new
        live[ifindex]?.life = accounts[new].lives
        tell(.renamed(from: known.link.name), account: new, ifindex: ifindex, gapped: !isSeen)
        if isSeen { return }
        live[ifindex]?.unattributedSince = known.asOf
        let unobserved = away?.length ?? at.elapsed(since: known.asOf)
        for index in [old, new] {
            note(.unseenRename, account: index, ifindex: ifindex, rx: true, tx: true, unobserved: unobserved)
        }
    }

    /// Counts what a message's counters are above the last reading. Lower ones say nothing: a veth about to be deleted
    /// already answers 0.
    private mutating func rise(_ sample: Scan.Sample, of ifindex: Int32, at: UInt64) {
        guard let incarnation = live[ifindex], incarnation.isBaselined, sample.width == .bits64,
            sample.counters.rxBytes >= incarnation.rx.mark, sample.counters.txBytes >= incarnation.tx.mark
        else { return }
        take(sample, of: ifindex, witnessed: true, at: at)
    }

    // MARK: - Ends

    /// A link that is not here any more, and nobody saw it go: a gap, unless it turns up again.
    private mutating func miss(_ ifindex: Int32, at: UInt64) {
        guard let incarnation = live[ifindex], incarnation.missingSince == nil else { return }
        live[ifindex]?.missingSince = at
        accounts[incarnation.account].missing.append(ifindex)
        tell(.removed, incarnation, gapped: true)
        tell(.gap(.unseenEnd), incarnation, gapped: true)
        leave(ifindex, incarnation.account, at: at)
    }

    /// A link that is known to have ended, and nobody saw it go.
    mutating func endUnseen(_ ifindex: Int32, at: UInt64) {
        guard let incarnation = live.removeValue(forKey: ifindex) else { return }
        let index = incarnation.account
        let wasMissing = accounts[index].missing.contains(ifindex)
        accounts[index].missing.removeAll { $0 == ifindex }
        if !wasMissing { tell(.removed, incarnation, gapped: true) }
        let before = incarnation.asOf
        let unobserved = away?.length ?? at.elapsed(since: before)
        note(.unseenEnd, account: index, ifindex: ifindex, rx: true, tx: true, unobserved: unobserved)
        accounts[index].endedSurely = false
        leave(ifindex, index, at: at)
    }

    /// Another link has the name now: what was missing will not come back.
    private mutating func confirmMissing(of index: Int) {
        for ifindex in accounts[index].missing {
            guard let incarnation = live.removeValue(forKey: ifindex) else { continue }
            let since = incarnation.missingSince ?? incarnation.asOf
            let unobserved = since.elapsed(since: incarnation.asOf)
            note(.unseenEnd, account: index, ifindex: ifindex, rx: true, tx: true, unobserved: unobserved, until: since)
            accounts[index].endedSurely = false
        }
        accounts[index].missing = []
    }

    /// The name is no longer this link's.
    private mutating func leave(_ ifindex: Int32, _ index: Int, at: UInt64) {
        if accounts[index].current == ifindex {
            accounts[index].current = nil
            accounts[index].goneSince = scanningWall
        }
        accounts[index].rest(at: at)
    }
}

extension Incarnation {
    /// Whether a link of the same number is this one. One that was missing has to prove it, by its inode or its name: a
    /// number can be asked for.
    fileprivate func isSame(as link: Link) -> Bool {
        guard self.link.identity.agrees(with: link.identity) else { return false }
        let isProven = self.link.identity.inode != nil && link.identity.inode != nil
        return isProven || missingSince == nil || self.link.name == link.name
    }

    /// Whether a link that was found can be this one, which had moved away: by its inode, else by its number and kind.
    fileprivate func isContinued(by link: Link) -> Bool {
        if let mine = self.link.identity.inode, let its = link.identity.inode { return mine == its }
        return self.link.identity.ifindex == link.identity.ifindex && self.link.kind == link.kind
    }

    /// Whether a link that was seen to come in can be this one: then its counters have gone on, too.
    fileprivate func isContinued(by link: Link, _ sample: Scan.Sample?) -> Bool {
        if let mine = self.link.identity.inode, let its = link.identity.inode { return mine == its }
        guard isContinued(by: link), isBaselined, let counters = sample?.counters else { return false }
        return counters.rxBytes >= rx.mark && counters.txBytes >= tx.mark
    }
}
