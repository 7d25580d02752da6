import CLinkStats
import Glibc
import TestLinks
import Testing

@Suite("Link messages")
struct DatagramTests {
    // MARK: What the kernel sent

    @Test func tunIsCreated() throws {
        let message = try decodeOne(Golden.newTun)
        #expect(message.type == IFC_MESSAGE_NEW_LINK)
        #expect(message.sequence == 0)
        #expect(message.link.nameText == "utun0")
        #expect(message.link.ifindex == 3)
        #expect(message.link.hardware_type == 65534)  // ARPHRD_NONE
        #expect(message.link.flags == 0x1090)  // POINTOPOINT, NOARP, MULTICAST
        #expect(message.link.kindText == "tun")
        #expect(message.link.tun_type == 1)
        #expect(message.link.counter_bits == 64)
        #expect(message.link.counters.inKernelOrder == [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(message.link.lower_ifindex == 0)
        #expect(message.link.master_ifindex == 0)
        #expect(!message.link.leaves_namespace)
    }

    @Test func deletionCarriesClosingCounters() throws {
        let message = try decodeOne(Golden.delTun)
        #expect(message.type == IFC_MESSAGE_DEL_LINK)
        #expect(message.link.nameText == "utun0")
        #expect(message.link.counter_bits == 64)
        #expect(message.link.counters.inKernelOrder == [3, 0, 252, 0, 0, 0, 0, 0])
        #expect(!message.link.leaves_namespace)
    }

    @Test func leavingABridgeIsNoDeletion() throws {
        #expect(try decodeOne(Golden.leavesBridge).type == IFC_MESSAGE_OTHER)
    }

    @Test func leavingTheNamespaceIsTold() throws {
        let message = try decodeOne(Golden.leavesNamespace)
        #expect(message.type == IFC_MESSAGE_DEL_LINK)
        #expect(message.link.leaves_namespace)
        #expect(message.link.nameText == "tap0")
        #expect(message.link.tun_type == 2)
    }

    @Test func kernelRefusal() throws {
        let message = try decodeOne(Golden.noSuchLink)
        #expect(message.type == IFC_MESSAGE_ERROR)
        #expect(message.error == -ENODEV)
        #expect(message.sequence == 9)
        let done = try decodeOne(Golden.refusedDump)
        #expect(done.type == IFC_MESSAGE_DONE)
        #expect(done.error == -EINVAL)
    }

    @Test func interruptionIsToldPerMessage() {
        let decoded = decode(Golden.interruptedDump)
        #expect(decoded.messages.map(\.interrupted) == [true, false])
    }

