internal import History
internal import Ledger
internal import SystemCalls
internal import Wire

/// What the socket answers from the history. Each question is a closure that the recorder runs on its own thread, with the
/// store and with what is counted but not saved yet.
enum HistoryService {
    typealias Question = @Sendable (Store, Journal) throws -> [UInt8]

    /// How many periods are answered where no limit is given.
    private static let periods: [GetHistory.Resolution: Int] = [
        .quarter: 96, .hour: 48, .day: 31, .month: 24, .year: 100,
    ]
    /// No period but an hour in which clocks are changed is longer, in µs.
    private static let lengths: [GetHistory.Resolution: Int] = [
        .quarter: 900_000_000, .hour: 3_660_000_000, .day: 90_000_000_000, .month: 32 * 86_400_000_000,
        .year: 367 * 86_400_000_000,
    ]
    /// How many periods, and how many events, one answer may have.
    private static let limits = 1...50_000
    /// How many events are answered where no limit is given.
    private static let events = 100

    /// Prepares the answer to `GetHistory`.
    ///
    /// - Parameters:
    ///   - request: the call.
    ///   - began: when counting began, µs since 1970; nil when it is not known.
    ///   - now: the wall clock, µs since 1970.
    /// - Returns: the question.
    /// - Throws: `InvalidParameter`.
    static func history(
        _ request: Request,
        since began: Int?,
        now: Int
    ) throws(InvalidParameter) -> Question {
        try request.allow(
            "interface",
            "resolution",
            "sinceUSec",
            "untilUSec",
            "limit",
            "timezone",
            "monthStarts"
        )
        guard let interface = LinkName(escaped: try request.string("interface")) else {
            throw InvalidParameter("interface")
        }
        guard let resolution = GetHistory.Resolution(rawValue: try request.string("resolution")),
            let periodLength = Resolution(rawValue: resolution.rawValue)
        else { throw InvalidParameter("resolution") }
        let since = try request.optionalInteger("sinceUSec", in: Resolution.moments)
        let until = try request.optionalInteger("untilUSec", in: Resolution.moments)
        let limit = try request.optionalInteger("limit", in: limits)
        let monthStarts = try request.optionalInteger("monthStarts", in: 1...31) ?? 1
        let zone = try request.optionalString("timezone")
        if let zone, !TimeZoneClock.isKnown(zone) { throw InvalidParameter("timezone") }
        if let since, let until, since > until { throw InvalidParameter("untilUSec") }

        return { store, fresh in
            let clock = try TimeZoneClock(zone)
            let slots = fresh.slots(of: interface)
            let spans = fresh.spans[interface] ?? []
            let untimed = try store.untimed(of: interface) + (fresh.untimed[interface] ?? Flow())
            var reply = GetHistory.Reply(
                interface: interface.escaped,
                timezone: clock.name,
                rows: [],
                untimedRxBytes: Int(clamping: untimed.rxBytes),
                untimedTxBytes: Int(clamping: untimed.txBytes),
                nowUSec: now
            )
            // From where counting began, or the first thing that is known, or what was asked for, until now. A clock that
            // was not set when it began says nothing.
            let saved = try store.extent(of: interface)
            let known = [saved?.lowerBound, began.flatMap { $0 < Journal.earliest ? nil : $0 }].compactMap(\.self)
            let starts = slots.map(\.start) + spans.map(\.start) + known
            guard let first = starts.min() else { return Frame.encode(Wire.Reply(parameters: reply)) }
            let last = max(until ?? now, first)
            let most = limit ?? periods[resolution] ?? 100
            // Periods that are not answered are not looked for: with imported figures they may be very many.
            let from = max(first, since ?? first, last - (most + 2) * (lengths[resolution] ?? 0))
            var edges: [Int]
            do {
                edges = try clock.edges(from: from, to: last, resolution: periodLength, monthStarts: monthStarts)
            } catch {
                let parameters: [String: JSONValue] = ["parameter": .string("sinceUSec")]
                return Frame.encode(Wire.Reply(parameters: parameters, error: VarlinkService.invalidParameter))
            }
            edges = Array(edges.suffix(most + 1))
            let time = edges[0]..<(edges.last ?? edges[0])
            let rows = Aggregation.rows(
                edges: edges,
                slots: try store.slots(of: interface, in: time) + slots,
                spans: try store.spans(of: interface, in: time) + spans,
                doubts: try store.doubts(of: interface, in: time) + (fresh.doubts[interface] ?? [])
            )
            reply.rows = rows.map(GetHistory.Row.init)
            return Frame.encode(Wire.Reply(parameters: reply))
        }
    }

    /// Prepares the answer to `Events`.
    ///
    /// - Parameter request: the call.
    /// - Returns: the question.
    /// - Throws: `InvalidParameter`.
    static func events(_ request: Request) throws(InvalidParameter) -> Question {
        try request.allow("interface", "sinceUSec", "limit")
        var interface: LinkName?
        if let name = try request.optionalString("interface") {
            interface = LinkName(escaped: name)
            if interface == nil { throw InvalidParameter("interface") }
        }
        let since = try request.optionalInteger("sinceUSec", in: Resolution.moments) ?? Resolution.moments.lowerBound
        let limit = try request.optionalInteger("limit", in: limits) ?? events
        let isStream = request.more
        return { [interface] store, fresh in
            let recent = fresh.occurrences.filter {
                $0.at >= since && (interface == nil || $0.interface == interface || $0.previous == interface)
            }
            let saved = try store.occurrences(of: interface, since: since, limit: limit)
            let events = (saved + recent).suffix(limit).compactMap(Event.init)
            let reply = Events.Reply(events: Array(events))
            return Frame.encode(Wire.Reply(parameters: reply, continues: isStream ? true : nil))
        }
    }
}

extension GetHistory.Row {
    init(_ row: PeriodFlow) {
        func amount(_ bytes: UInt64, _ packets: UInt64) -> Amount {
            let bytes = Int(clamping: bytes)
            return Amount(bytes: bytes, atMost: row.isContinuous ? bytes : nil, packets: Int(clamping: packets))
        }
        self.init(
            startUSec: row.start,
            endUSec: row.end,
            rx: amount(row.flow.rxBytes, row.flow.rxPackets),
            tx: amount(row.flow.txBytes, row.flow.txPackets),
            quality: row.isContinuous ? .continuous : .gapped,
            gaps: row.gaps,
            rxSpreadBytes: Int(clamping: row.spread.rxBytes),
            txSpreadBytes: Int(clamping: row.spread.txBytes),
            imported: row.isImported
        )
    }
}
