package import SystemCalls

/// Where counters come from, in the order in which they are tried.
package enum Source: String, CaseIterable, Sendable {
    /// rtnetlink(7): 64-bit counters, and a message for each creation and deletion.
    case netlink
    /// /proc/net/dev joined with getifaddrs(3): 64-bit counters, no messages.
    case procfs
    /// getifaddrs(3) alone: 32-bit counters, no messages.
    case getifaddrs
}

/// A source cannot be read.
package struct ReadError: Error, Sendable, CustomStringConvertible {
    package var source: Source
    /// What was being done, such as "subscribe to link events".
    package var doing: String
    package var cause: Errno

    package init(_ source: Source, _ doing: String, _ cause: Errno) {
        self.source = source
        self.doing = doing
        self.cause = cause
    }

    package var description: String { "\(source.rawValue): cannot \(doing): \(cause)" }
}

/// Turns the border's "−errno or a value" into a typed error.
///
/// - Throws: the `Errno` that a negative result stands for.
@discardableResult
func checked<Result: SignedInteger & FixedWidthInteger>(_ result: Result) throws(Errno) -> Result {
    if result < 0 { throw Errno(Int32(truncatingIfNeeded: -result)) }
    return result
}
