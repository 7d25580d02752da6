import SystemCalls
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

/// What stands before a command that another user is to run (setpriv(1)).
let nobody = [
    "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
    // Where coverage is measured, that user can write no profile, and would say so.
    "/usr/bin/env", "LLVM_PROFILE_FILE=/dev/null",
]

/// Skips what needs another user, and says why.
let needsAnotherUser: ConditionTrait = .enabled("needs root, and setpriv(1)") {
    var program = try Program(nobody[0], nobody.dropFirst() + ["/bin/true"])
    return try program.wait() == .exited(0)
}

/// Skips what needs a file system of its own, and says why.
let needsMount: ConditionTrait = .enabled(
    if: OwnDisk.mayMount,
    "needs the right to mount a file system of its own"
)

/// Skips what needs a file system in a file, and says why.
let needsFileMount: ConditionTrait = .enabled(if: OwnDisk.mayMountFiles, "needs the right to mount a file")

/// Whether the programs were built with a sanitizer.
let isSanitized = ThisProcess.environment("IFCOUNT_SANITIZED") != nil

/// Skips what measures memory where a sanitizer takes most of it.
let measuresMemory: ConditionTrait = .disabled(if: isSanitized, "a sanitizer takes memory, too")

/// Skips what makes system calls fail, and says why.
let needsFaults: ConditionTrait = .enabled(
    if: SystemCallFaults.available,
    "needs a kernel that supervises system calls (seccomp_unotify(2))"
)
