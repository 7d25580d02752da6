internal import CLinkStats
internal import Ledger
internal import SystemCalls

/// rtnetlink(7): events on one socket, dumps on another.
///
/// Their order is made, since the kernel makes none between two sockets: events are subscribed to before the first dump;
/// those that wait are taken before a dump and again after it; and rows of links that an event of the second kind
/// speaks of are left out, for nothing tells on which side of the event they were read.
final class NetlinkSource: ScanSource {
    let source = Source.netlink
    /// How often events were lost since the beginning: the socket's buffer was full (netlink(7), ENOBUFS).
    private(set) var overruns = 0
    var eventDescriptor: Int32? { events.number }

    private let events: Descriptor
    private let dumps: Descriptor
    private let dumpPort: UInt32
    private var sequence: UInt32 = 0
    private var sysfs = Sysfs()
    /// Whether the links have to be listed anew: at the beginning, and after events were lost.
    private var needsRoll = true
    /// Whether events were lost since the links were listed.
    private var hasLost = false
    private var buffer = [UInt8](repeating: 0, count: 65536)
    private var rows = [ifc_row](repeating: ifc_row(), count: 256)

    /// How often a dump that was interrupted is asked for again.
    private static let attempts = 4
    /// How many datagrams of events are taken at once, so that a storm cannot keep a look from its end.
    private static let mostDatagrams = 20_000

    /// - Parameter eventRoom: what room to ask for events that wait, in bytes.
    /// - Throws: `ReadError` when a socket cannot be had.
    init(eventRoom: Int32) throws(ReadError) {
        do {
            var port: UInt32 = 0
            events = Descriptor(owning: try checked(unsafe ifc_rtnl_open(true, &port)))
            _ = ifc_rtnl_set_receive_buffer(events.number, eventRoom)
            dumps = Descriptor(owning: try checked(unsafe ifc_rtnl_open(false, &port)))
            dumpPort = port
        } catch {
            throw ReadError(.netlink, "open a socket", error)
        }
    }

    func waiting() throws(ReadError) -> Scan? {
        guard !needsRoll else { return try scan() }
        var scan = Scan(at: Clock.boot)
        _ = try drain(into: &scan.records)
        scan.at = Clock.boot
        if needsRoll { return try self.scan(after: scan.records) }
        return scan.records.isEmpty ? nil : scan
    }

    func scan() throws(ReadError) -> Scan { try scan(after: []) }

    private func scan(after earlier: [Scan.Record]) throws(ReadError) -> Scan {
        var scan = Scan(at: Clock.boot)
        scan.records = earlier
        _ = try drain(into: &scan.records)
        if !needsRoll {
            let count = try dumpStatistics()
            scan.at = Clock.boot
            let changed = try drain(into: &scan.records)
            if !needsRoll {
                scan.samples.reserveCapacity(count)
                for row in rows[..<count] where !changed.contains(row.ifindex) {
                    scan.samples.append((row.ifindex, Scan.Sample(Counters(row.counters))))
                }
                return scan
            }
        }
        try roll(into: &scan)
        return scan
    }

    // MARK: - The roll of all links

    /// Lists all links, with their counters.
    private func roll(into scan: inout Scan) throws(ReadError) {
        guard let listed = try dumpLinks() else { return }
        scan.at = Clock.boot
        sysfs.establish(listed.compactMap { link in link.linkName.map { ($0, link.ifindex) } })
        let links = listed.compactMap { link in
            link.link(link.linkName.flatMap { sysfs.entry($0, link.ifindex) })
        }
        needsRoll = false
        hasLost = false
        var later: [Scan.Record] = []
        let changed = try drain(into: &later)
        scan.hasLostEvents = true
        scan.records.append(.roll(links, uncertain: changed))
        scan.records.append(contentsOf: later)
        for link in listed where !changed.contains(link.ifindex) {
            if let sample = link.sample { scan.samples.append((link.ifindex, sample)) }
        }
    }

    /// All links; nil when they changed during each attempt, so that no list can be believed.
    private func dumpLinks() throws(ReadError) -> [ifc_link]? {
        for _ in 0..<Self.attempts {
            var links: [ifc_link] = []
            var interrupted = false
            try unsafe dump("list the links", request: ifc_rtnl_request_links) { (datagram, sequence) in
                var message = ifc_message()
                while unsafe ifc_next_message(&datagram, &message) == 1 {
                    guard message.sequence == sequence, message.port == self.dumpPort else { continue }
                    interrupted = interrupted || message.interrupted
                    switch message.type {
                    case IFC_MESSAGE_NEW_LINK: links.append(message.link)
                    case IFC_MESSAGE_DONE: return .done(message.error)
                    case IFC_MESSAGE_ERROR: return .done(message.error)
                    default: break
                    }
                }
                return .more
            }
            if !interrupted { return links }
        }
        return nil
    }

