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

    private let recorder: Recorder
    private let interval: UInt64
    private let log: (String) -> Void
    private(set) var status: Status
    private var failure: String?
    /// When something was handed over last, on CLOCK_BOOTTIME in µs.
    private var handedOver: UInt64 = 0
    private var askers: [UInt64: UInt64] = [:]
    private var nextQuestion: UInt64 = 1

    /// How long the end may wait for the disk, in ms.
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
        recorder = try Recorder(store)
        status = Status(isPersisted: true, savedWall: left?.state.scannedWall)
        self.interval = interval
        self.log = log
    }

    /// Readable when there is news.
    var newsDescriptor: Int32 { recorder.newsDescriptor }

    /// Hands over what was counted, when it is time to.
    ///
    /// - Parameters:
    ///   - sampler: whose.
    ///   - isUrgent: whether an incarnation has ended.
    /// - Returns: whether anything was handed over.
    func save(_ sampler: Sampler, isUrgent: Bool) -> Bool {
        let due = isUrgent ? min(Self.haste, interval) : interval
        guard Clock.boot >= handedOver + due else { return false }
        handOver(sampler)
        return true
    }

    /// Hands over what was counted, so that what is asked next finds it in the store.
    func handOver(_ sampler: Sampler) {
        handedOver = Clock.boot
        recorder.save(sampler.state, sampler.takeJournal(), at: handedOver)
    }

    /// Hands over the last of it, and waits until it is on disk, though not for ever.
    func end(_ sampler: Sampler) {
        recorder.save(sampler.state, sampler.takeJournal(), at: Clock.boot, isLast: true)
        switch recorder.awaitEnd(milliseconds: Self.patience) {
        case .saved: break
        case .failed(let reason): log("the last figures could not be saved: \(reason)")
        case .unanswered:
            log("the last figures are not saved after \(Self.patience / 1000) s; the disk does not answer")
        }
    }

    /// Asks the history something for a client.
    ///
    /// - Parameters:
    ///   - token: the client.
    ///   - sampler: has counted what is not handed over yet.
    ///   - question: what to ask.
    func ask(for token: UInt64, _ sampler: Sampler, _ question: @escaping HistoryService.Question) {
        askers[nextQuestion] = token
        recorder.ask(Recorder.Question(number: nextQuestion, sampler.journal ?? Journal(), ask: question))
        nextQuestion += 1
    }

    /// Hears what the recorder has to say.
    ///
    /// - Returns: answers for clients.
    func hear() -> [Reply] {
        var replies: [Reply] = []
        for news in recorder.takeNews() {
            switch news {
            case .saved(_, let wall):
                if failure != nil { log("the history is saved again") }
                failure = nil
                status = Status(isPersisted: true, savedWall: wall)
            case .failed(let reason):
                // Said once, however long it lasts.
                if failure != reason { log("the history cannot be saved: \(reason); counting goes on") }
                failure = reason
                status.isPersisted = false
            case .answer(let number, let frame):
                if let token = askers.removeValue(forKey: number) { replies.append(Reply(token: token, frame: frame)) }
            case .ended:
                break
            }
        }
        return replies
    }
}
