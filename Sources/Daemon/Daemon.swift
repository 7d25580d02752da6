internal import Glibc
internal import History
package import LinkStats
package import SystemCalls
internal import Wire

/// What a daemon is started with.
package struct Configuration: Sendable {
    /// How often counters are read, in µs.
    package var interval: UInt64 = 1_000_000
    /// The source to use; nil for the best that works.
    package var source: Source?
    /// Where the history is kept; nil to keep none.
    package var stateDirectory: String?
    /// How often it is saved, in µs.
    package var saveInterval: UInt64 = 60_000_000

    /// The shortest and the longest interval, in µs.
    package static let intervals = 100_000...3_600_000_000
    /// The shortest and the longest time between two saves, in µs.
    package static let saveIntervals = 1_000_000...3_600_000_000

    package init() {}
}

/// The daemon: one thread and one loop that reads the kernel, and answers clients without ever waiting for one.
package final class Daemon {
    private let configuration: Configuration
    private let sampler: Sampler
    /// The history; nil where none is kept.
    private let persistence: Persistence?
    private let listener: Listener
    private let manager: ServiceManager
    private let log: (String) -> Void
    private var poller: Poller
    private let timer: Timer
    private let signals: SignalDescriptor
    private var clients: Clients
    /// The descriptor of link events that is in the set now.
    private var eventDescriptor: Int32?
    /// How often counters are read now, in µs: as configured, or as often as a watcher wants.
    private var period: UInt64 = 0
    /// When the timer fired last, on CLOCK_BOOTTIME in µs.
    private var lastTick = Clock.boot
    /// When a tick that is due may be done between two clients, on CLOCK_BOOTTIME in µs: where ticks take long, clients get
    /// as much time as they.
    private var ticksBetweenAt: UInt64 = 0
    private var isListening = true
    /// When those who wait to connect are looked at again, on CLOCK_BOOTTIME in µs, though no descriptor was freed here.
    private var listensAgainAt: UInt64 = 0
    /// Until when it is not said again that there are no descriptors, on CLOCK_BOOTTIME in µs.
    private var saysFullAgainAt: UInt64 = 0
    /// A signal has asked for the end.
    private var mustEnd = false
    private var status = ""
    private var refusal = ""
    private var overruns = 0
    private var failure: String?
    /// A link has ended since the last save was thought of.
    private var hasEnded = false
    /// Whether anything was done, beside counting, since the memory for it was given back; starting and saving count.
    private var isAwake = true
    /// When a client was served last, on CLOCK_BOOTTIME in µs.
    private var lastServed: UInt64 = 0

    /// What descriptors in the set are for; clients' tokens follow.
    private enum Token {
        static let timer: UInt64 = 0
        static let signals: UInt64 = 1
        static let listener: UInt64 = 2
        static let events: UInt64 = 3
        static let history: UInt64 = 4
        static let firstClient: UInt64 = 16
    }

    /// How long after the last client the memory for clients is kept, in µs.
    private static let wakefulness: UInt64 = 10_000_000
    /// How long, at the end, those are waited for who have connected and not asked yet, in µs.
    private static let farewell: UInt64 = 200_000
    /// For how long clients are answered in one turn of the loop, in µs; each that is ready gets one answer at least.
    private static let turn: UInt64 = 10_000
    /// How long those who wait to connect are left alone when there are no descriptors, in µs.
    private static let breath: UInt64 = 1_000_000
    /// How long the log is spared that there are still none, in µs.
    private static let silence: UInt64 = 60_000_000
    /// How many clients there may be, where the process may have that many descriptors.
    private static let mostClients = 2048
    /// How many descriptors are left when all clients are there, so that the kernel can still be read.
    private static let spareDescriptors = 10
    /// Counters that are older than this, in µs, are read anew for who asks.
    private static let stale: UInt64 = 1_000_000

    /// Takes the first look at the kernel and gets ready to listen.
    ///
    /// - Parameters:
    ///   - configuration: what to do.
    ///   - listener: the socket, ready to be accepted from.
    ///   - manager: whom to tell.
    ///   - log: takes a line for the administrator.
    /// - Throws: `ReadError` when the kernel cannot be read, `Errno` when the process lacks descriptors.
    package init(
        _ configuration: Configuration,
        listener: consuming Listener,
        manager: ServiceManager,
        log: @escaping (String) -> Void
    ) throws {
        do {
            persistence = try configuration.stateDirectory.map {
                try Persistence(directory: $0, interval: configuration.saveInterval, log: log)
            }
            sampler = try Sampler(
                source: configuration.source,
                resuming: persistence?.left?.state,
                keepsJournal: persistence != nil
            )
        } catch {
            listener.removeFile()
            throw error
        }
        self.configuration = configuration
        self.listener = listener
        self.manager = manager
        self.log = log
        signals = try SignalDescriptor([SIGTERM, SIGINT, SIGHUP])
        poller = try Poller()
        timer = try Timer()
        let free = ThisProcess.freeDescriptors(wanted: Self.mostClients + Self.spareDescriptors)
        clients = Clients(
            firstToken: Token.firstClient,
            most: max(free - Self.spareDescriptors, 1),
            own: configuration.interval
        )
        try poller.add(timer.number, token: Token.timer, interest: .readable)
        try poller.add(signals.number, token: Token.signals, interest: .readable)
        try poller.add(self.listener.number, token: Token.listener, interest: .readable)
        if let persistence {
            try poller.add(persistence.newsDescriptor, token: Token.history, interest: .readable)
            sampler.persistence = persistence.status
        }
        followEvents()
    }

    /// Puts a copy of the history in its place, while no daemon runs.
    ///
    /// - Parameters:
    ///   - file: the copy; it is moved.
    ///   - directory: the state directory.
    /// - Returns: where what was there before is kept; nil when there was nothing.
    /// - Throws: `Store.Failure`; nothing was changed then.
    package static func restore(_ file: String, to directory: String) throws -> String? {
        try Store.restore(file, to: directory, wall: Clock.wall)
    }

    /// Runs until a signal asks for the end.
    ///
    /// - Returns: whether the last figures are saved, or are not to be.
    /// - Throws: `Errno` when the loop itself fails.
    package func run() throws(Errno) -> Bool {
        try setPeriod()
        report()
        manager.notify("READY=1", "STATUS=\(status)")
        while !mustEnd {
            try turn(milliseconds: timeout)
            try setPeriod()
            resumeListening()
        }
        manager.notify("STOPPING=1")
        // Who still waits to connect is left to the next daemon, when the socket is the service manager's; who was
        // accepted would find no other, and is answered.
        isListening = false
        try? poller.remove(listener.number)
        let end = Clock.boot + Self.farewell
        repeat {
            try turn(milliseconds: clients.haveUnheard ? 10 : 0)
        } while clients.haveUnheard && Clock.boot < end
        // The last look: what went through until now.
        sample()
        pushTicks(at: Clock.boot, all: true)
        clients.closeAll(&poller)
        listener.removeFile()
        return persistence?.end(sampler) ?? true
    }

    /// Waits for what happens next and deals with it.
    private func turn(milliseconds: Int32) throws(Errno) {
        let unfinished = clients.unfinishedCount
        let ready = try poller.wait(milliseconds: unfinished == 0 ? milliseconds : 0)
        let end = Clock.boot + Self.turn
        // Link events first: what they say was true before any counter that is read now.
        if ready.contains(where: { $0.token == Token.events }) { takeEvents() }
        for item in ready where item.token < Token.firstClient {
            switch item.token {
            case Token.timer where try timer.drain() > 0: tick()
            case Token.signals where try signals.next() != nil: mustEnd = true
            case Token.listener: accept()
            case Token.history: hear()
            default: break
            }
        }
        // Who asks for much gets the time that is left when those who ask for little are answered.
        for item in ready where item.token >= Token.firstClient { try serve(item, until: end) }
        for _ in 0..<unfinished {
            if let item = clients.takeUnfinished() { try serve(item, until: end) }
            if Clock.boot >= end { break }
        }
        let now = Clock.boot
        clients.closeOverdue(at: now, &poller)
        clients.pushEvents(from: sampler, at: now, &poller)
    }

    // MARK: - Reading

    private func tick() {
        lastTick = Clock.boot
        rest()
        sample()
        pushTicks(at: Clock.boot, all: false)
        if let persistence {
            if persistence.save(sampler, isUrgent: hasEnded) { isAwake = true }
            sampler.persistence = persistence.status
        }
        hasEnded = false
        report()
        manager.notify("WATCHDOG=1")
        let end = Clock.boot
        ticksBetweenAt = end + (end - lastTick)
    }

    /// Makes itself small when nobody has asked for anything for a while.
    private func rest() {
        guard isAwake, clients.isEmpty, Clock.boot > lastServed + Self.wakefulness else { return }
        isAwake = false
        Memory.releaseCode()
    }

    private func sample() {
        do {
            try sampler.sample()
            if failure != nil { log("the kernel can be read again, from \(sampler.source.rawValue)") }
            failure = nil
        } catch {
            // Said once; what was counted stands, and each tick tries again.
            if failure != "\(error)" { log("\(error); counting waits for it") }
            failure = "\(error)"
        }
        followEvents()
        takeHappened()
    }

    private func takeEvents() {
        do { try sampler.takeWaiting() } catch { sample() }
        takeHappened()
    }

    private func pushTicks(at: UInt64, all: Bool) {
        clients.pushTicks(from: sampler, at: at, period: all ? .max : period, &poller)
    }

    /// Reads the counters for who asks, when they are old.
    private func refresh() {
        if Clock.boot - min(Clock.boot, sampler.sampledAt) > Self.stale { sample() }
    }

    /// Keeps the descriptor of link events in the set, whichever source has one now.
    private func followEvents() {
        let now = sampler.eventDescriptor
        guard now != eventDescriptor else { return }
        // The one before was closed with its source, which took it out of the set.
        if let now { try? poller.add(now, token: Token.events, interest: .readable) }
        eventDescriptor = now
    }

    /// Reads as often as the most eager watcher wants, but at least as often as configured and as the watchdog needs.
    private func setPeriod() throws(Errno) {
        var wanted = min(configuration.interval, clients.shortestInterval ?? configuration.interval)
        if let watchdog = manager.watchdog { wanted = min(wanted, max(watchdog / 3, 100_000)) }
        guard wanted != period else { return }
        period = wanted
        // Counted from the tick before, so that watchers who come and go cannot put the next one off.
        try timer.fire(first: lastTick + wanted, every: wanted)
    }

    // MARK: - Clients

    private func accept() {
        for _ in 0..<64 {
            do {
                let socket = try UnixSocket.accept(listener.number)
                clients.admit(socket, at: Clock.boot, &poller)
            } catch {
                switch error {
                case .wouldBlock: return
                case .connectionAborted: continue
                default: return stopListening(error)
                }
            }
        }
    }

    /// Leaves those who wait to connect waiting until there are descriptors again: one is freed here, or, by others of the
    /// system or by a limit that is raised, at some time.
    private func stopListening(_ error: Errno) {
        guard isListening else { return }
        isListening = false
        try? poller.modify(listener.number, token: Token.listener, interest: [])
        let now = Clock.boot
        listensAgainAt = now + Self.breath
        guard now >= saysFullAgainAt else { return }
        saysFullAgainAt = now + Self.silence
        log("no more clients for now: \(error)")
    }

    private func resumeListening() {
        guard !isListening, clients.haveRoom || Clock.boot >= listensAgainAt else { return }
        isListening = true
        try? poller.modify(listener.number, token: Token.listener, interest: .readable)
    }

    private func serve(_ item: Poller.Ready, until end: UInt64) throws(Errno) {
        // A client's turn is short, but there may be many clients: no tick waits until all have had theirs.
        if Clock.boot >= ticksBetweenAt, try timer.drain() > 0 { tick() }
        isAwake = true
        lastServed = Clock.boot
        // Before the clients are lent out: reading brings events, which are theirs.
        refresh()
        clients.serve(item, at: Clock.boot, until: end, &poller, answerers)
        clients.payOwed(from: sampler, token: item.token, &poller)
    }

    /// Hears of the history: whether it is saved, and what it answers.
    private func hear() {
        guard let persistence else { return }
        let replies = persistence.hear(sampler)
        sampler.persistence = persistence.status
        for reply in replies {
            clients.deliver(reply.frame, to: reply.token, at: Clock.boot, &poller, answerers)
            clients.payOwed(from: sampler, token: reply.token, &poller)
        }
    }

    private var answerers: Clients.Answerers {
        Clients.Answerers(
            answer: { [sampler] in Service.answer($0, from: sampler) },
            ask: { [persistence, sampler] token, question, amendment in
                persistence?.ask(for: token, sampler, question, then: amendment)
            },
            handOver: { [persistence, sampler] in persistence?.handOver(sampler) }
        )
    }

    /// Keeps what has happened for the watchers, and for the next save.
    private func takeHappened() {
        let events = sampler.takeEvents()
        hasEnded = hasEnded || events.contains { $0.event == .removed || $0.event == .departed }
        clients.add(events)
    }

    /// How long the loop may sleep, in ms: events that were held back have to be told, and a half request has to be
    /// given up in time.
    private var timeout: Int32 {
        if clients.haveUntold { return 100 }
        if !isListening { return 1000 }
        guard let overdueAt = clients.overdueAt else { return -1 }
        let now = Clock.boot
        return overdueAt > now ? Int32(clamping: (overdueAt - now) / 1000 + 1) : 0
    }

    // MARK: - Words for the administrator

    private func report() {
        let count = sampler.presentCount
        let seconds = period % 1_000_000 == 0 ? "\(period / 1_000_000) s" : "\(period / 1000) ms"
        let interfaces = count == 1 ? "1 interface" : "\(count) interfaces"
        let text = "counting \(interfaces) from \(sampler.source.rawValue) every \(seconds)"
        if text != status {
            status = text
            manager.notify("STATUS=\(text)")
        }
        let refused = sampler.refusals.map { "\($0)" }.joined(separator: "; ")
        if refused != refusal {
            refusal = refused
            log(refused.isEmpty ? "reading from \(sampler.source.rawValue) again" : "\(refused)")
        }
        if sampler.overruns > overruns {
            let times = sampler.overruns - overruns == 1 ? "once" : "\(sampler.overruns - overruns) times"
            log("link events were lost \(times); all links were listed anew")
        }
        overruns = sampler.overruns
    }
}
