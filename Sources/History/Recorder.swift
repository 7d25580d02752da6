package import Ledger
internal import Synchronization
package import SystemCalls

/// The history's own thread: it saves and answers while the daemon's loop goes on counting.
///
/// The loop hands over immutable values and never waits for the disk, which may be full, read-only or slow. What could not
/// be saved is kept, added up, and tried again. Between the two threads lies one mailbox; its lock is held to put in and
/// take out, never while anything is done.
package final class Recorder: Sendable {
    /// What is asked of the history, by the number that the answer carries.
    package struct Question: Sendable {
        package var number: UInt64
        /// What was counted and not handed over when it was asked.
        fileprivate var journal: Journal
        /// Reads from the store and from what is not in it yet, on the recorder's thread.
        package var ask: @Sendable (Store, Journal) throws -> [UInt8]

        package init(number: UInt64, _ journal: Journal, ask: @escaping @Sendable (Store, Journal) throws -> [UInt8]) {
            self.number = number
            self.journal = journal
            self.ask = ask
        }
    }

    /// What comes back.
    package enum News: Sendable {
        /// All that was handed over by this moment (CLOCK_BOOTTIME and wall clock, µs) is on disk.
        case saved(at: UInt64, wall: Int)
        /// It could not be saved, and will be tried again; why.
        case failed(String)
        /// What is old could not be folded today, and why; what is saved is not touched by that.
        case unfolded(String)
        /// An answer, or why the question failed.
        case answer(number: UInt64, Result<[UInt8], QuestionFailure>)
        /// The recorder has ended; it saved all, or not, and why.
        case ended(failure: String?)
    }

    /// Why a question has no answer.
    package struct QuestionFailure: Error, Hashable, Sendable {
        package var reason: String
    }

    /// How the last save went.
    package enum End: Sendable {
        case saved
        case failed(String)
        /// It takes longer than one may wait.
        case unanswered
    }

    private struct Mail: Sendable {
        var batch: Batch?
        var questions: [Question] = []
        var news: [News] = []
    }

    /// What is to be saved: the last state, and all that was counted on the way to it.
    private struct Batch: Sendable {
        var state: Ledger.State
        /// What was done to accounts before `journal` begins, or is followed in it.
        var changes: [AccountChange]
        var journal: Journal
        var at: UInt64
        var isLast: Bool

        /// Adds a later one.
        mutating func append(_ later: Batch) {
            for change in later.changes { journal.follow(change) }
            journal.append(later.journal)
            changes += later.changes
            state = later.state
            at = later.at
            isLast = later.isLast
        }
    }

    private let mail = Mutex(Mail())
    private let toThread: Bell
    private let toLoop: Bell
    /// How long to wait before what failed is tried again, in ms.
    private static let retry: Int32 = 5000
    /// The same for the last batch, for which somebody waits.
    private static let lastRetry: Int32 = 100

    /// Readable when there is news.
    package var newsDescriptor: Int32 { toLoop.number }

    /// Starts the thread, which owns the store from now on.
    ///
    /// - Throws: `Errno` when there are no descriptors or threads left.
    package init(_ store: sending Store) throws(Errno) {
        toThread = try Bell()
        toLoop = try Bell()
        try OwnThread.start { [self] in run(store) }
    }

    /// Hands over what is to be saved. If the batch before is not taken yet, they are saved together.
    ///
    /// - Parameters:
    ///   - state: the ledger's.
    ///   - journal: what was counted since the last hand-over.
    ///   - changes: what was done to accounts since then, before what `journal` has.
    ///   - at: the moment on CLOCK_BOOTTIME in µs.
    ///   - isLast: whether the daemon ends, and the recorder with it.
    package func save(
        _ state: Ledger.State,
        _ journal: Journal,
        after changes: [AccountChange] = [],
        at: UInt64,
        isLast: Bool = false
    ) {
        let batch = Batch(state: state, changes: changes, journal: journal, at: at, isLast: isLast)
        mail.withLock { mail in
            if mail.batch == nil { mail.batch = batch } else { mail.batch?.append(batch) }
            // Who has asked and is not answered yet will find it there, and must not find it twice.
            for index in mail.questions.indices { mail.questions[index].journal = Journal() }
        }
        toThread.ring()
    }

    /// Asks for something that is read from the store, after what was handed over before.
    package func ask(_ question: Question) {
        mail.withLock { $0.questions.append(question) }
        toThread.ring()
    }

    /// Takes the news that have come.
    package func takeNews() -> [News] {
        _ = toLoop.wait(milliseconds: 0)
        return mail.withLock { mail in
            defer { mail.news = [] }
            return mail.news
        }
    }

    /// Waits for the end, after the last batch, for so many ms at most: what fails meanwhile may still go well.
    ///
    /// - Returns: what it came to.
    package func awaitEnd(milliseconds: Int32) -> End {
        let end = Clock.boot + UInt64(max(milliseconds, 0)) * 1000
        var reason: String?
        while true {
            for news in takeNews() {
                switch news {
                case .failed(let why): reason = why
                case .ended(let failure): return failure.map { .failed($0) } ?? .saved
                default: break
                }
            }
            let now = Clock.boot
            guard now < end else { return reason.map { .failed($0) } ?? .unanswered }
            _ = try? waitReadable([newsDescriptor], milliseconds: Int32(clamping: (end - now) / 1000 + 1))
        }
    }

    // MARK: - On the thread

    private func run(_ store: Store) {
        var unsaved: Batch?
        var folded: Int?
        while true {
            _ = toThread.wait(milliseconds: unsaved.map { $0.isLast ? Self.lastRetry : Self.retry } ?? -1)
            let (batch, questions) = mail.withLock { mail in
                defer {
                    mail.batch = nil
                    mail.questions = []
                }
                return (mail.batch, mail.questions)
            }
            if let batch { if unsaved == nil { unsaved = batch } else { unsaved?.append(batch) } }
            if let batch = unsaved {
                do {
                    try store.save(batch.state, batch.journal, after: batch.changes, isLast: batch.isLast)
                    unsaved = nil
                    tell(.saved(at: batch.at, wall: batch.state.scannedWall))
                    if batch.isLast { return tell(.ended(failure: nil)) }
                    foldOnceADay(store, now: batch.state.scannedWall, &folded)
                } catch {
                    tell(.failed("\(error)"))
                    if batch.isLast, !error.canPass { return tell(.ended(failure: "\(error)")) }
                }
            }
            for question in questions {
                do {
                    var fresh = unsaved?.journal ?? Journal()
                    fresh.append(question.journal)
                    tell(.answer(number: question.number, .success(try question.ask(store, fresh))))
                } catch {
                    tell(.answer(number: question.number, .failure(QuestionFailure(reason: "\(error)"))))
                }
            }
        }
    }

    /// Folds what is old, after a save that went well. What could not be folded today is tomorrow.
    private func foldOnceADay(_ store: Store, now: Int, _ folded: inout Int?) {
        let day = now / 86_400_000_000
        guard folded != day else { return }
        folded = day
        do { try store.fold(Retention(), now: now) } catch { tell(.unfolded("\(error)")) }
    }

    private func tell(_ news: News) {
        mail.withLock { $0.news.append(news) }
        toLoop.ring()
    }
}
