internal import Glibc

/// An error number of errno(3). A struct, so that a number this program has no name for survives.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number, positive.
    package let code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The calling thread's errno.
    package static var current: Errno { Errno(errno) }

    package static let wouldBlock = Errno(EAGAIN)
    package static let interrupted = Errno(EINTR)
    package static let noEntry = Errno(ENOENT)
    package static let noData = Errno(ENODATA)
    package static let exists = Errno(EEXIST)
    package static let addressInUse = Errno(EADDRINUSE)
    package static let connectionRefused = Errno(ECONNREFUSED)
    package static let brokenPipe = Errno(EPIPE)
    package static let connectionReset = Errno(ECONNRESET)
    package static let connectionAborted = Errno(ECONNABORTED)
    package static let tooManyOpenFiles = Errno(EMFILE)
    package static let noBufferSpace = Errno(ENOBUFS)
    package static let messageTooLong = Errno(EMSGSIZE)
    package static let protocolError = Errno(EPROTO)
    package static let notSupported = Errno(ENOTSUP)
    package static let nameTooLong = Errno(ENAMETOOLONG)
    package static let notSocket = Errno(ENOTSOCK)
    package static let timedOut = Errno(ETIMEDOUT)
    package static let fileTooLarge = Errno(EFBIG)

    /// The C library's own words, such as "Permission denied" (strerror_r(3)).
    package var description: String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Runs a system call that answers −1 and errno on failure; EINTR is retried (signal(7)).
///
/// - Throws: the call's `Errno`. EBADF is a defect of this program and stops it.
@discardableResult
package func retrying<Result: FixedWidthInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        let error = Errno.current
        precondition(error.code != EBADF, "a system call was given a descriptor that is not open")
        if error != .interrupted { throw error }
    }
}
