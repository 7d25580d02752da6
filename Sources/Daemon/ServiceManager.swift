internal import Glibc
internal import SystemCalls

/// The service manager that started this process, as far as it says so in the environment (sd_notify(3),
/// sd_listen_fds(3), sd_watchdog_enabled(3)). Without one, nothing of this does anything.
package struct ServiceManager: Sendable {
    private let address: String?
    /// How often it wants a sign of life at least, in µs; nil when it wants none.
    package let watchdog: UInt64?
    /// The number of the listening socket that it hands over; nil when there is none.
    package let listener: Int32?

    /// The first number of descriptors that are handed over.
    private static let firstDescriptor: Int32 = 3

    /// - Parameter environment: looks up a variable.
    package init(environment: (String) -> String?) {
        address = environment("NOTIFY_SOCKET").flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let own = "\(getpid())"
        let isOurs = environment("WATCHDOG_PID").map { $0 == own } ?? true
        watchdog = isOurs ? environment("WATCHDOG_USEC").flatMap { UInt64($0) }.flatMap { $0 > 0 ? $0 : nil } : nil
        let count = environment("LISTEN_PID") == own ? environment("LISTEN_FDS").flatMap { Int32($0) } ?? 0 : 0
        listener = (0..<min(max(count, 0), 16)).map { Self.firstDescriptor + $0 }.first(where: UnixSocket.isListening)
    }

    /// Sends one datagram of assignments, such as `READY=1`. A service manager that does not listen is no failure.
    package func notify(_ assignments: String...) {
        guard let address else { return }
        try? UnixSocket.sendDatagram(Array(assignments.joined(separator: "\n").utf8), to: address)
    }
}
