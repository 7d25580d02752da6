internal import Wire

/// The lines of `ifcount events`.
enum EventsView {
    /// - Parameters:
    ///   - events: in the order in which they happened.
    ///   - interface: the one that was asked for; nil for all.
    ///   - follows: whether more lines come, so that the columns must fit any name.
    ///   - style: what the reader can show.
    /// - Returns: a line for each event, with date and time in the local zone; a sentence when there is none to come.
    static func lines(_ events: [Event], of interface: String?, follows: Bool, _ style: Style) -> [Line] {
        if events.isEmpty {
            let what = "nothing is kept that happened to \(interface ?? "any interface") in that time"
            return follows ? [] : [Line(what)]
        }
        let longest = events.map { SafeText.width(style.safe($0.interface)) }.max() ?? 0
        let column = follows ? 15 : longest
        return EventText.folded(events).map { event in
            let padding = String(repeating: " ", count: max(column - SafeText.width(style.safe(event.interface)), 0))
            var line = Line("\(Moment.dateAndTime(event.atUSec))  \(event.interface)\(padding)  ")
            line.append(EventText.words(event, under: event.interface), event.gapped ? .warning : .plain)
            return line
        }
    }
}
