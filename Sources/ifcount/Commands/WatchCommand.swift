internal import SystemCalls
internal import Wire

/// `ifcount watch`.
struct WatchCommand {
    let output: Output
    /// The interfaces; nil for all.
    let interfaces: [String]?
    /// What they are, for the heading.
    let subject: String
    let intervalUSec: Int?
    /// When to end, as CLOCK_BOOTTIME in µs; nil for never.
    let deadline: UInt64?

    /// - Parameters:
    ///   - output: where to write.
    ///   - names: the interfaces on the command line; without any, the default route's.
    ///   - intervalUSec: how often, in µs.
    ///   - duration: for how long, in µs.
    init(_ output: Output, names: [String], intervalUSec: Int?, duration: Int?) {
        self.output = output
        self.intervalUSec = intervalUSec
        deadline = duration.map { Clock.boot + UInt64($0) }
        if !names.isEmpty {
            interfaces = names
            subject = names.joined(separator: ", ")
        } else if let name = DefaultRoute.interface() {
            interfaces = [name]
            subject = "\(name), the interface of the default route"
        } else {
            interfaces = nil
            subject = "every interface, as there is no default route"
        }
    }

    /// Watches until the end, whatever brings it.
    func run(_ source: inout any ReadingSource, isJSON: Bool) throws {
        try source.watch(interfaces: interfaces, intervalUSec: intervalUSec)
        if isJSON {
            try stream(&source) { reply in try output.write(json: Frame.json(reply)) }
        } else if output.isScreen {
            try onScreen(&source)
        } else {
            try inLines(&source)
        }
    }

    private func inLines(_ source: inout any ReadingSource) throws {
        var state = WatchState(wanted: interfaces)
        var plain = PlainWatch(style: output.style, wanted: interfaces)
        try output.write([Line("estimate for \(subject)"), Line(plain.heading)])
        try stream(&source) { reply in
            state.apply(reply)
            let lines = plain.lines(reply, state, now: Clock.wall)
            if !lines.isEmpty { try output.write(lines.map { $0 + "\n" }.joined()) }
        }
    }

    /// Hands over each reply as it comes, and tells once what is wrong.
    private func stream(_ source: inout any ReadingSource, _ take: (Watch.Reply) throws -> Void) throws {
        var told: String?
        while !isOver {
            while let reply = try source.next() { try take(reply) }
            if let note = source.note, note != told { output.tell(note) }
            told = source.note
            _ = try waitReadable(source.descriptors, milliseconds: timeout(source))
        }
    }

    private func onScreen(_ source: inout any ReadingSource) throws {
        var state = WatchState(wanted: interfaces)
        var view = WatchView(subject: subject, style: output.style)
        // The signals wait in their descriptor from here on: none can end the program behind the screen's back.
        let signals = try SignalDescriptor([
            Signal.hangUp, Signal.interrupt, Signal.quit, Signal.terminate, Signal.stop, Signal.resume, Signal.resize,
        ])
        try loop(&source, &state, &view, signals)
        let width = output.width ?? 80
        try output.write(view.rest(state, width: width), width: width)
    }

    private func loop(
        _ source: inout any ReadingSource,
        _ state: inout WatchState,
        _ view: inout WatchView,
        _ signals: borrowing SignalDescriptor
    ) throws {
        var screen: Screen? = try Screen(output)
        var frozen: WatchState?
        while !isOver {
            while let reply = try source.next() { state.apply(reply) }
            view.note = source.note
            view.isPaused = frozen != nil
            let size = screen?.size ?? Terminal.Size(columns: 80, rows: 24)
            try screen?.draw(view.screen(frozen ?? state, size: size, now: Clock.wall), width: size.columns)

            let keyboard = screen?.descriptors ?? []
            let ready = try waitReadable(
                [signals.number] + keyboard + source.descriptors,
                milliseconds: timeout(source)
            )
            while let signal = try signals.next() {
                switch signal {
                case Signal.resize: break
                case Signal.stop, Signal.resume:
                    screen = nil
                    if signal == Signal.stop { Signal.stopUntilResumed() }
                    screen = try Screen(output)
                default: return
                }
            }
            guard !keyboard.isEmpty, ready[1] else { continue }
            switch screen?.keys() {
            case .quit: return
            case .pause: frozen = frozen == nil ? state : nil
            default: break
            }
        }
    }

    private var isOver: Bool { deadline.map { Clock.boot >= $0 } ?? false }

    private func timeout(_ source: any ReadingSource) -> Int32 {
        let now = Clock.boot
        let end = deadline.map { $0 > now ? Int32(clamping: ($0 - now + 999) / 1000) : 0 }
        return [source.timeoutMilliseconds, end].compactMap(\.self).min() ?? -1
    }
}
