internal import CTestLinks
internal import Glibc
internal import SystemCalls

/// A real tun or tap link, and the program behind it, which knows to the byte what went through.
///
/// The link lives as long as this value. The kernel counts rx when a packet is written into the descriptor, also
/// when it drops the packet later, and tx when one is read out of it.
package struct Tunnel: ~Copyable {
    /// The name it was made with, or has been followed to.
    package private(set) var name: String
    /// The link's index in the namespace where it was made, or found again.
    package private(set) var index: Int
    /// What has gone through so far: bytes written into the descriptor and read out of it, whoever sent them.
    package private(set) var truth = Carried()
    /// No packet is larger than this, its IPv4 header included. To be lowered along with the link's MTU.
    package var largestPacket = 1500

    private let descriptor: Int32
    private let frame: [UInt8]
    private var address: IPv4?
    private var socket: Int32 = -1

    /// The smallest packet of a tun: an IPv4 and a UDP header.
    package static let smallestPacket = 28

    /// Why this process cannot make a tunnel in a private namespace, and what to do; nil when it can.
    package static let unavailable: String? = {
        if unsafe access("/dev/net/tun", R_OK | W_OK) == 0 { return nil }
        return Errno.current == .noEntry
            ? "/dev/net/tun is missing; load the driver: modprobe tun"
            : "/dev/net/tun is closed to this user; be root, or open it: chmod 0666 /dev/net/tun"
    }()

    /// Makes the link; it is down and has no address.
    ///
    /// - Parameters:
    ///   - name: the link's name.
    ///   - namespace: proof that the link will not be the host's.
    ///   - tap: whether it is an Ethernet link.
    ///   - index: the ifindex to ask for; 0 leaves the choice to the kernel.
    /// - Throws: `LinkFailure`; EBUSY when the name or the index is taken.
    package init(
        _ name: String,
        in namespace: borrowing PrivateNamespace,
        tap: Bool = false,
        index: Int = 0
    ) throws(LinkFailure) {
        let descriptor = try succeeding("make the tunnel \(name)", unsafe ifct_tun_open(name, tap, Int32(index)))
        do throws(LinkFailure) {
            var destination = [UInt8](repeating: 0, count: 6)
            if tap {
                try succeeding(
                    "ask \(name) for its address",
                    unsafe ifct_tun_hardware_address(descriptor, &destination)
                )
            }
            self.index = Int(try succeeding("find \(name)", unsafe ifct_link_index(name)))
            // From a locally administered address, IPv4.
            frame = tap ? destination + [0x02, 0, 0, 0, 0, 1, 0x08, 0x00] : []
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.name = name
        self.descriptor = descriptor
    }

    deinit {
        if socket >= 0 { Glibc.close(socket) }
        Glibc.close(descriptor)
    }

    /// Bytes that each packet costs beside its payload: UDP, IPv4 and, on a tap, Ethernet headers.
    package var overhead: Int { Self.smallestPacket + frame.count }

    /// Finds the link again after it was renamed, or moved to the namespace of the calling thread.
    package mutating func follow(to name: String) throws(LinkFailure) {
        index = Int(try succeeding("find \(name)", unsafe ifct_link_index(name)))
        self.name = name
    }

    /// Gives the link an address with its /24 network and sets it up, silent: the kernel sends nothing by itself. A link
    /// that was moved to another namespace has lost its address, and needs this again.
    package mutating func up(address: IPv4 = IPv4(10, 66, 0, 1)) throws(LinkFailure) {
        try succeeding("stop IPv6 on \(name)", unsafe ifct_link_silence_ipv6(name))
        if !frame.isEmpty { try succeeding("stop ARP on \(name)", unsafe ifct_link_silence_arp(name)) }
        try succeeding("give \(name) the address \(address)", unsafe ifct_link_add_address(name, address.number))
        try succeeding("set \(name) up", unsafe ifct_link_set_up(name, true))
        // Takes, and then drops, what the tunnel receives: without it the kernel would answer by ICMP.
        // The one before has the port still.
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
        socket = try succeeding("open a socket on \(name)", unsafe ifct_udp_open(name, address.number))
        self.address = address
    }

    /// Lets the link receive exactly `bytes` bytes from its peer, all headers included.
    ///
    /// - Throws: `LinkFailure`; EIO while the link is down.
    package mutating func receive(bytes: Int) throws(LinkFailure) {
        let address = try address(for: "receive on")
        for size in sizes(bytes) {
            let packet = frame + udpPacket(size: size - frame.count, from: address.peer, to: address)
            do throws(Errno) {
                let written = try retrying { unsafe write(descriptor, packet, packet.count) }
                precondition(written == size, "a tunnel takes a packet whole or not at all")
            } catch { throw LinkFailure("receive on \(name)", error) }
            truth.rx += UInt64(size)
        }
    }

    /// Sends exactly `bytes` bytes to the link's peer, all headers included, and reads them out.
    ///
    /// - Throws: `LinkFailure`; ETIMEDOUT when a packet did not come out within two seconds.
    package mutating func transmit(bytes: Int) throws(LinkFailure) {
        let peer = try address(for: "transmit on").peer
        for size in sizes(bytes) {
            let payload = [UInt8](repeating: 0x2e, count: size - overhead)
            try succeeding("send to \(peer)", unsafe ifct_udp_send(socket, peer.number, payload, payload.count))
            var isOut = false
            // A packet of someone else's may come first; the kernel counts it, and so does the truth.
            while !isOut { isOut = try takePacket() == size }
        }
    }

    /// Sends without reading the packets out: they wait in the link's queue, not counted, and are lost with it.
    package func leaveUnread(bytes: Int) throws(LinkFailure) {
        let peer = try address(for: "transmit on").peer
        for size in sizes(bytes) {
            let payload = [UInt8](repeating: 0x2e, count: size - overhead)
            try succeeding("send to \(peer)", unsafe ifct_udp_send(socket, peer.number, payload, payload.count))
        }
    }

    /// Destroys the link and waits, for at most two seconds, until its index is free.
    ///
    /// - Returns: what has gone through it in its life.
    /// - Throws: `LinkFailure` with ETIMEDOUT when another process holds the descriptor still.
    @discardableResult
    package consuming func close() throws(LinkFailure) -> Carried {
        let (truth, name, index) = (truth, name, index)
        _ = consume self
        for _ in 0..<2000 {
            if !ifct_link_exists(Int32(index)) { return truth }
            usleep(1000)
        }
        throw LinkFailure("destroy \(name)", .timedOut)
    }

    private func address(for attempt: String) throws(LinkFailure) -> IPv4 {
        guard let address else { throw LinkFailure("\(attempt) \(name)", .notSupported) }
        return address
    }

    private func sizes(_ bytes: Int) -> [Int] {
        evenSizes(bytes, smallest: overhead, largest: largestPacket + frame.count)
    }

    /// Reads one packet out of the tunnel.
    private mutating func takePacket() throws(LinkFailure) -> Int {
        var packet = [UInt8](repeating: 0, count: 65536)
        do throws(Errno) {
            while true {
                let count = unsafe read(descriptor, &packet, packet.count)
                if count >= 0 {
                    truth.tx += UInt64(count)
                    return count
                }
                guard Errno.current == .wouldBlock else { throw Errno.current }
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                if try retrying({ unsafe poll(&waiting, 1, 2000) }) == 0 { throw Errno.timedOut }
            }
        } catch { throw LinkFailure("read a packet out of \(name)", error) }
    }
}

/// An IPv4 packet with a UDP datagram to port 9 (RFC 791, RFC 768; a UDP checksum of 0 is none).
private func udpPacket(size: Int, from source: IPv4, to destination: IPv4) -> [UInt8] {
    var packet = [UInt8](repeating: 0, count: size)
    packet[0] = 0x45
    packet.store(UInt16(size), at: 2)
    packet[8] = 64
    packet[9] = UInt8(IPPROTO_UDP)
    packet.replaceSubrange(12..<20, with: source.octets + destination.octets)
    let sum = stride(from: 0, to: 20, by: 2).reduce(UInt32(0)) {
        $0 + UInt32(packet[$1]) << 8 + UInt32(packet[$1 + 1])
    }
    let folded = sum >> 16 + sum & 0xffff
    packet.store(~UInt16(truncatingIfNeeded: folded >> 16 + folded & 0xffff), at: 10)
    packet.store(9, at: 20)
    packet.store(9, at: 22)
    packet.store(UInt16(size - 20), at: 24)
    return packet
}

extension [UInt8] {
    fileprivate mutating func store(_ number: UInt16, at index: Int) {
        self[index] = UInt8(number >> 8)
        self[index + 1] = UInt8(number & 0xff)
    }
}
