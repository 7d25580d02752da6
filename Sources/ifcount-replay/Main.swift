internal import Glibc
internal import Options
internal import SystemCalls

/// Runs scenario files through the ledger, or /proc/net/dev files through the parser, and prints what comes out.
@main
struct Main {
    private static let help = """
        Usage: ifcount-replay FILE…
               ifcount-replay --procnetdev FILE…

        Prints one line of JSON for each file: what the ledger makes of a scenario, or what the parser makes of
        a /proc/net/dev. FILE may be - for standard input.

          --procnetdev  the files are copies of /proc/net/dev
          --help        this text

        Exit: 0 every file was read, 1 one was not, 2 usage.
        """

    static func main() {
        // The error is taken by value: `exit` must not run while a file is held.
        exit(run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        let options: ParsedArguments
        do {
            options = try ParsedArguments(arguments, [.flag("procnetdev"), .flag("help", short: "h")])
        } catch {
            say("\(error)")
            return 2
        }
        if options.has("help") {
            put(help)
            return 0
        }
        guard !options.operands.isEmpty else {
            say("name a scenario file; see --help")
            return 2
        }
        var status: Int32 = 0
        for path in options.operands {
            do {
                let bytes = path == "-" ? try File.read("/dev/stdin") : try File.read(path)
                if options.has("procnetdev") {
                    put(try Answer.line(try Answer.procNetDev(bytes)))
                } else {
                    put(try Answer.line(try Answer.scenario(bytes)))
                }
            } catch {
                say("\(path): \(error)")
                status = 1
            }
        }
        return status
    }

    private static func put(_ line: String) {
        do {
            try Descriptor.writeAll(STDOUT_FILENO, Array("\(line)\n".utf8))
        } catch {
            if error != .brokenPipe { say("standard output: \(error)") }
            exit(1)
        }
    }

    private static func say(_ text: String) {
        try? Descriptor.writeAll(STDERR_FILENO, Array("ifcount-replay: \(text)\n".utf8))
    }
}
