internal import History
internal import IfcountClient
internal import Ledger
internal import SystemCalls
internal import Wire

/// `ifcount import vnstat`.
struct ImportCommand: Hashable, Sendable {
    /// Where the output of `vnstat --json`, or vnStat's database, is; "-" for standard input, nil to run vnstat, and where
    /// there is none, its database at the usual place.
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
    /// Where vnStat has its database, unless it was configured otherwise.
    private static let usualDatabase = "/var/lib/vnstat/vnstat.db"
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

    private func document() throws(Failure) -> VnstatImport {
        guard let file else { return try Self.ask() }
        return try Self.document(at: file)
    }

    private static func document(at file: String) throws(Failure) -> VnstatImport {
        let source = file == "-" ? "standard input" : file
        let text: [UInt8]?
        do throws(Errno) {
            text = try Self.text(file)
        } catch {
            throw Failure(message: "\(source) cannot be read: \(error)")
        }
        return try document(source) { () throws(VnstatError) in
            guard let text else { return try VnstatImport(database: file) }
            return try VnstatImport(text)
        }
    }

    private static func document(
        _ source: String,
        _ read: () throws(VnstatError) -> VnstatImport
    ) throws(Failure) -> VnstatImport {
        do throws(VnstatError) { return try read() } catch { throw Failure(message: "\(source): \(error)") }
    }

    /// What a file holds; nil when it is a database, which is not read here, but in its place.
    private static func text(_ file: String) throws(Errno) -> [UInt8]? {
        if file == "-" { return try Descriptor.readAll(0, limit: longest) }
        let opened = try File.open(file)
        var head = [UInt8](repeating: 0, count: VnstatImport.headLength)
        let count = try opened.read(into: &head)
        head = Array(head.prefix(count))
        if VnstatImport.isDatabase(head), try FileStatus(of: opened.number).isRegular { return nil }
        return head + (try Descriptor.readAll(opened.number, limit: longest))
    }

    /// Runs vnstat; what it counted may have outlived it.
    private static func ask() throws(Failure) -> VnstatImport {
        let vnstat: ChildProgram
        do throws(Errno) {
            vnstat = try ChildProgram(running: ["vnstat", "--json"], limit: longest)
        } catch  where error == .noEntry {
            do throws(Errno) {
                _ = try File.open(usualDatabase)
            } catch {
                let lack = "vnstat is not installed here, and \(usualDatabase) cannot be read: \(error)"
                let advice = "a file with the output of \"vnstat --json\", - for standard input, or vnStat's database"
                throw Failure(message: "\(lack); give \(advice)")
            }
            return try document(at: usualDatabase)
        } catch {
            throw Failure(message: "vnstat cannot be run: \(error)")
        }
        if vnstat.status == 0 {
            return try document("vnstat") { () throws(VnstatError) in try VnstatImport(vnstat.output) }
        }
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
