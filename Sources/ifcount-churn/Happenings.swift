internal import TestLinks

/// What happens to links, at random.
extension Churn {
    /// How many tunnels, and how many veths, there are at most.
    private static let mostTunnels = 5
    private static let mostPairs = 2
    /// How many links may be in the other namespace: a ledger remembers no more than a few.
    private static let mostElsewhere = 3

    /// Lets a number of things happen, with traffic between them.
    func happen(_ times: ClosedRange<Int>) throws {
        for _ in 0..<Int.random(in: times, using: &random) {
            // What cannot be done now is not done, and the next is chosen.
            while true {
                let weights = Incident.common.map(\.weight)
                if try perform(pick(Incident.common, weights: weights).incident) { break }
            }
            try carry()
            if !chance(3) { pause(milliseconds: below(30)) }
        }
    }

    /// Lets bytes through some of the links.
    func carry() throws {
        for link in machine.links where link.canCarry && !chance(3) {
            try carry(link)
        }
    }

    /// Lets some bytes through a link, sometimes many.
    private func carry(_ link: LivingLink) throws {
        let most = chance(6) ? 300_000 : 20_000
        let least = 64
        try machine.carry(
            link,
            received: Int.random(in: least...most, using: &random),
            sent: Int.random(in: least...most, using: &random)
        )
    }

    /// Does one thing, if it can be done now.
    ///
    /// - Returns: whether it was done.
    @discardableResult
    func perform(_ incident: Incident) throws -> Bool {
        switch incident {
        case .created: try create()
        case .recreated: try recreate(sameIndex: false)
        case .sameIndex: try recreate(sameIndex: true)
        case .closed: try end(byMessage: false)
        case .deleted: try end(byMessage: true)
        case .renamed: try rename()
        case .swapped: try swap()
        case .lowered: try lower()
        case .raised: try raise()
        case .left: try leave()
        case .returned: try comeBack()
        case .arrived: try arrive()
        case .resized: try resize()
        case .multiplied: try multiply()
        default: false
        }
    }

    // MARK: - Life and death

    private func freeNames(for kind: LivingLink.Kind) -> [String] { names.names(for: kind).filter(machine.isFree) }

    private func create() throws -> Bool {
        let tunnels = machine.links.count { $0.kind != .veth }
        let ends = machine.links.count - tunnels
        if chance(4) {
            let free = freeNames(for: .veth).shuffled(using: &random)
            guard ends < 2 * Self.mostPairs, free.count >= 2 else { return false }
            count(.created, "\(free[0]) and \(free[1]) (veth)")
            try machine.makePair(free[0], free[1])
            return true
        }
        let free = freeNames(for: .tun)
        guard tunnels < Self.mostTunnels, !free.isEmpty else { return false }
        let link = try machine.make(pick(free), chance(4) ? .tap : .tun)
        count(.created, link.words)
        return true
    }

    private func recreate(sameIndex: Bool) throws -> Bool {
        // Where nothing but its number tells a link from the one before, the daemon has to see this.
        let isRisky = sameIndex && !daemon.hasOwnSys
        if isRisky, machine.truths.isBlind { return false }
        let tunnels = machine.here.filter { $0.kind != .veth }
        guard !tunnels.isEmpty else { return false }
        let link = pick(tunnels)
        try carryLast(link)
        let byMessage = chance(4)
        let wait = chance(2) ? 0 : below(60)
        try machine.end(link, byMessage: byMessage)
        if wait > 0 { pause(milliseconds: wait) }
        let kind: LivingLink.Kind = sameIndex ? link.kind : chance(8) ? .tap : .tun
        let new = try machine.make(link.name, kind, index: sameIndex ? link.index : 0)
        new.isRisky = isRisky
        count(sameIndex ? .sameIndex : .recreated, "\(new.words), before it ifindex \(link.index)")
        return true
    }

