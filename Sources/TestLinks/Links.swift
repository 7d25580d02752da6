internal import CTestLinks
internal import Glibc
internal import SystemCalls

/// What a link has carried, in bytes, seen from its own host.
package struct Carried: Hashable, Sendable, CustomStringConvertible {
    /// Received.
    package var rx: UInt64
    /// Sent.
    package var tx: UInt64

    package init(rx: UInt64 = 0, tx: UInt64 = 0) {
        self.rx = rx
        self.tx = tx
    }

    package var description: String { "rx \(rx), tx \(tx)" }

    package static func += (total: inout Carried, more: Carried) {
        total.rx += more.rx
        total.tx += more.tx
    }
}

/// Links of the namespace, by rtnetlink(7). Each call is finished when it returns.
extension PrivateNamespace {
    /// A further namespace, to move links into.
    package func another() throws(LinkFailure) -> OtherNamespace { try OtherNamespace(beside: self) }

    /// Makes a link of a kind that needs no parameters: bridge, ifb, dummy …
    ///
    /// - Throws: `LinkFailure` with EOPNOTSUPP where the kernel has no such kind.
    package func add(_ name: String, kind: String) throws(LinkFailure) {
        try succeeding("make \(name), a \(kind)", unsafe ifct_link_add(name, kind))
    }

    /// The simplest kind of link this kernel can make: dummy, ifb or bridge.
    package func simplestKind() throws(LinkFailure) -> String {
        for kind in ["dummy", "ifb"] where unsafe ifct_link_add("kind?", kind) >= 0 {
            try delete("kind?")
            return kind
        }
        return "bridge"
    }

    /// Makes `count` links named `prefix` and a number from 0, as fast as the kernel takes them.
    package func addMany(_ count: Int, prefix: String, kind: String) throws(LinkFailure) {
        try succeeding("make \(count) links", unsafe ifct_link_add_many(prefix, kind, UInt32(count)))
    }

    /// Deletes all links that `addMany` has made, at once.
    package func deleteMany() throws(LinkFailure) {
        try succeeding("delete many links", ifct_link_delete_many())
    }

    /// Makes the kernel tell `count` changes of one link, or a few more, as fast as it can: enough of them overrun the
    /// socket of who does not read them.
    package func flood(_ count: Int, about name: String, mtu: UInt32 = 1400) throws(LinkFailure) {
        try succeeding("change the MTU of \(name) again and again", unsafe ifct_link_flood(name, mtu, UInt32(count)))
    }

    /// Makes a pair of Ethernet links whose ends are each other's peer.
    package func addPair(_ name: String, _ peer: String) throws(LinkFailure) {
        try succeeding("make \(name), a veth", unsafe ifct_link_add_veth(name, peer))
    }

    /// Deletes a link.
    package func delete(_ name: String) throws(LinkFailure) {
        try succeeding("delete \(name)", unsafe ifct_link_delete(name))
    }

    /// Gives a link another name; where the kernel wants it down for that, it is down for a moment.
    package func rename(_ name: String, to newName: String) throws(LinkFailure) {
        try succeeding("rename \(name) to \(newName)", unsafe ifct_link_rename(name, newName))
    }

    /// Gives a link a name of any bytes; it need not be UTF-8.
    package func rename(_ name: String, to bytes: [UInt8]) throws(LinkFailure) {
        let newName = (bytes + [0]).map { CChar(bitPattern: $0) }
        try succeeding("rename \(name) to \(bytes)", unsafe ifct_link_rename(name, newName))
    }

    /// Gives two links each other's names.
    package func swapNames(_ one: String, _ other: String) throws(LinkFailure) {
        try rename(one, to: "swapping?")
        try rename(other, to: one)
        try rename("swapping?", to: other)
    }

    /// Sets a link up or down.
    package func set(_ name: String, up: Bool) throws(LinkFailure) {
        try succeeding("set \(name) \(up ? "up" : "down")", unsafe ifct_link_set_up(name, up))
    }

    /// Sets the largest packet a link sends, in bytes.
    package func set(_ name: String, mtu: UInt32) throws(LinkFailure) {
        try succeeding("set the MTU of \(name)", unsafe ifct_link_set_mtu(name, mtu))
    }

    /// Makes a link a port of a bridge.
    package func set(_ name: String, master: String) throws(LinkFailure) {
        try succeeding("put \(name) under \(master)", unsafe ifct_link_set_master(name, master))
    }

    /// Takes a link out of its bridge.
    package func release(_ name: String) throws(LinkFailure) {
        try succeeding("release \(name)", unsafe ifct_link_set_master(name, ""))
    }

