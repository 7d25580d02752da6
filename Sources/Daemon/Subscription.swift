package import Ledger
package import Wire

/// What somebody watches.
package struct Subscription: Hashable, Sendable {
    /// Which links, in the order in which they are told of; nil for all.
    package let links: [LinkName]?
    private let watched: Set<LinkName>
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
        var watched: Set<LinkName> = []
        var links: [LinkName] = []
        for name in names ?? [] {
            guard let link = LinkName(escaped: name) else { throw ImpossibleName(name: name) }
            if watched.insert(link).inserted { links.append(link) }
        }
        self.links = names == nil ? nil : links
        self.watched = watched
    }

    /// Whether an event is of an interface that is watched.
    package func covers(_ event: Event) -> Bool {
        if links == nil { return true }
        return [event.interface, event.previous].contains { name in
            name.flatMap { LinkName(escaped: $0) }.map(watched.contains) ?? false
        }
    }

    /// What there is to say now: the readings, and those of the events that are of interest.
    package func reply(from sampler: Sampler, events: some Sequence<Event>, isFirst: Bool) -> Watch.Reply {
        let events = events.filter(covers)
        return Watch.Reply(
            ready: isFirst ? true : nil,
            readings: links.map(sampler.readings(of:)) ?? sampler.readings(all: false),
            events: events.isEmpty ? nil : events
        )
    }
}
