internal import Glibc
internal import Ledger
internal import SystemCalls

/// What /sys/class/net adds to the identity of links, where it can be believed (sysfs(5)).
///
/// /sys shows the network namespace of whoever mounted it, which need not be this process's, and nothing says which it is.
/// It is believed only when it lists just the links that the kernel listed, with the same numbers; and never when
/// loopback is all there is, for that is the same everywhere.
struct Sysfs {
    /// What a link's directory says.
    struct Entry: Hashable {
        /// Differs for each creation of a link, and stays over renames and moves.
        var inode: UInt64
        /// DEVTYPE of the uevent file (wlan, wwan, bridge …); nil where there is none.
        var deviceType: String?
    }

    private static let directory = "/sys/class/net"

    /// Whether /sys was seen to be of this namespace.
    private(set) var isTrusted = false
    private var entries: [Int32: Entry] = [:]

    /// Compares /sys with all links there are, and forgets what was known of links before.
    mutating func establish(_ links: [(name: LinkName, ifindex: Int32)]) {
        entries = [:]
        let known = Dictionary(links.map { ($0.name, $0.ifindex) }) { first, _ in first }
        isTrusted =
            known.count > 1 && Set(Self.names()) == Set(known.keys)
            && known.allSatisfy { Self.ifindex(of: $0.key) == $0.value }
    }

    /// What /sys says of a link; nil where it cannot be believed, or the link is gone or renamed by now.
    mutating func entry(_ name: LinkName, _ ifindex: Int32) -> Entry? {
        guard isTrusted else { return nil }
        if let entry = entries[ifindex] { return entry }
        let path = "\(Self.directory)/\(Self.component(name))"
        guard let inode = try? FileStatus(following: path).identity.inode, Self.ifindex(of: name) == ifindex else {
            return nil
        }
        let entry = Entry(inode: inode, deviceType: Self.deviceType(path))
        entries[ifindex] = entry
        return entry
    }

    /// Whether the link was looked up already.
    func knows(_ ifindex: Int32) -> Bool { entries[ifindex] != nil }

    /// Forgets a link that is gone: its number may be another's soon.
    mutating func forget(_ ifindex: Int32) { entries[ifindex] = nil }

    /// Forgets all links, to look again at each: where no message tells that one was replaced.
    mutating func forgetAll() { entries.removeAll(keepingCapacity: true) }

    private static func deviceType(_ path: String) -> String? {
        guard let text = try? File.text("\(path)/uevent") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("DEVTYPE=") { return String(line.dropFirst(8)) }
        return nil
    }

    private static func ifindex(of name: LinkName) -> Int32? {
        guard let text = try? File.text("\(directory)/\(component(name))/ifindex") else { return nil }
        return Int32(text)
    }

    /// A name as a path component. Names that are not UTF-8 cannot be written as a path here: they find nothing.
    private static func component(_ name: LinkName) -> String { String(decoding: name.bytes, as: UTF8.self) }

    /// The links of the directory. bonding_masters is a file there, and no link.
    private static func names() -> [LinkName] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe _ = closedir(stream) }
        var names: [LinkName] = []
        while let entry = unsafe readdir(stream) {
            guard unsafe entry.pointee.d_type == UInt8(DT_LNK) else { continue }
            let bytes = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            if let name = LinkName(bytes: bytes) { names.append(name) }
        }
        return names
    }
}
