internal import FoundationEssentials
internal import Ledger
internal import LinkStats

/// What a replayed scenario came to for one interface.
struct ReplayedAccount: Encodable, Equatable {
    var rx: UInt64
    var tx: UInt64
    var rxAtMost: UInt64?
    var txAtMost: UInt64?
    var resets: Int
    var suspect: Int
    var gaps: Int
    var quality: String

    init(_ account: Account) {
        rx = account.rx.bytes.value
        tx = account.tx.bytes.value
        rxAtMost = account.rxAtMost
        txAtMost = account.txAtMost
        resets = account.resets
        suspect = account.suspect
        gaps = account.gaps
        quality = account.isContinuous ? "continuous" : "gapped"
    }

    enum CodingKeys: String, CodingKey {
        case rx, tx, rxAtMost, txAtMost, resets, suspect, gaps, quality
    }

    /// Writes the bounds also when they are null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(rx, forKey: .rx)
        try container.encode(tx, forKey: .tx)
        try container.encode(rxAtMost, forKey: .rxAtMost)
        try container.encode(txAtMost, forKey: .txAtMost)
        try container.encode(resets, forKey: .resets)
        try container.encode(suspect, forKey: .suspect)
        try container.encode(gaps, forKey: .gaps)
        try container.encode(quality, forKey: .quality)
    }
}

/// What a /proc/net/dev says.
struct ReplayedFile: Encodable, Equatable {
    struct Row: Encodable, Equatable {
        var name: String
        var rxBytes: UInt64
        var txBytes: UInt64
    }

    var links: [Row]
    var skipped: Int
}

/// The answers to one file, as lines of JSON with sorted keys.
enum Answer {
    static func scenario(_ bytes: [UInt8]) throws -> [String: ReplayedAccount] {
        let scenario: Scenario
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            scenario = try decoder.decode(Scenario.self, from: Data(bytes))
        } catch {
            throw ScenarioError("it is no scenario: \(reason(error))")
        }
        let ledger = try Replay.run(scenario)
        return Dictionary(uniqueKeysWithValues: ledger.accounts.map { ($0.name.escaped, ReplayedAccount($0)) })
    }

    static func procNetDev(_ bytes: [UInt8]) throws -> ReplayedFile {
        let table = try ProcNetDev.parse(bytes[...])
        return ReplayedFile(
            links: table.rows.map {
                .init(name: $0.name.escaped, rxBytes: $0.counters.rxBytes, txBytes: $0.counters.txBytes)
            },
            skipped: table.skipped
        )
    }

    static func line(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// What is wrong with a file, in one line.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "“\(key.stringValue)” is missing\(place(context))"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "a value is of the wrong type\(place(context))"
        case DecodingError.dataCorrupted(let context):
            // The decoder says the same of a number that does not fit as of what is no JSON at all.
            context.codingPath.isEmpty
                ? "it is not JSON, or a counter in it is no whole number from 0 to 2^64 - 1"
                : "a value cannot be used\(place(context))"
        default:
            "\(error)"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        return path.isEmpty ? "" : " at \(path.drop { $0 == "." })"
    }
}
