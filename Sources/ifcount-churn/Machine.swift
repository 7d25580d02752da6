internal import Glibc
internal import TestLinks

/// A network namespace with links in it, whose every byte is known by name, and another namespace beside it.
///
/// What is done to the kernel's links is done to `truths` in the same breath.
final class Machine {
    let namespace: PrivateNamespace
    private let other: OtherNamespace
    private(set) var links: [LivingLink] = []
    var truths = Truths()
    private var addresses: UInt16 = 0

    /// An idle link that is there from the beginning to the end, like a machine's hardware.
    static let idle = "idle0"

    init(_ namespace: consuming PrivateNamespace) throws(LinkFailure) {
        other = try namespace.another()
        try namespace.add(Self.idle, kind: try namespace.simplestKind())
        self.namespace = namespace
    }

    /// The links that are in this namespace.
    var here: [LivingLink] { links.filter(\.isHere) }
    /// The links that are in the other one.
    var elsewhere: [LivingLink] { links.filter { !$0.isHere } }

    func isFree(_ name: String) -> Bool { !links.contains { $0.name == name } }

    /// The names that have a link here.
    var present: Set<String> { Set(here.map(\.name)) }

    private func nextAddress() -> IPv4 {
        addresses &+= 1
        return IPv4(10, UInt8(64 + addresses / 250 % 64), UInt8(addresses % 250), 1)
    }

    // MARK: - Life and death

    /// Makes a tun or tap, up, with an ifindex that is asked for, or any for 0.
    @discardableResult
    func make(_ name: String, _ kind: LivingLink.Kind, index: Int = 0) throws(LinkFailure) -> LivingLink {
        let tunnel = try Tunnel(name, in: namespace, tap: kind == .tap, index: index)
        let link = LivingLink(tunnel, kind: kind, address: nextAddress())
        links.append(link)
        truths.noteChange(of: name)
        try raise(link)
        return link
    }

    /// Makes a veth, both ends here and up.
    func makePair(_ name: String, _ peer: String) throws(LinkFailure) {
        try namespace.addPair(name, peer)
        var ends: [LivingLink] = []
        for name in [name, peer] {
            ends.append(LivingLink(veth: name, index: namespace.index(of: name) ?? 0))
            truths.noteChange(of: name)
        }
        ends[0].peer = ends[1]
        ends[1].peer = ends[0]
        links += ends
        for end in ends { try raise(end) }
    }

    /// Makes a tun in the other namespace and lets bytes through it there: they are no account's of this one.
    func makeElsewhere(_ name: String, bytes: Int) throws(LinkFailure) -> LivingLink {
        let tunnel = try namespace.visit(other) { () throws(LinkFailure) in try Tunnel(name, in: namespace) }
        let link = LivingLink(tunnel, kind: .tun, address: nextAddress())
        link.isHere = false
        link.isRisky = true
        links.append(link)
        try raise(link)
        try carry(link, received: bytes, sent: bytes / 2 + Tunnel.smallestPacket)
        link.carriedElsewhere = Carried()
        return link
    }

    /// Ends a link, and a veth's other end with it; a tunnel by its program, or by rtnetlink(7).
    func end(_ link: LivingLink, byMessage: Bool = false) throws(LinkFailure) {
        let name = link.name
        try inside(link) { () throws(LinkFailure) in
            if byMessage || link.kind == .veth { try namespace.delete(name) }
            if let tunnel = link.tunnel.take() { _ = try tunnel.close() }
        }
        for gone in [link, link.peer].compactMap({ $0 }) {
            links.removeAll { $0 === gone }
            guard gone.isHere else { continue }
            truths.noteChange(of: gone.name)
            if gone.kind == .veth { truths.noteVethEnd(of: gone.name) }
        }
    }

    // MARK: - Changes

    /// Sets a link up that is here or elsewhere, silent.
    func raise(_ link: LivingLink) throws(LinkFailure) {
        let name = link.name
        try inside(link) { () throws(LinkFailure) in
            if link.tunnel == nil {
                try namespace.silence(name)
                try namespace.set(name, up: true)
            } else {
                try link.tunnel?.up(address: link.address)
            }
        }
        link.isUp = true
    }

    func lower(_ link: LivingLink) throws(LinkFailure) {
        let name = link.name
        try inside(link) { () throws(LinkFailure) in try namespace.set(name, up: false) }
        link.isUp = false
    }

    func set(_ link: LivingLink, mtu: Int) throws(LinkFailure) {
        try namespace.set(link.name, mtu: UInt32(mtu))
        link.tunnel?.largestPacket = mtu
    }

