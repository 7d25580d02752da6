import CLinkStats
import Glibc
import TestLinks
import Testing

@Suite("/proc/net/dev")
struct ProcNetDevTests {
    /// What one file says.
    struct Parsed {
        var begin: Int32 = 0
        var links: [ifc_link] = []
        var skipped: UInt32 = 0

        var names: [String] { links.map(\.nameText) }
    }

    static func parse(_ bytes: [UInt8]) -> Parsed {
        unsafe withCliff(bytes) { start in
            var file = unsafe ifc_procnetdev(bytes: start, length: 0, offset: 0, skipped: 0)
            var parsed = Parsed()
            parsed.begin = unsafe ifc_procnetdev_begin(&file, start, bytes.count)
            while true {
                let before = unsafe file.offset
                var link = ifc_link()
                let result = unsafe ifc_procnetdev_next(&file, &link)
                guard result > 0 else {
                    #expect(result == 0)
                    break
                }
                #expect(unsafe file.offset > before && file.offset <= bytes.count)
                parsed.links.append(link)
            }
            parsed.skipped = unsafe file.skipped
            return parsed
        }
    }

    static let heading = """
        Inter-|   Receive                                                |  Transmit
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls \
        carrier compressed

        """

    static func parse(lines: String) -> Parsed { parse(Array((heading + lines).utf8)) }

    // MARK: Files

    /// The bytes of a file in Tests/Cases.
    static func contents(of name: String) throws -> [UInt8] {
        let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let stream = unsafe fopen("/\(folder)/Cases/\(name).procnetdev", "r")
        let opened = unsafe try #require(stream)
        defer { unsafe fclose(opened) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = unsafe fread(&bytes, 1, bytes.count, opened)
        return Array(bytes.prefix(count))
    }

    struct File: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var begin: Int32 = 0
        /// Name, received bytes, transmitted bytes.
        var links: [(String, UInt64, UInt64)] = []
    }

    static let files: [File] = [
        File(
            testDescription: "C08_vpn_on_physical",
            links: [
                ("lo", 0, 0), ("eth0", 1_080_000, 108_000), ("wg0", 1_000_000, 100_000), ("docker0", 400_000, 20_000),
                ("veth12ab34", 20_000, 400_000),
            ]
        ),
        File(
            testDescription: "C09_bond_vlan_bridge",
            links: [
                ("lo", 0, 0), ("eth0", 14_414_293, 14_414_293), ("eth1", 14_414_293, 14_414_293),
                ("bond0", 28_828_586, 28_828_586), ("bond0.10", 28_540_186, 28_540_186),
                ("br0", 28_251_786, 28_251_786),
            ]
        ),
        File(
            testDescription: "C28_glued_and_alias",
            links: [
                ("lo", 32_108_095, 32_108_095), ("eth0", 5_019_464_820, 8_907_551_793), ("eth0:1", 0, 0),
                ("eth0:2", 1_234_567, 7_654_321), ("tun10001:1", 0, 0), ("team0:1", 0, 0),
            ]
        ),
        File(testDescription: "C28b_linux20_no_bytes", begin: -ENOTSUP),
        File(
            testDescription: "C30_prefix_and_at",
            links: [
                ("eth4.100", 111, 222), ("eth4", 333_333, 444_444), ("eth40", 5, 6), ("he-ipv6", 777, 888),
                ("veth1a@if9", 9, 10), ("tun10", 11, 12), ("tun1", 13, 14),
            ]
        ),
        File(testDescription: "C34_lo_only", links: [("lo", 0, 0)]),
        // No link at all: whoever reads on must say "unreadable", and can.
        File(testDescription: "C34b_header_only"),
        File(testDescription: "C34c_empty", begin: -ENODATA),
    ]

    @Test(arguments: files)
    func wholeFile(_ given: File) throws {
        let parsed = Self.parse(try Self.contents(of: given.testDescription))
        #expect(parsed.begin == given.begin)
        #expect(parsed.skipped == 0)
        #expect(parsed.names == given.links.map(\.0))
        #expect(parsed.links.map(\.counters.rx_bytes) == given.links.map(\.1))
        #expect(parsed.links.map(\.counters.tx_bytes) == given.links.map(\.2))
        #expect(parsed.links.allSatisfy { $0.counter_bits == 64 && $0.ifindex == 0 })
    }

