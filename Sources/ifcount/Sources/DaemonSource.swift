internal import IfcountClient
internal import SystemCalls
internal import Wire

/// The daemon, over its socket. A watch outlives the daemon: it connects again and goes on.
struct DaemonSource: ReadingSource {
    /// How long to wait between two attempts to connect again, in ms.
    static let retryMilliseconds: Int32 = 500

    private let path: String
    private var connection: Connection?
    private var parameters = Watch.Parameters(interfaces: nil, intervalUSec: nil)
    private var retryAt: UInt64 = 0
    /// When the last reply came, on CLOCK_BOOTTIME and on the wall clock, and the time between it and the one before.
    private var heardAt: UInt64 = 0
    private var heardWall = 0
    private var rhythm: UInt64 = 0

    /// Connects.
    ///
    /// - Throws: `ClientError.notReachable`.
    init(path: String) throws(ClientError) {
        self.path = path
        connection = try Connection(path: path)
    }

    /// Says that the daemon at a path has ended.
    static func isGone(_ path: String) -> String { "the daemon has gone; waiting for it at \(path)" }

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
        heard()
    }

    var descriptors: [Int32] { connection.map { [$0.number] } ?? [] }

    var timeoutMilliseconds: Int32? {
        let now = Clock.boot
        // A daemon that is silent already is not waited for any more.
        let next = connection == nil ? retryAt : now < silentAt ? silentAt : .max
        if next == .max { return nil }
        return next > now ? Int32(clamping: (next - now + 999) / 1000) : 0
    }

    var note: String? {
        if connection == nil { return Self.isGone(path) }
        if Clock.boot < silentAt { return nil }
        return "nothing heard from the daemon since \(Moment.time(heardWall))"
    }

    mutating func next() throws -> Watch.Reply? {
        if connection == nil, Clock.boot < retryAt { return nil }
        do {
            guard let reply = try connected().nextReply(milliseconds: 0) else { return nil }
            heard()
            return reply
        } catch ClientError.closed, ClientError.notReachable {
            connection = nil
            retryAt = Clock.boot + UInt64(Self.retryMilliseconds) * 1000
            return nil
        }
    }

    /// The connection, made anew when it was lost.
    private mutating func connected() throws(ClientError) -> Connection {
        if let connection { return connection }
        let new = try Connection(path: path)
        try new.watch(interfaces: parameters.interfaces, intervalUSec: parameters.intervalUSec)
        connection = new
        heard()
        return new
    }

    /// When silence is worth a word: three ticks, and at least as long as a busy machine may take.
    private var silentAt: UInt64 {
        heardAt + max(3 * max(rhythm, UInt64(clamping: parameters.intervalUSec ?? 0)), 5_000_000)
    }

    private mutating func heard() {
        let now = Clock.boot
        rhythm = heardAt == 0 ? 0 : now - heardAt
        heardAt = now
        heardWall = Clock.wall
    }
}
