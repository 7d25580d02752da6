internal import CFuzzer
internal import Glibc
import LinkStats
import SystemCalls
import Wire

@testable import Daemon

/// What a client may send: frames are taken apart, each is looked at as a request, and each request is answered. No
/// bytes may end the daemon, and each answer is one frame of JSON.
@main
struct Requests {
    /// The kernel is read once; what is asked of the figures is the fuzzer's.
    nonisolated(unsafe) private static let sampler: Sampler = {
        guard let sampler = try? Sampler(source: nil) else { preconditionFailure("the kernel cannot be read") }
        // So that what is asked of a history is looked at, too.
        sampler.persistence = Persistence.Status(isPersisted: true, savedWall: 0)
        return sampler
    }()

    static func main() {
        var count = CommandLine.argc
        var arguments = unsafe CommandLine.unsafeArgv
        exit(unsafe LLVMFuzzerRunDriver(&count, &arguments, lookAt))
    }

    fileprivate static func look(_ bytes: [UInt8]) {
        var frames = FrameBuffer(limit: Connection.longestRequest)
        frames.append(bytes)
        do {
            while let message = try frames.next() {
                let request = try Request(message, mayChange: message.count % 2 == 0)
                guard case .reply(let frame) = unsafe Service.answer(request, from: sampler) else { continue }
                precondition(frame.last == 0 && frame.dropLast().allSatisfy { $0 != 0 }, "an answer is one frame")
                let reply = try? Frame.decode(JSONValue.self, from: Array(frame.dropLast()))
                guard case .object = reply else { preconditionFailure("an answer is an object") }
            }
        } catch {
            // Refused: that is an answer, too.
        }
    }
}

/// What libFuzzer calls; a library of it that is linked whole wants this name.
@_cdecl("LLVMFuzzerTestOneInput")
func lookAt(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
    unsafe Requests.look(Array(UnsafeBufferPointer(start: bytes, count: length)))
    return 0
}