    @Test func severalMessagesComeInOrder() {
        let decoded = decode(Golden.newTun + Golden.leavesBridge + Golden.delTun + Golden.refusedDump)
        #expect(
            decoded.messages.map(\.type)
                == [IFC_MESSAGE_NEW_LINK, IFC_MESSAGE_OTHER, IFC_MESSAGE_DEL_LINK, IFC_MESSAGE_DONE]
        )
        #expect(decoded.end == 0)
    }

    // MARK: Fields

    struct Field: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let attributes: [[UInt8]]
        var type = Number.newLink
        let isRight: @Sendable (ifc_link) -> Bool
    }

    static let fields: [Field] = [
        Field(testDescription: "64-bit counters", attributes: [attribute(Number.stats64, counters(wide, length: 200))])
        {
            $0.counter_bits == 64 && $0.counters.inKernelOrder == wide
        },
        Field(
            testDescription: "counters of an older kernel",
            attributes: [
                attribute(Number.stats64, counters(wide, length: 184))
            ]
        ) { $0.counter_bits == 64 && $0.counters.inKernelOrder == wide },
        Field(
            testDescription: "counters of a newer kernel",
            attributes: [
                attribute(Number.stats64, counters(wide, length: 4096))
            ]
        ) { $0.counter_bits == 64 && $0.counters.inKernelOrder == wide },
        Field(
            testDescription: "only packets and bytes",
            attributes: [
                attribute(Number.stats64, counters(wide, length: 32))
            ]
        ) { $0.counter_bits == 64 && $0.counters.inKernelOrder == wide.prefix(4) + [0, 0, 0, 0] },
        Field(
            testDescription: "half a counter at the end is left out",
            attributes: [
                attribute(Number.stats64, counters(wide, length: 44))
            ]
        ) { $0.counters.inKernelOrder == wide.prefix(5) + [0, 0, 0] },
        Field(
            testDescription: "too short to count from",
            attributes: [
                attribute(Number.stats64, counters(wide, length: 31))
            ]
        ) { $0.counter_bits == 0 && $0.counters.inKernelOrder.allSatisfy { $0 == 0 } },
        Field(
            testDescription: "32-bit counters alone",
            attributes: [
                attribute(Number.stats, counters(narrow, length: 96))
            ]
        ) { $0.counter_bits == 32 && $0.counters.inKernelOrder == narrow.map(UInt64.init) },
        Field(
            testDescription: "32-bit counters too short",
            attributes: [
                attribute(Number.stats, counters(narrow, length: 15))
            ]
        ) { $0.counter_bits == 0 },
        Field(
            testDescription: "the wide win, narrow first",
            attributes: [
                attribute(Number.stats, counters(narrow, length: 96)),
                attribute(Number.stats64, counters(wide, length: 200)),
            ]
        ) { $0.counter_bits == 64 && $0.counters.inKernelOrder == wide },
        Field(
            testDescription: "the wide win, narrow last",
            attributes: [
                attribute(Number.stats64, counters(wide, length: 200)),
                attribute(Number.stats, counters(narrow, length: 96)),
            ]
        ) { $0.counter_bits == 64 && $0.counters.inKernelOrder == wide },
        Field(
            testDescription: "short wide, whole narrow",
            attributes: [
                attribute(Number.stats64, counters(wide, length: 16)),
                attribute(Number.stats, counters(narrow, length: 96)),
            ]
        ) { $0.counter_bits == 32 && $0.counters.inKernelOrder == narrow.map(UInt64.init) },
        Field(testDescription: "no counters", attributes: []) { $0.counter_bits == 0 },
        Field(testDescription: "a link below", attributes: [attribute(Number.link, raw(Int32(3)))]) {
            $0.lower_ifindex == 3
        },
        Field(testDescription: "itself is not below", attributes: [attribute(Number.link, raw(Int32(7)))]) {
            $0.lower_ifindex == 0
        },
        Field(
            testDescription: "a link below in another namespace",
            attributes: [
                attribute(Number.linkNetnsid, raw(Int32(0))), attribute(Number.link, raw(Int32(3))),
            ]
        ) { $0.lower_ifindex == 0 },
        Field(
            testDescription: "the same, in the other order",
            attributes: [
                attribute(Number.link, raw(Int32(3))), attribute(Number.linkNetnsid, raw(Int32(0))),
            ]
        ) { $0.lower_ifindex == 0 },
        Field(testDescription: "a negative link below", attributes: [attribute(Number.link, raw(Int32(-1)))]) {
            $0.lower_ifindex == 0
        },
        Field(testDescription: "a link below of two bytes", attributes: [attribute(Number.link, [3, 0])]) {
            $0.lower_ifindex == 0
        },
        Field(testDescription: "a master", attributes: [attribute(Number.master, raw(Int32(4)))]) {
            $0.master_ifindex == 4
        },
        Field(testDescription: "a kind", attributes: [kind("wireguard")]) { $0.kindText == "wireguard" },
        Field(
            testDescription: "a kind marked as nested",
            attributes: [
                attribute(Number.linkInfo | Number.nested, attribute(Number.infoKind, Array("veth".utf8)))
            ]
        ) { $0.kindText == "veth" },
        Field(testDescription: "a long kind is cut", attributes: [kind("abcdefghijklmnopqrst")]) {
            $0.kindText == "abcdefghijklmno"
        },
        Field(testDescription: "tap", attributes: [kind("tun", data: attribute(Number.tunType, [2]))]) {
            $0.tun_type == 2
        },
        Field(
            testDescription: "a tun type that is none",
            attributes: [kind("tun", data: attribute(Number.tunType, [9]))]
        ) { $0.tun_type == 0 },
        Field(
            testDescription: "the data of another kind",
            attributes: [kind("vlan", data: attribute(Number.tunType, [1]))]
        ) { $0.tun_type == 0 },
        Field(
            testDescription: "data before the kind",
            attributes: [
                attribute(
                    Number.linkInfo,
                    attribute(Number.infoData, attribute(Number.tunType, [1]))
                        + attribute(Number.infoKind, Array("tun".utf8))
                )
            ]
        ) { $0.tun_type == 1 },
        Field(testDescription: "an empty tun type", attributes: [kind("tun", data: attribute(Number.tunType, []))]) {
            $0.tun_type == 0
        },
        Field(
            testDescription: "nested attribute cut off",
            attributes: [
                attribute(Number.linkInfo, attribute(Number.infoKind, Array("tun".utf8), length: 200))
            ]
        ) { $0.kind_length == 0 },
        Field(
            testDescription: "nested attribute of length 0",
            attributes: [
                attribute(Number.linkInfo, attribute(Number.infoKind, Array("tun".utf8), length: 0))
            ]
        ) { $0.kind_length == 0 },
        Field(
            testDescription: "moved, by namespace",
            attributes: [attribute(Number.newNetnsid, raw(Int32(0)))],
            type: Number.delLink
        ) { $0.leaves_namespace },
        Field(
            testDescription: "moved, by index",
            attributes: [attribute(Number.newIfindex, raw(Int32(4)))],
            type: Number.delLink
        ) { $0.leaves_namespace },
        Field(
            testDescription: "only a deletion can be a move",
            attributes: [attribute(Number.newNetnsid, raw(Int32(0)))]
        ) { !$0.leaves_namespace },
    ]

    @Test(arguments: fields)
    func field(_ field: Field) throws {
        let message = try decodeOne(message(field.type, ifinfo(), name("eth0"), field.attributes.flatMap(\.self)))
        #expect(message.type == (field.type == Number.newLink ? IFC_MESSAGE_NEW_LINK : IFC_MESSAGE_DEL_LINK))
        #expect(message.link.nameText == "eth0")
        #expect(message.link.flags == 0x1_1043)
        #expect(field.isRight(message.link), "\(message.link)")
    }

    @Test(arguments: [
        ("with its NUL", Array("wg0".utf8) + [0]),
        ("without a NUL", Array("wg0".utf8)),
        ("with bytes after the NUL", Array("wg0".utf8) + [0, 65, 66]),
    ])
    func nameEnds(_ how: String, _ payload: [UInt8]) throws {
        #expect(try decodeOne(message(16, ifinfo(), attribute(Number.ifname, payload))).link.nameText == "wg0")
    }

    @Test func nameIsBytes() throws {
        let bytes: [UInt8] = [0x61, 0xFF, 0x1B, 0x22, 0x5C, 0xC3]
        #expect(try decodeOne(message(16, ifinfo(), attribute(Number.ifname, bytes))).link.nameBytes == bytes)
        let longest = [UInt8](repeating: 0x78, count: 15)
        #expect(try decodeOne(message(16, ifinfo(), attribute(Number.ifname, longest + [0]))).link.nameBytes == longest)
    }

    // MARK: What is no message, or no link

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let types: [UInt32]
        var end: Int32 = 0

        init(_ description: String, _ bytes: [UInt8], _ types: [ifc_message_type], end: Int32 = 0) {
            testDescription = description
            self.bytes = bytes
            self.types = types.map(\.rawValue)
            self.end = end
        }
    }

    static let whole = message(Number.newLink, ifinfo(), name("eth0"))
    static let cases: [Case] = [
        Case("empty datagram", [], []),
        Case("one byte", [0], [], end: -EBADMSG),
        Case("15 bytes of a header", Array(whole.prefix(15)), [], end: -EBADMSG),
        Case("message length 0", message(16, length: 0, ifinfo(), name("a")), [], end: -EBADMSG),
        Case("message length 15", message(16, length: 15, ifinfo(), name("a")), [], end: -EBADMSG),
        Case(
            "message one byte longer than the datagram",
            message(16, length: UInt32(whole.count + 1), ifinfo(), name("eth0")),
            [],
            end: -EBADMSG
        ),
        Case("message length 2^31", message(16, length: 1 << 31, ifinfo(), name("a")), [], end: -EBADMSG),
        Case("message length 2^32 - 1", message(16, length: .max, ifinfo(), name("a")), [], end: -EBADMSG),
        Case("rest is none", whole + [1, 2, 3, 4], [IFC_MESSAGE_NEW_LINK], end: -EBADMSG),
        Case("bare header of a link", message(16), [IFC_MESSAGE_MALFORMED]),
        Case("ifinfomsg one byte short", message(16, Array(ifinfo().prefix(15))), [IFC_MESSAGE_MALFORMED]),
        Case("a bad one does not hide the next", message(16) + whole, [IFC_MESSAGE_MALFORMED, IFC_MESSAGE_NEW_LINK]),
        Case("no name", message(16, ifinfo()), [IFC_MESSAGE_MALFORMED]),
        Case("empty name", message(16, ifinfo(), attribute(Number.ifname, [])), [IFC_MESSAGE_MALFORMED]),
        Case("name of a NUL", message(16, ifinfo(), attribute(Number.ifname, [0])), [IFC_MESSAGE_MALFORMED]),
        Case("name of 16 bytes", message(16, ifinfo(), name("abcdefghijklmnop")), [IFC_MESSAGE_MALFORMED]),
        Case(
            "name of 400 bytes",
            message(16, ifinfo(), name(String(repeating: "n", count: 400))),
            [IFC_MESSAGE_MALFORMED]
        ),
        Case("ifindex 0", message(16, ifinfo(index: 0), name("eth0")), [IFC_MESSAGE_MALFORMED]),
        Case("ifindex below 0", message(16, ifinfo(index: -3), name("eth0")), [IFC_MESSAGE_MALFORMED]),
        Case(
            "attribute length 0",
            message(16, ifinfo(), name("a"), attribute(4, [1, 2, 3, 4], length: 0)),
            [IFC_MESSAGE_MALFORMED]
        ),
        Case(
            "attribute length 3",
            message(16, ifinfo(), name("a"), attribute(4, [1, 2, 3, 4], length: 3)),
            [IFC_MESSAGE_MALFORMED]
        ),
        Case(
            "attribute length 0xffff",
            message(16, ifinfo(), name("a"), attribute(4, [1, 2, 3, 4], length: 0xFFFF)),
            [IFC_MESSAGE_MALFORMED]
        ),
        Case(
            "attribute one byte longer than the message",
            message(16, ifinfo(), name("a"), attribute(4, [], length: 5)),
            [IFC_MESSAGE_MALFORMED]
        ),
        Case(
            "three bytes after the last attribute",
            message(16, ifinfo(), name("eth0"), [1, 2, 3]),
            [IFC_MESSAGE_NEW_LINK]
        ),
        Case(
            "last message unpadded",
            Array(message(16, length: 37, ifinfo(), attribute(3, [97])).prefix(37)),
            [IFC_MESSAGE_NEW_LINK]
        ),
        Case("bridge port", message(16, ifinfo(family: 7), name("eth0")), [IFC_MESSAGE_OTHER]),
        Case("IPv6 device", message(16, ifinfo(family: 10), name("eth0")), [IFC_MESSAGE_OTHER]),
        Case(
            "wireless event",
            message(16, ifinfo(), name("wlan0"), attribute(Number.wireless, [0, 0, 0, 0])),
            [IFC_MESSAGE_OTHER]
        ),
        Case("address", message(Number.newAddress, [2, 24, 0, 0, 1, 0, 0, 0]), [IFC_MESSAGE_OTHER]),
        Case("noop", message(Number.noop), [IFC_MESSAGE_OTHER]),
        Case("overrun", message(Number.overrun), [IFC_MESSAGE_OVERRUN]),
        Case("done", message(Number.done, raw(Int32(0))), [IFC_MESSAGE_DONE]),
        Case("done without its result", message(Number.done), [IFC_MESSAGE_MALFORMED]),
        Case("error without its number", message(Number.error, [1, 2, 3]), [IFC_MESSAGE_MALFORMED]),
        Case("acknowledgement", message(Number.error, raw(Int32(0))), [IFC_MESSAGE_ERROR]),
    ]

    @Test(arguments: cases)
    func malformed(_ given: Case) {
        let decoded = decode(given.bytes)
        #expect(decoded.messages.map(\.type.rawValue) == given.types)
        #expect(decoded.end == given.end)
        for message in decoded.messages where message.type == IFC_MESSAGE_MALFORMED {
            #expect(message.link.ifindex == 0 && message.link.name_length == 0)
        }
    }

    @Test(arguments: [Int32.min, -4096, 1, Int32.max])
    func errorBeyondErrno(_ number: Int32) throws {
        #expect(try decodeOne(message(Number.error, raw(number))).error == -EPROTO)
    }

    // MARK: Any bytes

    @Test(arguments: Golden.named.map(\.name))
    func everyPrefixEnds(_ name: String) throws {
        let bytes = try #require(Golden.named.first { $0.name == name }).bytes
        for length in 0..<bytes.count {
            // Cut inside a message, nothing of that message may be taken for one.
            let decoded = decode(Array(bytes.prefix(length)))
            #expect(decoded.messages.count < decode(bytes).messages.count || decoded.end == 0)
            // The same cut, believed: the message says it is only so long.
            guard length >= 16 else { continue }
            _ = decode(raw(UInt32(length)) + bytes[4..<length])
        }
    }

    @Test func anyBytesEnd() {
        var random = SplitMix64(seed: 20)
        let seeds = Golden.named.map(\.bytes) + Self.cases.map(\.bytes)
        for _ in 0..<20_000 {
            let seed = seeds.randomElement(using: &random) ?? []
            let decoded = decode(seed.mutated(using: &random))
            for message in decoded.messages
            where message.type == IFC_MESSAGE_NEW_LINK || message.type == IFC_MESSAGE_DEL_LINK {
                #expect(message.link.ifindex > 0)
                #expect((1...15).contains(message.link.name_length))
                #expect(message.link.kind_length <= 15)
                #expect([0, 32, 64].contains(message.link.counter_bits))
            }
        }
    }
}
