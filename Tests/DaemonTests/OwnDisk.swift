import SystemCalls
import TestLinks
import Testing

/// A mount namespace, held by a process, with an empty file system of its own in it.
struct OwnDisk: ~Copyable {
    /// What it lies on.
    enum Kind: String {
        /// 1 MiB of memory (tmpfs(5)).
        case memory = #"mount -t tmpfs -o size=1m tmpfs "$0""#
        /// 16 MiB of a file in the directory that it is mounted on: ext4(5), which can be frozen.
        case file = """
            truncate -s 16M "$0/image" && mkfs.ext4 -q -F -e remount-ro "$0/image" && mount -o loop "$0/image" "$0"
            """

        /// Whether there can be one here.
        fileprivate var isAvailable: Bool {
            guard let directory = try? TemporaryDirectory() else { return false }
            let script = "PATH=$PATH:/usr/sbin:/sbin; \(rawValue)"
            var program = try? Program("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", script, directory.path])
            return (try? program?.wait()) == .exited(0)
        }
    }

    private var holder: Program
    let path: String

    /// Whether there can be one in memory.
    static let mayMount = Kind.memory.isAvailable
    /// Whether there can be one in a file.
    static let mayMountFiles = Kind.file.isAvailable

    init(_ kind: Kind = .memory, at path: String) throws {
        let script = "PATH=$PATH:/usr/sbin:/sbin; \(kind.rawValue) && echo mounted && exec sleep 600"
        var holder = try Program("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", script, path])
        try holder.waitForOutput("mounted")
        self.holder = holder
        self.path = path
    }

    /// What a shell does to become a program that sees it.
    var entrance: String { #"exec nsenter --mount=/proc/\#(holder.pid)/ns/mnt "$0" "$@""# }

    /// The path by which this process sees it.
    var outside: String { "/proc/\(holder.pid)/root\(path)" }

    /// Writes until there is no room.
    func fill() throws { try run(#"! cat /dev/zero >"$0/filler""#) }

    func free() throws { try File.remove(outside + "/filler") }

    /// Lets no file be changed any more, or lets them again (chattr(1)): each write to one that is open fails, too.
    func letFilesChange(_ mayChange: Bool) throws {
        try run(#"chattr \#(mayChange ? "-" : "+")i "$0"/ifcount.db*"#)
    }

    /// Gives the kernel a reason to let nothing be written there any more, as a bad sector would be one.
    func fail() throws {
        try runInside(#"echo test >"/sys/fs/ext4/$(basename "$(findmnt -n -o SOURCE "$0")")/trigger_fs_error""#)
    }

    /// Mounts the file anew; nobody may have one open on it.
    func mountAnew() throws { try runInside(#"umount "$0" && mount -o loop "$0/image" "$0""#) }

    /// Lets whoever writes wait until the value ends (fsfreeze(8)).
    func freeze() throws -> Freeze { try Freeze(outside) }

    private func runInside(_ script: String) throws {
        try run(#"exec nsenter --mount=/proc/\#(holder.pid)/ns/mnt /bin/sh -c '\#(script)' \#(path)"#)
    }

    private func run(_ script: String) throws {
        var program = try Program("/bin/sh", ["-c", "PATH=$PATH:/usr/sbin:/sbin; \(script)", outside])
        #expect(try program.wait() == .exited(0), "\(program.errorText)")
    }
}

/// A file system on which whoever writes waits, until this ends.
struct Freeze: ~Copyable {
    private let path: String
    /// Thaws it when this process cannot: who waits for it could not even be killed.
    private let guardian: Program

    fileprivate init(_ path: String) throws {
        let script = #"fsfreeze -f "$0" && echo frozen && sleep 120; fsfreeze -u "$0""#
        var guardian = try Program("/bin/sh", ["-c", "PATH=$PATH:/usr/sbin:/sbin; \(script)", path])
        try guardian.waitForOutput("frozen")
        self.guardian = guardian
        self.path = path
    }

    deinit {
        var program = try? Program("/bin/sh", ["-c", #"PATH=$PATH:/usr/sbin:/sbin fsfreeze -u "$0""#, path])
        _ = try? program?.wait()
    }
}
