/// What nearly every look changes of an account or a link. It is saved by itself; the rest changes seldom.
package struct Counts: Hashable, Sendable {
    package var rxBytes: UInt64
    package var txBytes: UInt64
    package var rxPackets: UInt64
    package var txPackets: UInt64

    package init(rxBytes: UInt64, txBytes: UInt64, rxPackets: UInt64, txPackets: UInt64) {
        self.rxBytes = rxBytes
        self.txBytes = txBytes
        self.rxPackets = rxPackets
        self.txPackets = txPackets
    }

    fileprivate static let none = Counts(rxBytes: 0, txBytes: 0, rxPackets: 0, txPackets: 0)
}

extension Account {
    /// The totals.
    package var counts: Counts {
        get {
            Counts(
                rxBytes: rx.bytes.value,
                txBytes: tx.bytes.value,
                rxPackets: rx.packets.value,
                txPackets: tx.packets.value
            )
        }
        set {
            rx.bytes = LowerBound(newValue.rxBytes)
            tx.bytes = LowerBound(newValue.txBytes)
            rx.packets = LowerBound(newValue.rxPackets)
            tx.packets = LowerBound(newValue.txPackets)
        }
    }

    /// The account without its counts, and without what each look changes and a later one makes good: if nothing else has
    /// changed, there is nothing else to save.
    package var settled: Account {
        var settled = self
        settled.counts = .none
        settled.rest(at: 0)
        settled.asOf = 0
        return settled
    }
}

extension Incarnation {
    /// The values that counting goes on from.
    package var counts: Counts {
        get { Counts(rxBytes: rx.mark, txBytes: tx.mark, rxPackets: rx.packets, txPackets: tx.packets) }
        set {
            rx.mark = newValue.rxBytes
            tx.mark = newValue.txBytes
            rx.packets = newValue.rxPackets
            tx.packets = newValue.txPackets
        }
    }

    /// The incarnation without its counts, and without what each look changes and a later one makes good.
    package var settled: Incarnation {
        var settled = self
        settled.counts = .none
        settled.rx.at = 0
        settled.tx.at = 0
        settled.raw = nil
        return settled
    }
}
