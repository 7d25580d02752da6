internal import TestLinks
internal import Testing

/// Skips what needs links of its own, and says why.
let needsNamespace: any SuiteTrait = .enabled(
    if: PrivateNamespace.available,
    "needs root, or `unshare -Urn`, to make network namespaces"
)
let needsTunnel: any SuiteTrait = .enabled(
    if: Tunnel.unavailable == nil,
    "needs an open /dev/net/tun"
)
