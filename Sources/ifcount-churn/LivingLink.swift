internal import TestLinks

/// A link that exists, and what has gone through it since it was made.
final class LivingLink {
    enum Kind: String {
        case tun, tap, veth
    }

    let kind: Kind
    var name: String
    /// Its ifindex in the namespace where it is.
    var index: Int
    /// The program behind it; nil for a veth.
    var tunnel: Tunnel?
    /// The other end of a veth.
    weak var peer: LivingLink?
    /// Where it is: false while it is in the other namespace.
    var isHere = true
    var isUp = false
    /// What it has carried in the other namespace. It belongs to the account of the name it left under, once it is back.
    var carriedElsewhere = Carried()
    /// The names it had since the daemon has surely saved one.
    var recentNames: Set<String>
    /// Whether it was made, or came in, since then.
    var isNew = true
    /// Whether something happened to it that a daemon gets right that saw it, and no other can find out.
    var isRisky = false
    /// The address of a tunnel.
    let address: IPv4
    /// What a veth has carried; a tunnel knows by itself.
    var frames = Carried()

    init(_ tunnel: consuming Tunnel, kind: Kind, address: IPv4) {
        self.kind = kind
        name = tunnel.name
        index = tunnel.index
        recentNames = [tunnel.name]
        self.address = address
        self.tunnel = consume tunnel
    }

    /// One end of a veth.
    init(veth name: String, index: Int) {
        kind = .veth
        self.name = name
        self.index = index
        recentNames = [name]
        address = IPv4(0, 0, 0, 0)
    }

    /// What has gone through it since it was made: what the kernel's counters have to say.
    var carried: Carried {
        switch tunnel {
        case .some(let tunnel): tunnel.truth
        case .none: frames
        }
    }

    /// Whether packets can go through it now.
    var canCarry: Bool { isUp && (kind != .veth || peer?.isUp == true) }

    /// For the log.
    var words: String { "\(name) (\(kind.rawValue), ifindex \(index))" }
}
