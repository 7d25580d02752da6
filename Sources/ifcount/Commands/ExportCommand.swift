internal import IfcountClient
internal import SystemCalls
internal import Wire

/// `ifcount export`: all that is kept of interfaces, as lines of JSON.
///
/// The first line says what this is; then there is one for each interface. A line is written month by month as the daemon
/// answers, so that a long history takes no more memory than a short one.
struct ExportCommand: Hashable, Sendable {
    /// Empty for all.
    var interfaces: [String]

    /// The first line.
    private struct Header: Encodable {
        var format = "ifcount-export"
        var version = 1
        var label = "estimate"
        var timeUSec: Int
    }

    /// How many months of an interface are asked for.
    private static let mostMonths = 50_000
    /// A month has no more quarter hours.
    private static let quartersOfAMonth = 31 * 96

    /// Asks the daemon, and prints its answers.
    ///
    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - output: where to write.
    /// - Throws: a `Failure`.
    func run(path: String, _ output: Output) throws {
        try HistoryService.ask(path) { connection in
            let readings = try readings(connection)
            try output.write(json: Frame.json(Header(timeUSec: Clock.wall)))
            for reading in readings { try Self.write(reading, connection, output) }
        }
    }

    private func readings(_ connection: Connection) throws -> [Reading] {
        if interfaces.isEmpty {
            return try connection.call(List.method, List.Parameters(all: true), reply: List.Reply.self).readings
        }
        return try interfaces.map { name in
            try connection.call(Get.method, Get.Parameters(interface: name), reply: Get.Reply.self).reading
        }
    }

    private static func write(_ reading: Reading, _ connection: Connection, _ output: Output) throws {
        let name = reading.interface
        let asked = Events.Parameters(interface: name, sinceUSec: nil, limit: Events.most)
        let events = try connection.call(Events.method, asked, reply: Events.Reply.self).events
        let months = try history(name, .month, limit: mostMonths, connection)
        let members = [
            "\"events\":\(json(events))", "\"interface\":\(json(name))", "\"reading\":\(json(reading))",
            "\"untimedRxBytes\":\(months.untimedRxBytes)", "\"untimedTxBytes\":\(months.untimedTxBytes)",
        ]
        try output.write("{\(members.joined(separator: ",")),\"rows\":[")
        var separator = ""
        for month in months.rows where !month.isEmpty {
            let quarters = try history(name, .quarter, in: month, limit: quartersOfAMonth, connection)
            for row in quarters.rows where !row.isEmpty {
                try output.write(separator + json(row))
                separator = ","
            }
        }
        try output.write("]}\n")
    }

    private static func history(
        _ interface: String,
        _ resolution: GetHistory.Resolution,
        in month: GetHistory.Row? = nil,
        limit: Int,
        _ connection: Connection
    ) throws -> GetHistory.Reply {
        let parameters = GetHistory.Parameters(
            interface: interface,
            resolution: resolution,
            sinceUSec: month?.startUSec,
            untilUSec: month?.endUSec,
            limit: limit,
            timezone: "UTC"
        )
        return try connection.call(GetHistory.method, parameters, reply: GetHistory.Reply.self)
    }

    private static func json(_ value: some Encodable) -> String { SafeText.json(Frame.json(value)) }
}

extension GetHistory.Row {
    /// Whether nothing is known to have passed, and nothing may have been missed.
    fileprivate var isEmpty: Bool { rx.bytes == 0 && tx.bytes == 0 && gaps == 0 }
}
