import Ledger
import TestLinks

/// A kernel of the imagination, with links whose every byte is known.
///
/// It does what kernels, drivers and people do to links, tells it in the messages that a source would bring, and keeps the
/// truth by name. What a ledger makes of the messages can be held against the truth.
struct World {
    /// How much of what happens is told.
    enum Source: String, CaseIterable, Sendable {
        /// Every creation and deletion has its message.
        case events
        /// Only lists of links; each creation can be told from the one before.
        case lists
        /// Only lists of links; a link that replaces another under the same number looks the same.
        case blindLists
    }

    /// A link that exists, here or in another namespace.
    struct Device {
        var link: Link
        var inode: UInt64
        /// The names it had since the last look: of one that has come back to one of them unseen, nothing tells.
        var names: Set<LinkName> = []
        /// Made since the last look: one that is found counts in full, under the name that it is found with.
        var isNew = true
        var rx: UInt64 = 0
        var tx: UInt64 = 0
    }

    /// The bytes that truly went through, by direction.
    struct Truth: Equatable {
        var rx: UInt64 = 0
        var tx: UInt64 = 0
    }

    let source: Source
    private(set) var truth: [LinkName: Truth] = [:]
    /// Names whose counters lied in the last look: their totals are of the look before.
    private(set) var lied: Set<LinkName> = []
    private var random: SplitMix64
    private var here: [Device] = []
    private var away: [Device] = []
    private var records: [Scan.Record] = []
    private var nextIndex: Int32 = 1
    private var nextInode: UInt64 = 1000
    private(set) var now: UInt64 = 1_000_000
    private(set) var boot = 1
    /// Events that came since the last look were lost.
    private var isOverrun = false
    private var isUnseen = false
    /// Something happened that has to be told.
    private var isFaithful = false
    private var isQuiet = false
    private var isFirst = true

    private static let names = ["utun0", "utun1", "eth0", "wg0"].compactMap { LinkName(escaped: $0) }
    private static let kinds = ["tun", "wireguard", "veth", "ethernet"]

    init(seed: UInt64, source: Source) {
        self.source = source
        random = SplitMix64(seed: seed)
        create(Self.names[0], kind: "tun")
        if random.chance(2) { create(Self.names[2], kind: "ethernet") }
        move(10)
    }

    var session: Session { Session(boot: "\(boot)", namespace: "n") }

    /// The clock of a reboot begins anew.
    mutating func reboot() {
        boot += 1
        now = 5_000_000
        here = []
        away = []
        records = []
        for name in Self.names where random.chance(2) { create(name, kind: random.pick(Self.kinds)) }
        records = []
        move(3)
    }

    /// The daemon is not there while things happen: nothing of them is told.
    mutating func goOnUnseen() {
        isUnseen = true
        for _ in 0..<random.below(6) { happen() }
        isUnseen = false
        records = []
    }

    /// Lets some things happen, and takes a look.
    mutating func look(isRestart: Bool = false) -> Scan {
        isUnseen = isRestart
        for _ in 0..<random.below(5) { happen() }
        isUnseen = false
        now += 100_000 + random.below(3_000_000)
        var scan = Scan(at: now, witnessed: source == .events)
        let needsRoll = source != .events || isFirst || isOverrun || isRestart
        if source == .events && !isOverrun { scan.records = records }
        if isRestart || isFirst { scan.records = [] }
        scan.hasLostEvents = isOverrun
        if needsRoll { scan.records.append(.roll(here.map(told), uncertain: [])) }
        lied = []
        for device in here {
            scan.samples.append((device.link.identity.ifindex, Scan.Sample(reading(of: device))))
        }
        records = []
        for index in here.indices {
            here[index].names = []
            here[index].isNew = false
        }
        isOverrun = false
        isFaithful = false
        isQuiet = false
        isFirst = false
        return scan
    }

    // MARK: - What happens

    private mutating func happen() {
        if isQuiet { return }
        now += random.below(200_000)
        switch random.below(16) {
        case 0, 1: if let device = here.indices.randomElement(using: &random) { delete(device) }
        case 2, 3:
            if let name = Self.names.filter(isFree).randomElement(using: &random) {
                create(name, kind: random.pick(Self.kinds))
            }
        case 4:
            if let device = here.indices.randomElement(using: &random) {
                let (name, kind) = (here[device].link.name, here[device].link.kind)
                delete(device)
                create(name, kind: kind)
                move(2)
            }
        case 5: rename()
        case 6: depart()
        case 7: comeBack()
        case 8: resetInPlace()
        case 9 where source == .events && !isFaithful: isOverrun = true
        default: move(3)
        }
    }

    private func isFree(_ name: LinkName) -> Bool { !here.contains { $0.link.name == name } }

