internal import CLinkStats
internal import Ledger
internal import SystemCalls

/// /proc/net/dev for the counters, getifaddrs(3) for who they belong to.
///
/// The file knows names only, and a name can be another link's a moment later. So the links are listed before it is read
/// and after; a link for which both do not agree is left out of this look.
final class ProcfsSource: ScanSource {
    let source = Source.procfs
    let overruns = 0
    let eventDescriptor: Int32? = nil
    private var sysfs = Sysfs()
    private var buffer: [UInt8] = []

    /// The calling thread's namespace, which need not be its process's.
    private static let path = "/proc/thread-self/net/dev"

    /// - Throws: `ReadError` when the file cannot be read.
    init() throws(ReadError) { _ = try table() }

    func waiting() throws(ReadError) -> Scan? { nil }

    func scan() throws(ReadError) -> Scan {
        let before = try? interfaceAddresses()
        let table = try self.table()
        let at = Clock.boot
        var scan = Scan(at: at, witnessed: false)
        var uncertain: Set<Int32> = []
        var links: [ifc_link] = []
        if let before, let after = try? interfaceAddresses() {
            let numbers = Dictionary(before.compactMap { link in link.linkName.map { ($0, link.ifindex) } }) { $1 }
            for link in after {
                guard let name = link.linkName, numbers[name] == link.ifindex else {
                    uncertain.insert(link.ifindex)
                    continue
                }
                links.append(link)
            }
            uncertain.formUnion(Set(numbers.values).subtracting(after.map(\.ifindex)))
        } else {
            // Where sockets of netlink's family are refused, getifaddrs is too; the older way asks for each name.
            for row in table.rows {
                var link = ifc_link()
                let name = row.name.bytes
                if unsafe ifc_link_by_name(name, name.count, &link) == 0 { links.append(link) }
            }
        }
        let counters = Dictionary(table.rows.map { ($0.name, $0.counters) }) { $1 }
        var present: [Link] = []
        for link in sysfs.identify(links) {
            guard let counters = counters[link.name] else {
                // Not in the file: it came or went while it was read.
                uncertain.insert(link.identity.ifindex)
                continue
            }
            present.append(link)
            scan.samples.append((link.identity.ifindex, Scan.Sample(counters)))
        }
        scan.records = [.roll(present, uncertain: uncertain)]
        return scan
    }

    private func table() throws(ReadError) -> ProcNetDev {
        let length: Int
        do {
            length = try File.read(Self.path, into: &buffer)
        } catch {
            throw ReadError(.procfs, "read \(Self.path)", error)
        }
        do {
            return try ProcNetDev.parse(buffer[..<length])
        } catch {
            throw ReadError(.procfs, "use \(Self.path) (\(error))", .noData)
        }
    }
}

/// getifaddrs(3) alone: counters of 32 bits.
final class GetifaddrsSource: ScanSource {
    let source = Source.getifaddrs
    let overruns = 0
    let eventDescriptor: Int32? = nil
    private var sysfs = Sysfs()

    /// - Throws: `ReadError` when the links cannot be listed.
    init() throws(ReadError) { _ = try listed() }

    func waiting() throws(ReadError) -> Scan? { nil }

    func scan() throws(ReadError) -> Scan {
        let links = try listed()
        var scan = Scan(at: Clock.boot, witnessed: false)
        scan.records = [.roll(sysfs.identify(links), uncertain: [])]
        for link in links {
            if let sample = link.sample { scan.samples.append((link.ifindex, sample)) }
        }
        return scan
    }

    private func listed() throws(ReadError) -> [ifc_link] {
        do {
            return try interfaceAddresses()
        } catch {
            throw ReadError(.getifaddrs, "list the links", error)
        }
    }
}

/// Each link's entry of getifaddrs(3).
///
/// - Throws: the call's `Errno`.
private func interfaceAddresses() throws(Errno) -> [ifc_link] {
    var links = [ifc_link](repeating: ifc_link(), count: 64)
    while true {
        let room = links.count
        let count = Int(try checked(unsafe ifc_getifaddrs(&links, room)))
        if count <= room { return Array(links.prefix(count)) }
        links.append(contentsOf: repeatElement(ifc_link(), count: count - room + 16))
    }
}

extension Sysfs {
    /// Adds what /sys knows to links that no message told of: each is looked at anew, for it may have been replaced.
    fileprivate mutating func identify(_ links: [ifc_link]) -> [Link] {
        if isTrusted {
            forgetAll()
        } else {
            establish(links.compactMap { link in link.linkName.map { ($0, link.ifindex) } })
        }
        return links.compactMap { link in link.link(link.linkName.flatMap { entry($0, link.ifindex) }) }
    }
}
