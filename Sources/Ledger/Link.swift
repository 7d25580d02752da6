/// What the kernel's counters of one link said at one moment, since the link was created. rx is what this host received.
package struct Counters: Hashable, Sendable, Codable {
    package var rxBytes: UInt64 = 0
    package var txBytes: UInt64 = 0
    package var rxPackets: UInt64 = 0
    package var txPackets: UInt64 = 0
    package var rxErrors: UInt64 = 0
    package var txErrors: UInt64 = 0
    package var rxDropped: UInt64 = 0
    package var txDropped: UInt64 = 0

    package init() {}
}

/// How wide counters are where they come from. It decides what a smaller value can mean.
package enum CounterWidth: Int, Hashable, Sendable, Codable {
    /// They wrap at 2^32: getifaddrs(3), and drivers of 32-bit kernels.
    case bits32 = 32
    /// They never wrap.
    case bits64 = 64
}

/// Which link a message speaks of, as far as its source can tell.
package struct LinkIdentity: Hashable, Sendable, Codable {
    /// The kernel's number for it, unique while it lives in its namespace.
    package var ifindex: Int32
    /// The inode of /sys/class/net/NAME, which differs for each creation; nil where /sys shows another namespace.
    package var inode: UInt64?

    package init(ifindex: Int32, inode: UInt64? = nil) {
        self.ifindex = ifindex
        self.inode = inode
    }

    /// Whether both can be the same link: the same ifindex, and no proof to the contrary.
    func agrees(with other: LinkIdentity) -> Bool {
        guard ifindex == other.ifindex else { return false }
        guard let inode, let otherInode = other.inode else { return true }
        return inode == otherInode
    }
}

/// What the kernel says a link is doing, in one word.
package enum LinkState: String, Hashable, Sendable, Codable {
    case up
    case down
    case noCarrier = "no-carrier"
}

/// One link, without its counters.
package struct Link: Hashable, Sendable, Codable {
    package var identity: LinkIdentity
    package var name: LinkName
    /// What rtnetlink calls it (tun, wireguard, veth …), or, for hardware, ethernet, wlan, wwan, loopback.
    package var kind: String
    package var state: LinkState

    package init(identity: LinkIdentity, name: LinkName, kind: String, state: LinkState) {
        self.identity = identity
        self.name = name
        self.kind = kind
        self.state = state
    }
}

/// Where a ledger counts: counters of one boot and one network namespace can be compared, others cannot.
package struct Session: Hashable, Sendable, Codable {
    /// /proc/sys/kernel/random/boot_id (random(4)).
    package var boot: String
    /// What names the network namespace, such as the inode of /proc/self/ns/net (namespaces(7)).
    package var namespace: String

    package init(boot: String, namespace: String) {
        self.boot = boot
        self.namespace = namespace
    }
}