    /// Gives a link that is here a name that no other has.
    func rename(_ link: LivingLink, to name: String) throws(LinkFailure) {
        try namespace.rename(link.name, to: name)
        try take(name, for: link)
    }

    /// Lets two links that are here have each other's names.
    func swap(_ one: LivingLink, _ other: LivingLink) throws(LinkFailure) {
        let names = (one.name, other.name)
        try namespace.swapNames(names.0, names.1)
        try take(names.1, for: one)
        try take(names.0, for: other)
    }

    private func take(_ name: String, for link: LivingLink) throws(LinkFailure) {
        if isSecret(name, for: link) { link.isRisky = true }
        truths.noteChange(of: link.name)
        truths.noteChange(of: name)
        link.recentNames.insert(name)
        link.name = name
        try link.tunnel?.follow(to: name)
    }

    /// Moves a link to the other namespace, where it is down.
    func sendAway(_ link: LivingLink) throws(LinkFailure) {
        try namespace.move(link.name, to: other)
        link.isHere = false
        link.isUp = false
        link.carriedElsewhere = Carried()
        truths.noteChange(of: link.name)
        try find(link)
    }

    /// Moves a link back into this namespace, and sets it up.
    func fetch(_ link: LivingLink) throws(LinkFailure) {
        try namespace.fetch(link.name, from: other)
        link.isHere = true
        link.isUp = false
        truths.noteChange(of: link.name)
        truths.noteReturn(of: link.name)
        truths.add(link.carriedElsewhere, to: link.name)
        link.carriedElsewhere = Carried()
        try find(link)
        try raise(link)
    }

    /// Finds the ifindex of a link that has moved.
    private func find(_ link: LivingLink) throws(LinkFailure) {
        let name = link.name
        try inside(link) { () throws(LinkFailure) in
            try link.tunnel?.follow(to: name)
            link.index = link.tunnel?.index ?? namespace.index(of: name) ?? 0
        }
    }

    // MARK: - Traffic

    /// Lets bytes through a link that can carry them. What one end of a veth sends, the other receives.
    func carry(_ link: LivingLink, received: Int, sent: Int) throws(LinkFailure) {
        guard link.canCarry else { return }
        if let peer = link.peer {
            try frame(bytes: sent, from: link, to: peer)
            try frame(bytes: received, from: peer, to: link)
            return
        }
        let before = link.carried
        try inside(link) { () throws(LinkFailure) in
            try link.tunnel?.receive(bytes: received)
            try link.tunnel?.transmit(bytes: sent)
        }
        let after = link.carried
        note(Carried(rx: after.rx - before.rx, tx: after.tx - before.tx), on: link)
    }

    private func frame(bytes: Int, from sender: LivingLink, to receiver: LivingLink) throws(LinkFailure) {
        let name = sender.name
        try inside(sender) { () throws(LinkFailure) in try namespace.send(bytes: bytes, through: name) }
        let sent = Carried(tx: UInt64(bytes))
        let received = Carried(rx: UInt64(bytes))
        sender.frames += sent
        receiver.frames += received
        note(sent, on: sender)
        note(received, on: receiver)
    }

    private func note(_ bytes: Carried, on link: LivingLink) {
        if link.isHere { truths.add(bytes, to: link.name) } else { link.carriedElsewhere += bytes }
    }

    /// Does something in the namespace where a link is.
    private func inside<Result: ~Copyable>(
        _ link: LivingLink,
        _ body: () throws(LinkFailure) -> Result
    ) throws(LinkFailure) -> Result {
        link.isHere ? try body() : try namespace.visit(other, body)
    }

    /// Holds the truth against the kernel's own counters, for those links that are here.
    ///
    /// - Returns: what differs; nil when nothing does.
    func differenceFromKernel() throws(LinkFailure) -> String? {
        let said = try namespace.carried()
        for link in here where said[link.name] != link.carried {
            return "\(link.words) has carried \(link.carried), the kernel says "
                + (said[link.name].map { "\($0)" } ?? "there is none")
        }
        return nil
    }

    /// The daemon has saved all it knew: each link that is here is known to it under its present name.
    func noteSaved() {
        truths.noteSaved()
        for link in links {
            link.recentNames = [link.name]
            link.isNew = false
            link.isRisky = false
        }
    }

    /// Whether something happened that a daemon could not find out that had not seen it.
    var isRisky: Bool { links.contains { $0.isRisky } }

    /// Whether nobody could find out, who had not seen it, that a link that is here got a name.
    func isSecret(_ name: String, for link: LivingLink) -> Bool { link.isNew || link.recentNames.contains(name) }
}
