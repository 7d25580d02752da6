import CNamespace
import Glibc
import Testing

/// A thread of its own for a body that changes what belongs to a thread: its network namespace, its signals.
///
/// Expectations belong after `join`: on a foreign thread Swift Testing does not know which test it is in.
final class OwnThread<Value: Sendable> {
    private final class Work {
        let body: @Sendable () throws -> Value
        var result: Result<Value, any Error>?

        init(_ body: @escaping @Sendable () throws -> Value) { self.body = body }
        func run() { result = Result { try body() } }
    }

    private let work: Work
    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () throws -> Value) throws {
        let work = Work(body)
        self.work = work
        let runner: Runner = work.run
        let boxed = unsafe Unmanaged.passRetained(Boxed(runner)).toOpaque()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Boxed>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            boxed
        )
        try #require(result == 0)
    }

    func signal(_ number: Int32) { pthread_kill(thread, number) }

    func join() throws -> Value {
        pthread_join(thread, nil)
        return try #require(work.result).get()
    }
}

private typealias Runner = () -> Void

/// A C callback cannot be generic, so what it gets must not be.
private final class Boxed {
    let run: Runner
    init(_ run: @escaping Runner) { self.run = run }
}

/// A system call that failed in a test.
struct Failed: Error {
    let what: String
    let number: Int32
}

@discardableResult
func must(_ what: String, _ result: Int) throws -> Int {
    guard result >= 0 else { throw Failed(what: what, number: result == -1 ? errno : Int32(-result)) }
    return result
}

@discardableResult
func must(_ what: String, _ result: Int32) throws -> Int32 { Int32(try must(what, Int(result))) }

/// Runs the body in a network namespace that nobody else sees.
func inNamespace<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    try OwnThread {
        try must("unshare", cns_unshare_network())
        return try body()
    }.join()
}

/// Whether this process may make a namespace.
let mayMakeNamespace = (try? inNamespace { true }) ?? false
/// Whether it may make a tun device in one.
let mayMakeTun = unsafe mayMakeNamespace && access("/dev/net/tun", R_OK | W_OK) == 0
