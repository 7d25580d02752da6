internal import IfcountClient
internal import Ledger
internal import Options
internal import SystemCalls
internal import Wire

/// The whole command, from its arguments to its exit status.
enum Program {
    /// Does what the command line asks.
    ///
    /// - Parameter arguments: the command line without the program's name, as bytes.
    /// - Returns: the exit status.
    static func run(_ arguments: [[UInt8]]) -> ExitStatus {
        let hasOutput = ThisProcess.completeStandardDescriptors()
        ThisProcess.ignoreBrokenPipes()
        var output = Output(wantsColor: true)
        do {
            let invocation = try Invocation(arguments.map(text))
            output = Output(wantsColor: invocation.wantsColor)
            if !hasOutput { throw Failure(message: "standard output is closed; give it somewhere to go") }
            try run(invocation, output)
            return .fine
        } catch let error as UsageError {
            output.tell("\(error); see \"ifcount help\"")
            return .usage
        } catch let error as Failure {
            output.tell(error.message)
            return error.status
        } catch is BrokenPipe {
            return .fine
        } catch {
            output.tell("\(error)")
            return .failed
        }
    }

    /// An argument as text: as it was typed, or escaped when it is the raw name of a link and no UTF-8.
    static func text(_ argument: [UInt8]) -> String {
        String(validating: argument, as: UTF8.self)
            ?? LinkName(bytes: argument)?.escaped ?? String(decoding: argument, as: UTF8.self)
    }

    private static func run(_ invocation: Invocation, _ output: Output) throws {
        let socket = SocketPath.resolve(
            option: invocation.socket,
            environment: ThisProcess.environment,
            isRoot: ThisProcess.isRoot,
            exists: { (try? FileStatus(following: $0)) != nil }
        )
        switch invocation.command {
        case .help(let topic):
            try output.write(Help.text(topic, output.style))
        case .version:
            try output.write("ifcount \(version)\n")
        case .call(let method, let parameters, let more):
            let call = Call(method: method, parameters: parameters, more: more ? true : nil)
            try CallCommand.run(call, path: socket.path, output)
        case .history(let history):
            try history.run(path: socket.path, output)
        case .events(let events):
            try events.run(path: socket.path, output)
        case .importing(let importing):
            try importing.run(path: socket.path, output)
        case .accounts(let accounts):
            try accounts.run(path: socket.path, output)
        case .export(let export):
            try export.run(path: socket.path, output)
        case .list(let all):
            var source = try source(socket, output)
            try ReadingCommands.list(&source, all: all, isJSON: invocation.isJSON, output)
        case .show(let names):
            var source = try source(socket, output)
            try ReadingCommands.show(&source, names, isJSON: invocation.isJSON, output)
        case .watch(let names, let interval, let duration):
            var source = try source(socket, output)
            let watch = WatchCommand(output, names: names, intervalUSec: interval, duration: duration)
            try watch.run(&source, isJSON: invocation.isJSON)
        }
    }

    /// The daemon, or the kernel where there is none and none was asked for by name.
    private static func source(_ socket: SocketPath, _ output: Output) throws -> any ReadingSource {
        do {
            return try DaemonSource(path: socket.path)
        } catch {
            if socket.isExplicit {
                let advice = "start ifcountd there, or leave --socket and IFCOUNT_SOCKET out to read the kernel"
                throw Failure(message: "\(error); \(advice)", status: .notReachable)
            }
            output.tell("\(error); reading the kernel, counting from now")
            return try KernelSource()
        }
    }
}
