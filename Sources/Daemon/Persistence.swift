internal import History
internal import Ledger
internal import SystemCalls

/// The loop's side of the history: what it hands over, and what it hears of it.
package final class Persistence {
    /// Whether totals reach the disk.
    package struct Status: Hashable, Sendable {
        /// The last save went well.
        package var isPersisted: Bool
        /// Until when what was counted is on disk: wall clock, µs since 1970; nil while nothing is.
        package var savedWall: Int?
    }

    /// What came back that others have to know.
    struct Reply {
        /// The client that asked.
        var token: UInt64
        /// What to send; nil when the history could not be read.
        var frame: [UInt8]?
    }

    /// Who waits for an answer.
    private struct Asker {
        var token: UInt64
        /// What is to be done when a copy has been made: then the answer is its path.
        var amendment: Amendment?
    }

    private let recorder: Recorder
    private let interval: UInt64
    private let log: (String) -> Void
    private(set) var status: Status
    private var failure: String?
    /// What went wrong last beside saving.
    private var trouble: String?
    /// When something was handed over last, on CLOCK_BOOTTIME in µs.
    private var handedOver: UInt64 = 0
    /// When the first of what was handed over and not answered yet was, on the same clock.
    private var unanswered: UInt64?
    private var askers: [UInt64: Asker] = [:]
    private var nextQuestion: UInt64 = 1
    /// The day on which accounts retired last.
    private var retiredOn: Int?

    /// How long the disk may take for one save, and the end may wait for it, in ms.
    private static let patience: Int32 = 10_000
    /// The end of an incarnation is saved at once, but not more often than this, in µs.
    private static let haste: UInt64 = 1_000_000

    /// What the daemon before has left; nil when there was none.
    let left: Store.Legacy?

    /// Opens the store of a directory and says what was found in it.
    ///
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - interval: how often to save, in µs.
    ///   - log: takes a line for the administrator.
    /// - Throws: `Store.Failure`; `Errno` when there are no threads or descriptors left.
    init(directory: String, interval: UInt64, log: @escaping (String) -> Void) throws {
        let store = try Store(directory: directory, wall: Clock.wall)
        left = store.left
        if let (path, reason) = store.putAside {
            log("the history could not be read (\(reason)); it is kept as \(path), and a new one begins")
        }
        if let left, !left.isClean {
            log("the daemon before did not end in order; what it had saved is continued")
        }
        let unmade = store.unmade
        recorder = try Recorder(store)
        status = Status(isPersisted: true, savedWall: left?.state.scannedWall)
        self.interval = interval
        self.log = log
        if let reason = unmade { fail("\(reason)") }
    }

    /// Readable when there is news.
    var newsDescriptor: Int32 { recorder.newsDescriptor }

    /// Hands over what was counted, when it is time to, and notices when the disk does not answer.
    ///
    /// - Parameters:
    ///   - sampler: whose.
    ///   - isUrgent: whether an incarnation has ended.
    /// - Returns: whether anything was handed over.
    func save(_ sampler: Sampler, isUrgent: Bool) -> Bool {
        if let unanswered, failure == nil, Clock.boot > unanswered + UInt64(Self.patience) * 1000 {
            fail("the disk does not answer")
        }
        let due = isUrgent ? min(Self.haste, interval) : interval
        guard Clock.boot >= handedOver + due else { return false }
        retireOnceADay(sampler)
        handOver(sampler)
        return true
    }

    /// Hands over what was counted, so that what is asked next finds it in the store.
    func handOver(_ sampler: Sampler) {
        handedOver = Clock.boot
        unanswered = unanswered ?? handedOver
        recorder.save(sampler.state, sampler.takeJournal(), after: sampler.takeChanges(), at: handedOver)
    }

    /// Hands over the last of it, and waits until it is on disk, though not for ever.
    ///
    /// - Returns: whether it is.
    func end(_ sampler: Sampler) -> Bool {
        recorder.save(sampler.state, sampler.takeJournal(), after: sampler.takeChanges(), at: Clock.boot, isLast: true)
        switch recorder.awaitEnd(milliseconds: Self.patience) {
        case .saved: return true
        case .failed(let reason): log("the last figures could not be saved: \(reason)")
        case .unanswered:
            log("the last figures are not saved after \(Self.patience / 1000) s; the disk does not answer")
        }
        return false
    }

    /// Asks the history something for a client.
    ///
    /// - Parameters:
    ///   - token: the client.
    ///   - sampler: has counted what is not handed over yet.
    ///   - question: what to ask.
    ///   - amendment: what to do when the answer is there: then the answer is the path of a copy made for it.
    func ask(
        for token: UInt64,
        _ sampler: Sampler,
        _ question: @escaping HistoryService.Question,
        then amendment: Amendment? = nil
    ) {
        askers[nextQuestion] = Asker(token: token, amendment: amendment)
        recorder.ask(Recorder.Question(number: nextQuestion, sampler.journal ?? Journal(), ask: question))
        nextQuestion += 1
    }

    /// Changes an account, a copy of the history having been made; who asked for it is answered when that is on disk.
    ///
    /// - Returns: what to answer at once, when it cannot be done now.
    private func amend(_ amendment: Amendment, _ sampler: Sampler, copy: [UInt8], for token: UInt64) -> [UInt8]? {
        do throws(Amendment.Refusal) {
            try sampler.amend(amendment)
        } catch {
            return AmendmentService.frame(error)
        }
        handOver(sampler)
        ask(for: token, sampler, { _, _ in AmendmentService.frame(copy: copy) })
        return nil
    }

    /// Hears what the recorder has to say.
    ///
    /// - Returns: answers for clients.
    func hear(_ sampler: Sampler) -> [Reply] {
        var replies: [Reply] = []
        for news in recorder.takeNews() {
            switch news {
            case .saved(let at, let wall):
                unanswered = at < handedOver ? handedOver : nil
                if failure != nil { log("the history is saved again") }
                failure = nil
                status = Status(isPersisted: true, savedWall: wall)
            case .failed(let reason):
                unanswered = nil
                fail(reason)
            case .unfolded(let reason): note("the old part of the history could not be folded: \(reason)")
            case .answer(let number, let answer):
                guard let asker = askers.removeValue(forKey: number) else { continue }
                if let reply = reply(answer, to: asker, sampler) { replies.append(reply) }
            case .ended:
                break
            }
        }
        return replies
    }

    /// What to send for an answer; nil when that is not all yet.
    private func reply(
        _ answer: Result<[UInt8], Recorder.QuestionFailure>,
        to asker: Asker,
        _ sampler: Sampler
    ) -> Reply? {
        switch (answer, asker.amendment) {
        case (.success(let frame), nil):
            return Reply(token: asker.token, frame: frame)
        case (.success(let copy), let amendment?):
            let refusal = amend(amendment, sampler, copy: copy, for: asker.token)
            return refusal.map { Reply(token: asker.token, frame: $0) }
        case (.failure(let failure), nil):
            note("a question to the history could not be answered: \(failure.reason)")
            return Reply(token: asker.token, frame: nil)
        case (.failure(let failure), _?):
            return Reply(token: asker.token, frame: AmendmentService.frame(noCopy: failure.reason))
        }
    }

    /// Lets the accounts of links retire that ended long ago, where the clock can be believed.
    private func retireOnceADay(_ sampler: Sampler) {
        let now = Clock.wall
        let day = now / Retention.day
        guard day != retiredOn, now >= Journal.earliest else { return }
        retiredOn = day
        sampler.retire(before: now - Retention().ephemeral)
    }

    /// Says what went wrong beside saving, unless it was said last: anybody may ask, and as often as they like.
    private func note(_ words: String) {
        if trouble != words { log(words) }
        trouble = words
    }

    /// Notes that saving fails, and says so once, however long it lasts.
    private func fail(_ reason: String) {
        if failure != reason { log("the history cannot be saved: \(reason); counting goes on") }
        failure = reason
        status.isPersisted = false
    }
}
