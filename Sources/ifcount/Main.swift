internal import Glibc
internal import SystemCalls

/// The `ifcount` command.
@main struct Main {
    static func main() {
        exit(Program.run(Array(ThisProcess.arguments.dropFirst())).rawValue)
    }
}
