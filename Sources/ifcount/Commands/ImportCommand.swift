internal import History
internal import IfcountClient
internal import Ledger
internal import SystemCalls
internal import Wire

/// `ifcount import vnstat`.
struct ImportCommand: Hashable, Sendable {
    /// Where the output of `vnstat --json` is; "-" for standard input, nil to run vnstat.
    var file: String?
    /// The one interface to import; nil for all.
    var interface: String?
    /// The zone that vnStat ran in; nil for the zone of this process.
    var timezone: String?
    /// Whether only to say what would be imported.
    var isDry = false
    var isJSON = false

    /// No vnStat has more to say than this many bytes: it is 500,000 rows.
    private static let longest = 1 << 26
    /// How many spans go into one message, so that it stays within the daemon's 64 KiB.
    private static let spansAtOnce = 400

    /// Reads what vnStat has counted, books it, and says what became of each interface.
    ///
    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - output: where to write.
    /// - Throws: a `Failure`, also when nothing could be imported.
    func run(path: String, _ output: Output) throws {
        let document = try document()
        var interfaces = document.interfaces.map { (there: $0, here: Self.name($0)) }
        if let interface {
            interfaces = interfaces.filter { $0.here == interface }
            if interfaces.isEmpty {
                throw Failure(message: "\(VnstatError.noSuchInterface(interface, among: document.interfaces))")
            }
        }
        let clock = try TimeZoneClock(timezone)
        var report = ImportReport(dryRun: isDry, timezone: clock.name, interfaces: [])
        if !isJSON { try output.write(ImportView.heading(report)) }
        for (there, here) in interfaces {
            let outcome = try take(there, as: here, of: document, clock, path)
            report.interfaces.append(outcome)
            if !isJSON { try output.write(ImportView.lines(outcome, clock)) }
        }
        if isJSON { try output.write(json: Frame.json(report)) }
        guard report.interfaces.contains(where: { $0.skipped == nil }) else {
            let isUnknown = interface != nil && report.interfaces.contains { $0.skipped == .unknown }
            let message = isDry ? "nothing could be imported" : "nothing was imported"
            throw Failure(message: message, status: isUnknown ? .noSuchInterface : .failed)
        }
    }

    /// The daemon's spelling of a name.
    private static func name(_ name: String) -> String { LinkName(bytes: Array(name.utf8))?.escaped ?? name }

    // MARK: - What vnStat says

    private func document() throws -> VnstatImport {
        let (bytes, source) = try text()
        do {
            return try VnstatImport(bytes)
        } catch {
            throw Failure(message: "\(source): \(error)")
        }
    }

    private func text() throws(Failure) -> (bytes: [UInt8], source: String) {
        guard let file else { return (try Self.ask(), "vnstat") }
        let source = file == "-" ? "standard input" : file
        do throws(Errno) {
            if file == "-" { return (try Descriptor.readAll(0, limit: Self.longest), source) }
            let opened = try File.open(file)
            return (try Descriptor.readAll(opened.number, limit: Self.longest), source)
        } catch {
            throw Failure(message: "\(source) cannot be read: \(error)")
        }
    }

    private static func ask() throws(Failure) -> [UInt8] {
        let vnstat: ChildProgram
        do throws(Errno) {
            vnstat = try ChildProgram(running: ["vnstat", "--json"], limit: longest)
        } catch  where error == .noEntry {
            let advice = "give a file with the output of \"vnstat --json\", or - for standard input"
            throw Failure(message: "vnstat is not installed here; \(advice)")
        } catch {
            throw Failure(message: "vnstat cannot be run: \(error)")
        }
        if vnstat.status == 0 { return vnstat.output }
        // It tells its mistakes on standard output.
        let words = String(decoding: vnstat.output.prefix(500).prefix { $0 != 0x0A }, as: UTF8.self)
        throw Failure(message: "vnstat failed with exit status \(vnstat.status)\(words.isEmpty ? "" : ": \(words)")")
    }

    // MARK: - What the daemon takes

    private func take(
        _ there: String,
        as here: String,
        of document: VnstatImport,
        _ clock: borrowing TimeZoneClock,
        _ path: String
    ) throws -> ImportReport.Outcome {
        var outcome = ImportReport.Outcome(interface: here)
        guard let since = try Self.beginning(of: here, path) else {
            outcome.skipped = .unknown
            return outcome
        }
        outcome.sinceUSec = since
        guard since >= Journal.earliest else {
            outcome.skipped = .clockNotSet
            return outcome
        }
        let figures: VnstatImport.Figures
        do {
            figures = try document.figures(of: there, before: since, clock: clock)
        } catch {
            throw Failure(message: "\(there): \(error)")
        }
        outcome.take(figures)
        // What was imported before stays where there is nothing to put in its place.
        guard !figures.spans.isEmpty else {
            outcome.skipped = .nothingBefore
            return outcome
        }
        if !isDry { try Self.book(figures.spans, of: here, path) }
        return outcome
    }

    /// When counting of an interface began; nil when the daemon never saw it.
    private static func beginning(of interface: String, _ path: String) throws -> Int? {
        do {
            return try HistoryService.ask(path) { connection in
                try connection.call(Get.method, Get.Parameters(interface: interface), reply: Get.Reply.self)
            }.reading.total.sinceUSec
        } catch let failure as Failure where failure.status == .noSuchInterface {
            return nil
        }
    }

    /// Books spans, in parts where they are many: each takes the place of what begins in its time.
    private static func book(_ spans: [Span], of interface: String, _ path: String) throws {
        var first = 0
        while first < spans.count {
            let end = min(first + spansAtOnce, spans.count)
            let parameters = Import.Parameters(
                interface: interface,
                spans: spans[first..<end].map(Import.Span.init),
                fromUSec: first == 0 ? nil : spans[first].start,
                untilUSec: end == spans.count ? nil : spans[end].start
            )
            _ = try HistoryService.ask(path) { connection in
                try connection.call(Import.method, parameters, reply: Import.Reply.self)
            }
            first = end
        }
    }
}

extension Import.Span {
    fileprivate init(_ span: Span) {
        self.init(
            startUSec: span.start,
            endUSec: span.end,
            rxBytes: Int(clamping: span.flow.rxBytes),
            txBytes: Int(clamping: span.flow.txBytes)
        )
    }
}
