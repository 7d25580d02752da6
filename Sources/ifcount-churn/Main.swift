internal import Glibc
internal import Options
internal import SystemCalls
internal import TestLinks

/// Tries to break the daemon with real links, and tells what it found.
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
            complain("\(error)\nTry 'ifcount-churn --help'.")
            return 2
        }
        if arguments.wantsHelp {
            print(Arguments.help, terminator: "")
            return 0
        }
        // A daemon that ends must not end this.
        ThisProcess.ignoreBrokenPipes()
        do {
            let churn = try Churn(arguments)
            do {
                let report = try churn.run()
                print(report.text, terminator: "")
                if report.hasViolations { return 1 }
                if ThisProcess.environment("KEEP") == nil { churn.log.removeAll() }
                return 0
            } catch {
                churn.note("\(error)")
                complain("\(error); what was done is in \(churn.log.path), seed \(arguments.seed)")
            }
        } catch {
            complain("\(error)")
        }
        return 1
    }

    private static func complain(_ words: String) {
        let line = Array("ifcount-churn: \(words)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }
}
