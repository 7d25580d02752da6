internal import History
internal import Ledger
internal import Wire

/// What the socket lets another counter's figures be booked with.
enum ImportService {
    /// Prepares the booking and its answer. The totals of the interface have no part in it: they are what this program
    /// has seen.
    ///
    /// - Parameters:
    ///   - request: the call.
    ///   - since: when counting began here, µs since 1970: nothing later can be imported.
    /// - Returns: what the recorder is to do.
    /// - Throws: `InvalidParameter`.
    static func question(
        _ request: Request,
        before since: Int
    ) throws(InvalidParameter) -> HistoryService.Question {
        try request.allow("interface", "spans", "fromUSec", "untilUSec")
        guard let interface = LinkName(escaped: try request.string("interface")) else {
            throw InvalidParameter("interface")
        }
        let from = try request.optionalInteger("fromUSec", in: Resolution.moments) ?? Resolution.moments.lowerBound
        let until = try request.optionalInteger("untilUSec", in: Resolution.moments) ?? Resolution.moments.upperBound
        guard from <= until else { throw InvalidParameter("untilUSec") }
        let spans = try spans(request, from: from, until: until, before: since)
        var sum = Flow()
        for span in spans { sum += span.flow }
        let reply = Import.Reply(
            spans: spans.count,
            rxBytes: Int(clamping: sum.rxBytes),
            txBytes: Int(clamping: sum.txBytes)
        )
        return { store, _ in
            // What is not on disk itself can have no history there.
            guard try store.replaceImported(of: interface, in: from..<until, with: spans) else {
                return Service.noHistoryFrame
            }
            return Frame.encode(Wire.Reply(parameters: reply))
        }
    }

    /// The spans of a request: in order, so that no time is booked twice, and none of a time that was counted here.
    private static func spans(
        _ request: Request,
        from: Int,
        until: Int,
        before since: Int
    ) throws(InvalidParameter) -> [Span] {
        guard case .array(let values)? = request.parameters["spans"] else { throw InvalidParameter("spans") }
        var spans: [Span] = []
        var done = from
        for value in values {
            guard case .object(let members) = value, members.count == 4,
                case .integer(let start)? = members["startUSec"], case .integer(let end)? = members["endUSec"],
                case .integer(let rxBytes)? = members["rxBytes"], case .integer(let txBytes)? = members["txBytes"],
                rxBytes >= 0, txBytes >= 0, start >= done, start < until, end > start, end <= since
            else { throw InvalidParameter("spans") }
            done = end
            let flow = Flow(rxBytes: UInt64(rxBytes), txBytes: UInt64(txBytes))
            spans.append(Span(start: start, end: end, flow: flow, isImported: true))
        }
        return spans
    }
}
