/// Bytes that were counted, and when they passed.
package struct Booking: Hashable, Sendable {
    /// The account, as an index into the ledger's accounts.
    package var account: Int
    package var rxBytes: UInt64
    package var txBytes: UInt64
    package var rxPackets: UInt64
    package var txPackets: UInt64
    /// They passed after this moment, on CLOCK_BOOTTIME in µs.
    package var since: UInt64
    /// They had passed by this moment.
    package var at: UInt64
}

/// A time in which bytes of an account may have been missed.
package struct Hole: Hashable, Sendable {
    /// The account, as an index into the ledger's accounts.
    package var account: Int
    package var cause: Happening.Gap
    /// How long before `at` it began, in µs; it may reach into the boot before.
    package var length: UInt64
    /// When it was found, on CLOCK_BOOTTIME in µs.
    package var at: UInt64
}

/// Something that the ledger found out, for people and logs.
package struct Happening: Hashable, Sendable {
    /// What happened.
    package enum Kind: Hashable, Sendable {
        /// The first link of this name.
        case created
        /// A new link has the name of one that was there before.
        case recreated
        /// A link came in from another network namespace, with counters that are not ours.
        case arrived
        /// A link that had moved away came back.
        case returned
        /// The link had this name before.
        case renamed(from: LinkName)
        /// The counters of a living link began again.
        case reset
        /// The link was deleted.
        case removed
        /// The link moved to another network namespace.
        case departed
        /// Bytes may have been missed.
        case gap(Gap)
        /// A reading was set aside: no link is that fast.
        case suspect
        /// The link went up, down, or lost or found its carrier.
        case changed(LinkState)
        /// A total has reached the largest number there is and stays there.
        case saturated
    }

    /// Why bytes may have been missed.
    package enum Gap: String, Hashable, Sendable, Codable {
        /// The link ended without a delete message: its last bytes were not seen.
        case unseenEnd = "unseen-end"
        /// The delete message carried counters that such a link does not keep to its end.
        case unsureClosing = "unsure-closing-counters"
        /// The counters of a living link began again: what came after the last reading was not seen.
        case reset = "reset-in-place"
        /// The link was found, not seen to begin: others of its name may have been there before it.
        case unseenBirth = "unseen-birth"
        /// Nobody looked for a while, and links of the name may have come and gone meanwhile.
        case unseenLife = "unseen-life"
        /// The link has another name than before, and nothing tells which of its bytes passed under which.
        case unseenRename = "unseen-rename"
    }

    package var account: LinkName
    package var kind: Kind
    package var ifindex: Int32
    /// Which life of the account.
    package var incarnation: Int
    /// Whether bytes may be missing because of it.
    package var gapped: Bool
}
