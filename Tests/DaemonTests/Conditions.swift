import TestLinks
import Testing

/// Skips what needs real tunnels of its own, and says why.
let needsTunnel: ConditionTrait = .enabled(
    if: PrivateNamespace.available && Tunnel.unavailable == nil,
    "needs root, or `unshare -Urn`, and an open /dev/net/tun"
)

/// Skips what needs a private namespace, and says why.
let needsNamespace: ConditionTrait = .enabled(
    if: PrivateNamespace.available,
    "needs root, or `unshare -Urn`"
)
