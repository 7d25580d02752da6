internal import Ledger
package import Wire

/// What somebody watches.
package struct Subscription: Hashable, Sendable {
    /// The names in their escaped form; nil for all.
    package let interfaces: [String]?
    /// How often, in µs; nil for the source's own interval.
    package let interval: UInt64?
    /// Whether only events are of interest, as they happen.
    package let isEventsOnly: Bool

    /// No link can have such a name: waiting for it would be for ever.
    package struct ImpossibleName: Error {
        package var name: String
    }

    /// - Parameters:
    ///   - names: which interfaces; nil for all. A name that is there twice counts once.
    ///   - interval: how often, in µs; nil for the source's own interval.
    ///   - isEventsOnly: whether only events are of interest.
    /// - Throws: `ImpossibleName`.
    package init(_ names: [String]?, interval: UInt64?, isEventsOnly: Bool = false) throws(ImpossibleName) {
        self.interval = interval
        self.isEventsOnly = isEventsOnly
        guard let names else {
            interfaces = nil
            return
        }
        var seen: Set<LinkName> = []
        var interfaces: [String] = []
        for name in names {
            guard let link = LinkName(escaped: name) else { throw ImpossibleName(name: name) }
            if seen.insert(link).inserted { interfaces.append(link.escaped) }
        }
        self.interfaces = interfaces
    }

    /// Whether an event is of an interface that is watched.
    package func covers(_ event: Event) -> Bool {
        guard let interfaces else { return true }
        return interfaces.contains(event.interface) || event.previous.map(interfaces.contains) ?? false
    }

    /// What there is to say now: the readings, and those of the events that are of interest.
    package func reply(from sampler: Sampler, events: some Sequence<Event>, isFirst: Bool) -> Watch.Reply {
        let events = events.filter(covers)
        return Watch.Reply(
            ready: isFirst ? true : nil,
            readings: interfaces.map(sampler.readings(of:)) ?? sampler.readings(all: false),
            events: events.isEmpty ? nil : events
        )
    }
}