    private mutating func create(_ name: LinkName, kind: String) {
        // An index can be asked for, so it can come again.
        let reused = random.chance(6) && nextIndex > 1 ? Int32(1 + random.below(UInt64(nextIndex - 1))) : nextIndex
        let index = here.contains { $0.link.identity.ifindex == reused } ? nextIndex : reused
        nextIndex = max(nextIndex, index) + 1
        nextInode += 1
        let identity = LinkIdentity(ifindex: index)
        let link = Link(identity: identity, name: name, kind: kind, state: .up)
        let device = Device(link: link, inode: nextInode)
        here.append(device)
        if truth[name] == nil { truth[name] = Truth() }
        records.append(.link(told(device), Scan.Sample(Counters())))
    }

    private mutating func delete(_ index: Int) {
        let device = here.remove(at: index)
        var counters = self.counters(of: device)
        if device.link.kind == "veth" { counters.rxBytes = 0 }
        records.append(.gone(device.link, closing: Scan.Sample(counters), departed: false))
    }

    private mutating func move(_ times: Int) {
        for _ in 0..<times {
            guard let index = here.indices.randomElement(using: &random) else { return }
            let size = random.chance(8) ? random.below(1 << 32) : random.below(100_000)
            let rx = random.chance(3) ? 0 : size
            let tx = random.chance(3) ? 0 : size / 7
            here[index].rx += rx
            here[index].tx += tx
            truth[here[index].link.name, default: Truth()].rx += rx
            truth[here[index].link.name, default: Truth()].tx += tx
        }
    }

    private mutating func rename() {
        guard let index = here.indices.randomElement(using: &random),
            let name = Self.names.filter(isFree).randomElement(using: &random), !here[index].names.contains(name)
        else { return }
        if here[index].isNew {
            guard source == .events, !isUnseen, !isOverrun else { return }
            isFaithful = true
        }
        here[index].names.formUnion([here[index].link.name, name])
        here[index].link.name = name
        if truth[name] == nil { truth[name] = Truth() }
        records.append(.link(told(here[index]), Scan.Sample(counters(of: here[index]))))
    }

    private mutating func depart() {
        // Without events, a link that has gone away and comes back later looks as if it had never been away.
        // The same is true of one whose going was not told.
        guard source == .events, !isUnseen, !isOverrun, let index = here.indices.randomElement(using: &random)
        else { return }
        isFaithful = true
        let device = here.remove(at: index)
        away.append(device)
        records.append(.gone(device.link, closing: Scan.Sample(counters(of: device)), departed: true))
    }

    private mutating func comeBack() {
        guard let index = away.indices.randomElement(using: &random) else { return }
        let device = away[index]
        let isTaken = here.contains { $0.link.identity.ifindex == device.link.identity.ifindex }
        guard isFree(device.link.name), !isTaken else { return }
        away.remove(at: index)
        here.append(device)
        records.append(.link(told(device), Scan.Sample(counters(of: device))))
    }

    /// A driver begins its counters anew, the interface going down and up on the way.
    private mutating func resetInPlace() {
        guard source == .events, let index = here.indices.randomElement(using: &random), here[index].rx > 10_000_000,
            here[index].tx > 10_000_000
        else { return }
        var down = told(here[index])
        down.state = .down
        records.append(.link(down, Scan.Sample(counters(of: here[index]))))
        here[index].rx = random.below(1000)
        here[index].tx = random.below(1000)
        truth[here[index].link.name, default: Truth()].rx += here[index].rx
        truth[here[index].link.name, default: Truth()].tx += here[index].tx
        records.append(.link(told(here[index]), nil))
        // A counter that began anew and is past its old value by the next look cannot be told from one that went on.
        isQuiet = true
    }

    // MARK: - What is told

    /// A link as the source shows it: with what tells its creations apart, where the source has that.
    private func told(_ device: Device) -> Link {
        var link = device.link
        if source != .blindLists { link.identity.inode = device.inode }
        return link
    }

    private func counters(of device: Device) -> Counters {
        var counters = Counters()
        counters.rxBytes = device.rx
        counters.txBytes = device.tx
        return counters
    }

    /// What the counters say, which is not always true.
    private mutating func reading(of device: Device) -> Counters {
        var counters = self.counters(of: device)
        // A lie at the very first look, or the first after a rename, is what counting begins from: nothing could tell.
        guard !isFirst, device.names.isEmpty, device.rx > 10_000_000, random.chance(12) else { return counters }
        lied.insert(device.link.name)
        switch random.below(3) {
        case 0:
            counters.rxBytes = 0
            counters.txBytes = 0
        case 1: counters.rxBytes -= random.below(100_000)
        default: counters.rxBytes = .max - random.below(1000)
        }
        return counters
    }
}

extension SplitMix64 {
    fileprivate mutating func below(_ bound: UInt64) -> UInt64 { bound == 0 ? 0 : next() % bound }
    /// True one time in so many.
    fileprivate mutating func chance(_ oneIn: UInt64) -> Bool { below(oneIn) == 0 }
    fileprivate mutating func pick(_ values: [String]) -> String { values[Int(below(UInt64(values.count)))] }
}
