internal import TestLinks

/// The names that links get. Now and then one retires, and its total must never move again.
struct NamePool {
    private(set) var tunnels = ["utun0", "utun1", "utun2", "tap0", "wan0", "tun-long-name-0"]
    private(set) var veths = ["veth0", "veth1", "eth0", "eth1", "pod0", "pod1"]
    private var fresh = 0

    /// How seldom a name retires whose link has ended: one time in so many.
    private static let retirement = 12

    /// The names for links of this kind.
    func names(for kind: LivingLink.Kind) -> [String] { kind == .veth ? veths : tunnels }

    /// Lets a name retire, perhaps: a fresh one takes its place.
    mutating func mayRetire(_ name: String, _ random: inout SplitMix64) {
        guard Int.random(in: 0..<Self.retirement, using: &random) == 0 else { return }
        fresh += 1
        if let index = tunnels.firstIndex(of: name) { tunnels[index] = "vpn\(fresh)" }
        if let index = veths.firstIndex(of: name) { veths[index] = "br-\(fresh)" }
    }
}
