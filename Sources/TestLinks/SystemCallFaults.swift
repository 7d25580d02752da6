internal import CTestLinks
internal import Glibc
internal import Synchronization
package import SystemCalls

/// System calls of a program that fail as the test wants it, while it runs (seccomp_unotify(2)).
///
/// The kernel asks before each of the chosen calls, of any thread of the program and of what that starts; a call that is
/// to fail is not made at all. The program cannot tell it from a real failure.
package final class SystemCallFaults: Sendable {
    /// Which system call (syscalls(2)).
    package struct Number: Hashable, Sendable {
        package let number: Int32
        private init(_ number: Int32) { self.number = number }
        init(of call: ifct_call) { number = call.number }

        package static let accept4 = Number(Int32(SYS_accept4))
        package static let epollControl = Number(Int32(SYS_epoll_ctl))
        /// What epoll_wait(3) is made of on this machine.
        package static let epollWait = Number(ifct_epoll_wait_number)
        package static let openat = Number(Int32(SYS_openat))
        package static let read = Number(Int32(SYS_read))
        package static let recvmsg = Number(Int32(SYS_recvmsg))
        package static let sendto = Number(Int32(SYS_sendto))
        package static let socket = Number(Int32(SYS_socket))
        package static let timerSet = Number(Int32(SYS_timerfd_settime))
        package static let write = Number(Int32(SYS_write))
    }

    /// A call that the program wants to make.
    package struct Call: Sendable {
        /// Which one.
        package var number: Number
        /// Its six arguments, as numbers.
        package var arguments: [UInt64]
        /// How many calls of this number there were before.
        package var ordinal: Int
    }

    private struct State {
        var decide: @Sendable (Call) -> Errno? = { _ in nil }
        var counts: [Number: Int] = [:]
        var failures: [Number: Int] = [:]
    }

    private let numbers: [Number]
    private let state = Mutex(State())

    /// Whether the kernel lets system calls be supervised.
    package static let available = ifct_can_supervise() >= 0

    /// - Parameter numbers: the calls that may fail. Each of them costs two more switches between processes.
    package init(_ numbers: [Number]) { self.numbers = numbers }

    /// From now on `decide` says with which error a call fails; nil lets it be made.
    package func fail(_ decide: @escaping @Sendable (Call) -> Errno?) { state.withLock { $0.decide = decide } }

    /// From now on no call fails.
    package func mend() { fail { _ in nil } }

    /// How many calls of a number have failed.
    package func failures(of number: Number) -> Int { state.withLock { $0.failures[number] ?? 0 } }

    /// Starts a program that is supervised, and the thread that does so until its end.
    func spawn(_ program: inout ifct_program) -> Int32 {
        unsafe ifct_spawn_supervised(
            &program,
            numbers.map(\.number),
            numbers.count,
            { context, listener in
                let faults = unsafe Unmanaged<SystemCallFaults>.fromOpaque(context).takeUnretainedValue()
                // Without the thread the program waits for ever, and the test for it: better to end here.
                do { try OwnThread.start { faults.supervise(listener) } } catch { preconditionFailure("\(error)") }
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func supervise(_ listener: Int32) {
        var call = ifct_call()
        while unsafe ifct_call_next(listener, &call) == 1 {
            let error = decide(call)
            guard ifct_call_answer(listener, call.id, error?.code ?? 0) == 0 else { break }
        }
        close(listener)
    }

    private func decide(_ call: ifct_call) -> Errno? {
        let arguments = [
            call.arguments.0, call.arguments.1, call.arguments.2, call.arguments.3, call.arguments.4, call.arguments.5,
        ]
        return state.withLock { state in
            let number = Number(of: call)
            let ordinal = state.counts[number] ?? 0
            state.counts[number] = ordinal + 1
            let error = state.decide(Call(number: number, arguments: arguments, ordinal: ordinal))
            if error != nil { state.failures[number, default: 0] += 1 }
            return error
        }
    }
}
