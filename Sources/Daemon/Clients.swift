internal import Ledger
internal import SystemCalls
internal import Wire

/// All clients, and what is sent to those that watch.
struct Clients {
    private var connections: [UInt64: Connection] = [:]
    private var nextToken: UInt64
    /// The last things that happened, for watchers that have not been told yet.
    private var recent: [Event] = []
    /// The number of the first of `recent`.
    private var firstRecent = 0
    private var buffer = [UInt8](repeating: 0, count: 65536)
    /// A connection was closed since `haveRoom` was asked.
    private var freed = false
    /// Those whose requests are not all answered, though there is room, for it was the others' turn; who has waited
    /// longest comes first.
    private var unfinished: [UInt64] = []
    /// What came from clients and is not answered, and what is answered and not taken.
    private let kept = KeptBytes()
    /// How many watchers have asked for which interval.
    private var intervals: [UInt64: Int] = [:]

    /// How many clients there may be.
    private let most: Int
    /// The interval of watchers that ask for none, in µs.
    private let own: UInt64
    /// A request that has begun is waited for this long, in µs.
    private static let patience: UInt64 = 10_000_000
    /// More than this is not kept for clients, in bytes.
    private static let mostKept = 64 << 20
    /// How many different frames of one push are kept for others to share.
    private static let mostFrames = 64
    /// How many events are kept for watchers that are slow.
    private static let mostRecent = 1024
    /// Events are told at once, but no watcher more often than this, in µs.
    private static let eventSpacing: UInt64 = 100_000

    init(firstToken: UInt64, most: Int, own: UInt64) {
        nextToken = firstToken
        self.most = most
        self.own = own
    }

    /// Whether there is no client now.
    var isEmpty: Bool { connections.isEmpty }

    /// The shortest interval that a watcher has asked for, in µs.
    private(set) var shortestInterval: UInt64?

    /// When a request that has begun, but is not complete, may have to be given up, on CLOCK_BOOTTIME in µs; nil when
    /// none has begun.
    private(set) var overdueAt: UInt64?

    /// How many clients there are whose requests were not all answered in their turn.
    var unfinishedCount: Int { unfinished.count }

    /// Takes the next of them, to be served again.
    mutating func takeUnfinished() -> Poller.Ready? {
        guard !unfinished.isEmpty else { return nil }
        let token = unfinished.removeFirst()
        connections[token]?.isUnfinished = false
        return Poller.Ready(token: token, interest: [])
    }

    /// Whether one has connected that has not asked anything yet.
    var haveUnheard: Bool { connections.values.contains { !$0.wasHeard } }

    /// Whether a descriptor was freed since this was asked.
    var haveRoom: Bool {
        mutating get {
            defer { freed = false }
            return freed
        }
    }

    // MARK: - Coming and going

    /// Takes a new client in; the one that has been silent longest goes when there are too many.
    mutating func admit(_ socket: consuming Descriptor, at: UInt64, _ poller: inout Poller) {
        if connections.count >= most {
            let silent = connections.values.filter { $0.watching == nil }.min { $0.lastAsked < $1.lastAsked }
            guard let silent else { return }
            close(silent, &poller)
        }
        let connection = Connection(socket, token: nextToken, at: at, countedBy: kept)
        nextToken += 1
        do {
            try poller.add(connection.number, token: connection.token, interest: .readable)
            connections[connection.token] = connection
        } catch {
            // No room in the set: the socket closes with its owner, and the client sees it.
        }
    }

    private mutating func close(_ connection: Connection, _ poller: inout Poller) {
        guard connections.removeValue(forKey: connection.token) != nil else { return }
        try? poller.remove(connection.number)
        freed = true
        forgetInterval(of: connection)
    }

    /// Closes clients whose request has begun too long ago and is still not complete.
    mutating func closeOverdue(at: UInt64, _ poller: inout Poller) {
        guard let overdueAt, at >= overdueAt else { return }
        // It may be complete by now, or its client gone: all are looked at, but not in each turn.
        self.overdueAt = nil
        for connection in connections.values {
            guard let since = connection.partialSince else { continue }
            if at >= since + Self.patience { close(connection, &poller) } else { waitForRequest(since: since) }
        }
    }

    private mutating func waitForRequest(since: UInt64) {
        overdueAt = min(overdueAt ?? .max, since + Self.patience)
    }

    /// Closes clients when too much is kept: first those for which it has been kept the longest. The one that is served now
    /// has had no time to take anything.
    private mutating func closeSlowest(sparing served: Connection, _ poller: inout Poller) {
        while kept.count > Self.mostKept {
            let slow = connections.values.filter { $0.keptSince != nil && $0 !== served }
            guard let slowest = slow.min(by: { $0.keptSince ?? 0 < $1.keptSince ?? 0 }) else { return }
            close(slowest, &poller)
        }
    }

    /// Closes all clients, after a last try to send what waits.
    mutating func closeAll(_ poller: inout Poller) {
        for connection in connections.values {
            _ = connection.flush()
            close(connection, &poller)
        }
    }

