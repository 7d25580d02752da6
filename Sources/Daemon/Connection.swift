internal import SystemCalls
internal import Wire

/// One client: what came from it and is not answered, what is answered and not taken, and what it watches.
final class Connection {
    /// A client's watch.
    struct Watching {
        var subscription: Subscription
        /// When the next readings are due, on CLOCK_BOOTTIME in µs.
        var due: UInt64
        /// The number of the first event that it has not been told.
        var nextEvent: Int
        /// Whether it was sent the first reply, the one with `ready`.
        var hasBegun = false
        /// It did not take the frame before; what it is owed is made when it has.
        var isOwed = false
    }

    /// The longest request in bytes.
    static let longestRequest = 65536
    /// While more than this waits to be taken, no further request is read.
    private static let mostWaiting = 262_144

    /// How many bytes the kernel keeps for a client that does not read.
    private static let sendBuffer: Int32 = 16_384

    let token: UInt64
    /// Whether the client may change what is kept: root may, and the user that the daemon runs as.
    let mayChange: Bool
    private let socket: Descriptor
    private var incoming = FrameBuffer(limit: Connection.longestRequest)
    private var outgoing: [Outgoing] = []
    private var sent = 0
    private var waiting = 0
    private let kept: KeptBytes
    /// How many bytes of `incoming` are counted in `kept`.
    private var keptIncoming = 0
    /// When it last took something of what waits for it, or nothing waited, on CLOCK_BOOTTIME in µs.
    private var lastTook: UInt64
    /// Further requests of it wait for its next turn.
    var isUnfinished = false
    /// What is waited for on it.
    var waitedFor: Poller.Interest = .readable
    /// The client sends no more; it is closed when it has taken what it asked for.
    private(set) var isFinished = false
    /// When a request began that is not complete, on CLOCK_BOOTTIME in µs.
    private(set) var partialSince: UInt64?
    /// When it last asked for anything, on CLOCK_BOOTTIME in µs.
    private(set) var lastAsked: UInt64
    /// Whether it has asked for anything yet.
    private(set) var wasHeard = false
    var watching: Watching?
    /// A question of it is with the history; what it asks next waits for the answer.
    var asking: Asking?

    /// A client's question to the history.
    struct Asking {
        /// The stream that begins with the answer.
        var subscription: Subscription?
        /// The number of the first event that happens after the question.
        var nextEvent: Int
        /// Whether the client wants to hear the answer.
        var isAnswered = true
    }

    init(_ socket: consuming Descriptor, token: UInt64, at: UInt64, countedBy kept: KeptBytes) {
        // The file is theirs to change anyway.
        let user = try? UnixSocket.peerUser(socket.number)
        mayChange = user == 0 || user == ThisProcess.user
        // The system's own default lets two thousand clients that do not read fill more memory than the service may have.
        try? UnixSocket.setSendBuffer(socket.number, bytes: Self.sendBuffer)
        self.socket = socket
        self.token = token
        self.kept = kept
        lastAsked = at
        lastTook = at
    }

    deinit { kept.count -= keptIncoming }

    var number: Int32 { socket.number }

    /// Whether all that it was sent is taken.
    var isDrained: Bool { outgoing.isEmpty }

    /// Since when bytes have been kept for it: answers that it has not taken, or else requests that are not complete or
    /// not answered; on CLOCK_BOOTTIME in µs, nil when there are none.
    var keptSince: UInt64? {
        if !outgoing.isEmpty { return lastTook }
        return keptIncoming > 0 ? partialSince ?? lastAsked : nil
    }

    /// What is to be waited for on it now.
    var interest: Poller.Interest {
        var interest: Poller.Interest = []
        if !outgoing.isEmpty { interest.insert(.writable) }
        // While it watches, its next request would have to wait for the end of the stream, which is its own end.
        // While requests of it are in hand, more would only fill memory; nor is its end looked at before they are answered.
        if !isFinished && !isUnfinished && canAnswer { interest.insert(.readable) }
        return interest
    }

    /// Reads what has come, a bounded part of it.
    ///
    /// - Returns: false when the connection is of no more use.
    func receive(into buffer: inout [UInt8]) -> Bool {
        do {
            let count = try socket.read(into: &buffer)
            if count == 0 {
                isFinished = true
            } else {
                incoming.append(buffer[..<count])
                countIncoming()
            }
        } catch {
            return error == .wouldBlock
        }
        return true
    }

    /// Takes the next complete request, while there is room for its answer.
    ///
    /// - Returns: nil when there is none now.
    /// - Throws: `FrameBuffer.TooLong` for one that is longer than allowed.
    func nextRequest(at: UInt64) throws(FrameBuffer.TooLong) -> [UInt8]? {
        guard canAnswer else { return nil }
        let request = try incoming.next()
        countIncoming()
        if request != nil {
            lastAsked = at
            wasHeard = true
            partialSince = nil
        } else {
            partialSince = incoming.isPartial ? partialSince ?? at : nil
        }
        return request
    }

    private func countIncoming() {
        kept.count += incoming.count - keptIncoming
        keptIncoming = incoming.count
    }

    /// Whether a complete request waits, and there is room for its answer.
    var hasRequest: Bool { canAnswer && incoming.hasMessage }

    /// Whether the next request may be taken now.
    private var canAnswer: Bool { waiting <= Self.mostWaiting && watching == nil && asking == nil }

    /// Adds a frame to what is to be sent.
    func send(_ frame: [UInt8]) { send(Outgoing(frame, countedBy: kept)) }

    /// Adds a frame that others are sent, too.
    func send(_ frame: Outgoing) {
        if outgoing.isEmpty { lastTook = Clock.boot }
        waiting += frame.bytes.count
        outgoing.append(frame)
    }

    /// Sends as much as the client takes now.
    ///
    /// - Returns: false when it is gone.
    func flush() -> Bool {
        while let frame = outgoing.first {
            do {
                let count = try UnixSocket.send(number, frame.bytes[sent...])
                sent += count
                waiting -= count
                lastTook = Clock.boot
            } catch {
                return error == .wouldBlock
            }
            if sent == frame.bytes.count {
                outgoing.removeFirst()
                sent = 0
            }
        }
        return true
    }

    /// Whether it can be closed: it asks for nothing more, and has taken all it asked for.
    var isDone: Bool { isFinished && outgoing.isEmpty && watching == nil && asking == nil }
}

/// How many bytes are kept for clients, in both directions; what several of them wait for counts once.
final class KeptBytes {
    fileprivate(set) var count = 0
}

/// A frame on its way to one client, or to many.
final class Outgoing {
    let bytes: [UInt8]
    private let kept: KeptBytes

    init(_ bytes: [UInt8], countedBy kept: KeptBytes) {
        self.bytes = bytes
        self.kept = kept
        kept.count += bytes.count
    }

    deinit { kept.count -= bytes.count }
}
