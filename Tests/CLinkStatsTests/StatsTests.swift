import CLinkStats
import Glibc
import TestLinks
import Testing

@Suite("Statistics dumps")
struct StatsTests {
    /// The port of the socket that the golden dumps were asked from.
    static let goldenPort: UInt32 = 3_928_656_141

    static func row(_ index: UInt32, _ counters: [UInt8], flags: UInt16 = Number.multi) -> [UInt8] {
        message(
            Number.newStats,
            flags: flags,
            sequence: 7,
            port: 99,
            statsHeader(index: index),
            attribute(Number.statsLink64, counters)
        )
    }

    static func done(_ error: Int32 = 0, flags: UInt16 = Number.multi) -> [UInt8] {
        message(Number.done, flags: flags, sequence: 7, port: 99, raw(error))
    }

    // MARK: What the kernel sent

    @Test func wholeDump() {
        let decoded = decodeStats(Golden.statsDump, port: Self.goldenPort)
        #expect(decoded.result == 0)
        #expect(decoded.rows.map(\.ifindex) == [1, 2, 5, 6])
        #expect(decoded.rows.first?.counters.inKernelOrder == [6, 6, 1452, 1452, 0, 0, 0, 0])
        #expect(decoded.rows.last?.counters.inKernelOrder == [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(decoded.dump.done && !decoded.dump.interrupted)
        #expect(decoded.dump.error == 0 && decoded.dump.foreign == 0 && decoded.dump.malformed == 0)
    }

    @Test func interruptionOnOneRowIsEnough() {
        let decoded = decodeStats(Golden.interruptedDump, sequence: 10, port: Self.goldenPort)
        #expect(decoded.dump.done && decoded.dump.interrupted)
        #expect(decoded.rows.count == 1)
    }

    @Test func refusal() {
        let refused = decodeStats(Golden.refusedDump, sequence: 8, port: Self.goldenPort)
        #expect(refused.dump.done && refused.dump.error == -EINVAL && refused.rows.isEmpty)
        let error = decodeStats(Golden.noSuchLink, sequence: 9, port: Self.goldenPort)
        #expect(!error.dump.done && error.dump.error == -ENODEV)
    }

    // MARK: Rules

    @Test func everyCounterInItsPlace() {
        let counters = decodeStats(Self.row(3, counters(wide, length: 200))).rows.first?.counters
        let inOrder = [
            counters?.rx_packets, counters?.tx_packets, counters?.rx_bytes, counters?.tx_bytes, counters?.rx_errors,
            counters?.tx_errors, counters?.rx_dropped, counters?.tx_dropped,
        ]
        #expect(inOrder == (1...8).map { UInt64($0) << 33 + UInt64($0) })
    }

    @Test func paddingAttributeComesFirst() {
        let padding = attribute(Number.statsPadding, [])
        let bytes = message(
            Number.newStats,
            sequence: 7,
            port: 99,
            statsHeader(index: 3),
            padding,
            attribute(Number.statsLink64, counters(wide, length: 192))
        )
        #expect(decodeStats(bytes).rows.first?.counters.inKernelOrder == wide)
    }

    @Test func rowsGoOnOverDatagrams() {
        var dump = ifc_dump()
        var rows = [ifc_row](repeating: ifc_row(), count: 4)
        let first = Self.row(1, counters(wide, length: 200)) + Self.row(2, counters(wide, length: 200))
        let second = Self.row(9, counters(wide, length: 200)) + Self.done()
        for datagram in [first, second] {
            #expect(unsafe ifc_decode_stats(datagram, datagram.count, 7, 99, &rows, 4, &dump) == 0)
        }
        #expect(dump.rows == 3 && dump.done)
        #expect(rows.prefix(3).map(\.ifindex) == [1, 2, 9])
    }

    @Test func noRoom() {
        let bytes = (1...3).flatMap { Self.row($0, counters(wide, length: 200)) } + Self.done()
        let decoded = decodeStats(bytes, capacity: 2)
        #expect(decoded.result == -ENOBUFS)
        #expect(decoded.rows.map(\.ifindex) == [1, 2])
        #expect(!decoded.dump.done)
        #expect(decodeStats(bytes, capacity: 3).result == 0)
        #expect(decodeStats(Self.done(), capacity: 0).dump.done)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        var rows: [Int32] = []
        var malformed: UInt32 = 0
        var foreign: UInt32 = 0
        var error: Int32 = 0
        var done = true
        var result: Int32 = 0
    }

