internal import Glibc
internal import SystemCalls
internal import TestLinks
internal import Wire

/// Another counter that reads the same links at the same time.
protocol Peer: AnyObject {
    /// What it is, for the report.
    var name: String { get }
    /// Gives it its turn, if it needs one.
    func turn(at moment: ContinuousClock.Instant)
    /// Ends it.
    ///
    /// - Returns: what it says went through, by name; nil when it says nothing.
    func finish() -> [String: Carried]?
}

/// What is looked for along PATH, and where Debian keeps what a user's PATH may lack.
func executable(_ name: String) -> String? {
    let path = ThisProcess.environment("PATH") ?? ""
    let folders = path.split(separator: ":").map { String($0) } + ["/usr/sbin", "/sbin", "/usr/bin"]
    return folders.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
}

/// A reader that scrapes counters each 5 s and takes what Prometheus' increase() takes for the increase: a value below the
/// one before is a reset, and counts in full.
final class Scraper: Peer {
    let name: String
    private let scrape: () throws -> [String: Carried]
    private let end: () -> Void
    private var last: [String: Carried] = [:]
    private var totals: [String: Carried] = [:]
    private var next = ContinuousClock.now

    private static let interval: Duration = .seconds(5)

    /// - Parameters:
    ///   - name: what it is.
    ///   - end: what is to be done at the end.
    ///   - scrape: reads all counters; a scrape that fails is one that is missing.
    init(_ name: String, end: @escaping () -> Void = {}, scrape: @escaping () throws -> [String: Carried]) {
        self.name = name
        self.scrape = scrape
        self.end = end
    }

    func turn(at moment: ContinuousClock.Instant) {
        guard moment >= next else { return }
        next = moment + Self.interval
        take()
    }

    func finish() -> [String: Carried]? {
        take()
        end()
        return totals.isEmpty ? nil : totals
    }

    private func take() {
        guard let now = try? scrape() else { return }
        for (name, value) in now {
            let before = last[name] ?? value
            totals[name, default: Carried()] += Carried(
                rx: Self.increase(from: before.rx, to: value.rx),
                tx: Self.increase(from: before.tx, to: value.tx)
            )
            last[name] = value
        }
    }

    /// The rule of increase(): the first value is where counting begins, a lower one begins anew at zero.
    static func increase(from before: UInt64, to now: UInt64) -> UInt64 { now < before ? now : now - before }
}

/// node_exporter with nothing but its netdev collector, asked over the loopback.
enum NodeExporter {
    private static let port: UInt16 = 9100
    private static let request = "GET /metrics HTTP/1.0\r\n\r\n"

    /// A program that is held by those who read it.
    private final class Server {
        var program: Program?
        init(_ program: consuming Program) { self.program = consume program }
    }

    /// Starts it where it is installed.
    static func start() -> (any Peer)? {
        let arguments = [
            "--collector.disable-defaults", "--collector.netdev", "--web.listen-address=127.0.0.1:\(port)",
            "--log.level=error",
        ]
        guard let path = executable("prometheus-node-exporter"), let program = try? Program(path, arguments) else {
            return nil
        }
        let server = Server(program)
        return Scraper("node_exporter, scraped each 5 s", end: { server.program = nil }) {
            metrics(try Loopback.ask(port: port, request))
        }
    }

    /// The counters in its text.
    static func metrics(_ text: String) -> [String: Carried] {
        var links: [String: Carried] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "\"")
            // In scientific notation once there are many: its figures are doubles.
            guard parts.count == 3, let value = Double(parts[2].dropFirst().drop { $0 == " " }) else { continue }
            let name = String(parts[1])
            switch parts[0] {
            case "node_network_receive_bytes_total{device=":
                links[name, default: Carried()].rx = UInt64(value)
            case "node_network_transmit_bytes_total{device=":
                links[name, default: Carried()].tx = UInt64(value)
            default: break
            }
        }
        return links
    }
}

/// vnStat's daemon with its default settings, but for a database of its own, and new interfaces being added.
final class Vnstat: Peer {
    let name = "vnStat"
    private var daemon: Program?
    private let reader: String
    private let configuration: String

    /// Starts it where it is installed.
    static func start(in directory: String) -> Vnstat? {
        guard let path = executable("vnstatd"), let reader = executable("vnstat") else { return nil }
        let configuration = directory + "/vnstat.conf"
        let text = "DatabaseDir \"\(directory)/vnstat\"\nAlwaysAddNewInterfaces 1\nUseLogging 0\n"
        do {
            try File.makeDirectory(directory + "/vnstat", mode: 0o755)
            try writeNew(configuration, text)
            return Vnstat(try Program(path, ["--nodaemon", "--config", configuration]), reader, configuration)
        } catch {
            return nil
        }
    }

    private init(_ daemon: consuming Program, _ reader: String, _ configuration: String) {
        self.daemon = consume daemon
        self.reader = reader
        self.configuration = configuration
    }

    func turn(at moment: ContinuousClock.Instant) {
        // Its output must not fill the pipe.
        _ = try? daemon?.wait(timeout: .zero)
    }

    func finish() -> [String: Carried]? {
        daemon?.terminate()
        _ = try? daemon?.wait(timeout: .seconds(30))
        daemon = nil
        guard var program = try? Program(reader, ["--config", configuration, "--json", "y"]),
            (try? program.wait(timeout: .seconds(30))) == .exited(0),
            let document = try? Frame.decode(Document.self, from: program.output)
        else { return nil }
        return Dictionary(
            document.interfaces.map { ($0.name, Carried(rx: $0.traffic.total.rx, tx: $0.traffic.total.tx)) }
        ) { first, _ in first }
    }

    /// What `vnstat --json` prints, as far as it is read here.
    private struct Document: Decodable {
        struct Total: Decodable {
            var rx: UInt64
            var tx: UInt64
        }
        struct Traffic: Decodable {
            var total: Total
        }
        struct Interface: Decodable {
            var name: String
            var traffic: Traffic
        }
        var interfaces: [Interface]
    }
}

/// Writes a file that was not there.
func writeNew(_ path: String, _ text: String) throws(Errno) {
    let number = try retrying { unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
    let file = Descriptor(owning: number)
    try Descriptor.writeAll(file.number, Array(text.utf8))
}
