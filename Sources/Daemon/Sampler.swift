package import History
package import Ledger
package import LinkStats
internal import SystemCalls
package import Wire

/// Reads the kernel, keeps the ledger, and says both in the words of the wire.
///
/// It is what daemon and command share: the daemon keeps one for as long as it runs, the command makes one where there
/// is no daemon.
package final class Sampler {
    private var reader: Reader
    private var ledger: Ledger
    /// What happened and was not asked for yet.
    private var events: [Event] = []
    /// When counters were read last, on CLOCK_BOOTTIME in µs.
    package private(set) var sampledAt: UInt64 = 0

    /// Takes the first look; counting begins with it.
    ///
    /// - Parameters:
    ///   - source: the source to use; nil for the best that works.
    ///   - eventRoom: how many bytes of link events may wait to be taken.
    ///   - state: what the daemon before has left; nil to begin with nothing.
    ///   - keepsJournal: whether what is counted is kept by time, for somebody who takes it.
    /// - Throws: `ReadError` when no source that may be used can be read.
    package init(
        source: Source?,
        eventRoom: Int32 = Reader.eventRoom,
        resuming state: Ledger.State? = nil,
        keepsJournal: Bool = false
    ) throws(ReadError) {
        reader = try Reader(source, eventRoom: eventRoom)
        ledger = state.map { Ledger(resuming: $0, in: .current) } ?? Ledger(session: .current)
        journal = keepsJournal ? Journal() : nil
        try sample()
        // That the links were there at the beginning is no news.
        events = []
    }

    /// What the wall clock is ahead of CLOCK_BOOTTIME, in µs. It is kept until the clock is set, for two clocks are never
    /// read at the same moment, and the moment when counting began would tremble.
    private var wallOffset = 0

    /// By how much the wall clock has to differ to count as set, in µs.
    private static let clockStep = 10_000

    /// The source in use.
    package var source: Source { reader.source }

    /// Why better sources are not in use.
    package var refusals: [ReadError] { reader.refusals }

    /// How often link events were lost and the links were listed anew.
    package var overruns: Int { reader.overruns }

    /// Readable when link events wait; nil for a source that has none. It changes with the source.
    package var eventDescriptor: Int32? { reader.eventDescriptor }

    /// Reads all counters, and what happened since.
    ///
    /// - Throws: why nothing could be read; what was counted stands.
    package func sample() throws(ReadError) {
        fold(try reader.scan())
        sampledAt = Clock.boot
    }

    /// Takes the link events that wait.
    ///
    /// - Throws: why they could not be received.
    package func takeWaiting() throws(ReadError) {
        if let scan = try reader.waiting() { fold(scan) }
    }

    /// What the ledger would need to go on.
    package var state: Ledger.State { ledger.state }

    /// Whether totals reach the disk, as the daemon knows it; nil where they are not to.
    package var persistence: Persistence.Status?

    /// What was counted by time and was not taken yet.
    package private(set) var journal: Journal?

    /// Takes what was counted by time since this was asked last.
    package func takeJournal() -> Journal {
        defer { if journal != nil { journal = Journal() } }
        return journal ?? Journal()
    }

    /// What was done to accounts and was not taken yet.
    private var changes: [AccountChange] = []

    /// Takes what was done to accounts since this was asked last, before what `takeJournal` gives.
    package func takeChanges() -> [AccountChange] {
        defer { changes = [] }
        return changes
    }

    /// Finds out whether an account can be changed.
    ///
    /// - Throws: why not.
    func check(_ amendment: Amendment) throws(Amendment.Refusal) { try ledger.check(amendment) }

    /// Changes an account.
    ///
    /// - Throws: why not.
    func amend(_ amendment: Amendment) throws(Amendment.Refusal) { follow([try ledger.amend(amendment)]) }

    /// Lets the accounts of ephemeral links retire that ended before a moment; wall clock, µs since 1970.
    func retire(before moment: Int) { follow(ledger.retire(before: moment)) }

    private func follow(_ made: [AccountChange]) {
        guard journal != nil else { return }
        for change in made { journal?.follow(change) }
        changes += made
    }

    /// What happened since this was asked last.
    package func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    /// How many interfaces there are now.
    package var presentCount: Int { ledger.accounts.count { $0.current != nil } }

    /// The readings of all interfaces, by name.
    ///
    /// - Parameter all: whether those are listed too that are absent now.
    /// - Returns: one reading for each.
    package func readings(all: Bool) -> [Reading] {
        let publication = self.publication
        return ledger.accounts
            .filter { all || $0.current != nil }
            .sorted { $0.name < $1.name }
            .map { publication.reading(of: $0, ledger.incarnation(of: $0)) }
    }

    /// The reading of one interface.
    ///
    /// - Parameter interface: the name in its escaped form.
    /// - Returns: nil when no interface of that name was ever seen.
    package func reading(of interface: String) -> Reading? {
        guard let name = LinkName(escaped: interface), let account = ledger.account(named: name) else { return nil }
        return publication.reading(of: account, ledger.incarnation(of: account))
    }

    /// The readings of those of the links that were ever seen, in the order of the links.
    package func readings(of links: [LinkName]) -> [Reading] {
        let publication = self.publication
        return links.compactMap { link in
            ledger.account(named: link).map { publication.reading(of: $0, ledger.incarnation(of: $0)) }
        }
    }

    private var publication: Publication {
        let at = Clock.boot
        let offset = Clock.wall - Int(at)
        if abs(offset - wallOffset) > Self.clockStep { wallOffset = offset }
        return Publication(source: reader.source, at: at, wall: Int(at) + wallOffset, persistence: persistence)
    }

    private func fold(_ scan: Scan) {
        let happenings = ledger.fold(scan, wall: Clock.wall)
        let publication = self.publication
        let found = happenings.map(publication.event)
        events.append(contentsOf: found)
        guard journal != nil else { return }
        let offset = wallOffset
        for booking in ledger.bookings {
            journal?.book(booking, of: ledger.accounts[booking.account].name, offset: offset)
        }
        for hole in ledger.holes { journal?.note(hole, of: ledger.accounts[hole.account].name, offset: offset) }
        for event in found { if let occurrence = Occurrence(event) { journal?.note(occurrence) } }
    }
}

extension Session {
    /// This boot and the calling thread's network namespace.
    static var current: Session {
        // A test cannot start the machine anew; it can say that it was.
        let boot =
            ThisProcess.environment("IFCOUNT_TEST_BOOT_ID") ?? (try? File.text("/proc/sys/kernel/random/boot_id"))
        let namespace = try? FileStatus(following: "/proc/thread-self/ns/net").identity
        // Without them two sessions cannot be told apart; a moment's name makes each its own.
        let own = "unknown-\(Clock.wall)"
        return Session(boot: boot ?? own, namespace: namespace.map { "\($0.device):\($0.inode)" } ?? own)
    }
}
