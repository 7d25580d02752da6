internal import Glibc
internal import SystemCalls
internal import TestLinks

/// A folder for one run, with the log of all that was done and found in it.
final class IncidentLog {
    /// The folder, made for this run.
    let directory: String
    private let file: Descriptor
    private let start = ContinuousClock.now

    init() throws(Errno) {
        let directory = "/tmp/ifcount-churn-\(UInt64.random(in: 0 ... .max))"
        try retrying { unsafe mkdir(directory, 0o755) }
        let path = directory + "/incidents"
        let number = try retrying { unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
        self.directory = directory
        file = Descriptor(owning: number)
    }

    var path: String { directory + "/incidents" }

    /// How long the run has lasted, in ms.
    var age: Int { Int((ContinuousClock.now - start) / .milliseconds(1)) }

    /// Adds a line, with the time in seconds. A full disk is no reason to stop.
    func note(_ words: String) {
        let thousandths = String(1000 + age % 1000).dropFirst()
        try? Descriptor.writeAll(file.number, Array("\(age / 1000).\(thousandths) \(words)\n".utf8))
    }

    /// Removes the folder and all that is in it.
    func removeAll() {
        if var remover = try? Program("/bin/rm", ["-rf", directory]) { _ = try? remover.wait(timeout: .seconds(60)) }
    }
}
