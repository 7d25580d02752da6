internal import IfcountClient
internal import Options
internal import SystemCalls
internal import Wire

/// `ifcount events`.
struct EventsCommand: Hashable, Sendable {
    /// Nil for all.
    var interface: String?
    var since: TimeText?
    var limit: Int?
    /// Whether to go on with what happens from now on.
    var follows = false
    var isJSON = false

    /// Prints what happened, the oldest first, and then, if so wished, what happens.
    ///
    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - output: where to write.
    /// - Throws: a `Failure`, or a `UsageError`.
    func run(path: String, _ output: Output) throws {
        let parameters = try parameters(now: Clock.wall)
        try HistoryService.ask(path) { connection in
            guard follows else {
                let reply = try connection.call(Events.method, parameters, reply: Events.Reply.self)
                return try write(reply, output)
            }
            var stream = try EventStream(connection, path: path, parameters, tell: output.tell)
            while true { try write(stream.next(), output) }
        }
    }

    /// What the daemon is asked.
    ///
    /// - Parameter now: µs since 1970.
    /// - Returns: parameters whose time is a moment.
    /// - Throws: a `UsageError` for a time that does not exist.
    func parameters(now: Int) throws -> Events.Parameters {
        let clock = try TimeZoneClock()
        let moment = since.map { $0.moment(clock, now: now) }
        if let moment, moment == nil {
            throw UsageError.badValue("--since", reason: "the clocks here never show that time")
        }
        return Events.Parameters(interface: interface, sinceUSec: moment ?? nil, limit: limit)
    }

    private func write(_ reply: Events.Reply, _ output: Output) throws {
        if isJSON { return try output.write(json: Frame.json(reply)) }
        try output.write(EventsView.lines(reply.events, of: interface, follows: follows, output.style))
    }
}
