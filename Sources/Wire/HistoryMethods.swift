/// `io.ifcount.GetHistory`: what went through an interface, by periods of time.
public enum GetHistory {
    public static let method = "io.ifcount.GetHistory"

    /// How long a period is. All but `quarter` begin where the clocks of the time zone say.
    public enum Resolution: String, Codable, Hashable, Sendable, CaseIterable {
        /// 15 minutes.
        case quarter
        case hour
        /// A calendar day: 23 or 25 hours long where the clocks change.
        case day
        case month
        case year
    }

    public struct Parameters: Codable, Hashable, Sendable {
        public var interface: String
        public var resolution: Resolution
        /// Only periods that end after this moment, µs since 1970.
        public var sinceUSec: Int?
        /// Only periods that begin before this moment, µs since 1970; nil for now.
        public var untilUSec: Int?
        /// The last so many periods; nil for as many as fit a screen of that resolution.
        public var limit: Int?
        /// A name of the tz database, such as Europe/Berlin; nil for the daemon's own.
        public var timezone: String?
        /// The day that a month begins on, 1 to 31; 29 to 31 mean the last day of a shorter month.
        public var monthStarts: Int?

        public init(
            interface: String,
            resolution: Resolution,
            sinceUSec: Int? = nil,
            untilUSec: Int? = nil,
            limit: Int? = nil,
            timezone: String? = nil,
            monthStarts: Int? = nil
        ) {
            self.interface = interface
            self.resolution = resolution
            self.sinceUSec = sinceUSec
            self.untilUSec = untilUSec
            self.limit = limit
            self.timezone = timezone
            self.monthStarts = monthStarts
        }
    }

    /// What went through in one period.
    public struct Row: Codable, Hashable, Sendable {
        /// Where the period begins and ends, µs since 1970.
        public var startUSec: Int
        public var endUSec: Int
        public var rx: Amount
        public var tx: Amount
        public var quality: Quality
        /// How many holes there are in it, in which bytes may have been missed.
        public var gaps: Int
        /// How many of the bytes are known for a longer time only, and were spread evenly over it.
        public var rxSpreadBytes: Int
        public var txSpreadBytes: Int
        /// Whether figures in it were imported from another counter.
        public var imported: Bool

        public init(
            startUSec: Int,
            endUSec: Int,
            rx: Amount,
            tx: Amount,
            quality: Quality,
            gaps: Int,
            rxSpreadBytes: Int,
            txSpreadBytes: Int,
            imported: Bool
        ) {
            self.startUSec = startUSec
            self.endUSec = endUSec
            self.rx = rx
            self.tx = tx
            self.quality = quality
            self.gaps = gaps
            self.rxSpreadBytes = rxSpreadBytes
            self.txSpreadBytes = txSpreadBytes
            self.imported = imported
        }
    }

    public struct Reply: Codable, Hashable, Sendable {
        /// Always "estimate".
        public var label: String
        public var interface: String
        /// The zone whose clocks made the periods.
        public var timezone: String
        /// The periods in order, also those in which nothing went through.
        public var rows: [Row]
        /// Bytes that were counted while the clock was not set, so that no period has them.
        public var untimedRxBytes: Int
        public var untimedTxBytes: Int
        /// When the reply was made, µs since 1970: the last period may not be over.
        public var nowUSec: Int

        public init(
            interface: String,
            timezone: String,
            rows: [Row],
            untimedRxBytes: Int,
            untimedTxBytes: Int,
            nowUSec: Int
        ) {
            label = "estimate"
            self.interface = interface
            self.timezone = timezone
            self.rows = rows
            self.untimedRxBytes = untimedRxBytes
            self.untimedTxBytes = untimedTxBytes
            self.nowUSec = nowUSec
        }
    }
}

/// `io.ifcount.NoHistory`: the daemon keeps none, or cannot read it now.
public struct NoHistory: Codable, Hashable, Sendable {
    public static let error = "io.ifcount.NoHistory"
    public init() {}
}

/// `io.ifcount.Events`: what happened; with `more`, also what happens from now on.
public enum Events {
    public static let method = "io.ifcount.Events"
    /// How many may be asked for.
    public static let most = 50_000

    public struct Parameters: Codable, Hashable, Sendable {
        /// Nil for all.
        public var interface: String?
        /// Only what happened since this moment, µs since 1970.
        public var sinceUSec: Int?
        /// The last so many.
        public var limit: Int?

        public init(interface: String?, sinceUSec: Int?, limit: Int?) {
            self.interface = interface
            self.sinceUSec = sinceUSec
            self.limit = limit
        }
    }

    public struct Reply: Codable, Hashable, Sendable {
        /// In the order in which they happened.
        public var events: [Event]
        public init(events: [Event]) { self.events = events }
    }
}
