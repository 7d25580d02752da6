internal import Ledger
internal import SystemCalls
internal import Wire

/// The interface through which packets leave for everywhere, by the kernel's main routing tables.
enum DefaultRoute {
    /// Its name as on the socket, IPv4 before IPv6; nil when there is no default route.
    static func interface() -> String? {
        // The files follow the thread's network namespace; one that cannot be read has no route to tell.
        let four = (try? File.read("/proc/thread-self/net/route")) ?? []
        let six = (try? File.read("/proc/thread-self/net/ipv6_route")) ?? []
        return interface(ipv4: four) ?? interface(ipv6: six)
    }

    /// The default route of a `/proc/net/route` (proc(5)) with the least metric.
    ///
    /// OpenVPN and others lay `0.0.0.0/1` and `128.0.0.0/1` over the default route, so that it stays in place and is not
    /// used: the longer prefix wins.
    static func interface(ipv4 file: [UInt8]) -> String? {
        best(
            lines(file).dropFirst().compactMap { fields in
                guard fields.count >= 8, fields[1] == "00000000", ["00000000", "00000080"].contains(fields[7]),
                    let flags = UInt32(fields[3], radix: 16), isUsable(flags), let metric = UInt32(fields[6])
                else { return nil }
                return Route(name: fields[0], isLonger: fields[7] != "00000000", metric: metric)
            }
        )
    }

    /// The default route of a `/proc/net/ipv6_route` with the least metric.
    static func interface(ipv6 file: [UInt8]) -> String? {
        best(
            lines(file).compactMap { fields in
                guard fields.count >= 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00", fields[3] == "00",
                    let flags = UInt32(fields[8], radix: 16), isUsable(flags),
                    let metric = UInt32(fields[5], radix: 16)
                else { return nil }
                return Route(name: fields[9], isLonger: false, metric: metric)
            }
        )
    }

    private struct Route {
        var name: String
        var isLonger: Bool
        var metric: UInt32
    }

    private static func best(_ routes: [Route]) -> String? {
        routes.min { ($0.isLonger ? 0 : 1, $0.metric) < ($1.isLonger ? 0 : 1, $1.metric) }?.name
    }

    /// RTF_UP and not RTF_REJECT (route.h): an unreachable route leads nowhere.
    private static func isUsable(_ flags: UInt32) -> Bool { flags & 0x1 != 0 && flags & 0x200 == 0 }

    /// The fields of each line; the names among them escaped, so that everything is text.
    private static func lines(_ file: [UInt8]) -> [[String]] {
        file.split(separator: UInt8(ascii: "\n")).map { line in
            line.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }.map {
                LinkName(bytes: $0)?.escaped ?? String(decoding: $0, as: UTF8.self)
            }
        }
    }
}
