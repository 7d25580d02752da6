/// `io.ifcount.List`: every interface.
public enum List {
    public static let method = "io.ifcount.List"

    public struct Parameters: Codable, Hashable, Sendable {
        /// Whether interfaces that are absent now, but have a total, are listed too.
        public var all: Bool?
        public init(all: Bool?) { self.all = all }
    }

    public struct Reply: Codable, Hashable, Sendable {
        public var readings: [Reading]
        public init(readings: [Reading]) { self.readings = readings }
    }
}

/// `io.ifcount.Get`: one interface.
public enum Get {
    public static let method = "io.ifcount.Get"

    public struct Parameters: Codable, Hashable, Sendable {
        public var interface: String
        public init(interface: String) { self.interface = interface }
    }

    public struct Reply: Codable, Hashable, Sendable {
        public var reading: Reading
        public init(reading: Reading) { self.reading = reading }
    }
}

/// `io.ifcount.Watch`: a stream of readings and events; the call must carry `more`.
public enum Watch {
    public static let method = "io.ifcount.Watch"

    /// The shortest and the longest interval a client may ask for, in µs.
    public static let intervals = 100_000...3_600_000_000

    public struct Parameters: Codable, Hashable, Sendable {
        /// Which interfaces; nil for all. One that is not there yet is waited for.
        public var interfaces: [String]?
        /// How often, in µs; nil for the daemon's own interval.
        public var intervalUSec: Int?
        public init(interfaces: [String]?, intervalUSec: Int?) {
            self.interfaces = interfaces
            self.intervalUSec = intervalUSec
        }
    }

    public struct Reply: Codable, Hashable, Sendable {
        /// True in the first reply, and only there.
        public var ready: Bool?
        /// The readings of a tick; also when nothing moved.
        public var readings: [Reading]?
        /// What happened since the reply before.
        public var events: [Event]?
        public init(ready: Bool?, readings: [Reading]?, events: [Event]?) {
            self.ready = ready
            self.readings = readings
            self.events = events
        }
    }
}

/// `io.ifcount.NoSuchInterface`: the name was never seen.
public struct NoSuchInterface: Codable, Hashable, Sendable {
    public static let error = "io.ifcount.NoSuchInterface"
    public var interface: String
    public init(interface: String) { self.interface = interface }
}
