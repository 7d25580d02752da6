import CLinkStats
import Glibc

/// Netlink numbers as linux/netlink.h and linux/rtnetlink.h have them, written out so that a test states the
/// bytes and not what some header says.
enum Number {
    static let noop: UInt16 = 1
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let newLink: UInt16 = 16
    static let delLink: UInt16 = 17
    static let newAddress: UInt16 = 20
    static let newStats: UInt16 = 92

    static let multi: UInt16 = 0x02
    static let interrupted: UInt16 = 0x10

    static let ifname: UInt16 = 3
    static let link: UInt16 = 5
    static let stats: UInt16 = 7
    static let master: UInt16 = 10
    static let wireless: UInt16 = 11
    static let linkInfo: UInt16 = 18
    static let stats64: UInt16 = 23
    static let linkNetnsid: UInt16 = 37
    static let newNetnsid: UInt16 = 45
    static let newIfindex: UInt16 = 49
    static let infoKind: UInt16 = 1
    static let infoData: UInt16 = 2
    static let tunType: UInt16 = 3
    static let nested: UInt16 = 0x8000

    static let statsLink64: UInt16 = 1
    static let statsPadding: UInt16 = 0
}

/// The bytes of an integer as the machine has them.
func raw(_ value: some FixedWidthInteger) -> [UInt8] {
    unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
}

func padded(_ bytes: [UInt8]) -> [UInt8] {
    bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
}

/// One attribute, padded. `length` overrides what its header says.
func attribute(_ type: UInt16, _ payload: [UInt8], length: UInt16? = nil) -> [UInt8] {
    padded(raw(length ?? UInt16(4 + payload.count)) + raw(type) + payload)
}

/// One message, padded. `length` overrides what its header says.
func message(
    _ type: UInt16,
    flags: UInt16 = 0,
    sequence: UInt32 = 0,
    port: UInt32 = 0,
    length: UInt32? = nil,
    _ payload: [UInt8]...
) -> [UInt8] {
    let payload = payload.flatMap(\.self)
    return padded(
        raw(length ?? UInt32(16 + payload.count)) + raw(type) + raw(flags) + raw(sequence) + raw(port) + payload
    )
}

/// `struct ifinfomsg`, of a link that is up and an Ethernet unless told otherwise.
func ifinfo(family: UInt8 = 0, type: UInt16 = 1, index: Int32 = 7, flags: UInt32 = 0x1_1043) -> [UInt8] {
    [family, 0] + raw(type) + raw(index) + raw(flags) + raw(UInt32(0))
}

func name(_ name: String) -> [UInt8] { attribute(Number.ifname, Array(name.utf8) + [0]) }

func kind(_ kind: String, data: [UInt8] = []) -> [UInt8] {
    let inner = attribute(Number.infoKind, Array(kind.utf8) + [0])
    return attribute(Number.linkInfo, inner + (data.isEmpty ? [] : attribute(Number.infoData, data)))
}

/// `struct if_stats_msg` with filter mask 1.
func statsHeader(index: UInt32) -> [UInt8] { raw(UInt32(0)) + raw(index) + raw(UInt32(1)) }

/// The first counters of `struct rtnl_link_stats64` or, with UInt32, of `struct rtnl_link_stats`, and zeros after them.
func counters<Width: FixedWidthInteger>(_ values: [Width], length: Int) -> [UInt8] {
    let known = values.flatMap { raw($0) }
    return Array((known + [UInt8](repeating: 0, count: max(0, length - known.count))).prefix(length))
}

/// rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped, tx_dropped: all different, all
/// beyond 32 bits in the wide ones.
let wide: [UInt64] = (1...8).map { $0 << 33 + $0 }
let narrow: [UInt32] = (1...8).map { 0xFFFF_FF00 + $0 }
