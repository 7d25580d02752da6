internal import CLinkStats
package import Ledger
internal import SystemCalls

/// The file /proc/net/dev (proc_net(5)), parsed.
package struct ProcNetDev: Sendable {
    /// One link's line.
    package struct Row: Sendable {
        package var name: LinkName
        package var counters: Counters
    }

    /// The file cannot be used; nothing is then known of any link, which is not the same as no traffic.
    package enum Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is empty, ends in its heading, or lists no link that can be read; even an empty namespace has lo.
        case empty
        /// Its first two lines are not the heading.
        case noHeading
        /// Its heading has no `bytes`, as on Linux 2.0.
        case noBytes

        package var description: String {
            switch self {
            case .empty: "unreadable: there is no line of any link in it"
            case .noHeading: "its first two lines are not the heading of /proc/net/dev"
            case .noBytes: "its heading has no “bytes” column; this kernel counts packets only"
            }
        }
    }

    /// The links in the order of their lines; a name that is there twice is one link, with the later line's counters.
    package var rows: [Row] = []
    /// How many lines could not be used.
    package var skipped = 0

    /// Parses a whole file.
    ///
    /// - Parameter bytes: the bytes of the file.
    /// - Returns: all links in it.
    /// - Throws: `Unreadable` when it tells nothing of any link.
    package static func parse(_ bytes: ArraySlice<UInt8>) throws(Unreadable) -> ProcNetDev {
        let (result, table) = unsafe bytes.withUnsafeBufferPointer { buffer -> (Int32, ProcNetDev) in
            guard let base = buffer.baseAddress else { return (-Errno.noData.code, ProcNetDev()) }
            return unsafe parse(base, buffer.count)
        }
        switch Errno(-result) {
        case Errno(0): break
        case .notSupported: throw .noBytes
        case .noData: throw .empty
        default: throw .noHeading
        }
        if table.rows.isEmpty { throw .empty }
        return table
    }

    private static func parse(_ base: UnsafePointer<UInt8>, _ length: Int) -> (Int32, ProcNetDev) {
        var table = ProcNetDev()
        var file = unsafe ifc_procnetdev(bytes: base, length: length, offset: 0, skipped: 0)
        let begun = unsafe ifc_procnetdev_begin(&file, base, length)
        guard begun == 0 else { return (begun, table) }
        var places: [LinkName: Int] = [:]
        var link = ifc_link()
        while unsafe ifc_procnetdev_next(&file, &link) == 1 {
            guard let name = link.linkName else {
                table.skipped += 1
                continue
            }
            let row = Row(name: name, counters: Counters(link.counters))
            if let place = places[name] {
                table.rows[place] = row
            } else {
                places[name] = table.rows.count
                table.rows.append(row)
            }
        }
        table.skipped += unsafe Int(file.skipped)
        return (0, table)
    }
}
