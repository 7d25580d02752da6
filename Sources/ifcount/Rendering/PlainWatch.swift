internal import Wire

/// `ifcount watch` where nothing can be redrawn: a line for each tick and interface, in columns of one width.
struct PlainWatch: Sendable {
    var style: Style
    /// Events that came since the last tick.
    private var pending: [Event] = []
    private let widths: [Int]

    /// - Parameters:
    ///   - style: what the reader can show.
    ///   - wanted: the interfaces that are watched, which decide a column's width; nil for all.
    init(style: Style, wanted: [String]?) {
        self.style = style
        let longest = wanted.map { names in names.map { SafeText.width(style.safe($0)) }.max() ?? 0 }
        widths = [8, max(longest ?? 15, 4), 6, 12, 12, 12, 12, 0]
    }

    /// The columns' headings, to be written once, below a line that says that the figures are an estimate.
    var heading: String {
        row(["time", "name", "state", "down", "up", "received", "sent", "events"])
    }

    /// The lines for a reply that `state` has taken in already; none while there is no tick.
    ///
    /// - Parameters:
    ///   - reply: what came.
    ///   - state: what has been heard, this reply included.
    ///   - now: the wall clock, µs since 1970, for an interface that has not been there yet.
    /// - Returns: lines without their ends.
    mutating func lines(_ reply: Watch.Reply, _ state: WatchState, now: Int) -> [String] {
        pending += EventText.folded(reply.events ?? [])
        guard reply.readings != nil else { return [] }
        let events = Dictionary(grouping: pending) { state.place($0) ?? "" }
        pending = []
        // An interface that has gone by now still has its say.
        let others = Set(events.keys).subtracting(state.names + [""]).sorted()
        return (state.names + others).map { name in
            line(name, state.reading(name), events[name] ?? [], at: state.sampledUSec ?? now)
        }
    }

    private func line(_ name: String, _ reading: Reading?, _ events: [Event], at now: Int) -> String {
        let words = events.map { EventText.words($0, under: name) }.joined(separator: "; ")
        guard let reading else {
            let none = style.none
            return row([Moment.time(now), name, "absent", none, none, none, none, words])
        }
        return row([
            Moment.time(reading.present ? reading.sampledUSec : now),
            name,
            reading.state,
            reading.rate.map { Figures.rate($0.rxBytesPerSecond) } ?? style.none,
            reading.rate.map { Figures.rate($0.txBytesPerSecond) } ?? style.none,
            Figures.total(reading.total.rx, style),
            Figures.total(reading.total.tx, style),
            words,
        ])
    }

    private func row(_ cells: [String]) -> String {
        var line = ""
        for (index, (cell, width)) in zip(cells, widths).enumerated() {
            let text = style.safe(cell)
            let padding = String(repeating: " ", count: max(width - SafeText.width(text), 0))
            if index > 0 { line += "  " }
            line += (3...6).contains(index) ? padding + text : text + padding
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
