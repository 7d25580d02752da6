import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// Clients that mean harm, or have bad luck. Meanwhile counters are read in time, an honest client is answered, memory is
/// bounded; and when they have gone, nothing is left of them.
@Suite
struct HostileClientsTests {
    /// What hostile clients do, round after round.
    struct Attack: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let press: @Sendable (borrowing RunningDaemon, inout [HeldConnection]) throws -> Void

        init(
            _ name: String,
            _ press: @escaping @Sendable (borrowing RunningDaemon, inout [HeldConnection]) throws -> Void
        ) {
            testDescription = name
            self.press = press
        }

        /// Each round a new client sends the same bytes, and is held without being read.
        init(_ name: String, _ clients: Int, of bytes: [UInt8], most: Int = .max) {
            self.init(name) { daemon, held in
                for _ in 0..<clients where held.count < most {
                    let client = try HeldConnection(daemon.socket, nonblocking: true)
                    client.offer(bytes)
                    held.append(client)
                }
            }
        }

        static let all = [
            Attack("1,000 who say nothing", 200, of: [], most: 1000),
            Attack("1,000 who say half of something", 200, of: Array(#"{"method":"#.utf8), most: 1000),
            Attack("300 who write a byte at a time") { daemon, held in
                while held.count < 300 { held.append(try HeldConnection(daemon.socket, nonblocking: true)) }
                for client in held { client.offer([UInt8(ascii: "[")]) }
            },
            Attack("requests of 64 MB") { daemon, held in
                let client = try HeldConnection(daemon.socket, nonblocking: true)
                // Until nothing more is taken: the connection is closed, or the socket full until it will be.
                let piece = [UInt8](repeating: 0x20, count: 1 << 20)
                for _ in 0..<64 { if client.offer(piece) < piece.count { break } }
                held = held.suffix(20) + [client]
            },
            Attack("requests almost too long", 20, of: [UInt8](repeating: 0x20, count: 65_000), most: 300),
            Attack("65,000 levels", 10, of: [UInt8](repeating: UInt8(ascii: "["), count: 65_000) + [0], most: 300),
            Attack(
                "values at every level",
                5,
                of: Array((String(repeating: #"{"a":[[],"#, count: 7000) + "0\0").utf8),
                most: 300
            ),
            // One decoder takes minutes to see that this is a call of no method.
            Attack(
                "20,000 arrays at a depth of 499",
                1,
                of: Array(
                    (#"{"method":"a.B","parameters":{"a":"# + String(repeating: "[", count: 497)
                        + Array(repeating: "[]", count: 20_000).joined(separator: ",")
                        + String(repeating: "]", count: 497) + "}}\0").utf8
                ),
                most: 100
            ),
            Attack(
                "no UTF-8",
                50,
                of: Array("{\"method\":\"".utf8) + [0xFF, 0xFE, 0xC0, 0x80, 0x22, 0x7D, 0],
                most: 500
            ),
            Attack("a name twice", 50, of: Array(#"{"method":"a.B","method":"a.B"}"#.utf8) + [0], most: 500),
            Attack("half closed in half a request") { daemon, held in
                for _ in 0..<50 where held.count < 500 {
                    let client = try HeldConnection(daemon.socket, nonblocking: true)
                    client.offer(Array("{\"method\":\"a.B\"}\0{\"method".utf8))
                    shutdown(client.socket.number, Int32(SHUT_WR))
                    held.append(client)
                }
            },
            Attack(
                "1,000 watchers who never read",
                200,
                of: Array(#"{"method":"io.ifcount.Watch","parameters":{"intervalUSec":100000},"more":true}"#.utf8) + [
                    0
                ],
                most: 1000
            ),
            Attack(
                "300 who ask and never read",
                100,
                of: Array(String(repeating: description + "\0", count: 60).utf8),
                most: 300
            ),
            Attack("who connect and go") { daemon, held in
                for round in 0..<300 {
                    let client = try HeldConnection(daemon.socket, nonblocking: true)
                    // Some have asked, and go before the answer comes.
                    if round % 3 == 1 { client.offer(Array((description + "\0").utf8)) }
                    if round % 3 == 2 { client.offer(Array(watch(100_000 + round * 10_000).utf8)) }
                }
            },
        ]

        private static let description =
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.ifcount"}}"#

        private static func watch(_ interval: Int) -> String {
            #"{"method":"io.ifcount.Watch","parameters":{"intervalUSec":\#(interval)},"more":true}"# + "\0"
        }
    }

    /// How often counters are to be read, in µs.
    private static let interval = 200_000

    @Test(arguments: Attack.all)
    func `do not harm`(_ attack: Attack) throws {
        let daemon = try RunningDaemon(["--interval", "\(Self.interval / 1000)ms"])
        var watcher = try daemon.client()
        try watcher.watch(["lo"])
        // Once it is answered, it is among them.
        #expect(try watcher.reply(Watch.Reply.self).ready == true)
        let descriptors = try daemon.descriptorCount()
        let memory = try daemon.status("VmRSS")
        let waited = try daemon.waitedForProcessor()
        var held: [HeldConnection] = []
        var looks: [Int] = []
        while looks.count < 8 {
            try attack.press(daemon, &held)
            var honest = try daemon.client()
            #expect(try honest.get("lo")?.present == true)
            repeat {
                looks.append(try watcher.reply(Watch.Reply.self).readings?.first?.sampledUSec ?? 0)
            } while try watcher.hasMore()
        }
        // None is left out; nor does one come later than the next should have, but for the machine's own doing.
        let longest = zip(looks, looks.dropFirst()).map { $1 - $0 }.max() ?? 0
        let late = try daemon.waitedForProcessor() - waited
        #expect(longest <= 2 * Self.interval + late, "\(longest) µs, \(late) µs of them without a processor")
        if !isSanitized { #expect(try daemon.status("VmRSS") - memory < 81_920) }
        held.removeAll()
        let deadline = ContinuousClock.now + RawClient.patience
        while try daemon.descriptorCount() > descriptors, ContinuousClock.now < deadline { usleep(10_000) }
        // One of a client before may still have been open then.
        #expect(try daemon.descriptorCount() <= descriptors)
        try daemon.expectAlive()
    }
}
