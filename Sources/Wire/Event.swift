/// Something that happened to an interface.
public struct Event: Codable, Hashable, Sendable {
    /// What happened.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// An interface of this name was seen for the first time.
        case created
        /// A new link has the name of one that was there before: the kernel's counters began again at zero.
        case recreated
        /// A link came in from another network namespace; what it carried there is not counted.
        case arrived
        /// A link that had moved to another network namespace came back, its counters continued.
        case returned
        /// The counters of a living link began again at zero.
        case reset
        /// The link has this name now; `previous` is the name before.
        case renamed
        /// The link was deleted.
        case removed
        /// The link moved to another network namespace.
        case departed
        /// Bytes may have been missed; `cause` says why.
        case gap
        /// A reading was set aside because no link could have been that fast.
        case suspect
        /// The link went up, down, or lost its carrier; `cause` is the new state.
        case changed
    }

    /// Wall clock, µs since 1970.
    public var atUSec: Int
    public var interface: String
    public var event: Kind
    public var ifindex: Int?
    /// Which life of the interface, from 1.
    public var incarnation: Int?
    /// The name before, for `renamed`.
    public var previous: String?
    /// Why, in one word, for `gap`, `reset` and `changed`.
    public var cause: String?
    /// Whether bytes may be missing because of it.
    public var gapped: Bool

    public init(
        atUSec: Int,
        interface: String,
        event: Kind,
        ifindex: Int?,
        incarnation: Int?,
        previous: String?,
        cause: String?,
        gapped: Bool
    ) {
        self.atUSec = atUSec
        self.interface = interface
        self.event = event
        self.ifindex = ifindex
        self.incarnation = incarnation
        self.previous = previous
        self.cause = cause
        self.gapped = gapped
    }
}
