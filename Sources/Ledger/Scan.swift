/// One look at the kernel: what happened since the look before, and what the counters say now.
package struct Scan: Sendable {
    /// Something the kernel said of links. The order is the order in which it became true.
    package enum Record: Sendable {
        /// A link exists and looks like this now (RTM_NEWLINK): it is new, has another name, went up or down.
        ///
        /// The counters are those of the message, nil where it carried none.
        case link(Link, Sample?)
        /// A link is no longer here (RTM_DELLINK), with the closing counters of the message, nil where it carried none.
        ///
        /// `departed` is true when it moved to another network namespace, and lives.
        case gone(Link, closing: Sample?, departed: Bool)
        /// All links that there are: what is not among them is not here, and nobody saw it go.
        ///
        /// `uncertain` are links of which the list cannot be believed, since they changed while it was made.
        case roll([Link], uncertain: Set<Int32>)
    }

    /// The counters of one link at one moment.
    package struct Sample: Hashable, Sendable {
        package var counters: Counters
        package var width: CounterWidth
        package init(_ counters: Counters, width: CounterWidth = .bits64) {
            self.counters = counters
            self.width = width
        }
    }

    /// When, on CLOCK_BOOTTIME in µs.
    package var at: UInt64
    package var records: [Record] = []
    /// Counters by ifindex, true after all records.
    package var samples: [(ifindex: Int32, sample: Sample)] = []
    /// Whether the source reports each creation and deletion. Without, a link can be replaced between two looks unseen.
    package var witnessed: Bool
    /// Whether a source that reports them has lost some since the look before (netlink(7), ENOBUFS).
    package var hasLostEvents = false

    package init(at: UInt64, witnessed: Bool = true) {
        self.at = at
        self.witnessed = witnessed
    }
}
