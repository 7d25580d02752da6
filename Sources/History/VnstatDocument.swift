internal import FoundationEssentials

/// Why the output of `vnstat --json` cannot be imported.
package enum VnstatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no JSON, or not of vnStat's shape.
    case malformed
    /// A version of its form that is not known here; 1 and 2 are.
    case unknownVersion(String)
    /// The interface is not in it; these are.
    case noSuchInterface(String, among: [String])
    /// A date or an hour that no calendar has.
    case impossibleDate(String)

    package var description: String {
        switch self {
        case .malformed: "this is not what vnstat --json prints"
        case .unknownVersion(let version): "vnStat's jsonversion \(version) is not known here"
        case .noSuchInterface(let name, let others):
            "vnStat has no interface '\(name)' there"
                + (others.isEmpty ? "" : ", only " + others.map { "'\($0)'" }.joined(separator: ", "))
        case .impossibleDate(let date): "there is no \(date) in any calendar"
        }
    }
}

/// What `vnstat --json` prints, with what its two versions have in common.
///
/// Version 2 (vnStat 2.x) has bytes in `hour`, `day`, `month` and `year`, and each hour's `time`. Version 1 (vnStat 1.13 to
/// 1.18) has KiB in `hours`, `days` and `months`, the interface's name as its `id`, and the hour of the day as that of an
/// hour.
struct VnstatDocument: Decodable {
    struct Interface: Decodable {
        var name: String
        var created: Moment?
        var updated: Moment?
        var hours: [Row]
        var days: [Row]
        var months: [Row]
        var years: [Row]
    }

    struct Moment: Decodable {
        struct Date: Decodable {
            var year: Int
            var month: Int?
            var day: Int?
        }

        struct Time: Decodable {
            var hour: Int
            var minute: Int
        }

        var date: Date
        var time: Time?
    }

    struct Row: Decodable {
        /// In version 1, the hour of the day when it is the row of an hour.
        var id: Int?
        var date: Moment.Date
        var time: Moment.Time?
        /// Bytes, or KiB in version 1.
        var rx: UInt64
        var tx: UInt64
    }

    var version: String
    var interfaces: [Interface]

    private enum CodingKeys: String, CodingKey {
        case version = "jsonversion"
        case interfaces
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // A string in all versions so far.
        version =
            try (try? container.decode(Int.self, forKey: .version)).map(String.init)
            ?? container.decode(String.self, forKey: .version)
        interfaces = ["1", "2"].contains(version) ? try container.decode([Interface].self, forKey: .interfaces) : []
    }

    /// - Parameter json: the whole output.
    /// - Throws: `.malformed` or `.unknownVersion`.
    init(_ json: [UInt8]) throws(VnstatError) {
        do { self = try JSONDecoder().decode(Self.self, from: Data(json)) } catch { throw .malformed }
        guard ["1", "2"].contains(version) else { throw .unknownVersion(version) }
    }
}

extension VnstatDocument.Interface {
    private enum CodingKeys: CodingKey { case name, id, created, updated, traffic }
    private enum TrafficKeys: CodingKey { case hour, hours, day, days, month, months, year }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? container.decode(String.self, forKey: .id)
        created = try container.decodeIfPresent(VnstatDocument.Moment.self, forKey: .created)
        updated = try container.decodeIfPresent(VnstatDocument.Moment.self, forKey: .updated)
        let traffic = try container.nestedContainer(keyedBy: TrafficKeys.self, forKey: .traffic)
        // Each table is left out when vnstat is asked for another one only.
        func rows(_ keys: TrafficKeys...) throws -> [VnstatDocument.Row] {
            try keys.flatMap { try traffic.decodeIfPresent([VnstatDocument.Row].self, forKey: $0) ?? [] }
        }
        hours = try rows(.hour, .hours)
        days = try rows(.day, .days)
        months = try rows(.month, .months)
        years = try rows(.year)
    }
}