    static let good = row(5, counters(wide, length: 200))
    static func stats(_ parts: [UInt8]...) -> [UInt8] {
        message(Number.newStats, sequence: 7, port: 99, parts.flatMap(\.self))
    }
    static let cases: [Case] = [
        Case(testDescription: "empty datagram", bytes: [], done: false),
        Case(testDescription: "done alone", bytes: done()),
        Case(
            testDescription: "counters of 31 bytes",
            bytes: row(4, counters(wide, length: 31)) + good + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "counters of 32 bytes",
            bytes: row(4, counters(wide, length: 32)) + good + done(),
            rows: [4, 5]
        ),
        Case(
            testDescription: "no counters",
            bytes: stats(statsHeader(index: 4)) + good + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "only attributes nobody asked for",
            bytes: stats(statsHeader(index: 4), attribute(9, counters(wide, length: 200))) + good + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "if_stats_msg one byte short",
            bytes: stats(Array(statsHeader(index: 4).prefix(11))) + good + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "ifindex 0",
            bytes: row(0, counters(wide, length: 200)) + good + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "ifindex 2^31",
            bytes: row(1 << 31, counters(wide, length: 200)) + good + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "attribute length 0",
            bytes: stats(statsHeader(index: 4), attribute(1, counters(wide, length: 64), length: 0)) + good + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "attribute length 0xffff",
            bytes: stats(statsHeader(index: 4), attribute(1, counters(wide, length: 64), length: 0xFFFF)) + good
                + done(),
            rows: [5],
            malformed: 1
        ),
        Case(
            testDescription: "another sequence",
            bytes: message(
                Number.newStats,
                sequence: 6,
                port: 99,
                statsHeader(index: 4),
                attribute(1, counters(wide, length: 64))
            ) + good + done(),
            rows: [5],
            foreign: 1
        ),
        Case(
            testDescription: "another port",
            bytes: message(
                Number.newStats,
                sequence: 7,
                port: 98,
                statsHeader(index: 4),
                attribute(1, counters(wide, length: 64))
            ) + good + done(),
            rows: [5],
            foreign: 1
        ),
        Case(
            testDescription: "the end of another dump",
            bytes: message(Number.done, sequence: 6, port: 99, raw(Int32(-22))) + good,
            rows: [5],
            foreign: 1,
            done: false
        ),
        Case(
            testDescription: "another type",
            bytes: message(16, sequence: 7, port: 99, ifinfo(), name("a")) + done(),
            malformed: 1
        ),
        Case(testDescription: "noop", bytes: message(Number.noop, sequence: 7, port: 99) + good + done(), rows: [5]),
        Case(
            testDescription: "acknowledgement",
            bytes: message(Number.error, sequence: 7, port: 99, raw(Int32(0))) + good + done(),
            rows: [5]
        ),
        Case(
            testDescription: "refused",
            bytes: message(Number.error, sequence: 7, port: 99, raw(Int32(-95))),
            error: -EOPNOTSUPP,
            done: false
        ),
        Case(testDescription: "broken off", bytes: good + done(-105), rows: [5], error: -ENOBUFS),
        Case(
            testDescription: "overrun",
            bytes: message(Number.overrun, sequence: 7, port: 99),
            error: -ENOBUFS,
            done: false
        ),
        Case(
            testDescription: "done without its result",
            bytes: good + message(Number.done, sequence: 7, port: 99),
            rows: [5],
            malformed: 1,
            error: -EBADMSG
        ),
        Case(
            testDescription: "error without its number",
            bytes: message(Number.error, sequence: 7, port: 99),
            malformed: 1,
            error: -EBADMSG,
            done: false
        ),
        Case(
            testDescription: "message length 0",
            bytes: good + message(Number.done, sequence: 7, port: 99, length: 0, raw(Int32(0))),
            rows: [5],
            done: false,
            result: -EBADMSG
        ),
        Case(
            testDescription: "message length 2^31",
            bytes: good + message(Number.done, sequence: 7, port: 99, length: 1 << 31, raw(Int32(0))),
            rows: [5],
            done: false,
            result: -EBADMSG
        ),
        Case(
            testDescription: "half a header",
            bytes: good + [20, 0, 0, 0, 3, 0],
            rows: [5],
            done: false,
            result: -EBADMSG
        ),
    ]

    @Test(arguments: cases)
    func malformed(_ given: Case) {
        let decoded = decodeStats(given.bytes)
        #expect(decoded.rows.map(\.ifindex) == given.rows)
        #expect(decoded.dump.malformed == given.malformed)
        #expect(decoded.dump.foreign == given.foreign)
        #expect(decoded.dump.error == given.error)
        #expect(decoded.dump.done == given.done)
        #expect(decoded.result == given.result)
    }

    // MARK: Any bytes

    @Test func everyPrefixEnds() {
        for length in 0..<Golden.statsDump.count {
            let decoded = decodeStats(Array(Golden.statsDump.prefix(length)), port: Self.goldenPort)
            #expect(decoded.rows.count == length / 232)
            #expect(decoded.result == (length % 232 == 0 ? 0 : -EBADMSG))
            #expect(!decoded.dump.done)
        }
    }

    @Test func anyBytesEnd() {
        var random = SplitMix64(seed: 21)
        let seeds = Self.cases.map(\.bytes)
        for _ in 0..<20_000 {
            let bytes = (seeds.randomElement(using: &random) ?? []).mutated(using: &random)
            let decoded = decodeStats(bytes)
            #expect(decoded.result == 0 || decoded.result == -EBADMSG)
            #expect(decoded.rows.allSatisfy { $0.ifindex > 0 })
            #expect((-4095...0).contains(decoded.dump.error))
        }
    }
}
