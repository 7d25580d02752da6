import Glibc
import SystemCalls
import Testing
import Wire

@testable import Daemon

/// Whose turn it is, and when, without a clock: what the loop does with its clients, one step at a time.
@Suite
struct ClientsTests {
    /// The loop's clients and one end of each connection.
    private final class Room {
        var clients = Clients(firstToken: 16, most: 8, own: 1_000_000)
        var poller: Poller
        private var count: UInt64 = 0

        init() throws { poller = try Poller() }

        /// A client that has just connected.
        ///
        /// - Returns: its token, and its end.
        func enter(at: UInt64 = 0) throws -> (token: UInt64, client: HeldConnection) {
            var ends: [Int32] = [-1, -1]
            let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            try retrying { unsafe socketpair(AF_UNIX, type, 0, &ends) }
            clients.admit(Descriptor(owning: ends[0]), at: at, &poller)
            defer { count += 1 }
            return (16 + count, HeldConnection(Descriptor(owning: ends[1])))
        }

        /// Serves those who are ready, and then those who wait for their next turn, when the time for one answer each is
        /// left.
        func turn(at: UInt64 = 0) throws {
            let unfinished = clients.unfinishedCount
            let ready = try poller.wait(milliseconds: 0)
            for item in ready { serve(item, at: at) }
            for _ in 0..<unfinished { if let item = clients.takeUnfinished() { serve(item, at: at) } }
        }

        private func serve(_ item: Poller.Ready, at: UInt64) {
            let answerers = Clients.Answerers(answer: Self.answer, ask: { _, _, _ in }, handOver: {})
            clients.serve(item, at: at, until: 0, &poller, answerers)
        }

        /// Answers with the method's name; one that is a number begins a watch with this interval.
        private static func answer(_ request: Request) -> Service.Answer {
            if let interval = UInt64(request.method), let watch = try? Subscription(nil, interval: interval) {
                return .watch(watch)
            }
            return .reply(Array(request.method.utf8) + [0])
        }
    }

    private static func call(_ method: String) -> [UInt8] { Array(#"{"method":"\#(method)"}"#.utf8) + [0] }

    @Test func `a client that asks much gets one answer, and then the others have their turn`() throws {
        let room = try Room()
        let (_, greedy) = try room.enter()
        let (_, honest) = try room.enter()
        greedy.offer(["a", "b", "c"].flatMap(Self.call))
        honest.offer(Self.call("x"))
        try room.turn()
        #expect(try greedy.taken() == "a\0")
        #expect(try honest.taken() == "x\0")
        #expect(room.clients.unfinishedCount == 1)
        honest.offer(Self.call("y"))
        try room.turn()
        #expect(try greedy.taken() == "b\0")
        #expect(try honest.taken() == "y\0")
        try room.turn()
        #expect(try greedy.taken() == "c\0")
        #expect(room.clients.unfinishedCount == 0)
        greedy.offer(Self.call("d"))
        try room.turn()
        #expect(try greedy.taken() == "d\0")
    }

    @Test func `a client with requests in hand is not read from, and not forgotten when it has said all`() throws {
        let room = try Room()
        let (_, greedy) = try room.enter()
        greedy.offer(["a", "b"].flatMap(Self.call))
        try room.turn()
        greedy.offer(Self.call("c"))
        shutdown(greedy.socket.number, Int32(SHUT_WR))
        let ready = try room.poller.wait(milliseconds: 0)
        #expect(ready.isEmpty)
        for _ in 0..<4 { try room.turn() }
        #expect(try greedy.taken() == "a\0b\0c\0")
        for _ in 0..<2 { try room.turn() }
        #expect(try greedy.isGivenUp())
        #expect(room.clients.isEmpty)
    }

    @Test func `one who goes with requests in hand leaves nothing`() throws {
        let room = try Room()
        do {
            let (_, greedy) = try room.enter()
            greedy.offer(["a", "b", "c"].flatMap(Self.call))
            try room.turn()
            #expect(room.clients.unfinishedCount == 1)
        }
        try room.turn()
        try room.turn()
        #expect(room.clients.isEmpty && room.clients.unfinishedCount == 0)
    }

    @Test func `half a request is overdue ten seconds after it began, and a whole one never`() throws {
        let room = try Room()
        let (_, half) = try room.enter(at: 0)
        let (_, slow) = try room.enter(at: 0)
        let (_, silent) = try room.enter(at: 0)
        #expect(room.clients.overdueAt == nil)
        half.offer(Array("{".utf8))
        try room.turn(at: 5_000_000)
        slow.offer(Array("{".utf8))
        try room.turn(at: 7_000_000)
        #expect(room.clients.overdueAt == 15_000_000)
        // More of it changes nothing; the rest of it does.
        half.offer(Array("  ".utf8))
        slow.offer(Self.call("a").dropFirst() + Array("{".utf8))
        try room.turn(at: 14_000_000)
        #expect(try slow.taken() == "a\0")
        try room.turn(at: 14_000_000)
        room.clients.closeOverdue(at: 14_999_999, &room.poller)
        #expect(try !half.isGivenUp())
        room.clients.closeOverdue(at: 15_000_000, &room.poller)
        #expect(try half.isGivenUp() && !slow.isGivenUp() && !silent.isGivenUp())
        // The next one is of a request that began when the one before was complete.
        #expect(room.clients.overdueAt == 24_000_000)
        slow.offer(Self.call("b").dropFirst())
        try room.turn(at: 15_000_000)
        try room.turn(at: 15_000_000)
        room.clients.closeOverdue(at: 24_000_000, &room.poller)
        #expect(try slow.taken() == "b\0")
        #expect(try !slow.isGivenUp() && !silent.isGivenUp())
        #expect(room.clients.overdueAt == nil)
    }

    @Test func `the shortest interval is that of the most eager who is there`() throws {
        let room = try Room()
        var watchers: [HeldConnection] = []
        var shortest: [UInt64?] = []
        for interval in ["500000", "300000", "100000", "100000", "400000"] {
            let (_, watcher) = try room.enter()
            watcher.offer(Self.call(interval))
            watchers.append(watcher)
            try room.turn()
            shortest.append(room.clients.shortestInterval)
        }
        #expect(shortest == [500_000, 300_000, 100_000, 100_000, 100_000])
        // In the order in which they came, they go.
        shortest = []
        while !watchers.isEmpty {
            watchers.removeFirst()
            try room.turn()
            shortest.append(room.clients.shortestInterval)
        }
        #expect(shortest == [100_000, 100_000, 100_000, 400_000, nil])
        #expect(room.clients.isEmpty)
    }
}

extension HeldConnection {
    /// What has come from the daemon, as text.
    fileprivate func taken() throws -> String {
        guard try waitReadable([socket.number], milliseconds: 0)[0] else { return "" }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = try socket.read(into: &bytes)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
