import CLinkStats
import Glibc

/// A socket of the shim, closed at the end.
struct Socket: ~Copyable {
    let descriptor: Int32
    let port: UInt32

    init(subscribe: Bool) throws {
        var port: UInt32 = 0
        descriptor = try must("ifc_rtnl_open", unsafe ifc_rtnl_open(subscribe, &port))
        self.port = port
    }

    deinit { close(descriptor) }

    func receive(capacity: Int = 65536) -> (result: Int, bytes: [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: capacity)
        let result = unsafe ifc_rtnl_receive(descriptor, &buffer, capacity)
        return (result, Array(buffer.prefix(max(0, result))))
    }

    /// The datagrams that wait on a nonblocking socket.
    func events() throws -> [ifc_message] {
        var messages: [ifc_message] = []
        while true {
            let (result, bytes) = receive()
            if result == Int(-EAGAIN) { return messages }
            try must("receive", result)
            messages += decode(bytes).messages
        }
    }

    /// The messages of a dump of links, with its NLMSG_DONE.
    func links(sequence: UInt32) throws -> [ifc_message] {
        try must("request", ifc_rtnl_request_links(descriptor, sequence))
        var messages: [ifc_message] = []
        repeat {
            let (result, bytes) = receive()
            try must("receive", result)
            messages += decode(bytes).messages
        } while messages.last?.type != IFC_MESSAGE_DONE && messages.last?.type != IFC_MESSAGE_ERROR
        return messages
    }

    func stats(sequence: UInt32) throws -> (rows: [ifc_row], dump: ifc_dump) {
        try must("request", ifc_rtnl_request_stats(descriptor, sequence))
        var rows = [ifc_row](repeating: ifc_row(), count: 64)
        var dump = ifc_dump()
        while !dump.done && dump.error == 0 {
            let (result, bytes) = receive()
            try must("receive", result)
            try must(
                "decode",
                unsafe ifc_decode_stats(bytes, bytes.count, sequence, port, &rows, rows.count, &dump)
            )
        }
        return (Array(rows.prefix(dump.rows)), dump)
    }

    /// Sends an RTM_NEWLINK that changes a link, and waits for the kernel to say that it is done.
    func change(index: Int32, flags: UInt32 = 0, mask: UInt32 = 0, _ attributes: [UInt8] = []) throws {
        let info: [UInt8] = raw(UInt32(0)) + raw(index) + raw(flags) + raw(mask)
        let request = message(Number.newLink, flags: 5, sequence: 1, info, attributes)
        try must("send", unsafe send(descriptor, request, request.count, 0))
        let answer = receive()
        try must("receive", answer.result)
        try must("change", decode(answer.bytes).messages.first?.error ?? -EBADMSG)
    }
}

/// A tun device that lives as long as this value.
struct Tun: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    static func create(_ name: String) throws -> Tun {
        let tun = Tun(descriptor: try must("open", unsafe open("/dev/net/tun", O_RDWR | O_CLOEXEC)))
        // struct ifreq: the name, then IFF_TUN | IFF_NO_PI, then nothing.
        var request = Array(name.utf8) + [UInt8](repeating: 0, count: 40 - name.utf8.count)
        request.replaceSubrange(16..<18, with: raw(UInt16(0x1001)))
        let setInterface: UInt = 0x4004_54CA
        try must("TUNSETIFF", unsafe ioctl(tun.descriptor, setInterface, &request))
        return tun
    }

    deinit { close(descriptor) }

    /// What the host receives from the tunnel: an IPv4 header and nothing that anyone would answer.
    func receive(bytes count: Int) throws {
        let packet: [UInt8] = [0x45, 0, 0, UInt8(count)] + [UInt8](repeating: 0, count: count - 4)
        try must("write", unsafe write(descriptor, packet, count))
    }
}

func linksByGetifaddrs(capacity: Int = 16) throws -> (count: Int, links: [ifc_link]) {
    var links = [ifc_link](repeating: ifc_link(), count: capacity + 1)
    let count = Int(try must("ifc_getifaddrs", unsafe ifc_getifaddrs(&links, capacity)))
    return (count, Array(links.prefix(min(count, capacity))))
}
