import CLinkStats
import Glibc
import TestLinks

/// A socket of the shim, closed at the end.
struct Socket: ~Copyable {
    let descriptor: Int32
    let port: UInt32

    init(subscribe: Bool) throws {
        var port: UInt32 = 0
        descriptor = try succeeding("open a socket", unsafe ifc_rtnl_open(subscribe, &port))
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
            try succeeding("receive", result)
            messages += decode(bytes).messages
        }
    }

    /// The messages of a dump of links, with its NLMSG_DONE.
    func links(sequence: UInt32) throws -> [ifc_message] {
        try succeeding("ask for links", ifc_rtnl_request_links(descriptor, sequence))
        var messages: [ifc_message] = []
        repeat {
            let (result, bytes) = receive()
            try succeeding("receive", result)
            messages += decode(bytes).messages
        } while messages.last?.type != IFC_MESSAGE_DONE && messages.last?.type != IFC_MESSAGE_ERROR
        return messages
    }

    func stats(sequence: UInt32) throws -> (rows: [ifc_row], dump: ifc_dump) {
        try succeeding("ask for statistics", ifc_rtnl_request_stats(descriptor, sequence))
        var rows = [ifc_row](repeating: ifc_row(), count: 64)
        var dump = ifc_dump()
        while !dump.done && dump.error == 0 {
            let (result, bytes) = receive()
            try succeeding("receive", result)
            try succeeding(
                "decode statistics",
                unsafe ifc_decode_stats(bytes, bytes.count, sequence, port, &rows, rows.count, &dump)
            )
        }
        return (Array(rows.prefix(dump.rows)), dump)
    }
}

func linksByGetifaddrs(capacity: Int = 16) throws -> (count: Int, links: [ifc_link]) {
    var links = [ifc_link](repeating: ifc_link(), count: capacity + 1)
    let count = Int(try succeeding("get addresses", unsafe ifc_getifaddrs(&links, capacity)))
    return (count, Array(links.prefix(min(count, capacity))))
}
