import CLinkStats
import CNamespace
import Glibc
import Testing

@Suite("The kernel", .enabled(if: mayMakeNamespace, "needs to make a network namespace"))
struct KernelTests {
    @Test func dumpOfLinks() throws {
        let (port, messages) = try inNamespace {
            let socket = try Socket(subscribe: false)
            return (socket.port, try socket.links(sequence: 41))
        }
        #expect(messages.map(\.type) == [IFC_MESSAGE_NEW_LINK, IFC_MESSAGE_DONE])
        #expect(messages.allSatisfy { $0.sequence == 41 && $0.port == port && !$0.interrupted && $0.error == 0 })
        let loopback = try #require(messages.first).link
        #expect(loopback.nameText == "lo")
        #expect(loopback.ifindex == 1)
        #expect(loopback.hardware_type == 772)  // ARPHRD_LOOPBACK
        #expect(loopback.counter_bits == 64)
    }

    @Test func dumpOfStats() throws {
        let (rows, dump) = try inNamespace { try Socket(subscribe: false).stats(sequence: 42) }
        #expect(rows.map(\.ifindex) == [1])
        #expect(dump.done && !dump.interrupted && dump.error == 0 && dump.foreign == 0 && dump.malformed == 0)
    }

    @Test(.enabled(if: mayMakeTun, "needs /dev/net/tun"))
    func lifeOfATun() throws {
        struct Seen: Sendable {
            var born: [ifc_message] = []
            var rows: [ifc_row] = []
            var addresses: [ifc_link] = []
            var died: [ifc_message] = []
            var byName = ifc_link()
            var afterwards: Int32 = 0
            var file: [ifc_link] = []
        }
        let seen = try inNamespace {
            var seen = Seen()
            let events = try Socket(subscribe: true)
            let requests = try Socket(subscribe: false)
            do {
                let tun = try Tun.create("utun0")
                seen.born = try events.events()
                let index = try #require(seen.born.first).link.ifindex
                try requests.change(index: index, flags: 1, mask: 1)
                for size in [60, 84, 108] { try tun.receive(bytes: size) }
                seen.rows = try requests.stats(sequence: 43).rows
                seen.addresses = try linksByGetifaddrs().links
                try must("by name", unsafe ifc_link_by_name("utun0", 5, &seen.byName))
                seen.file = try linksOfThisThread()
                _ = try events.events()
            }
            seen.died = try events.events()
            var gone = ifc_link()
            seen.afterwards = unsafe ifc_link_by_name("utun0", 5, &gone)
            return seen
        }

        let born = try #require(seen.born.first)
        #expect(born.type == IFC_MESSAGE_NEW_LINK && born.sequence == 0)
        #expect(born.link.nameText == "utun0" && born.link.kindText == "tun" && born.link.tun_type == 1)

        let row = try #require(seen.rows.first { $0.ifindex == born.link.ifindex })
        #expect(row.counters.rx_bytes == 252 && row.counters.rx_packets == 3)

        // It has no hardware address, and is a link all the same.
        let entry = try #require(seen.addresses.first { $0.nameText == "utun0" })
        #expect(seen.addresses.map(\.nameText).sorted() == ["lo", "utun0"])
        #expect(entry.ifindex == born.link.ifindex && entry.hardware_type == 65534)
        #expect(entry.counter_bits == 32 && entry.counters.rx_bytes == 252 && entry.flags & 1 == 1)

        #expect(seen.byName.ifindex == born.link.ifindex && seen.byName.hardware_type == 65534)
        #expect(seen.byName.flags == entry.flags & 0xFFFF)
        #expect(seen.afterwards == -ENODEV)

        let line = try #require(seen.file.first { $0.nameText == "utun0" })
        #expect(line.counters.rx_bytes == 252 && line.counters.rx_packets == 3)

        let died = try #require(seen.died.last)
        #expect(died.type == IFC_MESSAGE_DEL_LINK && !died.link.leaves_namespace)
        #expect(died.link.counters.rx_bytes == 252 && died.link.counter_bits == 64)
    }

