internal import IfcountClient
internal import SystemCalls
internal import Wire

/// `ifcount accounts`: what is kept under which name, and how that is changed.
struct AccountsCommand: Hashable, Sendable {
    /// What is to be done.
    enum Action: Hashable, Sendable {
        case list
        case forget(String)
        case rename(String, to: String)
        case merge(String, into: String)
    }

    var action = Action.list
    /// Whether the user has agreed already.
    var isConfirmed = false
    var isJSON = false

    /// Does it, after the user has agreed, and says how it is undone.
    ///
    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - output: where to write.
    /// - Throws: a `Failure`.
    func run(path: String, _ output: Output) throws {
        switch action {
        case .list:
            let reply = try HistoryService.ask(path) { connection in
                try connection.call(List.method, List.Parameters(all: true), reply: List.Reply.self)
            }
            if isJSON { return try output.write(json: Frame.json(reply)) }
            try output.write(AccountsView.lines(reply.readings, width: output.width, now: Clock.wall, output.style))
        case .forget(let name):
            let parameters = Forget.Parameters(interface: name)
            try change(Forget.method, parameters, of: name, path, output) { AccountsView.forgetting($0, output.style) }
        case .rename(let name, let new):
            let parameters = Rename.Parameters(interface: name, to: new)
            try change(Rename.method, parameters, of: name, path, output) {
                AccountsView.moving($0, to: "rename it to \"\(new)\"", output.style)
            }
        case .merge(let name, let other):
            let parameters = Merge.Parameters(interface: name, into: other)
            try change(Merge.method, parameters, of: name, path, output) {
                AccountsView.moving($0, to: "add it to \"\(other)\"", output.style)
            }
        }
    }

    private func change(
        _ method: String,
        _ parameters: some Codable & Sendable,
        of name: String,
        _ path: String,
        _ output: Output,
        question: (Reading) -> String
    ) throws {
        let asked = Get.Parameters(interface: name)
        let reading = try HistoryService.ask(path) { try $0.call(Get.method, asked, reply: Get.Reply.self) }.reading
        // Nobody is asked for what is not done anyway.
        if method != Forget.method, reading.present { throw HistoryService.present(name) }
        if !isConfirmed { try Self.confirm(question(reading), output) }
        // The connection is a new one: the user may have taken long to agree.
        let reply = try HistoryService.ask(path) { try $0.call(method, parameters, reply: Amended.self) }
        if isJSON { return try output.write(json: Frame.json(reply)) }
        try output.write(AccountsView.done(reply))
    }

    /// Asks on the terminal, where there is one.
    private static func confirm(_ question: String, _ output: Output) throws {
        guard Terminal.isTerminal(0), Terminal.isTerminal(2) else {
            throw Failure(message: "\(question) Nobody can be asked here: say --yes to have it done", status: .usage)
        }
        output.ask("\(question) [y/N] ")
        let answer = try Descriptor.readLine(0, limit: 256)
        guard ["y", "yes"].contains(answer.lowercased()) else { throw Failure(message: "nothing was changed") }
    }
}
