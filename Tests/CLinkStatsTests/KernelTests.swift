import CLinkStats
import Glibc
import SystemCalls
import TestLinks
import Testing

@Suite("The kernel", .enabled(if: PrivateNamespace.available, "needs to make a network namespace"))
struct KernelTests {
    @Test func dumpOfLinks() async throws {
        let (port, messages) = try await PrivateNamespace.run { _ in
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

    @Test func dumpOfStats() async throws {
        let (rows, dump) = try await PrivateNamespace.run { _ in try Socket(subscribe: false).stats(sequence: 42) }
        #expect(rows.map(\.ifindex) == [1])
        #expect(dump.done && !dump.interrupted && dump.error == 0 && dump.foreign == 0 && dump.malformed == 0)
    }

    @Test(.enabled(if: Tunnel.unavailable == nil, "needs /dev/net/tun"))
    func lifeOfATun() async throws {
        try await PrivateNamespace.run { namespace in
            let events = try Socket(subscribe: true)
            let requests = try Socket(subscribe: false)

            var tunnel = try Tunnel("utun0", in: namespace)
            let born = try #require(try events.events().first)
            #expect(born.type == IFC_MESSAGE_NEW_LINK && born.sequence == 0)
            #expect(born.link.nameText == "utun0" && born.link.kindText == "tun" && born.link.tun_type == 1)

            try tunnel.up()
            for size in [60, 84, 108] { try tunnel.receive(bytes: size) }
            let rows = try requests.stats(sequence: 43).rows
            let row = try #require(rows.first { $0.ifindex == born.link.ifindex })
            #expect(row.counters.rx_bytes == 252 && row.counters.rx_packets == 3)

            // It has no hardware address, and is a link all the same; its IPv4 address is no second one.
            let links = try linksByGetifaddrs().links
            let entry = try #require(links.first { $0.nameText == "utun0" })
            #expect(links.map(\.nameText).sorted() == ["lo", "utun0"])
            #expect(entry.ifindex == born.link.ifindex && entry.hardware_type == 65534)
            #expect(entry.counter_bits == 32 && entry.counters.rx_bytes == 252 && entry.flags & 1 == 1)

            var byName = ifc_link()
            try succeeding("find utun0", unsafe ifc_link_by_name("utun0", 5, &byName))
            #expect(byName.nameText == "utun0")
            #expect(byName.ifindex == born.link.ifindex && byName.hardware_type == 65534)
            #expect(byName.flags == entry.flags & 0xFFFF)

            // Of this thread's namespace: /proc/net itself follows the process.
            let file = ProcNetDevTests.parse(try File.read("/proc/thread-self/net/dev"))
            let line = try #require(file.links.first { $0.nameText == "utun0" })
            #expect(line.counters.rx_bytes == 252 && line.counters.rx_packets == 3)

            _ = try events.events()
            try tunnel.close()
            let died = try #require(try events.events().last)
            #expect(died.type == IFC_MESSAGE_DEL_LINK && !died.link.leaves_namespace)
            #expect(died.link.counters.rx_bytes == 252 && died.link.counter_bits == 64)
            var gone = ifc_link()
            #expect(unsafe ifc_link_by_name("utun0", 5, &gone) == -ENODEV)
        }
    }

    @Test(.enabled(if: Tunnel.unavailable == nil, "needs /dev/net/tun"))
    func tunMovesAway() async throws {
        let messages = try await PrivateNamespace.run { namespace in
            let events = try Socket(subscribe: true)
            let tunnel = try Tunnel("utun0", in: namespace)
            try namespace.move("utun0", to: try namespace.another())
            let messages = try events.events()
            try tunnel.close()
            return messages
        }
        let last = try #require(messages.last { $0.type == IFC_MESSAGE_DEL_LINK })
        #expect(last.link.nameText == "utun0")
        #expect(last.link.leaves_namespace)
    }

    @Test func nothingWaits() async throws {
        let result = try await PrivateNamespace.run { _ in try Socket(subscribe: true).receive().result }
        #expect(result == Int(-EAGAIN))
    }

    @Test func tooLargeForTheBuffer() async throws {
        let result = try await PrivateNamespace.run { _ in
            let socket = try Socket(subscribe: false)
            try succeeding("ask for links", ifc_rtnl_request_links(socket.descriptor, 1))
            return socket.receive(capacity: 64).result
        }
        #expect(result == Int(-EMSGSIZE))
    }

    @Test func notFromTheKernel() async throws {
        let (forged, after) = try await PrivateNamespace.run { _ in
            let victim = try Socket(subscribe: true)
            let forger = try Socket(subscribe: false)
            // struct sockaddr_nl: AF_NETLINK, the port, no groups.
            let address: [UInt8] = raw(UInt16(16)) + raw(UInt16(0)) + raw(victim.port) + raw(UInt32(0))
            let bytes = Golden.delTun
            try retrying {
                unsafe address.withUnsafeBytes { address in
                    let pointer = unsafe address.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                    return unsafe sendto(forger.descriptor, bytes, bytes.count, 0, pointer, socklen_t(address.count))
                }
            }
            return (victim.receive().result, victim.receive().result)
        }
        #expect(forged == Int(-EPROTO))
        #expect(after == Int(-EAGAIN))
    }

    @Test func overrunIsTold() async throws {
        let (small, results) = try await PrivateNamespace.run { namespace in
            let events = try Socket(subscribe: true)
            let small = try succeeding("set a buffer", ifc_rtnl_set_receive_buffer(events.descriptor, 1))
            for turn in 1...20 { try namespace.set("lo", up: turn % 2 == 0) }
            return (small, (0..<4).map { _ in events.receive().result })
        }
        #expect((1..<20_000).contains(small))
        #expect(results.contains(Int(-ENOBUFS)))
    }

    @Test func receiveBufferGrows() async throws {
        let granted = try await PrivateNamespace.run { _ in
            let socket = try Socket(subscribe: true)
            return ifc_rtnl_set_receive_buffer(socket.descriptor, 64 << 20)
        }
        // Beyond net.core.rmem_max, and doubled by the kernel for its own bookkeeping (socket(7)).
        #expect(granted == 128 << 20)
    }

    @Test func signalsDoNotEndAReceive() async throws {
        let result = try await PrivateNamespace.run { namespace in
            signal(SIGUSR1) { _ in }
            // A thread of the pool that runs tests has signals blocked, and its children inherit that.
            var usr1 = sigset_t()
            unsafe sigemptyset(&usr1)
            unsafe sigaddset(&usr1, SIGUSR1)
            try succeeding("unblock a signal", -(unsafe pthread_sigmask(SIG_UNBLOCK, &usr1, nil)))
            // timer_create(2): the signal comes to this thread, however busy the others are.
            var event = unsafe sigevent()
            unsafe event.sigev_signo = SIGUSR1
            unsafe event.sigev_notify = Int32(SIGEV_THREAD_ID)
            unsafe event._sigev_un._tid = namespace.thread
            var timer: timer_t?
            try retrying { unsafe timer_create(CLOCK_MONOTONIC, &event, &timer) }
            defer { unsafe timer_delete(timer) }
            var time = itimerspec()
            time.it_value.tv_nsec = 300_000_000
            try retrying { unsafe timer_settime(timer, 0, &time, nil) }
            return try Socket(subscribe: false).receive().result
        }
        // Nobody answers: in the end it is the timeout.
        #expect(result == Int(-EAGAIN))
    }

    @Test func moreLinksThanRoom() async throws {
        let (none, one) = try await PrivateNamespace.run { _ in
            (try linksByGetifaddrs(capacity: 0), try linksByGetifaddrs(capacity: 1))
        }
        #expect(none.count == 1 && none.links.isEmpty)
        #expect(one.count == 1 && one.links.map(\.nameText) == ["lo"])
        #expect(one.links.first?.ifindex == 1 && one.links.first?.hardware_type == 772)
        #expect(one.links.first?.counter_bits == 32)
    }

    @Test(arguments: ["", "nosuch", "lo:1", "l\0", "lolololololololo", "/", " "])
    func namesOfNoLink(_ name: String) async throws {
        let result = try await PrivateNamespace.run { _ in
            var link = ifc_link()
            let bytes = Array(name.utf8)
            return unsafe ifc_link_by_name(bytes, bytes.count, &link)
        }
        #expect(result == -ENODEV)
    }
}
