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

    /// How many clients there may be.
    private let most: Int
    /// The interval of watchers that ask for none, in µs.
    private let own: UInt64
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
    var shortestInterval: UInt64? {
        connections.values.compactMap { $0.watching?.subscription.interval }.min()
    }

    /// Whether a request has begun that is not complete.
    var havePartial: Bool { connections.values.contains { $0.partialSince != nil } }

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
        let connection = Connection(socket, token: nextToken, at: at)
        nextToken += 1
        do {
            try poller.add(connection.number, token: connection.token, interest: .readable)
            connections[connection.token] = connection
        } catch {
            // No room in the set: the socket closes with its owner, and the client sees it.
        }
    }

    private mutating func close(_ connection: Connection, _ poller: inout Poller) {
        try? poller.remove(connection.number)
        connections[connection.token] = nil
        freed = true
    }

    /// Closes clients whose request began before a moment and is still not complete.
    mutating func closeIdle(before: UInt64, _ poller: inout Poller) {
        for connection in connections.values where connection.partialSince.map({ $0 < before }) ?? false {
            close(connection, &poller)
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

    /// Reads from and writes to a client that is ready, and has its requests answered.
    mutating func serve(_ item: Poller.Ready, at: UInt64, _ poller: inout Poller, _ answerers: Answerers) {
        guard let connection = connections[item.token] else { return }
        let before = connection.interest
        if item.interest.contains(.readable), !connection.receive(into: &buffer) {
            return close(connection, &poller)
        }
        let hasHungUp = !item.interest.isDisjoint(with: [.hangUp, .error])
        takeRequests(of: connection, before, hasHungUp: hasHungUp, at: at, &poller, answerers)
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
        let before = connection.interest
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
        takeRequests(of: connection, before, hasHungUp: false, at: at, &poller, answerers)
    }

    /// Answers the requests that are complete, as far as there is room for the answers.
    private mutating func takeRequests(
        of connection: Connection,
        _ before: Poller.Interest,
        hasHungUp: Bool,
        at: UInt64,
        _ poller: inout Poller,
        _ answerers: Answerers
    ) {
        do {
            while true {
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
        finish(connection, before, hasHungUp: hasHungUp, &poller)
    }

    /// Sends, closes what is done, and waits for what is left.
    private mutating func finish(
        _ connection: Connection,
        _ before: Poller.Interest,
        hasHungUp: Bool,
        _ poller: inout Poller
    ) {
        guard connection.flush(), !connection.isDone, !hasHungUp else { return close(connection, &poller) }
        if connection.interest != before {
            try? poller.modify(connection.number, token: connection.token, interest: connection.interest)
        }
    }

    // MARK: - Watching

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
            var interfaces: [String]?
            var isEventsOnly: Bool
            var nextEvent: Int
            var isFirst: Bool
        }
        var frames: [Key: [UInt8]] = [:]
    }

    private mutating func push(
        to connection: Connection,
        from sampler: Sampler,
        _ frames: inout Frames,
        _ poller: inout Poller
    ) {
        guard var watching = connection.watching else { return }
        guard connection.isDrained else {
            // It has not taken the frame before: the next will tell it all that is true then.
            watching.isOwed = true
            connection.watching = watching
            return
        }
        let before = connection.interest
        let key = Frames.Key(
            interfaces: watching.subscription.interfaces,
            isEventsOnly: watching.subscription.isEventsOnly,
            nextEvent: watching.nextEvent,
            isFirst: !watching.hasBegun
        )
        let frame = frames.frames[key] ?? encode(watching, from: sampler)
        frames.frames[key] = frame
        watching.hasBegun = true
        watching.isOwed = false
        watching.nextEvent = firstRecent + recent.count
        connection.watching = watching
        connection.send(frame)
        finish(connection, before, hasHungUp: false, &poller)
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
