internal import IfcountClient
internal import Options
internal import SystemCalls
internal import Wire

/// `ifcount history`.
struct HistoryCommand: Hashable, Sendable {
    /// How the answer is written.
    enum Form: Hashable, Sendable {
        case table(forecast: Bool)
        case json
        case csv
    }

    var interface: String
    var resolution = GetHistory.Resolution.day
    var since: TimeText?
    var until: TimeText?
    var limit: Int?
    /// A name of the tz database; nil for the zone of this process.
    var timezone: String?
    var monthStarts: Int?
    var form = Form.table(forecast: false)

    /// Asks the daemon, and prints its answer.
    ///
    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - output: where to write.
    /// - Throws: a `Failure`, or a `UsageError` for times that do not exist or are in the wrong order.
    func run(path: String, _ output: Output) throws {
        let parameters = try self.parameters(now: Clock.wall)
        let reply = try HistoryService.ask(path) { connection in
            try connection.call(GetHistory.method, parameters, reply: GetHistory.Reply.self)
        }
        if form == .json { return try output.write(json: Frame.json(reply)) }
        let (labels, zone) = try labels(reply)
        if case .table(let forecast) = form {
            let view = HistoryView(
                reply: reply,
                labels: labels,
                labelZone: zone,
                wantsForecast: forecast,
                style: output.style
            )
            return try output.write(view.lines(width: output.width), width: output.width)
        }
        try output.write(HistoryCSV.text(reply, labels, zone: zone))
        if reply.untimedRxBytes > 0 || reply.untimedTxBytes > 0 {
            let figures = "\(reply.untimedRxBytes) bytes received, \(reply.untimedTxBytes) sent"
            output.tell("in no period, as the clock was not set then: \(figures)")
        }
    }

    /// What the daemon is asked.
    ///
    /// - Parameter now: µs since 1970.
    /// - Returns: parameters whose times are moments.
    /// - Throws: a `UsageError` for times that do not exist or are in the wrong order.
    func parameters(now: Int) throws -> GetHistory.Parameters {
        let clock = try TimeZoneClock(timezone)
        let since = try moment(self.since, "--since", clock, now)
        let until = try moment(self.until, "--until", clock, now)
        if let since, since >= until ?? now {
            throw UsageError.badValue("--since", reason: "it is not before \(until == nil ? "now" : "'--until'")")
        }
        return GetHistory.Parameters(
            interface: interface,
            resolution: resolution,
            sinceUSec: since,
            untilUSec: until,
            limit: limit,
            timezone: timezone ?? TimeZoneClock.localName(),
            monthStarts: monthStarts
        )
    }

    private func moment(
        _ text: TimeText?,
        _ option: String,
        _ clock: borrowing TimeZoneClock,
        _ now: Int
    ) throws(UsageError) -> Int? {
        guard let text else { return nil }
        if let moment = text.moment(clock, now: now) { return moment }
        let reason = "the clocks of \(clock.name) never show that time: they were put forward over it"
        throw .badValue(option, reason: reason)
    }

    /// The periods' names by the clocks that made them, or in UTC when this machine does not know the daemon's zone.
    private func labels(_ reply: GetHistory.Reply) throws -> (PeriodLabels, zone: String) {
        let zone = TimeZoneClock.isKnown(reply.timezone) ? reply.timezone : "UTC"
        let clock = try TimeZoneClock(zone)
        let starts = reply.rows.map { clock.local($0.startUSec) }
        return (PeriodLabels(starts, resolution, monthStarts: monthStarts ?? 1), zone)
    }
}

/// What only the daemon can answer.
enum HistoryService {
    /// Connects and asks.
    ///
    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - question: what to do with the connection.
    /// - Returns: what the question returns.
    /// - Throws: a `Failure` in words for what the daemon refuses, and when there is none.
    static func ask<Answer>(_ path: String, _ question: (Connection) throws -> Answer) throws -> Answer {
        do {
            return try question(Connection(path: path))
        } catch ClientError.refused(NoSuchInterface.error, let parameters) {
            let names = parameters.text("interface").map { " \"\($0)\"" } ?? ""
            let message = "no interface\(names) here; \"ifcount list --all\" shows what there is"
            throw Failure(message: message, status: .noSuchInterface)
        } catch ClientError.refused(VarlinkService.methodNotFound, _) {
            throw Failure(message: "the daemon at \(path) keeps no history; it is older than this command")
        } catch ClientError.refused(NoHistory.error, _) {
            let advice = "its log says more"
            throw Failure(message: "the daemon at \(path) keeps no history, or it cannot be used now; \(advice)")
        } catch ClientError.refused(InterfacePresent.error, let parameters) {
            throw present(parameters.text("interface") ?? "")
        } catch ClientError.refused(InterfaceKnown.error, let parameters) {
            let name = parameters.text("interface") ?? ""
            throw Failure(message: "\"\(name)\" has figures of its own; to add to another name's, use merge")
        } catch ClientError.refused(NoBackup.error, let parameters) {
            let reason = parameters.text("reason").map { ": \($0)" } ?? ""
            throw Failure(message: "nothing was changed, for no copy of the history could be made before\(reason)")
        } catch ClientError.refused(VarlinkService.permissionDenied, _) {
            let advice = "run it again with sudo"
            throw Failure(message: "only root and the daemon's own user may change the history; \(advice)")
        } catch ClientError.refused(VarlinkService.invalidParameter, let parameters) {
            let name = parameters.text("parameter").map { " '\($0)'" } ?? ""
            throw Failure(message: "the daemon at \(path) does not take that value of\(name)")
        } catch let error as ClientError {
            guard case .notReachable = error else { throw Failure(message: "\(error)") }
            let advice = "history is the daemon's, so start ifcountd first"
            throw Failure(message: "\(error); \(advice)", status: .notReachable)
        }
    }
}

extension HistoryService {
    /// What an interface that is here, or may be, is not moved for.
    static func present(_ name: String) -> Failure {
        let advice = "only what is kept of an interface that is gone can get another name"
        return Failure(message: "\"\(name)\" is here now, or may come back at once; \(advice)")
    }
}

extension JSONValue {
    /// A member of an object that is a string.
    fileprivate func text(_ member: String) -> String? {
        guard case .object(let members) = self, case .string(let text) = members[member] else { return nil }
        return text
    }
}
