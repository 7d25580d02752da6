internal import SystemCalls
internal import Wire

/// The live view of `ifcount watch` on a terminal.
struct WatchView: Sendable {
    /// What is watched, for the heading: `utun0, the interface of the default route`.
    var subject: String
    var style: Style
    /// What is wrong, so that the figures are not those of now: that the daemon has gone, say.
    var note: String?
    var isPaused = false

    /// Below this width the figures stand under each other.
    static let tableWidth = 72

    /// One whole screen: at most `size.rows` lines, the footer in the last.
    ///
    /// - Parameters:
    ///   - state: what has been heard.
    ///   - size: the terminal's size.
    ///   - now: the wall clock, µs since 1970, for as long as there is no reading.
    /// - Returns: the lines from the top, not yet cut to the width.
    func screen(_ state: WatchState, size: Terminal.Size, now: Int) -> [Line] {
        let clock = Moment.time(state.sampledUSec ?? now)
        var top = [heading(clock, width: size.columns)]
        if let note { top += Line.wrap(note, .warning, indent: 0, width: size.columns, style) }
        let footer = Line(isPaused ? "q quit   p go on (paused)" : "q quit   p pause", .faint)
        let room = size.rows - top.count - 1
        guard room > 0 else { return Array((top + [footer]).prefix(max(size.rows, 1))) }

        var body = self.body(state, width: size.columns, events: 0)
        for events in (0...WatchState.eventsKept).reversed() {
            let candidate = self.body(state, width: size.columns, events: events)
            if candidate.count <= room {
                body = candidate
                break
            }
        }
        if body.count > room {
            let hidden = body.count - room + 1
            body = body.prefix(room - 1) + [Line("\(Figures.count(hidden, "line")) hidden", .faint)]
        }
        let empty = repeatElement(Line(), count: room - body.count)
        return top + body + empty + [footer]
    }

    /// The blocks alone, as they stay on the screen after the view has gone.
    func rest(_ state: WatchState, width: Int) -> [Line] {
        [heading(nil, width: width)] + body(state, width: width, events: WatchState.eventsKept)
    }

    private func heading(_ clock: String?, width: Int) -> Line {
        var line = Line("estimate", .strong)
        line.append(" for \(subject)")
        guard let clock else { return line }
        let gap = width - SafeText.width("estimate for " + style.safe(subject)) - SafeText.width(clock)
        if gap >= 2 { line.append(String(repeating: " ", count: gap) + clock, .faint) }
        return line
    }

    private func body(_ state: WatchState, width: Int, events: Int) -> [Line] {
        if state.wanted == nil, state.names.isEmpty {
            return [Line(), Line(state.isReady ? "there is no interface; waiting" : "waiting for the first figures")]
        }
        return state.names.flatMap { [Line()] + block($0, state, width: width, events: events) }
    }

    private func block(_ name: String, _ state: WatchState, width: Int, events: Int) -> [Line] {
        let indent = width < Self.tableWidth ? 1 : 2
        let happened = state.events(name).suffix(events).flatMap { event in
            let words = EventText.words(event, under: name)
            return Line.wrap("\(Moment.time(event.atUSec))  \(words)", indent: indent, width: width, style)
        }
        guard let reading = state.reading(name) else {
            let words = state.isReady ? "is not there yet; waiting" : "waits for the first figures"
            return title(name, " " + words, .plain, width: width) + happened
        }
        let warnings = reading.warnings.flatMap {
            Line.wrap("warning: \($0)", .warning, indent: indent, width: width, style)
        }
        let figures = width < Self.tableWidth ? stacked(reading) : table(reading)
        let remarks = Line.wrap(remarks(reading), indent: indent, width: width, style)
        return title(reading, width: width) + figures + remarks + warnings + happened
    }

    private func title(_ reading: Reading, width: Int) -> [Line] {
        let facts = [
            reading.kind, reading.state, reading.ifindex.map { "ifindex \($0)" },
            "incarnation \(reading.incarnation)",
        ]
        let words = facts.compactMap(\.self).joined(separator: ", ")
        return title(reading.interface, "  " + words, reading.present ? .plain : .warning, width: width)
    }

    private func title(_ name: String, _ words: String, _ weight: Line.Weight, width: Int) -> [Line] {
        var line = Line(name, .strong)
        if width < Self.tableWidth {
            return [line] + Line.wrap(String(words.drop { $0 == " " }), weight, indent: 1, width: width, style)
        }
        line.append(words, weight)
        return [line]
    }

    private func table(_ reading: Reading) -> [Line] {
        let rows = directions(reading).map { ($0, total: Figures.thousands($0.amount.bytes)) }
        let numbers = max(rows.map(\.total.count).max() ?? 0, 10)
        var heading = "        " + padded("now", 14) + padded("estimate", 15)
        heading += String(repeating: " ", count: numbers - 10) + "bytes seen"
        return [Line(heading, .faint)]
            + rows.map { direction, total in
                let isGapped = direction.amount.atMost != direction.amount.bytes
                var line = Line("  " + padded(direction.word, 6) + padded(direction.rate, 14))
                line.append(padded(Figures.total(direction.amount, style), 15), isGapped ? .warning : .strong)
                line.append(String(repeating: " ", count: numbers - total.count) + total)
                line.append("   " + Figures.bound(direction.amount))
                return line
            }
    }

    private func stacked(_ reading: Reading) -> [Line] {
        directions(reading).flatMap { direction in
            let isGapped = direction.amount.atMost != direction.amount.bytes
            return [
                Line("\(direction.word) \(direction.rate)"),
                Line(" " + Figures.total(direction.amount, style), isGapped ? .warning : .strong),
                Line(" \(Figures.thousands(direction.amount.bytes)) B"),
                Line(" " + Figures.bound(direction.amount)),
            ]
        }
    }

    private func directions(_ reading: Reading) -> [(word: String, rate: String, amount: Amount)] {
        // While something is wrong, the last rate is not the rate now.
        let rate = note == nil ? reading.rate : nil
        let down = rate.map { Figures.rate($0.rxBytesPerSecond) } ?? style.none
        let up = rate.map { Figures.rate($0.txBytesPerSecond) } ?? style.none
        return [("down", down, reading.total.rx), ("up", up, reading.total.tx)]
    }

    private func remarks(_ reading: Reading) -> String {
        let total = reading.total
        var remarks = [
            "since \(Moment.short(total.sinceUSec, now: reading.sampledUSec))",
            Figures.count(total.resets, "reset"),
            Figures.count(total.gaps, "gap"),
        ]
        if total.unobservedUSec > 0 { remarks.append("unobserved for \(Figures.duration(total.unobservedUSec))") }
        if total.suspect > 0 { remarks.append("\(Figures.count(total.suspect, "reading")) set aside") }
        return remarks.joined(separator: ", ")
    }

    private func padded(_ text: String, _ columns: Int) -> String {
        text + String(repeating: " ", count: max(columns - SafeText.width(text), 1))
    }
}
