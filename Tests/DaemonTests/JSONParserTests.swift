import FoundationEssentials
import TestLinks
import Testing
import Wire

/// JSON of somebody who need not be trusted: what is taken, and what is not.
@Suite
struct JSONParserTests {
    @Test(
        arguments: [
            ("{}", .object([:])), ("[]", .array([])), (" \t\r\n[ \n] ", .array([])),
            (
                #"{"a":{"b":[null,true,false]}}"#,
                .object(["a": .object(["b": .array([.null, .bool(true), .bool(false)])])])
            ),
            (#" { "a" : 1 , "b" : 2 } "#, .object(["a": .integer(1), "b": .integer(2)])),
            // The same name in two objects is no duplicate, nor is one that differs in case.
            (
                #"[{"a":1},{"a":{"a":2},"A":3}]"#,
                .array([
                    .object(["a": .integer(1)]), .object(["a": .object(["a": .integer(2)]), "A": .integer(3)]),
                ])
            ),
            ("0", .integer(0)), ("-0", .integer(0)), ("-12", .integer(-12)), ("1.0", .integer(1)),
            ("1e3", .integer(1000)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("1.5E+2", .integer(150)),
            ("9007199254740993.5", .number(9_007_199_254_740_994)), ("0.25", .number(0.25)),
            ("-2.5e-1", .number(-0.25)), ("1e30", .number(1e30)), ("1e-999", .integer(0)),
            (#""""#, .string("")), (#""a\"\\\/\b\f\n\r\t""#, .string("a\"\\/\u{8}\u{C}\n\r\t")),
            (#""\u0041\u00e9\u20AC\u0000""#, .string("Aé€\0")), (#""\ud83d\uDE00""#, .string("😀")),
            (#""é€😀\#u{7F}""#, .string("é€😀\u{7F}")), (#""[{,:}]""#, .string("[{,:}]")),
        ] as [(String, JSONValue)]
    )
    func `a text means`(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "", " ", "\u{FEFF}{}", "{}{}", "[] x", "nul", "nulll", "True", "NaN", "-Infinity", "undefined",
        "{", "}", "[", "]", "[}", "{]", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a" 1}"#, #"{"a":1 "b":2}"#,
        "{a:1}", "{1:1}", "{null:1}", "{'a':1}", #"{"a"}"#, #"{:1}"#, "[1 2]", "[1;2]",
        // Commas.
        "[1,]", "[,1]", "[,]", "[1,,2]", "[1,\n]", #"{"a":1,}"#, #"{,"a":1}"#, "{,}", #"[{"a":[1,]}]"#, "1,",
        // A name that is there twice, in any object, however it is written.
        #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":null}"#, #"{"a":1,"\u0061":2}"#, #"{"":1,"":2}"#,
        #"{"x":{"a":1,"a":2}}"#, #"[[{"a":1,"a":2}]]"#, #"{"x":[{"y":{"a":{},"a":{}}}]}"#,
        #"{"\u00e9":1,"e\u0301":2}"#,
        // Comments are of other languages.
        "//\n1", "/**/1", "#\n1",
        // Numbers.
        "01", "-01", "00", "+1", ".5", "-.5", "1.", "1.e1", "1e", "1e+", "-", "--1", "0x10", "1_000", "1e999", "-1e999",
        "１", "1a", "0b",
        // Strings.
        #"""#, #"""""#, #""\""#, #""\x41""#, #""\u12""#, #""\u12g4""#, #""\u 041""#, #""\U0041""#, "\"\n\"", "\"\t\"",
        "\"a\0b\"", #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800\ud800""#, #""\ud800 \udc00""#,
        #""\u+041""#,
        #""\u００41""#,
    ])
    func `a text is refused`(_ text: String) {
        #expect(throws: JSONValue.Malformed.self) { try JSONValue(parsing: Array(text.utf8)) }
    }

    /// Inside a string: a lone continuation, a character cut short, one longer than it needs to be, a surrogate, a number
    /// beyond Unicode, and bytes that UTF-8 never has.
    @Test(
        arguments: [
            [0x80], [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xC0, 0x80], [0xE0, 0x80, 0xAF],
            [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]]
    )
    func `bytes that are no UTF-8 are refused`(_ bytes: [UInt8]) {
        #expect(throws: JSONValue.Malformed.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
        #expect(throws: JSONValue.Malformed.self) { try JSONValue(parsing: bytes + Array("1".utf8)) }
        #expect(throws: JSONValue.Malformed.self) {
            try JSONValue(parsing: Array("{\"a".utf8) + bytes + Array("\":1}".utf8))
        }
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]")])
    func `what is nested too deep is refused, however deep`(_ open: String, _ close: String) throws {
        let levels = open.count(where: { "[{".contains($0) })
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(JSONValue.deepest / levels)) }
        #expect(throws: JSONValue.Malformed.self) { try JSONValue(parsing: nested(JSONValue.deepest / levels + 1)) }
        #expect(throws: JSONValue.Malformed.self) { try JSONValue(parsing: nested(100_000)) }
        #expect(throws: JSONValue.Malformed.self) {
            try JSONValue(parsing: Array(String(repeating: open, count: 100_000).utf8))
        }
    }

    /// What they are made of, and changed by a byte or a few.
    private static let texts = [
        #"{"method":"io.ifcount.Watch","parameters":{"interfaces":["lo","é\n\u00e9\ud83d\ude00"],"x":null},"more":true}"#,
        #"[0,-0,12,-3.25,1e3,1.5E-2,81985529,true,false,{"a":{"b":[[],{}]},"c":""}]"#,
    ].map { Array($0.utf8) }

    @Test func `a text that is cut short is refused, wherever`() {
        for text in Self.texts {
            #expect(throws: Never.self) { try JSONValue(parsing: text) }
            for end in text.indices {
                #expect(throws: JSONValue.Malformed.self) { try JSONValue(parsing: Array(text[..<end])) }
            }
        }
    }

    @Test func `whatever is taken means what another decoder takes it for`() throws {
        var random = SplitMix64(seed: 1)
        let alphabet = Array(#"{}[]",:\u0e9-+. "#.utf8) + [0, 0x80, 0xC3, 0xFF]
        var taken = 0
        for round in 0..<8000 {
            var text = Self.texts[round % Self.texts.count]
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let place = Int.random(in: text.indices, using: &random)
                let byte = alphabet.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text[place] = byte
                case 1: text.insert(byte, at: place)
                default: text.remove(at: place)
                }
            }
            guard let value = try? JSONValue(parsing: text) else { continue }
            taken += 1
            let other = try? JSONDecoder().decode(JSONValue.self, from: Data(text))
            #expect(value == other, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(taken > 500)
    }
}
