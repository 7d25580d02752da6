internal import IfcountClient
internal import SystemCalls
internal import Wire

/// What happened and happens, from the daemon. It outlives the daemon: it connects again, and goes on after the last event.
struct EventStream {
    private let path: String
    private let asked: Events.Parameters
    private let tell: (String) -> Void
    private var connection: Connection?
    /// What an answer to the same question may repeat: the last event, and those that happened at its time or, by a clock
    /// that was set since, later.
    private var told: [Event] = []
    /// What is left of them until a new connection has answered.
    private var repeated: [Event] = []
    private var isGone = false

    /// Asks.
    ///
    /// - Parameters:
    ///   - connection: to the daemon.
    ///   - path: the daemon's socket, to connect again.
    ///   - asked: what to begin with.
    ///   - tell: takes what is wrong, for people.
    /// - Throws: `ClientError`.
    init(
        _ connection: Connection,
        path: String,
        _ asked: Events.Parameters,
        tell: @escaping (String) -> Void
    ) throws(ClientError) {
        self.path = path
        self.asked = asked
        self.tell = tell
        self.connection = connection
        try connection.stream(Events.method, asked)
    }

    /// Waits for the next reply, over as many connections as it takes; each event comes once.
    ///
    /// - Throws: why the daemon does not answer, except that it has gone.
    mutating func next() throws(ClientError) -> Events.Reply {
        while true {
            do throws(ClientError) {
                let isFirst = connection == nil
                let connection = try connected()
                guard let reply = try connection.next(Events.Reply.self, milliseconds: -1) else { continue }
                guard reply.continues else { throw .closed }
                isGone = false
                let events = unheard(reply.parameters.events)
                if isFirst, events.isEmpty { continue }
                return Events.Reply(events: events)
            } catch {
                switch error {
                case .closed, .notReachable: break
                default: throw error
                }
                if !isGone { tell(DaemonSource.isGone(path)) }
                isGone = true
                connection = nil
                _ = try? waitReadable([], milliseconds: DaemonSource.retryMilliseconds)
            }
        }
    }

    /// The connection, made anew when it was lost.
    private mutating func connected() throws(ClientError) -> Connection {
        if let connection { return connection }
        let new = try Connection(path: path)
        var question = asked
        repeated = []
        if let last = told.last {
            question.sinceUSec = last.atUSec
            question.limit = Events.most
            repeated = told
        }
        try new.stream(Events.method, question)
        connection = new
        return new
    }

    /// Leaves out what was told before the connection was lost.
    private mutating func unheard(_ events: [Event]) -> [Event] {
        var new: [Event] = []
        for event in events {
            if let index = repeated.firstIndex(of: event) { repeated.remove(at: index) } else { new.append(event) }
        }
        repeated = []
        told += new
        if let last = told.last { told.removeAll { $0.atUSec < last.atUSec } }
        return new
    }
}
