internal import Wire

/// What happened, in words.
enum EventText {
    /// `recreated (nothing missing)`, `something may be missing: its end was not seen`, `renamed, it was tun3`.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - name: under which interface it is told: the one of the event, or the one it was renamed from.
    /// - Returns: words for the end of a line that begins with the time.
    static func words(_ event: Event, under name: String) -> String {
        switch event.event {
        case .created: counted("created", event)
        case .recreated: counted("recreated", event)
        case .arrived: "arrived from another namespace; counted from here"
        case .returned: counted("back from another namespace", event)
        case .reset: counted("counters began again", event)
        case .renamed where event.interface != name: counted("renamed to \(event.interface)", event)
        case .renamed: counted("renamed" + (event.previous.map { ", it was \($0)" } ?? ""), event)
        case .removed: counted("removed", event)
        case .departed: counted("moved to another namespace", event)
        case .gap: "something may be missing" + (event.cause.map { ": \(cause($0))" } ?? "")
        case .suspect: "a reading was set aside: no link is that fast"
        case .changed: event.cause.map { "now \($0)" } ?? "changed"
        }
    }

    /// Events as people see them: a gap that comes of the event before it is told as that event's cause.
    static func folded(_ events: [Event]) -> [Event] {
        events.reduce(into: []) { told, event in
            if event.event == .gap, let last = told.last, last.gapped, last.cause == nil, last.event != .gap,
                last.interface == event.interface, last.ifindex == event.ifindex
            {
                told[told.count - 1].cause = event.cause
            } else {
                told.append(event)
            }
        }
    }

    /// A cause as the wire writes it, in words; one that a later daemon knows stands as it is.
    static func cause(_ word: String) -> String {
        switch word {
        case "unseen-end": "its end was not seen"
        case "unsure-closing-counters": "its last counters are unsure"
        case "reset-in-place": "the last bytes before the reset"
        case "unseen-birth": "its beginning was not seen"
        case "unseen-rename": "which bytes were of which name was not seen"
        case "saturated": "the total is as large as a number can be"
        default: String(word.map { $0 == "-" ? " " : $0 })
        }
    }

    private static func counted(_ what: String, _ event: Event) -> String {
        if !event.gapped { return "\(what) (nothing missing)" }
        return "\(what), something may be missing" + (event.cause.map { ": \(cause($0))" } ?? "")
    }
}