    @Test(.enabled(if: mayMakeTun, "needs /dev/net/tun"))
    func tunMovesAway() throws {
        let messages = try inNamespace {
            let events = try Socket(subscribe: true)
            let requests = try Socket(subscribe: false)
            let tun = try Tun.create("utun0")
            let index = try #require(try events.events().first).link.ifindex
            // The sockets stay in the first namespace, the thread goes on to a second.
            try must("unshare", cns_unshare_network())
            let second = try must("open", unsafe open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC))
            defer { close(second) }
            let namespaceDescriptor: UInt16 = 28
            try requests.change(index: index, attribute(namespaceDescriptor, raw(second)))
            defer { _ = tun.descriptor }
            return try events.events()
        }
        let last = try #require(messages.last { $0.type == IFC_MESSAGE_DEL_LINK })
        #expect(last.link.nameText == "utun0")
        #expect(last.link.leaves_namespace)
    }

    @Test func nothingWaits() throws {
        #expect(try inNamespace { try Socket(subscribe: true).receive().result } == Int(-EAGAIN))
    }

    @Test func tooLargeForTheBuffer() throws {
        let results = try inNamespace {
            let socket = try Socket(subscribe: false)
            try must("request", ifc_rtnl_request_links(socket.descriptor, 1))
            return socket.receive(capacity: 64).result
        }
        #expect(results == Int(-EMSGSIZE))
    }

    @Test func notFromTheKernel() throws {
        let (forged, after) = try inNamespace {
            let victim = try Socket(subscribe: true)
            let forger = try Socket(subscribe: false)
            // struct sockaddr_nl: AF_NETLINK, the port, no groups.
            let address: [UInt8] = raw(UInt16(16)) + raw(UInt16(0)) + raw(victim.port) + raw(UInt32(0))
            let bytes = Golden.delTun
            let sent = unsafe address.withUnsafeBytes { address in
                let pointer = unsafe address.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                return unsafe sendto(forger.descriptor, bytes, bytes.count, 0, pointer, socklen_t(address.count))
            }
            try must("sendto", sent)
            return (victim.receive().result, victim.receive().result)
        }
        #expect(forged == Int(-EPROTO))
        #expect(after == Int(-EAGAIN))
    }

    @Test func overrunIsTold() throws {
        let (small, results) = try inNamespace {
            let events = try Socket(subscribe: true)
            let small = try must("buffer", ifc_rtnl_set_receive_buffer(events.descriptor, 1))
            let requests = try Socket(subscribe: false)
            for turn in 0..<20 { try requests.change(index: 1, flags: UInt32(turn % 2), mask: 1) }
            return (small, (0..<4).map { _ in events.receive().result })
        }
        #expect((1..<20_000).contains(small))
        #expect(results.contains(Int(-ENOBUFS)))
    }

    @Test func receiveBufferGrows() throws {
        let granted = try inNamespace {
            let socket = try Socket(subscribe: true)
            return ifc_rtnl_set_receive_buffer(socket.descriptor, 64 << 20)
        }
        // Beyond net.core.rmem_max, and doubled by the kernel for its own bookkeeping (socket(7)).
        #expect(granted == 128 << 20)
    }

    @Test func signalsDoNotEndAReceive() throws {
        let waiting = try OwnThread {
            try must("unshare", cns_unshare_network())
            signal(SIGUSR1) { _ in }
            // A thread of the pool that runs tests has signals blocked, and its children inherit that.
            var usr1 = sigset_t()
            unsafe sigemptyset(&usr1)
            unsafe sigaddset(&usr1, SIGUSR1)
            try must("mask", unsafe pthread_sigmask(SIG_UNBLOCK, &usr1, nil))
            return try Socket(subscribe: false).receive().result
        }
        usleep(300_000)
        waiting.signal(SIGUSR1)
        // Nobody answers: in the end it is the timeout.
        #expect(try waiting.join() == Int(-EAGAIN))
    }

    @Test func moreLinksThanRoom() throws {
        let (none, one) = try inNamespace { (try linksByGetifaddrs(capacity: 0), try linksByGetifaddrs(capacity: 1)) }
        #expect(none.count == 1 && none.links.isEmpty)
        #expect(one.count == 1 && one.links.map(\.nameText) == ["lo"])
        #expect(one.links.first?.ifindex == 1 && one.links.first?.hardware_type == 772)
        #expect(one.links.first?.counter_bits == 32)
    }

    @Test(arguments: ["", "nosuch", "lo:1", "l\0", "lolololololololo", "/", " "])
    func namesOfNoLink(_ name: String) throws {
        let result = try inNamespace {
            var link = ifc_link()
            let bytes = Array(name.utf8)
            return unsafe ifc_link_by_name(bytes, bytes.count, &link)
        }
        #expect(result == -ENODEV)
    }
}

/// /proc/net/dev as the calling thread's namespace has it: /proc/net itself follows the process.
private func linksOfThisThread() throws -> [ifc_link] {
    let descriptor = try must("open", unsafe open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC))
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = try must("read", unsafe read(descriptor, &bytes, bytes.count))
    return ProcNetDevTests.parse(Array(bytes.prefix(count))).links
}