    // MARK: - The sample

    /// Dumps all statistics into `rows`.
    ///
    /// - Returns: how many rows there are. A dump that was interrupted each time is taken as it is: each row is right by
    ///   itself, and what is missing comes with the next.
    private func dumpStatistics() throws(ReadError) -> Int {
        var state = ifc_dump()
        for _ in 0..<Self.attempts {
            state = ifc_dump()
            try unsafe dump("read the counters", request: ifc_rtnl_request_stats) { (datagram, sequence) in
                let needed = unsafe state.rows + datagram.length / 28
                if needed > self.rows.count {
                    self.rows.append(contentsOf: repeatElement(ifc_row(), count: needed - self.rows.count))
                }
                let room = self.rows.count
                let result = unsafe ifc_decode_stats(
                    datagram.bytes,
                    datagram.length,
                    sequence,
                    self.dumpPort,
                    &self.rows,
                    room,
                    &state
                )
                if result < 0 { return .done(result) }
                return state.done || state.error != 0 ? .done(state.error) : .more
            }
            if !state.interrupted { break }
        }
        return state.rows
    }

    /// How a dump goes on after a datagram.
    private enum Progress {
        case more
        /// It is complete, with the kernel's result: 0 or −errno.
        case done(Int32)
    }

    /// Asks for a dump and hands each datagram of the answer on.
    private func dump(
        _ doing: String,
        request: (Int32, UInt32) -> Int32,
        _ take: (inout ifc_datagram, UInt32) -> Progress
    ) throws(ReadError) {
        sequence &+= 1
        do {
            try checked(request(dumps.number, sequence))
            while true {
                let length = try checked(unsafe ifc_rtnl_receive(dumps.number, &buffer, buffer.count))
                let progress = unsafe buffer.withUnsafeBufferPointer { bytes -> Progress in
                    guard let base = bytes.baseAddress else { return .more }
                    var datagram = unsafe ifc_datagram(bytes: base, length: length, offset: 0)
                    return unsafe take(&datagram, sequence)
                }
                if case .done(let result) = progress {
                    try checked(result)
                    return
                }
            }
        } catch {
            throw ReadError(.netlink, doing, error == .wouldBlock ? .timedOut : error)
        }
    }

    // MARK: - Events

    /// Takes all events that wait.
    ///
    /// - Returns: the links they speak of.
    private func drain(into records: inout [Scan.Record]) throws(ReadError) -> Set<Int32> {
        var changed: Set<Int32> = []
        for _ in 0..<Self.mostDatagrams {
            let length: Int
            do {
                length = try checked(unsafe ifc_rtnl_receive(events.number, &buffer, buffer.count))
            } catch {
                switch error {
                case .wouldBlock: return changed
                case .noBufferSpace, .messageTooLong: lose()
                case .protocolError: break
                default: throw ReadError(.netlink, "receive link events", error)
                }
                continue
            }
            unsafe buffer.withUnsafeBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return }
                var datagram = unsafe ifc_datagram(bytes: base, length: length, offset: 0)
                unsafe take(&datagram, into: &records, &changed)
            }
        }
        // More than a look can take: what is left is taken next time, and the links are listed anew.
        lose()
        return changed
    }

    /// Notes that events were lost.
    private func lose() {
        overruns += 1
        needsRoll = true
        hasLost = true
    }

    private func take(_ datagram: inout ifc_datagram, into records: inout [Scan.Record], _ changed: inout Set<Int32>) {
        var message = ifc_message()
        while true {
            let result = unsafe ifc_next_message(&datagram, &message)
            if result == 0 { return }
            if result < 0 { return lose() }
            let link = message.link
            switch message.type {
            case IFC_MESSAGE_NEW_LINK:
                changed.insert(link.ifindex)
                // A link that is new may have been replaced since by one of the same number, whose messages are lost; /sys
                // would tell of that one. The list to come tells what is there.
                if hasLost, sysfs.isTrusted, !sysfs.knows(link.ifindex) { continue }
                let entry = link.linkName.flatMap { sysfs.entry($0, link.ifindex) }
                guard let told = link.link(entry) else { continue }
                records.append(.link(told, link.sample))
            case IFC_MESSAGE_DEL_LINK:
                sysfs.forget(link.ifindex)
                guard let told = link.link(nil) else { continue }
                records.append(.gone(told, closing: link.sample, departed: link.leaves_namespace))
                changed.insert(link.ifindex)
            case IFC_MESSAGE_OVERRUN, IFC_MESSAGE_MALFORMED:
                lose()
            default:
                break
            }
        }
    }
}
