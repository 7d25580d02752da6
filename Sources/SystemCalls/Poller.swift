internal import CLinux
internal import Glibc

/// A set of descriptors that is waited for together (epoll(7)), level-triggered.
@safe package struct Poller: ~Copyable {
    /// What a descriptor is ready for.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// There is something to read, or the peer has closed its side.
        package static let readable = Interest(rawValue: EPOLLIN.rawValue)
        /// There is room to write.
        package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
        /// The peer is gone for both directions. Told without being asked.
        package static let hangUp = Interest(rawValue: EPOLLHUP.rawValue)
        /// An error waits on the descriptor. Told without being asked.
        package static let error = Interest(rawValue: EPOLLERR.rawValue)
    }

    /// A descriptor that is ready, by the token it was added with.
    package struct Ready: Sendable {
        package var token: UInt64
        package var interest: Interest

        package init(token: UInt64, interest: Interest) {
            self.token = token
            self.interest = interest
        }
    }

    private let set: Descriptor
    /// Room for what epoll_wait(2) fills in; its members are read by value only.
    private var events: [epoll_event]

    /// - Throws: the `Errno` of epoll_create1(2).
    package init() throws(Errno) {
        set = Descriptor(owning: try retrying { epoll_create1(Int32(EPOLL_CLOEXEC)) })
        unsafe events = Array(repeating: epoll_event(), count: 64)
    }

    /// Adds a descriptor under a token (epoll_ctl(2), EPOLL_CTL_ADD).
    package func add(_ number: Int32, token: UInt64, interest: Interest) throws(Errno) {
        try control(EPOLL_CTL_ADD, number, token, interest)
    }

    /// Changes what a descriptor is waited for (EPOLL_CTL_MOD).
    package func modify(_ number: Int32, token: UInt64, interest: Interest) throws(Errno) {
        try control(EPOLL_CTL_MOD, number, token, interest)
    }

    /// Takes a descriptor out of the set; to be called before it is closed (EPOLL_CTL_DEL).
    package func remove(_ number: Int32) throws(Errno) {
        try control(EPOLL_CTL_DEL, number, 0, [])
    }

    /// Waits until something is ready or `milliseconds` have passed; −1 waits for ever (epoll_wait(2)).
    ///
    /// - Returns: what is ready; empty after the time, or when a signal interrupted the wait.
    package mutating func wait(milliseconds: Int32) throws(Errno) -> [Ready] {
        let count = unsafe epoll_wait(set.number, &events, Int32(events.count), milliseconds)
        if count < 0 {
            let error = Errno.current
            if error == .interrupted { return [] }
            throw error
        }
        return unsafe events.prefix(Int(count)).map {
            unsafe Ready(token: $0.data.u64, interest: Interest(rawValue: $0.events))
        }
    }

    private func control(_ operation: Int32, _ number: Int32, _ token: UInt64, _ interest: Interest) throws(Errno) {
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue
        unsafe event.data.u64 = token
        let set = self.set.number
        try retrying { unsafe epoll_ctl(set, operation, number, &event) }
    }
}

/// A timer that becomes readable each time it fires (timerfd_create(2), CLOCK_BOOTTIME).
package struct Timer: ~Copyable {
    private let timer: Descriptor

    /// The number, to be polled.
    package var number: Int32 { timer.number }

    package init() throws(Errno) {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        timer = Descriptor(owning: try retrying { timerfd_create(CLOCK_BOOTTIME, flags) })
    }

    /// Fires at `first` and then each `microseconds` (timerfd_settime(2)).
    ///
    /// - Parameters:
    ///   - first: a moment of CLOCK_BOOTTIME in µs.
    ///   - microseconds: the period, > 0.
    /// - Throws: the call's `Errno`.
    package func fire(first: UInt64, every microseconds: UInt64) throws(Errno) {
        var setting = itimerspec(it_interval: Self.time(microseconds), it_value: Self.time(max(first, 1)))
        try retrying { unsafe timerfd_settime(timer.number, Int32(TFD_TIMER_ABSTIME), &setting, nil) }
    }

    /// Takes the firings since the last call, so that the descriptor is not readable any more.
    ///
    /// - Returns: how many there were; 0 when none.
    package func drain() throws(Errno) -> UInt64 {
        var bytes = [UInt8](repeating: 0, count: 8)
        do { _ = try timer.read(into: &bytes) } catch  where error == .wouldBlock { return 0 }
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) }
    }

    private static func time(_ microseconds: UInt64) -> timespec {
        timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1000)
    }
}

/// Signals as readable records instead of interruptions (signalfd(2)).
package struct SignalDescriptor: ~Copyable {
    private let descriptor: Descriptor

    /// The number, to be polled.
    package var number: Int32 { descriptor.number }

    /// Blocks `signals` in the calling thread, and in those it starts later (pthread_sigmask(3)), and reads them instead.
    package init(_ signals: [Int32]) throws(Errno) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        let failure = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        if failure != 0 { throw Errno(failure) }
        let flags = Int32(SFD_CLOEXEC | SFD_NONBLOCK)
        descriptor = Descriptor(owning: try retrying { unsafe signalfd(-1, &set, flags) })
    }

    /// Takes the next signal that has come, or nil.
    package func next() throws(Errno) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<signalfd_siginfo>.size)
        do { _ = try descriptor.read(into: &bytes) } catch  where error == .wouldBlock { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe Int32($0.loadUnaligned(as: signalfd_siginfo.self).ssi_signo) }
    }
}

/// Waits for one of a few descriptors (poll(2)), for programs that have no loop.
///
/// - Parameters:
///   - numbers: the descriptors to wait for until they are readable.
///   - milliseconds: how long at most; −1 for ever.
/// - Returns: for each, whether it is readable or has hung up; all false after the time or after a signal.
/// - Throws: the call's `Errno`.
package func waitReadable(_ numbers: [Int32], milliseconds: Int32) throws(Errno) -> [Bool] {
    var set = numbers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    if unsafe poll(&set, nfds_t(set.count), milliseconds) < 0 {
        let error = Errno.current
        if error != .interrupted { throw error }
        return numbers.map { _ in false }
    }
    return set.map { $0.revents != 0 }
}

/// Waits until a descriptor takes bytes again, or is broken (poll(2)).
///
/// - Throws: the call's `Errno`.
package func waitWritable(_ number: Int32) throws(Errno) {
    var set = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    try retrying { unsafe poll(&set, 1, -1) }
}
