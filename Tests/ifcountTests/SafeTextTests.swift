import Testing
import Wire

@testable import ifcount

@Suite struct SafeTextTests {
    @Test(arguments: [
        ("utun0", "utun0"), ("grün", "grün"), ("隧道", "隧道"), ("e\u{301}", "e\u{301}"),
        ("\u{1B}[31mx", #"\x1b[31mx"#), ("a\nb\tc\r", #"a\x0ab\x09c\x0d"#), ("\u{7F}", #"\x7f"#),
        ("\u{9B}31m", #"\xc2\x9b31m"#), ("a\u{202E}b", #"a\xe2\x80\xaeb"#), ("\u{200B}", #"\xe2\x80\x8b"#),
        ("\u{2028}\u{2029}", #"\xe2\x80\xa8\xe2\x80\xa9"#), ("\u{2066}", #"\xe2\x81\xa6"#),
        ("\u{FEFF}", #"\xef\xbb\xbf"#), ("\u{AD}", #"\xc2\xad"#), ("\u{3164}", #"\xe3\x85\xa4"#),
        ("\u{E0041}", #"\xf3\xa0\x81\x81"#), ("\u{E000}", #"\xee\x80\x80"#), (#"\xff"#, #"\xff"#), ("", ""),
        ("\0", #"\x00"#),
    ])
    func escapesWhatATerminalActsOn(_ text: String, _ visible: String) {
        #expect(SafeText.visible(text, unicode: true) == visible)
        // What is safe stays as it is, so that filtering twice does no harm.
        #expect(SafeText.visible(visible, unicode: true) == visible)
    }

    @Test func escapesAllButASCIIWhereNothingElseIsShown() {
        #expect(SafeText.visible("grün", unicode: false) == #"gr\xc3\xbcn"#)
        #expect(SafeText.visible("utun0", unicode: false) == "utun0")
    }

    @Test(arguments: [
        ("utun0", 5), ("grün", 4), ("e\u{301}", 1), ("隧道", 4), ("가", 2), ("Ａ", 2), ("≈ 1", 3), ("", 0), ("🚇", 2),
    ])
    func knowsTheWidth(_ text: String, _ width: Int) {
        #expect(SafeText.width(text) == width)
    }

    @Test func escapesInsideJSONWithoutChangingIt() throws {
        let name = "\u{1B}[31m\u{9B}\u{202E}\u{E0041}ü\""
        let document = Frame.json(NoSuchInterface(interface: name))
        let text = SafeText.json(document)
        #expect(text == #"{"interface":"\u001b[31m\u009b\u202e\udb40\udc41ü\""}"#)
        #expect(try Frame.decode(NoSuchInterface.self, from: Array(text.utf8)).interface == name)
    }
}

@Suite struct LineTests {
    @Test(arguments: [
        (10, "utun0 is u"), (9, "utun0 is…"), (6, "utun0…"), (1, "…"), (0, ""),
    ])
    func cutsToTheWidth(_ width: Int, _ text: String) {
        #expect(Line("utun0 is u").text(.plain, width: width) == text)
    }

    @Test func neverCutsAWideCharacterInHalf() {
        var line = Line("隧道")
        line.append("x")
        #expect(line.text(.plain, width: 5) == "隧道x")
        #expect(line.text(.plain, width: 4) == "隧…")
        #expect(line.text(.plain, width: 3) == "隧…")
        #expect(line.text(.plain, width: 2) == "…")
    }

    @Test func makesHostileTextSafeBeforeItIsColoured() {
        let style = Style(isColored: true, isUnicode: true)
        #expect(Line("\u{1B}c", .strong).text(style) == "\u{1B}[1m\\x1bc\u{1B}[0m")
        #expect(Line("\u{1B}c", .strong).text(.plain) == "\\x1bc")
    }

    @Test func wrapsBetweenWords() {
        let lines = Line.wrap("12:03:11  recreated (nothing missing)", indent: 1, width: 20, .plain)
        #expect(text(lines) == [" 12:03:11  recreated", "   (nothing missing)"])
    }
}
