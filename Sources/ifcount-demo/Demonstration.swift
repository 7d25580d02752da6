internal import TestLinks

/// One run: the command first, then connections, one after the other, until the time is over.
struct Demonstration: ~Copyable {
    private let arguments: Arguments
    private let namespace: PrivateNamespace
    private var random: SplitMix64
    private var command: ForegroundProgram?
    private var deadline = ContinuousClock.now
    private var isInterrupted = false
    private var commandHasEnded = false

    /// What to say about a command that ended by itself and was not content.
    private(set) var failure: String?

    /// A sum of bytes in one direction that goes through at once.
    private static let burst = Tunnel.smallestPacket...60000
    /// The pause after each.
    private static let pause = 5...80

    /// Takes the process into its namespace and starts the command there.
    ///
    /// - Throws: `LinkFailure` where namespaces or tunnels are not allowed, or there is no such command.
    init(_ arguments: Arguments) throws(LinkFailure) {
        let namespace = try PrivateNamespace.takingProcess()
        // So that the command is not started in vain where there can be no tunnel.
        try Tunnel("trial", in: namespace).close()
        try Interrupts.hold()
        let command = arguments.command.isEmpty ? nil : try ForegroundProgram(arguments.command)
        self.arguments = arguments
        self.namespace = namespace
        self.command = command
        random = SplitMix64(seed: arguments.seed)
    }

    /// Drives the traffic, and ends the command.
    mutating func run() throws(LinkFailure) -> Outcome {
        if command != nil { sleep(arguments.lead, until: .now + arguments.lead) }
        deadline = .now + arguments.seconds
        var outcome = Outcome()
        while !isOver {
            var tunnel = try Tunnel(Outcome.interface, in: namespace)
            outcome.connections += 1
            try tunnel.up()
            let length = arguments.every * Double.random(in: 0.3...1.7, using: &random)
            let end = min(deadline, .now + length)
            repeat {
                try drive(&tunnel)
                sleep(.milliseconds(Int.random(in: Self.pause, using: &random)), until: end)
            } while .now < end && !isOver
            // A tunnel that closes does not wait until someone has looked at its last bytes.
            try drive(&tunnel)
            outcome.carried += try tunnel.close()
            sleep(.milliseconds(Int.random(in: 0...300, using: &random)), until: deadline)
        }
        endCommand()
        return outcome
    }

    private var isOver: Bool { isInterrupted || commandHasEnded || .now >= deadline }

    private mutating func drive(_ tunnel: inout Tunnel) throws(LinkFailure) {
        try tunnel.receive(bytes: Int.random(in: Self.burst, using: &random))
        try tunnel.transmit(bytes: Int.random(in: Self.burst, using: &random) / 4 + Tunnel.smallestPacket)
    }

    /// Sleeps for `time`, but not beyond `end`, an interrupt, or the end of the command.
    private mutating func sleep(_ time: Duration, until end: ContinuousClock.Instant) {
        let end = min(end, .now + time)
        while .now < end, !isInterrupted, !commandHasEnded {
            isInterrupted = Interrupts.arrive(within: min(end - .now, .milliseconds(50)))
            look()
        }
    }

    /// Sees whether the command has ended by itself.
    private mutating func look() {
        guard !commandHasEnded, let ending = command?.check() else { return }
        commandHasEnded = true
        switch ending {
        case .exited(0): break
        case .exited(let status): failure = "\(arguments.command[0]) ended with status \(status)"
        case .signalled(let number): failure = "\(arguments.command[0]) was ended by signal \(number)"
        }
    }

    /// Lets the command see the last bytes, and ends it.
    private mutating func endCommand() {
        guard command != nil, !commandHasEnded else { return }
        sleep(arguments.linger, until: .now + arguments.linger)
        if !commandHasEnded { _ = command?.end() }
    }
}
