import Glibc
import SystemCalls
import TestLinks
import Testing
import Wire

/// utun0 as a bad connection makes it: it comes and goes, and what has gone through all of its lives is known to the byte.
struct FlakyLink: ~Copyable {
    private var tunnel: Tunnel?
    private var past = Carried()
    /// How many lives there were.
    private(set) var lives = 0
    /// How much one burst carries at most, in bytes.
    var burst = 20_000

    init() {}

    /// Its index; nil while it is not there.
    var index: Int? {
        switch tunnel {
        case .some(let tunnel): tunnel.index
        case .none: nil
        }
    }

    /// What has gone through its present life, as its counters say it; nil while it is not there.
    var counted: Carried? {
        switch tunnel {
        case .some(let tunnel): tunnel.truth
        case .none: nil
        }
    }

    /// What has gone through all its lives.
    var truth: Carried {
        var sum = past
        if let counted { sum += counted }
        return sum
    }

    /// Comes to life, up.
    mutating func rise(in namespace: borrowing PrivateNamespace) throws {
        var tunnel = try Tunnel("utun0", in: namespace)
        try tunnel.up()
        self.tunnel = consume tunnel
        lives += 1
    }

    /// Ends its life.
    mutating func fall() throws {
        if let tunnel = tunnel.take() { past += try tunnel.close() }
    }

    /// Receives and sends some bytes, if it is there.
    mutating func carry(_ random: inout SplitMix64) throws {
        try tunnel?.receive(bytes: .random(in: 28...burst, using: &random))
        try tunnel?.transmit(bytes: .random(in: 28...burst, using: &random))
    }

    /// Carries bytes for a time, and comes and goes if it is to.
    mutating func live(
        for time: Duration,
        in namespace: borrowing PrivateNamespace,
        recreated isRecreated: Bool,
        _ random: inout SplitMix64
    ) throws {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            if isRecreated, Int.random(in: 0..<8, using: &random) == 0 {
                if index == nil { try rise(in: namespace) } else { try fall() }
            }
            try carry(&random)
            usleep(.random(in: 0...20_000, using: &random))
        }
    }
}

extension RawClient {
    /// Waits until the daemon has seen the last byte of utun0, and its end if it has ended.
    ///
    /// - Returns: the reading; nil when the daemon knows of no such interface.
    mutating func awaitLast(of link: borrowing FlakyLink) throws -> Reading? {
        let (index, counted) = (link.index, link.counted)
        return try awaitReading("utun0") { reading in
            guard let index, let counted else { return !reading.present }
            return reading.ifindex == index && reading.counter?.rxBytes == Int(counted.rx)
                && reading.counter?.txBytes == Int(counted.tx)
        }
    }

    /// Lets utun0 come to life and carry something, and waits until that is on disk.
    mutating func awaitSavedBeginning(
        of link: inout FlakyLink,
        in namespace: borrowing PrivateNamespace,
        _ random: inout SplitMix64
    ) throws {
        try link.rise(in: namespace)
        try link.carry(&random)
        try awaitSaved(try #require(try awaitLast(of: link)))
    }

    /// Waits until all that a reading says is on disk.
    mutating func awaitSaved(_ reading: Reading) throws {
        // Two readings of two clocks may differ by a little.
        let moment = reading.sampledUSec + 50_000
        let saved = try awaitReading(reading.interface) { ($0.persistedUSec ?? 0) > moment && $0.persisted == true }
        #expect(saved?.persisted == true && saved?.persistedUSec ?? 0 > moment)
    }

    /// All quarter hours of an interface.
    mutating func quarters(of interface: String) throws -> GetHistory.Reply {
        let parameters = #"{"interface":"\#(interface)","resolution":"quarter","limit":50000}"#
        try send(#"{"method":"io.ifcount.GetHistory","parameters":\#(parameters)}"#)
        return try reply(GetHistory.Reply.self)
    }

    /// Expects the history of utun0 to add up to its total, while nothing goes through it.
    mutating func expectHistoryAddsUp(_ location: SourceLocation = #_sourceLocation) throws {
        let total = try #require(try get("utun0")).total
        let history = try quarters(of: "utun0")
        let rx = history.rows.reduce(history.untimedRxBytes) { $0 + $1.rx.bytes }
        let tx = history.rows.reduce(history.untimedTxBytes) { $0 + $1.tx.bytes }
        #expect(rx == total.rx.bytes, "received, by quarter hours", sourceLocation: location)
        #expect(tx == total.tx.bytes, "sent, by quarter hours", sourceLocation: location)
    }
}

extension RunningDaemon {
    /// Starts one that keeps its history in a directory, and saves it as often as it can.
    ///
    /// - Parameters:
    ///   - directory: where.
    ///   - environment: beside `RunningDaemon.environment`.
    ///   - shell: as for the other.
    /// - Throws: what kept it from starting.
    init(keepingIn directory: String, environment: [String: String?] = [:], shell: String? = nil) throws {
        try self.init(Self.keeping(in: directory), environment: environment, shell: shell)
    }

    /// Arguments of one that keeps its history in a directory.
    static func keeping(in directory: String) -> [String] {
        ["--interval", "100ms", "--save-interval", "1s", "--state-directory", directory]
    }

    /// Kills it where it stands.
    mutating func kill() throws {
        program.kill()
        #expect(try program.wait(timeout: RawClient.patience) == .signalled(SIGKILL))
    }

    /// Expects its log, as far as it was read, to say once that the history could not be saved, and once that it was again.
    ///
    /// - Parameters:
    ///   - isOver: false for a failure that lasts to the end.
    ///   - location: of the test.
    func expectOneFailure(isOver: Bool = true, _ location: SourceLocation = #_sourceLocation) {
        let log = program.errorText
        for (words, times) in [("the history cannot be saved", 1), ("the history is saved again", isOver ? 1 : 0)] {
            let count = log.split(separator: "\n").count { $0.contains(words) }
            #expect(count == times, "\(log)", sourceLocation: location)
        }
    }
}
