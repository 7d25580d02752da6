import TestLinks
import Testing

/// Skips what needs real tunnels of its own, and says why.
let needsTunnel: any SuiteTrait = .enabled(
    if: PrivateNamespace.available && Tunnel.unavailable == nil,
    "needs root, or `unshare -Urn`, and an open /dev/net/tun"
)
