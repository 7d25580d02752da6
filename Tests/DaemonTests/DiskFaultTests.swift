import SystemCalls
import TestLinks
import Testing
import Wire

/// The troubles of the disk that the history is on: counting goes on, and nothing is lost.
@Suite(needsTunnel)
struct DiskFaultTests {
    @Test(.enabled(if: OwnDisk.mayMount, "needs the right to mount a file system of its own"))
    func `while the disk is full, counting goes on, and nothing is lost`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let disk = try OwnDisk(at: directory.path)
            var random = SplitMix64(seed: 4)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
                var client = try daemon.client()
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
                try disk.fill()
                try link.carry(&random)
                let behind = try #require(try client.awaitReading("utun0") { $0.persisted == false })
                #expect(behind.persisted == false)
                // Also lives that begin and end meanwhile are kept, and tried again and again.
                for _ in 0..<3 {
                    try link.carry(&random)
                    try link.fall()
                    try link.rise(in: namespace)
                }
                try link.carry(&random)
                let full = try #require(try client.awaitLast(of: link))
                #expect(full.total.rx.bytes == Int(link.truth.rx))
                #expect(full.total.tx.bytes == Int(link.truth.tx))
                #expect(full.persisted == false)
                let until = try #require(full.persistedUSec)
                #expect(until < full.sampledUSec)
                try client.expectHistoryAddsUp()
                // A save or two more that fail, and say nothing of it.
                let later = Clock.boot + 2_200_000
                _ = try client.awaitReading("utun0") { _ in Clock.boot > later }
                try disk.free()
                try client.awaitSaved(full)
                try client.expectHistoryAddsUp()
                // What was saved then is all there is, to the byte.
                try daemon.kill()
                daemon.expectOneFailure()
            }
            let daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.quality == .continuous)
            #expect(total.resets == 3)
            try client.expectHistoryAddsUp()
        }
    }
}
