internal import CTestLinks
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// A thread with a network namespace of its own, and the executor of the tasks that are to run there.
///
/// unshare(2) gives a network namespace to one thread only, and a task of the shared pool moves between threads: so
/// the test's task is brought to this thread instead, and keeps its task-local values, by which Swift Testing knows
/// whose expectation failed.
final class NamespaceThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let wakeReader: Int32
    private let wakeWriter: Int32

    private static let job: UInt8 = 1
    private static let end: UInt8 = 0

    private init() throws(LinkFailure) {
        var ends: [Int32] = [-1, -1]
        try succeeding("make a pipe", unsafe ifct_pipe(&ends))
        wakeReader = ends[0]
        wakeWriter = ends[1]
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// What the new thread is handed.
    private final class Beginning: Sendable {
        let thread: NamespaceThread
        let isReady: CheckedContinuation<Int32, Never>

        init(_ thread: NamespaceThread, _ isReady: CheckedContinuation<Int32, Never>) {
            self.thread = thread
            self.isReady = isReady
        }
    }

    /// Starts the thread and waits, without holding one of the pool's, until it has its namespace.
    static func start() async throws(LinkFailure) -> NamespaceThread {
        let thread = try NamespaceThread()
        let answer = await withCheckedContinuation { isReady in
            let beginning = unsafe Unmanaged.passRetained(Beginning(thread, isReady))
            let answer = unsafe ifct_thread_start(
                { context in
                    let beginning = unsafe Unmanaged<Beginning>.fromOpaque(context).takeRetainedValue()
                    let answer = ifct_unshare_net()
                    beginning.isReady.resume(returning: answer)
                    if answer >= 0 { beginning.thread.runJobs() }
                },
                beginning.toOpaque()
            )
            if answer < 0 {
                unsafe beginning.release()
                isReady.resume(returning: answer)
            }
        }
        try succeeding("make a network namespace", answer)
        return thread
    }

    /// Ends the thread, after the jobs it has.
    func stop() { wake(Self.end) }

    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        jobs.withLock { $0.append(unowned) }
        wake(Self.job)
    }

    private func wake(_ word: UInt8) {
        var word = word
        let written = try? retrying { unsafe write(wakeWriter, &word, 1) }
        precondition(written == 1, "the thread of a namespace cannot be woken")
    }

    private func runJobs() {
        var word = Self.end
        while (try? retrying({ unsafe read(wakeReader, &word, 1) })) == 1, word == Self.job {
            let next = jobs.withLock { $0.removeFirst() }
            unsafe next.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
