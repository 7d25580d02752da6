internal import CLinux
internal import Glibc

/// What the process was given by the one that started it.
package enum ThisProcess {
    /// The command line, the program's name first, as the bytes it is: a link's name need not be UTF-8.
    ///
    /// Swift's own CommandLine reads it from /proc/self/cmdline, and has nothing where /proc is hidden.
    package static var arguments: [[UInt8]] {
        let arguments = unsafe ifc_arguments()
        return unsafe (0..<Int(arguments.count)).compactMap { index in
            unsafe arguments.words?[index].map { text in
                unsafe UnsafeRawBufferPointer(start: text, count: strlen(text)).map { $0 }
            }
        }
    }

    /// A variable of the environment (getenv(3)), or nil when it is not set.
    package static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// The user that the process acts as (geteuid(2)).
    package static var user: UInt32 { geteuid() }

    /// Whether the process acts as root (geteuid(2)).
    package static var isRoot: Bool { user == 0 }

    /// Opens /dev/null for each of descriptors 0 to 2 that the process was started without, so that no file or socket
    /// is opened under a number that messages are written to.
    ///
    /// - Returns: whether standard output was open (fcntl(2), F_GETFD).
    package static func completeStandardDescriptors() -> Bool {
        let hadOutput = fcntl(1, F_GETFD) != -1
        while true {
            let number = unsafe open("/dev/null", O_RDWR)
            if number > 2 { _ = close(number) }
            if number < 0 || number > 2 { return hadOutput }
        }
    }

    /// How many more descriptors the process may open, after the soft limit was raised as far as that needs and the
    /// hard limit allows (setrlimit(2), RLIMIT_NOFILE).
    ///
    /// - Parameter wanted: more than this need not be free.
    /// - Returns: the number, `wanted` at most.
    package static func freeDescriptors(wanted: Int) -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return wanted }
        // What is open already has low numbers, and is not many.
        let enough = rlim_t(wanted + 1024)
        if limit.rlim_cur < enough {
            var raised = limit
            raised.rlim_cur = min(enough, limit.rlim_max)
            if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
        }
        let numbers = 0..<Int32(min(limit.rlim_cur, enough))
        return min(numbers.count { fcntl($0, F_GETFD) == -1 }, wanted)
    }

    /// Makes a write to a pipe that nobody reads answer `Errno.brokenPipe` where it would end the process (signal(7)).
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

    /// Whether the locale's character set is UTF-8, by LC_ALL, LC_CTYPE and LANG as in locale(7). Only their names are
    /// looked at: the locale need not be installed, and nothing else of it is ever used.
    ///
    /// - Parameter environment: looks up a variable.
    /// - Returns: false also for C and POSIX, and without a locale.
    package static func isUTF8(_ environment: (String) -> String? = environment) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment($0) }.first { !$0.isEmpty } ?? ""
        return locale.lowercased().filter { $0 != "-" }.contains(".utf8")
    }
}
