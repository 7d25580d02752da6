package import SystemCalls

/// A step of a test's surroundings that the kernel refused: what was tried, and its answer.
package struct LinkFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, such as "rename utun0 to utun1".
    package let attempt: String
    /// The kernel's answer.
    package let errno: Errno

    package init(_ attempt: String, _ errno: Errno) {
        self.attempt = attempt
        self.errno = errno
    }

    package var description: String { "cannot \(attempt): \(errno)" }
}

/// The answer of a C function of this package, which is 0 or more, or a negative error number.
///
/// - Throws: `LinkFailure` with the words of `attempt` when the answer is negative.
@discardableResult
package func succeeding<Answer: SignedInteger>(
    _ attempt: @autoclosure () -> String,
    _ answer: Answer
) throws(LinkFailure) -> Answer {
    guard answer >= 0 else { throw LinkFailure(attempt(), Errno(Int32(-answer))) }
    return answer
}
