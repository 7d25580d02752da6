/// What one new value of a counter means, given the last good one of the same incarnation.
///
/// This is the place where a reset is told from a wrap, and a bad reading from both. Identity has been decided before:
/// a new link never comes here with the old link's values.
package enum CounterRules {
    /// What to do with a value.
    package enum Verdict: Hashable, Sendable {
        /// Add these bytes; the value, lifted to 64 bits, is the new high-water mark.
        case count(UInt64, mark: UInt64)
        /// A small step back: wait at the high-water mark until it is passed.
        case hold
        /// A drop that may be a bad reading or a reset: the next value decides.
        case wait
        /// The counter began again, and the value is what it counted since.
        case reset(UInt64)
        /// No link is that fast: put the value aside, and count from the last good one later.
        case setAside
    }

    /// No link moves more than this many bytes in a second. A link's claimed speed is not asked: tun devices invent theirs.
    package static let mostBytesPerSecond: UInt64 = 1 << 40

    /// A step back of less than this many bytes, and of less than a tenth, is a counter's jitter and no reset.
    package static let smallStep: UInt64 = 1 << 20

    /// Judges a value.
    ///
    /// - Parameters:
    ///   - value: the counter as it was read.
    ///   - width: how wide the counter is at its source.
    ///   - track: the last good value and what is open about it.
    ///   - at: when the value was read, on CLOCK_BOOTTIME in µs.
    ///   - disturbed: whether the link went down or up since the last good value.
    /// - Returns: what to do with it.
    package static func judge(
        _ value: UInt64,
        width: CounterWidth,
        after track: Track,
        at: UInt64,
        disturbed: Bool
    ) -> Verdict {
        let elapsed = at.elapsed(since: track.at)
        let lifted = lift(value, width, onto: track.mark)
        if lifted >= track.mark { return judgeRise(to: lifted, after: track, elapsed: elapsed) }

        let drop = track.mark - lifted
        if drop < smallStep && drop * 10 < track.mark { return .hold }
        if disturbed || track.isUndecided {
            return isPlausible(value, in: elapsed) ? .reset(value) : .setAside
        }
        // A wrap that ends at exactly 0 is one in four thousand millions; a driver that answers 0 is not rare.
        let (wrapped, overflow) = lifted.addingReportingOverflow(1 << 32)
        guard width == .bits32, value != 0, !overflow else { return .wait }
        return judgeRise(to: wrapped, after: track, elapsed: elapsed)
    }

    private static func judgeRise(to value: UInt64, after track: Track, elapsed: UInt64) -> Verdict {
        if let ghost = track.ghost, isReturn(to: value, over: ghost, from: track.mark) {
            // What was counted since the supposed reset was bad readings, or is part of the rise: counted once, at most.
            let sinceGhost = value - ghost
            let more = sinceGhost > track.countedSinceReset ? sinceGhost - track.countedSinceReset : 0
            return .count(more, mark: value)
        }
        let rise = value - track.mark
        return isPlausible(rise, in: elapsed) ? .count(rise, mark: value) : .setAside
    }

    /// Whether one step leads from a supposed reset back over the mark that was given up for it: then the "reset" was a run
    /// of bad readings. It can be told when nothing but zeros were read since, or when the step ends just above the mark.
    private static func isReturn(to value: UInt64, over ghost: UInt64, from mark: UInt64) -> Bool {
        guard mark < ghost, value >= ghost else { return false }
        return mark == 0 || (value - mark >= ghost / 2 && value - ghost <= ghost / 8)
    }

    /// Whether a link can have moved this many bytes in the time. Less than a second counts as one: clocks of events and
    /// readings are not that exact.
    private static func isPlausible(_ bytes: UInt64, in elapsed: UInt64) -> Bool {
        UInt128(bytes) * 1_000_000 <= UInt128(mostBytesPerSecond) * UInt128(max(elapsed, 1_000_000))
    }

    /// The 64-bit value that a 32-bit reading stands for, without a wrap: in the same 4 GiB as the mark, or just below
    /// when it is a small step back over that edge.
    private static func lift(_ value: UInt64, _ width: CounterWidth, onto mark: UInt64) -> UInt64 {
        guard width == .bits32 else { return value }
        let edge: UInt64 = 1 << 32
        let base = mark & ~(edge - 1)
        let lifted = base | (value & (edge - 1))
        if base > 0 && lifted > mark && lifted - mark > edge - smallStep { return lifted - edge }
        return lifted
    }
}

/// One direction of one incarnation: the last good value of its counter, and what is open about it.
package struct Track: Hashable, Sendable, Codable {
    /// The last good value: the high-water mark, 64 bits wide also where the source is not.
    package var mark: UInt64
    /// When it was good, on CLOCK_BOOTTIME in µs.
    package var at: UInt64
    /// The packets that belong to the mark.
    package var packets: UInt64
    /// A drop was seen, and the next value decides what it was.
    package var isUndecided = false
    /// The mark that was given up at the last reset in place, for as long as the counter has not grown past it.
    package var ghost: UInt64?
    /// What was counted since that reset.
    package var countedSinceReset: UInt64 = 0
    /// Since when the other direction has moved while this one has not.
    package var stillSince: UInt64?

    package init(mark: UInt64, packets: UInt64, at: UInt64) {
        self.mark = mark
        self.packets = packets
        self.at = at
    }

    /// Takes a verdict's consequence for the track.
    ///
    /// - Returns: the packets to count.
    mutating func follow(_ verdict: CounterRules.Verdict, packets: UInt64, width: CounterWidth, at: UInt64) -> UInt64 {
        switch verdict {
        case .count(let bytes, let mark):
            self.mark = mark
            self.at = at
            isUndecided = false
            if let ghost {
                countedSinceReset = countedSinceReset.addingReportingOverflow(bytes).partialValue
                if mark >= ghost { self.ghost = nil }
            }
            defer { self.packets = packets }
            if packets >= self.packets { return packets - self.packets }
            // Packet counters of 32 bits wrap too, in their own time; a lower value elsewhere is worth no guess.
            return width == .bits32 && bytes > 0 ? (packets &- self.packets) & 0xFFFF_FFFF : 0
        case .reset(let value):
            ghost = mark
            mark = value
            countedSinceReset = value
            self.at = at
            self.packets = packets
            isUndecided = false
            return packets
        case .hold:
            isUndecided = false
            return 0
        case .wait:
            isUndecided = true
            return 0
        case .setAside:
            return 0
        }
    }
}

extension UInt64 {
    /// How much later this moment is than another; 0 when it is not: no arithmetic may trap, and clocks may stand still.
    func elapsed(since earlier: UInt64) -> UInt64 { self > earlier ? self - earlier : 0 }
}
