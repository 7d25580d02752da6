internal import SystemCalls

/// What ends the program with a sentence on standard error.
struct Failure: Error, Hashable, Sendable {
    /// What to tell, and what to do about it; made safe when it is printed.
    var message: String
    var status: ExitStatus = .failed
}

/// The exit statuses that scripts rely on.
enum ExitStatus: Int32, Sendable {
    case fine = 0
    case failed = 1
    case usage = 2
    case noSuchInterface = 3
    case notReachable = 4
}

/// Nobody reads standard output any more: the program ends, and there is nothing to tell.
struct BrokenPipe: Error {}

/// Standard output and standard error.
struct Output: Sendable {
    /// How to write for the reader of standard output.
    let style: Style
    /// Whether standard output is a terminal that can be redrawn.
    let isScreen: Bool
    private let errorStyle: Style

    /// - Parameter wantsColor: whether the user has nothing against colour.
    init(wantsColor: Bool) {
        let isDumb = ["", "dumb"].contains(ThisProcess.environment("TERM") ?? "")
        let refuses = !(ThisProcess.environment("NO_COLOR") ?? "").isEmpty
        let isTerminal = Terminal.isTerminal(1)
        let isUTF8 = ThisProcess.isUTF8()
        isScreen = isTerminal && !isDumb
        style = Style(isColored: isScreen && wantsColor && !refuses, isUnicode: !isTerminal || isUTF8)
        errorStyle = Style(isColored: false, isUnicode: !Terminal.isTerminal(2) || isUTF8)
    }

    /// The terminal's width, or nil when standard output is none.
    var width: Int? { Terminal.isTerminal(1) ? Terminal.size(1)?.columns : nil }

    /// Writes lines for people, cut to `width`.
    func write(_ lines: [Line], width: Int? = nil) throws {
        try write(lines.map { $0.text(style, width: width) + "\n" }.joined())
    }

    /// Writes a JSON document as one line.
    func write(json document: [UInt8]) throws {
        try write(SafeText.json(document) + "\n")
    }

    /// Writes text that is safe already, at once.
    ///
    /// - Throws: `BrokenPipe`, or a `Failure` that says why it could not be written.
    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(try Descriptor.write(1, rest))
            } catch {
                switch error {
                case .wouldBlock: try waitWritable(1)
                case .brokenPipe: throw BrokenPipe()
                default: throw Failure(message: "standard output cannot be written: \(error)")
                }
            }
        }
    }

    /// Asks something on standard error; the answer is typed behind it.
    func ask(_ question: String) {
        try? Descriptor.writeAll(2, Array(errorStyle.safe(question).utf8))
    }

    /// Tells something on standard error, in one line.
    func tell(_ message: String) {
        // Nothing can be told about an error of standard error.
        try? Descriptor.writeAll(2, Array("ifcount: \(errorStyle.safe(message))\n".utf8))
    }
}
