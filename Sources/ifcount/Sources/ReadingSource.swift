package import Wire

/// Where readings come from: the daemon, or the kernel itself where there is no daemon.
package protocol ReadingSource {
    /// Every interface; with `all`, also those that are absent and have a total.
    mutating func list(all: Bool) throws -> [Reading]

    /// One interface, or nil when there never was one of this name.
    mutating func get(_ interface: String) throws -> Reading?

    /// Begins a stream of readings and events, which `next` gives one by one.
    ///
    /// - Parameters:
    ///   - interfaces: which; nil for all. One that is not there yet is waited for.
    ///   - intervalUSec: how often, in µs; nil for the source's own interval.
    /// - Throws: why it cannot begin.
    mutating func watch(interfaces: [String]?, intervalUSec: Int?) throws

    /// What to wait for: readable when `next` may have something.
    var descriptors: [Int32] { get }

    /// How long to wait at most before `next` is called again, in ms; nil for ever.
    var timeoutMilliseconds: Int32? { get }

    /// The next reply of `watch`; nil when there is nothing yet. Never waits.
    mutating func next() throws -> Watch.Reply?

    /// What is wrong at the moment, for people; nil when nothing is.
    var note: String? { get }
}

extension ReadingSource {
    package var note: String? { nil }
}
