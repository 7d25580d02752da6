/// `io.ifcount.Import`: books what another counter has counted before this one began.
public enum Import {
    public static let method = "io.ifcount.Import"

    /// Bytes that passed at some time between two moments, both µs since 1970.
    public struct Span: Codable, Hashable, Sendable {
        public var startUSec: Int
        /// Behind `startUSec`.
        public var endUSec: Int
        public var rxBytes: Int
        public var txBytes: Int

        public init(startUSec: Int, endUSec: Int, rxBytes: Int, txBytes: Int) {
            self.startUSec = startUSec
            self.endUSec = endUSec
            self.rxBytes = rxBytes
            self.txBytes = txBytes
        }
    }

    public struct Parameters: Codable, Hashable, Sendable {
        public var interface: String
        /// In order, none overlapping another, all before the interface's `sinceUSec`.
        public var spans: [Span]
        /// Only spans that begin at or after this moment are replaced; nil for all.
        public var fromUSec: Int?
        /// Only spans that begin before this moment are replaced; nil for all.
        public var untilUSec: Int?

        public init(interface: String, spans: [Span], fromUSec: Int?, untilUSec: Int?) {
            self.interface = interface
            self.spans = spans
            self.fromUSec = fromUSec
            self.untilUSec = untilUSec
        }
    }

    /// What was booked by this call.
    public struct Reply: Codable, Hashable, Sendable {
        public var spans: Int
        public var rxBytes: Int
        public var txBytes: Int

        public init(spans: Int, rxBytes: Int, txBytes: Int) {
            self.spans = spans
            self.rxBytes = rxBytes
            self.txBytes = txBytes
        }
    }
}
