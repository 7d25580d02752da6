internal import IfcountClient
internal import SystemCalls
internal import Wire

/// The daemon, over its socket. A watch outlives the daemon: it connects again and goes on.
struct DaemonSource: ReadingSource {
    /// How long to wait between two attempts to connect again, in µs.
    private static let retryInterval: UInt64 = 500_000

    private let path: String
    private var connection: Connection?
    private var parameters = Watch.Parameters(interfaces: nil, intervalUSec: nil)
    private var retryAt: UInt64 = 0
    private(set) var note: String?

    /// Connects.
    ///
    /// - Throws: `ClientError.notReachable`.
    init(path: String) throws(ClientError) {
        self.path = path
        connection = try Connection(path: path)
    }

    mutating func list(all: Bool) throws -> [Reading] {
        let parameters = List.Parameters(all: all ? true : nil)
        return try connected().call(List.method, parameters, reply: List.Reply.self).readings
    }

    mutating func get(_ interface: String) throws -> Reading? {
        do {
            let parameters = Get.Parameters(interface: interface)
            return try connected().call(Get.method, parameters, reply: Get.Reply.self).reading
        } catch ClientError.refused(NoSuchInterface.error, _) {
            return nil
        }
    }

    mutating func watch(interfaces: [String]?, intervalUSec: Int?) throws {
        parameters = Watch.Parameters(interfaces: interfaces, intervalUSec: intervalUSec)
        try connected().watch(interfaces: interfaces, intervalUSec: intervalUSec)
    }

    var descriptors: [Int32] { connection.map { [$0.number] } ?? [] }

    var timeoutMilliseconds: Int32? {
        if connection != nil { return nil }
        let now = Clock.boot
        return retryAt > now ? Int32(clamping: (retryAt - now + 999) / 1000) : 0
    }

    mutating func next() throws -> Watch.Reply? {
        if connection == nil, Clock.boot < retryAt { return nil }
        do {
            guard let reply = try connected().nextReply(milliseconds: 0) else { return nil }
            note = nil
            return reply
        } catch ClientError.closed, ClientError.notReachable {
            connection = nil
            note = "the daemon has gone; waiting for it at \(path)"
            retryAt = Clock.boot + Self.retryInterval
            return nil
        }
    }

    /// The connection, made anew when it was lost.
    private mutating func connected() throws(ClientError) -> Connection {
        if let connection { return connection }
        let new = try Connection(path: path)
        try new.watch(interfaces: parameters.interfaces, intervalUSec: parameters.intervalUSec)
        connection = new
        return new
    }
}
