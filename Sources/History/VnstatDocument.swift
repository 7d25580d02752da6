internal import FoundationEssentials

/// Why the output of `vnstat --json`, or vnStat's database, cannot be imported.
package enum VnstatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no JSON, or not of vnStat's shape.
    case malformed
    /// A version of its form that is not known here; 1 and 2 are.
    case unknownVersion(String)
    /// It is an SQLite database where text was expected, such as on standard input.
    case databaseAsText
    /// It is the binary database of a vnStat before 2.0, one for each interface.
    case firstDatabase
    /// It is an SQLite database without vnStat's tables.
    case notVnstats
    /// A version of the database that is not known here; 1 is.
    case unknownDatabaseVersion(String)
    /// The database does not hold together; this is what was found.
    case damaged(String)
    /// vnStat was ended while it wrote to its database, and what it had begun must be undone first.
    case cutOff
    /// The database has a write-ahead log that cannot be read without writing.
    case logUnusable
    /// vnStat writes to its database at this moment.
    case busy
    /// The database cannot be read, for this reason.
    case unreadable(String)
    /// The interface is not in it; these are.
    case noSuchInterface(String, among: [String])
    /// A date or an hour that no calendar has.
    case impossibleDate(String)

    package var description: String {
        switch self {
        case .malformed: "this is neither what vnstat --json prints nor vnStat's database"
        case .unknownVersion(let version): "vnStat's jsonversion \(version) is not known here"
        case .databaseAsText: "this is a database, which is not read from a stream; give the path of its file"
        case .firstDatabase:
            "this is a database of vnStat 1; give what its \"vnstat --json\" prints, or the database that vnStat 2"
                + " makes of it when its daemon starts"
        case .notVnstats: "this is an SQLite database, but not vnStat's"
        case .unknownDatabaseVersion(let version): "vnStat's dbversion \(version) is not known here"
        case .damaged(let finding): "vnStat's database is damaged: \(finding)"
        case .cutOff:
            "vnStat was ended while it wrote to its database; start its daemon once, which undoes what was not finished"
        case .logUnusable:
            "vnStat's database has a write-ahead log that cannot be used: both its -wal and its -shm file must be there"
                + " and readable; stop vnStat's daemon first, or give the output of \"vnstat --json\""
        case .busy: "vnStat is writing to its database; try again"
        case .unreadable(let reason): "vnStat's database cannot be read: \(reason)"
        case .noSuchInterface(let name, let others):
            "vnStat has no interface '\(name)' there"
                + (others.isEmpty ? "" : ", only " + others.map { "'\($0)'" }.joined(separator: ", "))
        case .impossibleDate(let date): "there is no \(date) in any calendar"
        }
    }
}

/// What `vnstat --json` prints, with what its two versions have in common; vnStat's own file is read into the same.
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

    init(version: String, interfaces: [Interface]) {
        self.version = version
        self.interfaces = interfaces
    }

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
    /// - Throws: `.malformed`, `.unknownVersion`, `.databaseAsText` or `.firstDatabase`.
    init(_ json: [UInt8]) throws(VnstatError) {
        if VnstatFile.isDatabase(json) { throw .databaseAsText }
        // It begins with its version, a C int of 1, 2 or 3, in the byte order of its machine.
        if (1...3).contains(where: { [[$0, 0, 0, 0], [0, 0, 0, $0]].contains(Array(json.prefix(4))) }) {
            throw .firstDatabase
        }
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
