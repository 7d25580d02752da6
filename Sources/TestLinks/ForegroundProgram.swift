internal import CTestLinks
internal import Glibc
internal import SystemCalls

/// A program that shares the caller's terminal: stdin, stdout and stderr are inherited.
package struct ForegroundProgram: ~Copyable {
    private let pid: Int32
    private var ending: Program.Ending?

    /// Starts a program, found along PATH.
    ///
    /// - Throws: `LinkFailure`; ENOENT when there is none.
    package init(_ command: [String]) throws(LinkFailure) {
        pid = try spawn(command[0], isSearched: true, command, nil, input: -2, output: -1, errors: -1)
    }

    deinit {
        if ending == nil {
            _ = Glibc.kill(pid, SIGKILL)
            while ifct_reap(pid) == -EAGAIN { usleep(200) }
        }
    }

    /// How it ended, or nil while it runs.
    package mutating func check() -> Program.Ending? {
        if ending == nil {
            let answer = ifct_reap(pid)
            if answer >= 0 { ending = answer < 256 ? .exited(answer) : .signalled(answer - 256) }
        }
        return ending
    }

    /// Ends it: SIGINT, and when that does not help within `patience`, SIGTERM, then SIGKILL.
    package mutating func end(patience: Duration = .seconds(5)) -> Program.Ending {
        for signal in [SIGINT, SIGTERM, SIGKILL] {
            if check() == nil { _ = Glibc.kill(pid, signal) }
            let deadline = ContinuousClock.now + patience
            while ContinuousClock.now < deadline {
                if let ending = check() { return ending }
                usleep(2000)
            }
        }
        preconditionFailure("a process outlived SIGKILL")
    }
}

/// SIGINT and SIGTERM, taken by asking for them instead of being ended by them.
package enum Interrupts {
    /// Holds them back from now on, in a process with one thread; programs it starts are not affected.
    package static func hold() throws(LinkFailure) { try succeeding("hold signals", ifct_hold_interrupts()) }

    /// Sleeps for a while, or until one of the signals is there.
    ///
    /// - Returns: whether one was.
    package static func arrive(within time: Duration) -> Bool {
        ifct_wait_interrupt(Int32(max(time, .zero) / .milliseconds(1))) != 0
    }
}