    /// Keeps the kernel from sending packets of its own through a link: no IPv6, no ARP. To be called while it is down.
    package func silence(_ name: String) throws(LinkFailure) {
        try succeeding("stop IPv6 on \(name)", unsafe ifct_link_silence_ipv6(name))
        try succeeding("stop ARP on \(name)", unsafe ifct_link_silence_arp(name))
    }

    /// Gives a link an IPv4 address with its /24 network.
    package func add(_ address: IPv4, to name: String) throws(LinkFailure) {
        try succeeding("give \(name) the address \(address)", unsafe ifct_link_add_address(name, address.number))
    }

    /// Moves a link into another namespace, where it arrives down.
    package func move(_ name: String, to other: borrowing OtherNamespace) throws(LinkFailure) {
        try succeeding("move \(name) to another namespace", unsafe ifct_link_move(name, other.descriptor))
    }

    /// Moves a link that is in another namespace into this one, where it arrives down.
    package func fetch(_ name: String, from other: borrowing OtherNamespace) throws(LinkFailure) {
        let here = try OtherNamespace.here()
        try visit(other) { () throws(LinkFailure) in
            _ = try succeeding("move \(name) back", unsafe ifct_link_move(name, here.descriptor))
        }
    }

    /// Waits until a link that is up carries packets; a veth does so only a moment after both of its ends are up.
    /// Not for a tun, whose state is unknown to the kernel.
    ///
    /// - Throws: `LinkFailure` with ETIMEDOUT after two seconds.
    package func awaitCarrier(of name: String) throws(LinkFailure) {
        try succeeding("see a carrier on \(name)", unsafe ifct_link_await_carrier(name))
    }

    /// Sends exactly `bytes` bytes through an Ethernet link that is up, in broadcast frames, their headers included.
    ///
    /// The frames are of a protocol that nobody answers (the type IEEE 802 keeps for local experiments). The other end
    /// of a veth receives as many.
    package func send(bytes: Int, through name: String) throws(LinkFailure) {
        try awaitCarrier(of: name)
        for size in evenSizes(bytes, smallest: 14, largest: 1514) {
            var frame = [UInt8](repeating: 0xff, count: size)
            frame.replaceSubrange(6..<14, with: [0x02, 0, 0, 0, 0, 1, 0x88, 0xb5])
            try succeeding("send through \(name)", unsafe ifct_link_send(name, frame, size))
        }
    }

    /// A link's ifindex, or nil when there is no such link here.
    package func index(of name: String) -> Int? {
        let answer = unsafe ifct_link_index(name)
        return answer > 0 ? Int(answer) : nil
    }

    /// What the kernel says each link has carried, by name, from /proc/thread-self/net/dev of this thread.
    package func carried() throws(LinkFailure) -> [String: Carried] {
        var links: [String: Carried] = [:]
        for line in try contents(of: "/proc/thread-self/net/dev").split(separator: "\n").dropFirst(2) {
            // The name ends at the last colon: a name may not hold one, and the figures do not.
            guard let colon = line.lastIndex(of: ":") else { continue }
            let figures = line[line.index(after: colon)...].split(separator: " ").map { UInt64($0) }
            guard figures.count >= 9, let rx = figures[0], let tx = figures[8] else { continue }
            links[String(line[..<colon].drop { $0 == " " })] = Carried(rx: rx, tx: tx)
        }
        return links
    }

    /// What the kernel says one link has carried, or nil when there is no such link here.
    package func carried(by name: String) throws(LinkFailure) -> Carried? { try carried()[name] }
}

/// An IPv4 address.
package struct IPv4: Hashable, Sendable, CustomStringConvertible {
    /// In host byte order.
    package let number: UInt32

    package init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) {
        number = UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }

    private init(number: UInt32) { self.number = number }

    /// The other end of a tunnel with this address: its neighbour in the same /24.
    package var peer: IPv4 { IPv4(number: number ^ 3) }

    package var description: String { octets.map { String($0) }.joined(separator: ".") }

    var octets: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
}

/// Packet sizes, as even as possible, that sum up to `bytes`.
func evenSizes(_ bytes: Int, smallest: Int, largest: Int) -> [Int] {
    precondition(bytes == 0 || bytes >= smallest, "no packet is smaller than its headers")
    let count = (bytes + largest - 1) / largest
    return (0..<count).map { bytes / count + ($0 < bytes % count ? 1 : 0) }
}

/// The text of a file of /proc.
private func contents(of path: String) throws(LinkFailure) -> String {
    do throws(Errno) { return try File.text(path) } catch { throw LinkFailure("read \(path)", error) }
}
