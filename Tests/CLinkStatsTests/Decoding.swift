import CLinkStats
import Testing

/// What a datagram decodes to.
struct Decoded {
    var messages: [ifc_message] = []
    /// 0, or -EBADMSG when what followed the messages is none.
    var end: Int32 = 0
}

/// Decodes a whole datagram that ends at unreadable memory, and checks that every call moves on.
func decode(_ bytes: [UInt8]) -> Decoded {
    unsafe withCliff(bytes) { start in
        var datagram = unsafe ifc_datagram(bytes: start, length: bytes.count, offset: 0)
        var decoded = Decoded()
        while true {
            let before = unsafe datagram.offset
            var message = ifc_message()
            let result = unsafe ifc_next_message(&datagram, &message)
            #expect(unsafe datagram.offset > before || result == 0)
            #expect(unsafe datagram.offset <= bytes.count)
            guard result > 0 else {
                decoded.end = result
                #expect(unsafe datagram.offset == bytes.count)
                return decoded
            }
            decoded.messages.append(message)
        }
    }
}

/// The only message of a datagram.
func decodeOne(_ bytes: [UInt8]) throws -> ifc_message {
    let decoded = decode(bytes)
    #expect(decoded.messages.count == 1)
    #expect(decoded.end == 0)
    return try #require(decoded.messages.first)
}

/// The rows of one datagram of a statistics dump.
struct DecodedStats {
    var rows: [ifc_row] = []
    var dump = ifc_dump()
    var result: Int32 = 0
}

func decodeStats(_ bytes: [UInt8], sequence: UInt32 = 7, port: UInt32 = 99, capacity: Int? = nil) -> DecodedStats {
    unsafe withCliff(bytes) { start in
        var decoded = DecodedStats()
        // The header's promise: no datagram holds more rows than this.
        let capacity = capacity ?? bytes.count / 28
        var rows = [ifc_row](repeating: ifc_row(ifindex: -1, counters: ifc_counters()), count: capacity + 1)
        decoded.result = unsafe ifc_decode_stats(
            start,
            bytes.count,
            sequence,
            port,
            &rows,
            capacity,
            &decoded.dump
        )
        #expect(rows[capacity].ifindex == -1, "a row beyond the capacity was written")
        decoded.rows = Array(rows.prefix(decoded.dump.rows))
        return decoded
    }
}

extension ifc_link {
    /// The name's bytes, for comparing: a name need not be UTF-8.
    var nameBytes: [UInt8] { unsafe withUnsafeBytes(of: name) { unsafe Array($0.prefix(Int(name_length))) } }
    var nameText: String { String(decoding: nameBytes, as: UTF8.self) }
    var kindText: String {
        unsafe withUnsafeBytes(of: kind) { unsafe String(decoding: $0.prefix(Int(kind_length)), as: UTF8.self) }
    }
}

extension ifc_counters {
    /// In the order of `struct rtnl_link_stats64`.
    var inKernelOrder: [UInt64] {
        [rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped, tx_dropped]
    }
}
