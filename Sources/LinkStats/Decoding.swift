internal import CLinkStats
internal import Ledger

extension Counters {
    /// The border's counters as the ledger's.
    init(_ counters: ifc_counters) {
        self.init()
        rxBytes = counters.rx_bytes
        txBytes = counters.tx_bytes
        rxPackets = counters.rx_packets
        txPackets = counters.tx_packets
        rxErrors = counters.rx_errors
        txErrors = counters.tx_errors
        rxDropped = counters.rx_dropped
        txDropped = counters.tx_dropped
    }
}

extension ifc_link {
    /// The name; nil where the border let a name pass that no link can have.
    var linkName: LinkName? {
        unsafe withUnsafeBytes(of: name) { unsafe LinkName(bytes: $0.prefix(Int(name_length))) }
    }

    /// IFLA_INFO_KIND as text; empty for most hardware.
    var infoKind: String {
        unsafe withUnsafeBytes(of: kind) { unsafe String(decoding: $0.prefix(Int(kind_length)), as: UTF8.self) }
    }

    /// The counters, or nil when the message carried none.
    var sample: Scan.Sample? {
        CounterWidth(rawValue: Int(counter_bits)).map { Scan.Sample(Counters(counters), width: $0) }
    }

    /// One word of netdevice(7)'s flags: IFF_UP is the administrator's wish, IFF_RUNNING the driver's answer.
    var state: LinkState {
        if flags & 0x1 == 0 { return .down }
        return flags & 0x40 == 0 ? .noCarrier : .up
    }

    /// The link, with what /sys knows of it where that is of this namespace.
    func link(_ entry: Sysfs.Entry?) -> Link? {
        guard let name = linkName else { return nil }
        return Link(
            identity: LinkIdentity(ifindex: ifindex, inode: entry?.inode),
            name: name,
            kind: LinkKind.name(of: self, deviceType: entry?.deviceType),
            state: state
        )
    }
}

/// What a link is called by its nature.
enum LinkKind {
    /// rtnetlink's own word where it has one, else the device type that the driver told /sys (wlan, wwan), else a word
    /// for the hardware type (linux/if_arp.h).
    static func name(of link: ifc_link, deviceType: String?) -> String {
        let kind = link.infoKind
        if kind == "tun" { return isTap(link) ? "tap" : "tun" }
        if !kind.isEmpty { return kind }
        if let deviceType, !deviceType.isEmpty { return deviceType }
        switch Int32(link.hardware_type) {
        case 1: return "ethernet"
        case 32: return "infiniband"
        case 280: return "can"
        case 512: return "ppp"
        case 519: return "wwan"
        case 768, 769, 776, 778, 823, 0xFFFE: return "tunnel"
        case 772: return "loopback"
        case 801...803: return "wlan"
        default: return "other"
        }
    }

    /// Both are of rtnetlink's kind "tun"; kernels that tell no IFLA_TUN_TYPE are told apart by the hardware type.
    private static func isTap(_ link: ifc_link) -> Bool {
        link.tun_type == 0 ? link.hardware_type == 1 : link.tun_type == 2
    }
}
