internal import TestLinks
internal import Wire

/// What a daemon must not say of a name, given the truth.
enum Violation: Hashable, CustomStringConvertible {
    enum Direction: String {
        case rx = "received"
        case tx = "sent"
    }

    case invented(Direction, counted: UInt64, truth: UInt64)
    case boundTooLow(Direction, atMost: UInt64, truth: UInt64)
    case lost(Direction, short: UInt64, before: UInt64)
    case regained(Direction, short: UInt64, before: UInt64)
    case doubtsWithoutReason(Direction)
    case wentDown(Direction, from: UInt64, to: UInt64)
    case mislabelled(String)
    case suspected(Int)
    case unknown
    case historyDiffers(Direction, rows: Int, total: Int)

    var description: String {
        switch self {
        case .invented(let direction, let counted, let truth):
            "\(counted) bytes \(direction.rawValue) are counted, but only \(truth) were"
        case .boundTooLow(let direction, let most, let truth):
            "at most \(most) bytes were \(direction.rawValue), it says, but \(truth) were"
        case .lost(let direction, let short, let before):
            "\(short) bytes \(direction.rawValue) are missing, \(before) at the comparison before, and all was there to see"
        case .regained(let direction, let short, let before):
            "\(before) bytes \(direction.rawValue) were missing and are lost; now only \(short) are: others count twice"
        case .doubtsWithoutReason(let direction):
            "bytes \(direction.rawValue) have no upper bound, and nothing can be missing"
        case .wentDown(let direction, let from, let to): "bytes \(direction.rawValue) went from \(from) down to \(to)"
        case .mislabelled(let what): what
        case .suspected(let count): "\(count) readings are suspect, and none was odd"
        case .unknown: "it has seen this name, and knows it no more"
        case .historyDiffers(let direction, let rows, let total):
            "the quarter hours add up to \(rows) bytes \(direction.rawValue), the total is \(total)"
        }
    }
}

/// Holds what the daemon says against the truth.
enum Audit {
    /// What must hold at any moment: never more than the truth, and never less than before.
    /// The truth's floor is raised.
    static func follow(_ total: Total, _ truth: inout Truth) -> [Violation] {
        var found: [Violation] = []
        func follow(_ direction: Violation.Direction, _ bytes: Int, _ truth: UInt64, _ floor: inout UInt64) {
            let counted = UInt64(bytes)
            if counted > truth { found.append(.invented(direction, counted: counted, truth: truth)) }
            if counted < floor { found.append(.wentDown(direction, from: floor, to: counted)) }
            floor = counted
        }
        follow(.rx, total.rx.bytes, truth.carried.rx, &truth.floor.rx)
        follow(.tx, total.tx.bytes, truth.carried.tx, &truth.floor.tx)
        return found
    }

    /// What must hold besides once the daemon has seen the last byte.
    ///
    /// - Parameters:
    ///   - total: what it says; nil when it does not know the name.
    ///   - truth: its shortage is the present one then.
    /// - Returns: what does not hold.
    static func compare(_ total: Total?, _ truth: inout Truth) -> [Violation] {
        var found: [Violation] = []
        let mayRegain = truth.mayRegain
        func compare(
            _ direction: Violation.Direction,
            _ amount: Amount,
            _ truth: UInt64,
            unknown: UInt64,
            _ doubt: inout Truth.Doubt
        ) {
            let short = truth - min(truth, UInt64(amount.bytes))
            if let most = amount.atMost, UInt64(most) < truth - unknown {
                found.append(.boundTooLow(direction, atMost: UInt64(most), truth: truth))
            }
            if short > doubt.short, !doubt.mayMiss {
                found.append(.lost(direction, short: short, before: doubt.short))
            }
            if short < doubt.short, !mayRegain {
                found.append(.regained(direction, short: short, before: doubt.short))
            }
            if amount.atMost == nil, !doubt.mayBeOpen { found.append(.doubtsWithoutReason(direction)) }
            doubt.short = short
            doubt.note(truth: truth, counted: UInt64(amount.bytes), mayRegain: mayRegain)
        }
        let nothing = Amount(bytes: 0, atMost: truth.rx.mayBeOpen ? nil : 0, packets: 0)
        compare(.rx, total?.rx ?? nothing, truth.carried.rx, unknown: truth.unknown.rx, &truth.rx)
        compare(.tx, total?.tx ?? nothing, truth.carried.tx, unknown: truth.unknown.tx, &truth.tx)
        guard let total else {
            if truth.isKnown || truth.floor != Carried() { found.append(.unknown) }
            return found
        }
        let isClosed = total.rx.atMost == total.rx.bytes && total.tx.atMost == total.tx.bytes
        if isClosed != (total.quality == .continuous) {
            found.append(.mislabelled("it is called \(total.quality.rawValue), and its bounds say otherwise"))
        }
        if total.label != "estimate" { found.append(.mislabelled("it is called '\(total.label)', no estimate")) }
        if total.quality == .gapped, total.gaps == 0 { found.append(.mislabelled("it is gapped without a gap")) }
        if total.suspect > 0 { found.append(.suspected(total.suspect)) }
        return found
    }

    /// Whether the history says the same as the total.
    static func compare(_ history: GetHistory.Reply, with total: Total) -> [Violation] {
        var found: [Violation] = []
        let rx = history.rows.reduce(history.untimedRxBytes) { $0 + $1.rx.bytes }
        let tx = history.rows.reduce(history.untimedTxBytes) { $0 + $1.tx.bytes }
        if rx != total.rx.bytes { found.append(.historyDiffers(.rx, rows: rx, total: total.rx.bytes)) }
        if tx != total.tx.bytes { found.append(.historyDiffers(.tx, rows: tx, total: total.tx.bytes)) }
        return found
    }
}
