internal import CLinux
internal import Glibc

/// The numbers of the signals that a program on a terminal handles (signal(7)).
package enum Signal {
    package static let hangUp = SIGHUP
    package static let interrupt = SIGINT
    package static let quit = SIGQUIT
    package static let terminate = SIGTERM
    package static let stop = SIGTSTP
    package static let resume = SIGCONT
    package static let resize = SIGWINCH

    /// Stops the process as SIGTSTP does when it is not blocked, and returns when it goes on (sigprocmask(2)).
    /// Nothing happens where no shell could continue it.
    package static func stopUntilResumed() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTSTP)
        _ = raise(SIGTSTP)
        // Blocked, the signal waits; it takes effect here, before the call returns.
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}

/// A terminal whose keys come one by one and are not echoed; its settings are restored with the end of this value.
@safe package struct Terminal: ~Copyable {
    /// How many characters fit.
    package struct Size: Hashable, Sendable {
        package var columns: Int
        package var rows: Int
        package init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    private let number: Int32
    private let before: termios

    /// Whether a descriptor is a terminal (isatty(3)).
    package static func isTerminal(_ number: Int32) -> Bool { isatty(number) == 1 }

    /// The size of the terminal behind a descriptor (ioctl_tty(2), TIOCGWINSZ), or nil when it has none.
    package static func size(_ number: Int32) -> Size? {
        var size = winsize()
        guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Switches off line mode and echo, and leaves the keys that send signals (termios(3)). From the background this
    /// stops the process until it is in the foreground, as the shell expects.
    ///
    /// - Parameter number: an open terminal, borrowed.
    /// - Throws: the `Errno` of tcgetattr(3) or tcsetattr(3).
    package init(_ number: Int32) throws(Errno) {
        var settings = termios()
        try retrying { unsafe tcgetattr(number, &settings) }
        let original = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // A read answers with what has been typed, and waits for one byte.
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { codes in
            unsafe codes[Int(VMIN)] = 1
            unsafe codes[Int(VTIME)] = 0
        }
        try retrying { unsafe tcsetattr(number, TCSADRAIN, &settings) }
        self.number = number
        before = original
    }

    deinit {
        // Without a terminal any more, there is nothing to restore.
        var settings = before
        _ = unsafe tcsetattr(number, TCSADRAIN, &settings)
    }
}
