internal import Wire

/// What happened, in words.
enum EventText {
    /// `recreated (nothing missing)`, `gap: daemon away`, `renamed, it was tun3`.
    static func words(_ event: Event) -> String {
        switch event.event {
        case .created: counted("created", event)
        case .recreated: counted("recreated", event)
        case .arrived: counted("arrived from another namespace", event)
        case .returned: counted("back from another namespace", event)
        case .reset: counted("counters began again", event)
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
