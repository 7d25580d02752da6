internal import Wire

/// What happened, in words.
enum EventText {
    /// `recreated (nothing missing)`, `something may be missing: daemon away`, `renamed, it was tun3`.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - name: under which interface it is told: the one of the event, or the one it was renamed from.
    /// - Returns: words for the end of a line that begins with the time.
    static func words(_ event: Event, under name: String) -> String {
        switch event.event {
        case .created: counted("created", event)
        case .recreated: counted("recreated", event)
        case .arrived: counted("arrived from another namespace", event)
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

    /// A cause as the wire writes it, as words: `daemon-away` reads `daemon away`.
    static func cause(_ word: String) -> String {
        String(word.map { $0 == "-" || $0 == "_" ? " " : $0 })
    }

    private static func counted(_ what: String, _ event: Event) -> String {
        if !event.gapped { return "\(what) (nothing missing)" }
        return "\(what), something may be missing" + (event.cause.map { ": \(cause($0))" } ?? "")
    }
}
