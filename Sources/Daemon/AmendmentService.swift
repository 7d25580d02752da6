internal import History
internal import Ledger
internal import Wire

/// How accounts are changed over the socket: first a copy of the history is made, then the ledger changes, and when that is
/// on disk, the client is answered.
enum AmendmentService {
    /// The change that a call asks for.
    ///
    /// - Throws: `InvalidParameter`.
    static func amendment(_ request: Request) throws(InvalidParameter) -> Amendment {
        switch request.method {
        case Rename.method:
            try request.allow("interface", "to")
            return .rename(try name("interface", request), to: try name("to", request))
        case Merge.method:
            try request.allow("interface", "into")
            return .merge(try name("interface", request), into: try name("into", request))
        default:
            try request.allow("interface")
            return .forget(try name("interface", request))
        }
    }

    private static func name(_ parameter: String, _ request: Request) throws(InvalidParameter) -> LinkName {
        guard let name = LinkName(escaped: try request.string(parameter)) else { throw InvalidParameter(parameter) }
        return name
    }

    /// Makes the copy, and answers with its path as bytes.
    ///
    /// - Parameter now: the wall clock, µs since 1970.
    /// - Returns: what the recorder is to do.
    static func copy(now: Int) -> HistoryService.Question {
        { store, unsaved in
            // It would be a copy of less than what is known.
            if !unsaved.isEmpty { throw NotSaved() }
            return Array(try store.backUp(wall: now).utf8)
        }
    }

    private struct NotSaved: Error, CustomStringConvertible {
        var description: String { "the last figures are not saved yet" }
    }

    // MARK: - Answers

    /// The answer to a change that is made.
    static func frame(copy: [UInt8]) -> [UInt8] {
        Frame.encode(Reply(parameters: Amended(backup: String(decoding: copy, as: UTF8.self))))
    }

    /// The answer to a change that is not made, for there is no copy to undo it with.
    static func frame(noCopy reason: String) -> [UInt8] {
        Service.failureFrame(NoBackup.error, ["reason": .string(reason)])
    }

    /// The answer to a change that cannot be made.
    static func frame(_ refusal: Amendment.Refusal) -> [UInt8] {
        switch refusal {
        case .unknown(let name):
            Service.failureFrame(NoSuchInterface.error, ["interface": .string(name.escaped)])
        case .present(let name):
            Service.failureFrame(InterfacePresent.error, ["interface": .string(name.escaped)])
        case .taken(let name):
            Service.failureFrame(InterfaceKnown.error, ["interface": .string(name.escaped)])
        }
    }
}
