internal import CTestLinks
internal import Glibc
internal import SystemCalls

/// A network namespace made for one test or demonstration: the right to make links in it.
///
/// A value of this type cannot leave the thread that is in the namespace, and no link is made without one: so the
/// host's own links are out of reach. Whatever its holder does on that thread (netlink sockets,
/// /proc/thread-self/net/dev, programs it starts) happens in the namespace. /proc/self/net and /proc/net are those of
/// the process's first thread; /sys/class/net is that of the namespace which mounted it.
package struct PrivateNamespace: ~Copyable {
    /// The thread's id, gettid(2).
    package let thread: Int32

    private init() { thread = ifct_thread() }

    /// The id of the thread that calls.
    package static var currentThread: Int32 { ifct_thread() }

    /// Whether this process may make one, which takes root or CAP_SYS_ADMIN (`unshare -Urn` gives it).
    package static let available = ifct_can_unshare_net() >= 0

    /// Runs a test's body on a thread of its own, in a new network namespace with lo up.
    ///
    /// The body may block: no thread of the shared pool waits with it. The namespace and its links end soon after.
    ///
    /// - Throws: `LinkFailure` when there can be no namespace, and what the body throws.
    package static func run<Result: Sendable>(
        _ body: @Sendable (borrowing PrivateNamespace) async throws -> Result
    ) async throws -> Result {
        let thread = try await NamespaceThread.start()
        defer { thread.stop() }
        return try await withTaskExecutorPreference(thread) {
            let namespace = PrivateNamespace()
            return try await body(namespace)
        }
    }

    /// Takes the whole process into a new network namespace, for good: by its own right, or else with a user namespace
    /// in which it keeps its ids. To be called while the process has one thread.
    ///
    /// - Throws: `LinkFailure`, with EPERM where the system allows neither.
    package static func takingProcess() throws(LinkFailure) -> PrivateNamespace {
        let answer = ifct_unshare_net()
        if answer == -EPERM {
            try succeeding("make a user and network namespace", ifct_unshare_user_net())
        } else {
            try succeeding("make a network namespace", answer)
        }
        return PrivateNamespace()
    }

    /// Runs `body` in another namespace, on this thread, and comes back.
    ///
    /// - Throws: `LinkFailure`, and what the body throws.
    package func visit<Result: ~Copyable>(
        _ other: borrowing OtherNamespace,
        _ body: () throws(LinkFailure) -> Result
    ) throws(LinkFailure) -> Result {
        let here = try OtherNamespace.here()
        try succeeding("enter a namespace", ifct_namespace_enter(other.descriptor))
        // A thread in the wrong namespace would act on the wrong links.
        defer { precondition(ifct_namespace_enter(here.descriptor) == 0, "no way back from a namespace") }
        return try body()
    }
}

/// Another network namespace, held open by a descriptor; it and its links end when the last holder closes it.
package struct OtherNamespace: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// A new one, with lo up, made beside the one the thread is in.
    init(beside namespace: borrowing PrivateNamespace) throws(LinkFailure) {
        self.init(descriptor: try succeeding("make another network namespace", ifct_namespace_new()))
    }

    /// The one the calling thread is in.
    static func here() throws(LinkFailure) -> OtherNamespace {
        OtherNamespace(descriptor: try succeeding("open this network namespace", ifct_namespace_open()))
    }
}
