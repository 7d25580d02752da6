import SystemCalls
import TestLinks
import Testing

/// A mount namespace, held by a process, with an empty file system of 1 MiB in it.
struct OwnDisk: ~Copyable {
    private var holder: Program
    let path: String

    init(at path: String) throws {
        let mount = #"mount -t tmpfs -o size=1m tmpfs "$0" && echo mounted && exec sleep 600"#
        var holder = try Program("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", mount, path])
        try holder.waitForOutput("mounted")
        self.holder = holder
        self.path = path
    }

    static let mayMount: Bool = {
        var program = try? Program("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", "mount -t tmpfs tmpfs /mnt"])
        return (try? program?.wait()) == .exited(0)
    }()

    /// What a shell does to become a program that sees it.
    var entrance: String { #"exec nsenter --mount=/proc/\#(holder.pid)/ns/mnt "$0" "$@""# }

    /// The path by which this process sees it.
    var outside: String { "/proc/\(holder.pid)/root\(path)" }

    /// Writes until there is no room.
    func fill() throws {
        var writer = try Program("/bin/sh", ["-c", #"! cat /dev/zero >"$0""#, outside + "/filler"])
        #expect(try writer.wait() == .exited(0), "\(writer.errorText)")
    }

    func free() throws { try File.remove(outside + "/filler") }
}
