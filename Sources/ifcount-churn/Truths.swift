internal import TestLinks

/// What truly went through the links of one name, and what a daemon may have missed of it.
struct Truth {
    /// One direction's doubts.
    struct Doubt {
        /// Since the last comparison, something happened that nobody can have seen: less may be counted than was.
        var mayMiss = false
        /// At some time there was a reason to give the upper bound up.
        var mayBeOpen = false
        /// How much less than the truth was counted at the last comparison, in bytes.
        var short: UInt64 = 0
        /// The truth, and what was counted, at the last comparison.
        var before: (truth: UInt64, counted: UInt64) = (0, 0)
        /// What went through between comparisons while all of it could be seen, and what was counted of it.
        var seen: (truth: UInt64, counted: UInt64) = (0, 0)

        /// Notes a comparison.
        mutating func note(truth: UInt64, counted: UInt64, mayRegain: Bool) {
            if !mayMiss, !mayRegain, counted >= before.counted {
                seen.truth += truth - before.truth
                seen.counted += counted - before.counted
            }
            before = (truth, counted)
        }
    }

    var carried = Carried()
    /// What was carried before the daemon can have known of the name: it may be counted or not.
    var unknown = Carried()
    /// Whether the daemon must know the name.
    var isKnown = false
    /// Whether it must know the name also after a kill.
    var isKnownOnDisk = false
    var rx = Doubt()
    var tx = Doubt()
    /// A link that had left came back since the last comparison: bytes from before it left unseen may be counted now.
    var mayRegain = false
    /// The total that was answered last, as far as the daemon cannot have lost it in a kill.
    var floor = Carried()
    /// The total at the last moment when all of it was on disk.
    var saved = Carried()
}

/// The truth by name, and what the daemon could not see.
struct Truths {
    private(set) var names: [String: Truth] = [:]
    /// Names whose link was another, or none, at some moment since the last comparison.
    private(set) var changed: Set<String> = []
    /// The same since the daemon has surely saved what it knew.
    private(set) var unsaved: Set<String> = []
    /// Whether the daemon may miss what happens to links now: it is away, or its events overrun.
    private(set) var isBlind = false

    subscript(name: String) -> Truth {
        get { names[name] ?? Truth() }
        set { names[name] = newValue }
    }

    /// What went through all names.
    var total: Carried { names.values.reduce(into: Carried()) { $0 += $1.carried } }

    /// What went through all names while all of it could be seen, and what was counted of it.
    var seen: (truth: Carried, counted: Carried) {
        names.values.reduce(into: (Carried(), Carried())) {
            $0.0 += Carried(rx: $1.rx.seen.truth, tx: $1.tx.seen.truth)
            $0.1 += Carried(rx: $1.rx.seen.counted, tx: $1.tx.seen.counted)
        }
    }

    /// Notes bytes that went through a link of this name.
    mutating func add(_ bytes: Carried, to name: String) {
        self[name].carried += bytes
        if !self[name].isKnown { self[name].unknown += bytes }
    }

    /// Notes that the name has another link now, or none, or had.
    mutating func noteChange(of name: String) {
        changed.insert(name)
        unsaved.insert(name)
        if isBlind { excuse(name) } else { self[name].isKnown = true }
    }

    /// Notes that a link of the name has come back from where it was.
    mutating func noteReturn(of name: String) { self[name].mayRegain = true }

    /// Notes that a veth of this name has ended: what it received last is told by nobody.
    mutating func noteVethEnd(of name: String) {
        self[name].rx.mayMiss = true
        self[name].rx.mayBeOpen = true
    }

    // MARK: - What cannot be seen

    /// The daemon sees nothing from now on, and knows of before what is on disk.
    ///
    /// - Parameter isSaved: it has ended in order, and saved all it knew.
    mutating func beginAbsence(isSaved: Bool) {
        if isSaved {
            noteSaved()
        } else {
            unsaved.forEach { excuse($0) }
            for name in names.keys {
                self[name].floor = self[name].saved
                if self[name].isKnownOnDisk { continue }
                self[name].isKnown = false
                self[name].unknown = self[name].carried
            }
        }
        isBlind = true
    }

    /// Events are lost from now on, until all is compared again.
    mutating func beginOverrun() { isBlind = true }

    /// The daemon sees again. What is absent now may have been there meanwhile, for all it knows.
    ///
    /// - Parameter present: the names that have a link here.
    mutating func endBlindness(present: Set<String>) {
        guard isBlind else { return }
        isBlind = false
        for name in present { self[name].isKnown = true }
        for name in names.keys where !present.contains(name) {
            self[name].rx.mayBeOpen = true
            self[name].tx.mayBeOpen = true
        }
    }

    private mutating func excuse(_ name: String) {
        self[name].rx.mayMiss = true
        self[name].tx.mayMiss = true
        self[name].rx.mayBeOpen = true
        self[name].tx.mayBeOpen = true
    }

    // MARK: - After a comparison

    /// All was compared: what happens next has to be seen.
    mutating func settle() {
        changed = []
        for name in names.keys {
            self[name].rx.mayMiss = false
            self[name].tx.mayMiss = false
            self[name].mayRegain = false
        }
    }

    /// All that the daemon knew is on disk.
    mutating func noteSaved() {
        unsaved = []
        for name in names.keys {
            self[name].saved = self[name].floor
            self[name].isKnownOnDisk = self[name].isKnown
        }
    }
}
