internal import CLinux
internal import Glibc

/// A second thread, for what may wait where the first must not (pthread_create(3)).
package enum OwnThread {
    /// Starts a thread that runs `body` and ends with it. It blocks all signals: those are the first thread's.
    ///
    /// - Throws: the call's `Errno`.
    package static func start(_ body: sending @escaping () -> Void) throws(Errno) {
        let box = Box(body)
        var thread = pthread_t()
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        let failure = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            Unmanaged.passRetained(box).toOpaque()
        )
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        if failure != 0 { throw Errno(failure) }
        _ = pthread_detach(thread)
    }

    private final class Box {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
}

/// Wakes a thread that waits, in another's poller or its own (eventfd(2)).
package struct Bell: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// The number, to be polled: readable after `ring` until `wait` or `silence`.
    package var number: Int32 { descriptor.number }

    package init() throws(Errno) {
        descriptor = Descriptor(owning: try retrying { eventfd(0, Int32(EFD_CLOEXEC)) })
    }

    /// Wakes whoever waits. A bell that rings already rings on.
    package func ring() {
        try? Descriptor.writeAll(number, [1, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Waits until it was rung, for so many ms at most, and silences it; −1 waits for ever.
    ///
    /// - Returns: whether it was rung.
    package func wait(milliseconds: Int32) -> Bool {
        guard (try? waitReadable([number], milliseconds: milliseconds)) == [true] else { return false }
        var count = [UInt8](repeating: 0, count: 8)
        _ = try? descriptor.read(into: &count)
        return true
    }
}
