internal import SystemCalls

/// The terminal while a live view has it: the alternate screen, without cursor and echo. Everything is put back with
/// the end of this value, however the view ends.
struct Screen: ~Copyable {
    /// Nil when standard input is no terminal: then there are no keys.
    private let keyboard: Terminal?
    private let output: Output

    /// What a key asks for.
    enum Key: Sendable {
        case quit
        case pause
        case other
    }

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
    /// - Returns: what the last of them that means anything asks for; `.quit` when the terminal is gone.
    func keys() -> Key {
        guard var typed = read() else { return .quit }
        if typed == [0x1B], (try? waitReadable([0], milliseconds: 50)) == [true] {
            // The rest of an arrow's or function key's sequence came late.
            typed += read() ?? []
        }
        if typed.first == 0x1B { return typed.count == 1 ? .quit : .other }
        if typed.contains(where: { "qQ".utf8.contains($0) || $0 == 0x03 || $0 == 0x04 }) { return .quit }
        return typed.contains { "pP ".utf8.contains($0) } ? .pause : .other
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 256)
        guard let count = try? Descriptor.read(0, into: &buffer), count > 0 else { return nil }
        return Array(buffer.prefix(count))
    }
}