    private func end(byMessage: Bool) throws -> Bool {
        // Elsewhere, too: then the daemon cannot see it.
        let candidates = machine.links.filter { byMessage || $0.kind != .veth }
        guard machine.links.count > 3, !candidates.isEmpty else { return false }
        let link = pick(candidates)
        let peer = link.peer
        try carryLast(link)
        let isElsewhere = !link.isHere
        count(byMessage ? .deleted : .closed, "\(link.words)\(isElsewhere ? ", elsewhere" : "")")
        try machine.end(link, byMessage: byMessage)
        for name in [link.name, peer?.name].compactMap({ $0 }) { names.mayRetire(name, &random) }
        return true
    }

    /// A link that ends does not wait until someone has looked at its last bytes.
    private func carryLast(_ link: LivingLink) throws {
        if link.canCarry { try carry(link) }
    }

    // MARK: - Names

    private func rename() throws -> Bool {
        let candidates = machine.here
        guard !candidates.isEmpty else { return false }
        let link = pick(candidates)
        let free = freeNames(for: link.kind).filter { !machine.truths.isBlind || !machine.isSecret($0, for: link) }
        guard !free.isEmpty else { return false }
        let name = pick(free)
        count(.renamed, "\(link.words) to \(name)")
        try machine.rename(link, to: name)
        return true
    }

    private func swap() throws -> Bool {
        let candidates = machine.here.shuffled(using: &random)
        for (place, one) in candidates.enumerated() {
            for other in candidates[(place + 1)...] where (one.kind == .veth) == (other.kind == .veth) {
                let isSecret = machine.isSecret(other.name, for: one) || machine.isSecret(one.name, for: other)
                if isSecret, machine.truths.isBlind { continue }
                count(.swapped, "\(one.words) and \(other.words)")
                try machine.swap(one, other)
                return true
            }
        }
        return false
    }

    // MARK: - Up, down, here, elsewhere

    private func lower() throws -> Bool {
        let candidates = machine.here.filter(\.isUp)
        guard candidates.count > 1 else { return false }
        let link = pick(candidates)
        count(.lowered, link.words)
        try machine.lower(link)
        return true
    }

    private func raise() throws -> Bool {
        let candidates = machine.links.filter { !$0.isUp }
        guard !candidates.isEmpty else { return false }
        let link = pick(candidates)
        count(.raised, "\(link.words)\(link.isHere ? "" : ", elsewhere")")
        try machine.raise(link)
        return true
    }

    private func leave() throws -> Bool {
        let away = machine.elsewhere
        let candidates = machine.here.filter { link in !away.contains { $0.name == link.name } }
        guard away.count < Self.mostElsewhere, candidates.count > 2 else { return false }
        let link = pick(candidates)
        try carryLast(link)
        count(.left, link.words)
        try machine.sendAway(link)
        return true
    }

    private func comeBack() throws -> Bool {
        let candidates = machine.elsewhere.filter { link in !machine.here.contains { $0.name == link.name } }
        guard !candidates.isEmpty else { return false }
        let link = pick(candidates)
        try machine.fetch(link)
        count(.returned, link.words)
        return true
    }

    private func arrive() throws -> Bool {
        let free = freeNames(for: .tun)
        guard !machine.truths.isBlind, !free.isEmpty else { return false }
        let link = try machine.makeElsewhere(pick(free), bytes: Int.random(in: 100...100_000, using: &random))
        try machine.fetch(link)
        count(.arrived, link.words)
        return true
    }

    // MARK: - The rest

    private func resize() throws -> Bool {
        let candidates = machine.here
        guard !candidates.isEmpty else { return false }
        let link = pick(candidates)
        // What a veth carries comes in frames of up to 1514 bytes.
        let mtu = Int.random(in: link.kind == .veth ? 1500...9000 : 576...9000, using: &random)
        count(.resized, "\(link.words) to \(mtu)")
        try machine.set(link, mtu: mtu)
        return true
    }

    private func multiply() throws -> Bool {
        let number = Int.random(in: 20...200, using: &random)
        count(.multiplied, "\(number)")
        try machine.namespace.addMany(number, prefix: "many", kind: try machine.namespace.simplestKind())
        pause(milliseconds: below(30))
        try machine.namespace.deleteMany()
        return true
    }
}
