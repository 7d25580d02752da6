internal import Glibc
internal import Options
internal import SystemCalls
internal import TestLinks

/// Drives a tunnel that reconnects, in a private namespace, and tells what truly went through.
@main
struct Main {
    static func main() {
        exit(run())
    }

    private static func run() -> Int32 {
        let arguments: Arguments
        do throws(UsageError) {
            arguments = try Arguments(CommandLine.arguments.dropFirst())
        } catch {
            complain("\(error)\nTry 'ifcount-demo --help'.")
            return 2
        }
        if arguments.wantsHelp {
            print(Arguments.help, terminator: "")
            return 0
        }
        do throws(LinkFailure) {
            var demonstration = try Demonstration(arguments)
            let outcome = try demonstration.run()
            print(arguments.wantsJSON ? outcome.json : outcome.sentence)
            guard let failure = demonstration.failure else { return 0 }
            complain(failure)
        } catch {
            complain(advice(on: error))
        }
        return 1
    }

    private static func complain(_ words: String) {
        let line = Array("ifcount-demo: \(words)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }

    /// One line that says what failed and what to do about it.
    private static func advice(on failure: LinkFailure) -> String {
        if failure.attempt.contains("tunnel"), let reason = Tunnel.unavailable {
            return "cannot \(failure.attempt): \(reason)"
        }
        if failure.attempt.contains("namespace"), [EPERM, EACCES, ENOSPC, EUSERS].contains(failure.errno.code) {
            return "\(failure); run it as root, or allow user namespaces (sysctl user.max_user_namespaces, "
                + "kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns)"
        }
        return "\(failure)"
    }
}
