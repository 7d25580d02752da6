internal import SystemCalls

/// The terminal while a live view has it: the alternate screen, without cursor and echo. Everything is put back with
/// the end of this value, however the view ends.
struct Screen: ~Copyable {
    /// Nil when standard input is no terminal: then there are no keys.
    private let keyboard: Terminal?
    private let output: Output

    /// - Throws: the `Errno` of the terminal's settings.
    init(_ output: Output) throws(Errno) {
        func keyboard() throws(Errno) -> Terminal? { try Terminal.isTerminal(0) ? Terminal(0) : nil }
        self.output = output
        self.keyboard = try keyboard()
        // Alternate screen, no cursor, no line wrap. What cannot be written shows with the first frame.
        try? output.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    }

    deinit {
        // A terminal that is gone needs nothing.
        try? output.write("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    }

    /// What to poll for keys.
    var descriptors: [Int32] { keyboard == nil ? [] : [0] }

    /// How much fits.
    var size: Terminal.Size { Terminal.size(1) ?? Terminal.Size(columns: 80, rows: 24) }

    /// Shows a frame in one write, between the marks of a synchronized update, over the one before: nothing flickers.
    func draw(_ lines: [Line], width: Int) throws {
        // What was right of a line is erased before it is written: behind a line as wide as the screen, the cursor still
        // stands on its last character and would erase that.
        let rows = lines.map { "\u{1B}[K" + $0.text(output.style, width: width) }
        try output.write("\u{1B}[?2026h\u{1B}[H" + rows.joined(separator: "\r\n") + "\u{1B}[J\u{1B}[?2026l")
    }

    /// Takes the keys that were pressed, once polling says that there are some.
    ///
    /// - Returns: what they ask for; `.quit` when the terminal is gone.
    func keys() -> Key {
        guard var typed = read() else { return .quit }
        if typed.last == 0x1B, (try? waitReadable([0], milliseconds: 50)) == [true] {
            // The rest of an arrow's or function key's sequence came late.
            typed += read() ?? []
        }
        return Key(typed)
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 256)
        guard let count = try? Descriptor.read(0, into: &buffer), count > 0 else { return nil }
        return Array(buffer.prefix(count))
    }
}

/// What keys ask for.
enum Key: Sendable {
    case quit
    case pause
    case other

    /// Reads what a terminal sends: the first key that quits counts, else the last that means anything. Arrow and function
    /// keys begin as Esc does and mean nothing.
    init(_ typed: [UInt8]) {
        self = .other
        var rest = typed[...]
        while let byte = rest.popFirst() {
            switch byte {
            case 0x1B:
                guard let second = rest.popFirst() else {
                    self = .quit
                    return
                }
                if second == UInt8(ascii: "[") {
                    // Parameters, up to the byte that ends the sequence (console_codes(4)).
                    rest = rest.drop { !(0x40...0x7E).contains($0) }.dropFirst()
                } else if second == UInt8(ascii: "O") {
                    rest = rest.dropFirst()
                }
            case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04:
                self = .quit
                return
            case UInt8(ascii: "p"), UInt8(ascii: "P"), UInt8(ascii: " "): self = .pause
            default: break
            }
        }
    }
}