    @Test func hostileNames() throws {
        let parsed = Self.parse(try Self.contents(of: "C29_hostile_names"))
        let names: [[UInt8]] =
            [
                "lo", "abcdefghijklmno", "eth0.100", "wlan%d", "é-vpn", "vpn🔒", "a|b", "a\"b", "a\\b", "a,b", "a=b",
                "-x",
                "1234567890", "A;rm", "$x", "a@b", "a\u{1B}[31m",
            ].map { Array($0.utf8) } + [[0x61, 0x62, 0xFF, 0x63, 0x64], Array("UTUN0".utf8)]
        #expect(parsed.begin == 0 && parsed.skipped == 0)
        #expect(parsed.links.map(\.nameBytes) == names)
        #expect(parsed.links.map(\.counters.rx_bytes) == [100] + (0..<18).map { 1000 + $0 })
        #expect(parsed.links.map(\.counters.tx_bytes) == [100] + (0..<18).map { 2000 + $0 })
    }

    // MARK: Lines

    struct Line: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        var names: [String] = []
        var skipped: UInt32 = 0
    }

    static let sixteen = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
    static let lines: [Line] = [
        Line(testDescription: "plain", text: "eth0: \(sixteen)\n", names: ["eth0"]),
        Line(testDescription: "tabs and CR", text: "\teth0:\t\(sixteen)\r\n", names: ["eth0"]),
        Line(testDescription: "more columns", text: "eth0: \(sixteen) 17 18 x\n", names: ["eth0"]),
        Line(
            testDescription: "15 numbers",
            text: "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\nlo: \(sixteen)\n",
            names: ["lo"],
            skipped: 1
        ),
        Line(testDescription: "no numbers", text: "eth0:\nlo: \(sixteen)\n", names: ["lo"], skipped: 1),
        Line(testDescription: "no colon", text: "eth0 \(sixteen)\nlo: \(sixteen)\n", names: ["lo"], skipped: 1),
        Line(testDescription: "no name", text: " : \(sixteen)\nlo: \(sixteen)\n", names: ["lo"], skipped: 1),
        Line(testDescription: "name of 15 bytes", text: "abcdefghijklmno:\(sixteen)\n", names: ["abcdefghijklmno"]),
        Line(testDescription: "name of 16 bytes", text: "abcdefghijklmnop: \(sixteen)\n", skipped: 1),
        Line(testDescription: "space in the name", text: "eth 0: \(sixteen)\n", skipped: 1),
        Line(testDescription: "space before the colon", text: "eth0 : \(sixteen)\n", skipped: 1),
        Line(testDescription: "NUL in the name", text: "et\0h0: \(sixteen)\n", skipped: 1),
        Line(
            testDescription: "torn in a number",
            text: "lo: \(sixteen)\neth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1",
            names: ["lo"],
            skipped: 1
        ),
        Line(testDescription: "torn before its name", text: "lo: \(sixteen)\n  et", names: ["lo"], skipped: 1),
        Line(testDescription: "blank lines", text: "\n  \t\r\nlo: \(sixteen)\n\n", names: ["lo"]),
        Line(testDescription: "blanks at the end", text: "lo: \(sixteen)\n   ", names: ["lo"]),
        Line(testDescription: "a letter", text: "eth0: 1 2 3 4 5 6 7 8 9x 10 11 12 13 14 15 16\n", skipped: 1),
        Line(testDescription: "a sign", text: "eth0: -1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", skipped: 1),
        Line(testDescription: "a plus", text: "eth0: +1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", skipped: 1),
        Line(
            testDescription: "2^64",
            text: "eth0: 18446744073709551616 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
            skipped: 1
        ),
        Line(
            testDescription: "ten times more",
            text: "eth0: 184467440737095516150 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
            skipped: 1
        ),
        Line(testDescription: "the heading again", text: heading + "lo: \(sixteen)\n", names: ["lo"], skipped: 2),
        Line(testDescription: "listed twice", text: "tun0: \(sixteen)\ntun0: \(sixteen)\n", names: ["tun0", "tun0"]),
    ]

    @Test(arguments: lines)
    func line(_ given: Line) {
        let parsed = Self.parse(lines: given.text)
        #expect(parsed.begin == 0)
        #expect(parsed.names == given.names)
        #expect(parsed.skipped == given.skipped)
    }

    @Test func columns() throws {
        let link = try #require(Self.parse(lines: "eth0:\(Self.sixteen)\n").links.first)
        #expect(link.counters.inKernelOrder == [2, 10, 1, 9, 3, 11, 4, 12])
    }

    @Test func largestNumber() throws {
        let line = "eth0:18446744073709551615 0018446744073709551615 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n"
        let link = try #require(Self.parse(lines: line).links.first)
        #expect(link.counters.rx_bytes == .max && link.counters.rx_packets == .max && link.counters.tx_bytes == 9)
    }

    // MARK: Headings

    @Test(arguments: [
        ("one line", "Inter-| Receive | Transmit\n", -ENODATA),
        ("second line torn", String(heading.dropLast()), -ENODATA),
        ("another file", "cpu 1 2 3\ncpu0 1 2 3\n", -EPROTO),
        ("one bar", "Inter-| R | T\n face |bytes packets errs drop bytes packets errs drop\n", -EPROTO),
        ("three bars", "Inter-| R | T\n face |bytes packets errs drop|bytes packets errs drop|\n", -EPROTO),
        ("bytes only received", "Inter-| R | T\n face |bytes packets errs drop|packets errs drop\n", -ENOTSUP),
        ("bytes only sent", "Inter-| R | T\n face |packets errs drop|bytes packets errs drop\n", -ENOTSUP),
        ("bytes are second", "Inter-| R | T\n face |packets bytes errs drop|bytes packets errs drop\n", -EPROTO),
        ("too few columns", "Inter-| R | T\n face |bytes packets errs|bytes packets errs drop\n", -EPROTO),
        (
            "a receive column more",
            "Inter-| R | T\n face |bytes packets errs drop a b c d e|bytes packets errs drop a b c d\n", -EPROTO
        ),
        ("a longer word", "Inter-| R | T\n face |bytes64 packets errs drop|bytes packets errs drop\n", -ENOTSUP),
    ])
    func refusedHeading(_ what: String, _ text: String, _ expected: Int32) {
        let parsed = Self.parse(Array(text.utf8))
        #expect(parsed.begin == expected)
        #expect(parsed.links.isEmpty)
        // After a refusal nothing is read, whatever follows.
        guard expected != -ENODATA else { return }
        #expect(Self.parse(Array((text + "lo: \(Self.sixteen)\n").utf8)).links.isEmpty)
    }

    @Test func moreTransmitColumnsAreFine() {
        let text = "Inter-|R|T\nface|bytes packets errs drop a b c d|bytes packets errs drop a b c d e f\n"
        let parsed = Self.parse(Array((text + "lo: \(Self.sixteen) 17 18\n").utf8))
        #expect(parsed.begin == 0)
        #expect(parsed.links.first?.counters.tx_bytes == 9)
    }

    // MARK: Any bytes

    @Test func everyPrefixEnds() throws {
        let bytes = try Self.contents(of: "C29_hostile_names")
        for length in 0...bytes.count {
            let prefix = Array(bytes.prefix(length))
            let lines = prefix.count { $0 == 0x0A }
            let parsed = Self.parse(prefix)
            #expect(parsed.begin == (lines < 2 ? -ENODATA : 0))
            #expect(parsed.links.count == max(0, lines - 2))
        }
    }

    @Test func anyBytesEnd() throws {
        var random = SplitMix64(seed: 22)
        let seeds =
            try Self.files.map { try Self.contents(of: $0.testDescription) }
            + Self.lines.map { Array((Self.heading + $0.text).utf8) }
        for _ in 0..<10_000 {
            let parsed = Self.parse((seeds.randomElement(using: &random) ?? []).mutated(using: &random))
            #expect(parsed.links.allSatisfy { (1...15).contains($0.name_length) })
            #expect(parsed.begin == 0 || parsed.links.isEmpty)
        }
    }
}
