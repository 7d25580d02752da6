/// Which closing counters can be believed: those that a link's delete message carries.
package enum ClosingRules {
    /// Whether the counters of a delete message are the last true ones, for each direction.
    package struct Trust: Hashable, Sendable {
        package var rx: Bool
        package var tx: Bool
    }

    /// Links made of software, whose counters were seen to be whole in the delete message.
    private static let software: Set<String> = [
        "bond", "bridge", "dummy", "ifb", "macvlan", "ppp", "tap", "tun", "vlan", "vxlan", "wireguard",
    ]

    /// - Parameters:
    ///   - kind: the link's kind, as in `Link`.
    ///   - departed: the link moved to another namespace and lives: it still has all it counts with.
    /// - Returns: for each direction, whether the closing counter is the last true one.
    package static func trust(kind: String, departed: Bool) -> Trust {
        if software.contains(kind) { return Trust(rx: true, tx: true) }
        // What a veth receives is what its peer sent, and the peer is unlinked before the message is made: it says 0.
        if kind == "veth" { return Trust(rx: departed, tx: true) }
        // A driver of hardware may answer from a cache.
        return Trust(rx: false, tx: false)
    }
}