    // MARK: - Requests

    /// Who answers requests.
    struct Answerers {
        /// Answers a request.
        var answer: (Request) -> Service.Answer
        /// Takes the question of a client, by its token, to the history; with its answer an account is changed.
        var ask: (UInt64, @escaping HistoryService.Question, Amendment?) -> Void
        /// Hands what was counted over to the history, so that the next question finds it there.
        var handOver: () -> Void
    }

    /// Reads from and writes to a client that is ready, and has its requests answered: one, and more as long as there is
    /// time until `end`.
    mutating func serve(
        _ item: Poller.Ready,
        at: UInt64,
        until end: UInt64,
        _ poller: inout Poller,
        _ answerers: Answerers
    ) {
        guard let connection = connections[item.token] else { return }
        if item.interest.contains(.readable), !connection.receive(into: &buffer) {
            return close(connection, &poller)
        }
        let hasHungUp = !item.interest.isDisjoint(with: [.hangUp, .error])
        takeRequests(of: connection, hasHungUp: hasHungUp, at: at, until: end, &poller, answerers)
    }

    /// Brings a client the history's answer, nil when it has none, and goes on with what the client asks next.
    mutating func deliver(
        _ frame: [UInt8]?,
        to token: UInt64,
        at: UInt64,
        _ poller: inout Poller,
        _ answerers: Answerers
    ) {
        // Who has gone meanwhile is not waiting.
        guard let connection = connections[token], let asking = connection.asking else { return }
        connection.asking = nil
        if asking.isAnswered { connection.send(frame ?? Service.noHistoryFrame) }
        if frame != nil, let subscription = asking.subscription {
            connection.watching = Connection.Watching(
                subscription: subscription,
                due: .max,
                nextEvent: asking.nextEvent,
                hasBegun: true
            )
        }
        takeRequests(of: connection, hasHungUp: false, at: at, until: at, &poller, answerers)
    }

    /// Answers the requests that are complete, as far as there is room for the answers, and time.
    private mutating func takeRequests(
        of connection: Connection,
        hasHungUp: Bool,
        at: UInt64,
        until end: UInt64,
        _ poller: inout Poller,
        _ answerers: Answerers
    ) {
        var count = 0
        do {
            while true {
                if count > 0, connection.hasRequest, Clock.boot >= end {
                    if !connection.isUnfinished { unfinished.append(connection.token) }
                    connection.isUnfinished = true
                    break
                }
                count += 1
                guard let message = try connection.nextRequest(at: at) else {
                    // It may read at this very moment: what it takes makes room for what waits to be answered, and
                    // nothing would tell of that later.
                    guard connection.flush() else { return close(connection, &poller) }
                    if connection.hasRequest { continue }
                    break
                }
                let request = try Request(message, mayChange: connection.mayChange)
                switch answerers.answer(request) {
                case .reply(let frame):
                    if !request.oneway { connection.send(frame) }
                    // Before the next request is taken: only a client that does not read stops the taking, and
                    // then its room is waited for.
                    guard connection.flush() else { return close(connection, &poller) }
                case .watch(let subscription):
                    connection.watching = Connection.Watching(
                        subscription: subscription,
                        due: at + (subscription.interval ?? own),
                        nextEvent: firstRecent + recent.count,
                        isOwed: true
                    )
                    noteInterval(of: connection)
                case .ask(let question, let subscription):
                    if request.oneway { continue }
                    connection.asking = Connection.Asking(
                        subscription: subscription,
                        nextEvent: firstRecent + recent.count
                    )
                    answerers.ask(connection.token, question, nil)
                case .change(let question):
                    connection.asking = Connection.Asking(nextEvent: 0, isAnswered: !request.oneway)
                    answerers.handOver()
                    answerers.ask(connection.token, question, nil)
                case .amend(let amendment, let copy):
                    connection.asking = Connection.Asking(nextEvent: 0, isAnswered: !request.oneway)
                    answerers.handOver()
                    answerers.ask(connection.token, copy, amendment)
                }
            }
        } catch {
            // Too long, or not Varlink: what came before it is answered, and nothing after it can be trusted.
            _ = connection.flush()
            return close(connection, &poller)
        }
        if let since = connection.partialSince { waitForRequest(since: since) }
        finish(connection, hasHungUp: hasHungUp, &poller)
    }

    /// Sends, closes what is done, and waits for what is left.
    private mutating func finish(
        _ connection: Connection,
        hasHungUp: Bool,
        _ poller: inout Poller
    ) {
        guard connection.flush(), !connection.isDone, !hasHungUp else { return close(connection, &poller) }
        let interest = connection.interest
        if interest != connection.waitedFor {
            connection.waitedFor = interest
            try? poller.modify(connection.number, token: connection.token, interest: interest)
        }
        closeSlowest(sparing: connection, &poller)
    }

    // MARK: - Watching

