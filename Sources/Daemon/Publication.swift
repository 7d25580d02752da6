internal import Ledger
internal import LinkStats
internal import Wire

/// The ledger's figures in the words of the wire, at one moment.
struct Publication {
    var source: Source
    /// The moment on CLOCK_BOOTTIME in µs.
    var at: UInt64
    /// The same moment by the wall clock, µs since 1970.
    var wall: Int
    var persistence: Persistence.Status?

    func reading(of account: Account, _ incarnation: Incarnation?) -> Reading {
        let link = incarnation?.link
        return Reading(
            interface: account.name.escaped,
            kind: link?.kind ?? account.kind,
            ifindex: link.map { Int($0.identity.ifindex) },
            present: link != nil,
            state: link?.state.rawValue ?? "absent",
            incarnation: account.lives,
            counter: incarnation?.raw.map(Counter.init),
            rate: account.rate.map(Rate.init),
            total: total(of: account),
            sampledUSec: moment(account.asOf),
            source: source.rawValue,
            warnings: warnings(account, incarnation),
            persisted: persistence?.isPersisted,
            persistedUSec: persistence?.savedWall
        )
    }

    func event(_ happening: Happening) -> Event {
        var event = Event(
            atUSec: wall,
            interface: happening.account.escaped,
            event: .created,
            ifindex: Int(happening.ifindex),
            incarnation: happening.incarnation,
            previous: nil,
            cause: nil,
            gapped: happening.gapped
        )
        switch happening.kind {
        case .created: event.event = .created
        case .recreated: event.event = .recreated
        case .arrived: event.event = .arrived
        case .returned: event.event = .returned
        case .renamed(let previous):
            event.event = .renamed
            event.previous = previous.escaped
        case .reset: event.event = .reset
        case .removed: event.event = .removed
        case .departed: event.event = .departed
        case .gap(let cause):
            event.event = .gap
            event.cause = cause.rawValue
        case .suspect: event.event = .suspect
        case .changed(let state):
            event.event = .changed
            event.cause = state.rawValue
        case .saturated:
            event.event = .gap
            event.cause = "saturated"
        }
        return event
    }

    /// A moment of this boot by the wall clock as it is set now.
    private func moment(_ boot: UInt64) -> Int { wall - Int(clamping: at > boot ? at - boot : 0) }

    private func total(of account: Account) -> Total {
        Total(
            quality: account.isContinuous ? .continuous : .gapped,
            sinceUSec: account.sinceAt.map(moment) ?? account.sinceWall,
            rx: amount(account.rx, atMost: account.rxAtMost),
            tx: amount(account.tx, atMost: account.txAtMost),
            resets: account.resets,
            gaps: account.gaps,
            unobservedUSec: Int(clamping: account.unobserved),
            suspect: account.suspect
        )
    }

    private func amount(_ tally: Tally, atMost: UInt64?) -> Amount {
        Amount(
            bytes: Int(clamping: tally.bytes.value),
            atMost: atMost.map { Int(clamping: $0) },
            packets: Int(clamping: tally.packets.value)
        )
    }

    private func warnings(_ account: Account, _ incarnation: Incarnation?) -> [String] {
        var warnings: [String] = []
        if let incarnation {
            let why = "the driver or an offload may not count it, or traffic goes one way only"
            if incarnation.isReceiveStill(at: at) {
                warnings.append("received bytes have not moved for 20 minutes while sent bytes did: \(why)")
            }
            if incarnation.isTransmitStill(at: at) {
                warnings.append("sent bytes have not moved for 20 minutes while received bytes did: \(why)")
            }
            if source == .getifaddrs {
                warnings.append("counters have 32 bits here: each 4 GiB between two readings may go unseen")
            } else if source == .procfs, incarnation.link.identity.inode == nil {
                warnings.append("a link that is replaced between two readings may go unseen with this source")
            }
        }
        if account.suspect > 0 {
            warnings.append("readings set aside because no link is that fast: \(account.suspect)")
        }
        if account.rx.bytes.value == LowerBound.most || account.tx.bytes.value == LowerBound.most {
            warnings.append("a total has reached the largest number there is")
        }
        return warnings
    }
}

extension Counter {
    init(_ counters: Counters) {
        self.init(
            rxBytes: Int(clamping: counters.rxBytes),
            txBytes: Int(clamping: counters.txBytes),
            rxPackets: Int(clamping: counters.rxPackets),
            txPackets: Int(clamping: counters.txPackets),
            rxErrors: Int(clamping: counters.rxErrors),
            txErrors: Int(clamping: counters.txErrors),
            rxDropped: Int(clamping: counters.rxDropped),
            txDropped: Int(clamping: counters.txDropped)
        )
    }
}

extension Rate {
    init(_ rate: MeasuredRate) {
        self.init(
            rxBytesPerSecond: Int(clamping: rate.rxPerSecond),
            txBytesPerSecond: Int(clamping: rate.txPerSecond),
            overUSec: Int(clamping: rate.over)
        )
    }
}
