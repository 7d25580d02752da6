import SystemCalls
import TestLinks
import Testing
import Wire

@testable import History

/// The troubles of the disk that the history is on: counting goes on, and nothing is lost.
@Suite(needsTunnel)
struct DiskFaultTests {
    @Test(needsMount)
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

    @Test(needsMount)
    func `a first start on a full disk counts, and saves all of it when there is room`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let disk = try OwnDisk(at: directory.path)
            var random = SplitMix64(seed: 12)
            var link = FlakyLink()
            try disk.fill()
            do {
                var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
                var client = try daemon.client()
                for _ in 0..<2 {
                    try link.rise(in: namespace)
                    try link.carry(&random)
                    try link.fall()
                }
                let full = try #require(try client.awaitReading("utun0") { !$0.present && $0.incarnation == 2 })
                #expect(full.total.rx.bytes == Int(link.truth.rx))
                #expect(full.persisted == false)
                #expect(full.persistedUSec == nil)
                try client.expectHistoryAddsUp()
                // A save or two more that fail, and say nothing of it.
                let later = Clock.boot + 1_500_000
                _ = try client.awaitReading("utun0") { _ in Clock.boot > later }
                // Nothing is left there that the next start could take for a history.
                #expect(throws: Errno.noEntry) { try FileStatus(at: "\(disk.outside)/\(Store.fileName)") }
                try disk.free()
                try client.awaitSaved(full)
                try client.expectHistoryAddsUp()
                try daemon.kill()
                daemon.expectOneFailure()
            }
            var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
            var client = try daemon.client()
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.resets == 1)
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
            #expect(!daemon.program.errorText.contains("damaged"))
        }
    }

    @Test(needsMount)
    func `a later start on a full disk goes on where the daemon before has ended`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let disk = try OwnDisk(at: directory.path)
            var random = SplitMix64(seed: 13)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
                var client = try daemon.client()
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
                #expect(try daemon.end() == .exited(0))
            }
            try disk.fill()
            var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
            var client = try daemon.client()
            try link.carry(&random)
            let full = try #require(try client.awaitLast(of: link))
            #expect(full.total.rx.bytes == Int(link.truth.rx))
            #expect(try client.awaitReading("utun0") { $0.persisted == false }?.persisted == false)
            try client.expectHistoryAddsUp()
            try disk.free()
            try client.awaitSaved(full)
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
            daemon.expectOneFailure()
        }
    }

    // A file system on which a file is open for writing is not remounted read-only (EBUSY). What makes it so all the same
    // cannot be undone; what can be undone are files that must not be changed. Writes to both fail.

    @Test(needsFileMount)
    func `while nothing can be written, counting goes on, and nothing is lost`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let disk = try OwnDisk(.file, at: directory.path)
            var random = SplitMix64(seed: 16)
            var link = FlakyLink()
            var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
            var client = try daemon.client()
            try client.awaitSavedBeginning(of: &link, in: namespace, &random)
            try disk.letFilesChange(false)
            try link.carry(&random)
            try link.fall()
            try link.rise(in: namespace)
            try link.carry(&random)
            let behind = try #require(try client.awaitLast(of: link))
            #expect(behind.total.rx.bytes == Int(link.truth.rx))
            #expect(try client.awaitReading("utun0") { $0.persisted == false }?.persisted == false)
            try client.expectHistoryAddsUp()
            try disk.letFilesChange(true)
            try client.awaitSaved(behind)
            try client.expectHistoryAddsUp()
            try daemon.kill()
            daemon.expectOneFailure()
            var next = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
            var asker = try next.client()
            let total = try #require(try asker.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.quality == .continuous)
            #expect(total.resets == 1)
            try asker.expectHistoryAddsUp()
            #expect(try next.end() == .exited(0))
        }
    }

    @Test(needsFileMount)
    func `a disk that turns read-only for good costs nothing of a link that stays`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let disk = try OwnDisk(.file, at: directory.path)
            var random = SplitMix64(seed: 17)
            var link = FlakyLink()
            do {
                var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
                var client = try daemon.client()
                try client.awaitSavedBeginning(of: &link, in: namespace, &random)
                try disk.fail()
                try link.carry(&random)
                let behind = try #require(try client.awaitReading("utun0") { $0.persisted == false })
                #expect(behind.persisted == false)
                let last = try #require(try client.awaitLast(of: link))
                #expect(last.total.rx.bytes == Int(link.truth.rx))
                try client.expectHistoryAddsUp()
                #expect(try daemon.end() == .exited(1))
                daemon.expectOneFailure(isOver: false)
                let log = daemon.program.errorText
                #expect(log.contains("the last figures could not be saved: disk I/O error"), "\(log)")
            }
            try disk.mountAnew()
            var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
            var client = try daemon.client()
            try link.carry(&random)
            let total = try #require(try client.awaitLast(of: link)).total
            #expect(total.rx.bytes == Int(link.truth.rx))
            #expect(total.tx.bytes == Int(link.truth.tx))
            #expect(total.quality == .continuous)
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
        }
    }

    @Test(needsFileMount)
    func `while the disk does not answer, the daemon does`() async throws {
        try await PrivateNamespace.run { namespace in
            let directory = try TemporaryDirectory()
            let disk = try OwnDisk(.file, at: directory.path)
            var random = SplitMix64(seed: 18)
            var link = FlakyLink()
            var daemon = try RunningDaemon(keepingIn: disk.path, shell: disk.entrance)
            var client = try daemon.client()
            try client.awaitSavedBeginning(of: &link, in: namespace, &random)
            var watcher = try daemon.client()
            try watcher.watch(["utun0"], interval: 100_000)
            var asker = try daemon.client()
            let freeze = try disk.freeze()
            // Whatever waited for the disk here would wait longer than this test has patience.
            let end = ContinuousClock.now + RawClient.patience
            var reading: Reading?
            while reading?.persisted != false, ContinuousClock.now < end {
                try link.carry(&random)
                let counted = link.truth
                _ = try watcher.replies { reply in
                    reply.readings?.contains { $0.total.rx.bytes == Int(counted.rx) } ?? false
                }
                reading = try client.get("utun0")
                #expect(reading?.total.rx.bytes == Int(counted.rx))
            }
            try link.fall()
            try link.rise(in: namespace)
            try link.carry(&random)
            let behind = try #require(try client.awaitLast(of: link))
            #expect(behind.persisted == false)
            #expect(behind.persistedUSec ?? .max < behind.sampledUSec)
            try asker.send(#"{"method":"io.ifcount.Events"}"#)
            _ = consume freeze
            #expect(try asker.reply(Events.Reply.self).events.contains { $0.event == .recreated })
            try client.awaitSaved(behind)
            try client.expectHistoryAddsUp()
            #expect(try daemon.end() == .exited(0))
            daemon.expectOneFailure()
            let log = daemon.program.errorText
            #expect(log.contains("cannot be saved: the disk does not answer;"), "\(log)")
        }
    }
}