    private mutating func noteInterval(of connection: Connection) {
        guard let interval = connection.watching?.subscription.interval else { return }
        intervals[interval, default: 0] += 1
        shortestInterval = min(shortestInterval ?? interval, interval)
    }

    private mutating func forgetInterval(of connection: Connection) {
        guard let interval = connection.watching?.subscription.interval, let count = intervals[interval] else { return }
        intervals[interval] = count > 1 ? count - 1 : nil
        // Only when the last of the most eager has gone there is another shortest.
        if count == 1 && interval == shortestInterval { shortestInterval = intervals.keys.min() }
    }

    /// Whether something happened that watchers have not been told.
    private(set) var haveUntold = false

    /// Keeps what happened for the watchers.
    mutating func add(_ events: [Event]) {
        if !events.isEmpty { haveUntold = true }
        recent.append(contentsOf: events)
        if recent.count > Self.mostRecent {
            let surplus = recent.count - Self.mostRecent
            recent.removeFirst(surplus)
            firstRecent += surplus
        }
    }

    /// Sends readings to the watchers for whom they are due.
    ///
    /// `period` is how often this is called, in µs; what is due before half a period has passed is due now.
    mutating func pushTicks(from sampler: Sampler, at: UInt64, period: UInt64, _ poller: inout Poller) {
        let slack = period / 2
        var frames = Frames()
        for connection in connections.values {
            guard var watching = connection.watching, !watching.subscription.isEventsOnly,
                watching.due <= at.addingSaturating(slack)
            else { continue }
            let interval = watching.subscription.interval ?? own
            // In step with its own beat, unless that is long past.
            watching.due = max(watching.due + interval, at + interval / 2)
            connection.watching = watching
            push(to: connection, from: sampler, &frames, &poller)
        }
    }

    /// Tells watchers what has happened to what they watch, with the readings that belong to it: at once, unless they
    /// were told of something else a moment ago.
    mutating func pushEvents(from sampler: Sampler, at: UInt64, _ poller: inout Poller) {
        guard haveUntold, at >= lastPush + Self.eventSpacing else { return }
        lastPush = at
        haveUntold = false
        var frames = Frames()
        for connection in connections.values {
            guard let watching = connection.watching, !events(for: watching).isEmpty else { continue }
            push(to: connection, from: sampler, &frames, &poller)
        }
    }

    private var lastPush: UInt64 = 0

    /// Sends a watcher what it was owed while it had not taken the frame before, or the first reply of its stream.
    mutating func payOwed(from sampler: Sampler, token: UInt64, _ poller: inout Poller) {
        guard let connection = connections[token], connection.watching?.isOwed == true else { return }
        var frames = Frames()
        push(to: connection, from: sampler, &frames, &poller)
    }

    /// Frames of one push, by what they depend on: watchers of the same are sent the same bytes.
    private struct Frames {
        struct Key: Hashable {
            var links: [LinkName]?
            var isEventsOnly: Bool
            var nextEvent: Int
            var isFirst: Bool
        }
        var frames: [Key: Outgoing] = [:]
    }

    private mutating func push(
        to connection: Connection,
        from sampler: Sampler,
        _ frames: inout Frames,
        _ poller: inout Poller
    ) {
        // It may have been closed since the push began, for another's sake.
        guard var watching = connection.watching, connections[connection.token] != nil else { return }
        guard connection.isDrained else {
            // It has not taken the frame before: the next will tell it all that is true then.
            watching.isOwed = true
            connection.watching = watching
            return
        }
        let key = Frames.Key(
            links: watching.subscription.links,
            isEventsOnly: watching.subscription.isEventsOnly,
            nextEvent: watching.nextEvent,
            isFirst: !watching.hasBegun
        )
        let frame = frames.frames[key] ?? Outgoing(encode(watching, from: sampler), countedBy: kept)
        // Where each watches something else, nothing is shared, and keeping all would cost memory.
        if frames.frames.count >= Self.mostFrames || kept.count > Self.mostKept / 2 {
            frames.frames.removeAll(keepingCapacity: true)
        }
        frames.frames[key] = frame
        watching.hasBegun = true
        watching.isOwed = false
        watching.nextEvent = firstRecent + recent.count
        connection.watching = watching
        connection.send(frame)
        finish(connection, hasHungUp: false, &poller)
    }

    private func encode(_ watching: Connection.Watching, from sampler: Sampler) -> [UInt8] {
        if watching.subscription.isEventsOnly {
            return Frame.encode(Reply(parameters: Events.Reply(events: events(for: watching)), continues: true))
        }
        let parameters = watching.subscription.reply(
            from: sampler,
            events: events(for: watching),
            isFirst: !watching.hasBegun
        )
        return Frame.encode(Reply(parameters: parameters, continues: true))
    }

    private func events(for watching: Connection.Watching) -> [Event] {
        let first = max(watching.nextEvent - firstRecent, 0)
        return first < recent.count ? recent[first...].filter(watching.subscription.covers) : []
    }
}

extension UInt64 {
    fileprivate func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
