internal import Wire

/// What a watch has heard so far: the last reading of each interface, and its last events.
struct WatchState: Sendable {
    /// How many events are kept for each interface.
    static let eventsKept = 5

    /// The interfaces that are watched; nil for all that come.
    let wanted: [String]?
    /// Whether the first answer has come.
    private(set) var isReady = false
    private var readings: [String: Reading] = [:]
    private var events: [String: [Event]] = [:]
    /// The names in the order of the last tick, when all are watched.
    private var order: [String] = []

    init(wanted: [String]?) { self.wanted = wanted }

    /// The interfaces to show, in order.
    var names: [String] { wanted ?? order }

    /// The last reading of an interface, or nil when it has not been there yet.
    func reading(_ name: String) -> Reading? { readings[name] }

    /// The last events of an interface, the newest last.
    func events(_ name: String) -> [Event] { events[name] ?? [] }

    /// When the newest reading was taken, µs since 1970.
    var sampledUSec: Int? { readings.values.map(\.sampledUSec).max() }

    /// The interface under which an event is told: a watched name that was given away tells of it, too.
    func place(_ event: Event) -> String? {
        guard let wanted else { return event.interface }
        return [event.interface, event.previous].compactMap(\.self).first(where: wanted.contains)
    }

    /// Takes in what came. An interface that a tick leaves out is absent; its total is kept.
    mutating func apply(_ reply: Watch.Reply) {
        isReady = true
        for event in EventText.folded(reply.events ?? []) {
            guard let name = place(event) else { continue }
            events[name] = (self.events(name) + [event]).suffix(Self.eventsKept)
        }
        guard let tick = reply.readings else { return }
        order = tick.map(\.interface)
        let present = Set(order)
        for name in readings.keys where !present.contains(name) {
            readings[name]?.present = false
            readings[name]?.state = "absent"
            readings[name]?.ifindex = nil
            readings[name]?.rate = nil
        }
        for reading in tick { readings[reading.interface] = reading }
        if wanted == nil {
            readings = readings.filter { present.contains($0.key) }
            events = events.filter { present.contains($0.key) }
        }
    }
}
