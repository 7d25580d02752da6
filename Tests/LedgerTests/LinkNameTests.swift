import Ledger
import Testing

struct LinkNameTests {
    @Test(arguments: [
        ("utun0", Array("utun0".utf8)),
        ("é-vpn", Array("é-vpn".utf8)),
        (#"a\b"#, Array(#"a\b"#.utf8)),
        (#"ab\xffcd"#, [0x61, 0x62, 0xFF, 0x63, 0x64]),
        // A name that looks like an escape keeps apart from the byte it would stand for.
        (#"ab\x5cxffcd"#, Array(#"ab\xffcd"#.utf8)),
        (#"a\x5cx5cb"#, Array(#"a\x5cb"#.utf8)),
        ("a\u{1b}[31m", [0x61, 0x1B, 0x5B, 0x33, 0x31, 0x6D]),
        (#"\xed\xa0\x80"#, [0xED, 0xA0, 0x80]),
        (#"\xc3"#, [0xC3]),
        (#"\xc0\x80x"#, [0xC0, 0x80, 0x78]),
        ("abcdefghijklmno", Array("abcdefghijklmno".utf8)),
    ])
    func `a name and its escaped form stand for each other`(text: String, bytes: [UInt8]) throws {
        let name = try #require(LinkName(bytes: bytes))
        #expect(name.escaped == text)
        #expect(name.bytes == bytes)
        #expect(LinkName(escaped: text) == name)
    }

    @Test func `any bytes survive the escaped form`() throws {
        var state: UInt64 = 7
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<15 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let byte = UInt8(truncatingIfNeeded: state >> 33)
                // Half of them from the alphabet of escapes, so that those collide where they can.
                bytes.append(byte & 1 == 0 ? byte : Array(#"\\\xfF0cé"#.utf8)[Int(byte >> 4) % 9])
                if byte == 0 { break }
            }
            guard let name = LinkName(bytes: bytes.prefix { $0 != 0 }) else { continue }
            #expect(LinkName(escaped: name.escaped) == name)
        }
    }

    @Test func `names are bytes, not text`() throws {
        let composed = try #require(LinkName(bytes: Array("\u{e9}".utf8)))
        let decomposed = try #require(LinkName(bytes: Array("e\u{301}".utf8)))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test(arguments: [[], Array("sixteen-bytes-xx".utf8), [0x61, 0, 0x62]] as [[UInt8]])
    func `what no link can be called is no name`(bytes: [UInt8]) {
        #expect(LinkName(bytes: bytes) == nil)
    }

    @Test func `names sort as their bytes do`() throws {
        let names = ["a", "a0", "b", "B", "ab", "eth10", "eth2"].compactMap { LinkName(escaped: $0) }
        #expect(names.sorted().map(\.escaped) == ["B", "a", "a0", "ab", "b", "eth10", "eth2"])
    }
}
