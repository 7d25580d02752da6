internal import IfcountClient
internal import Wire

/// `ifcount call`.
enum CallCommand {
    /// Sends one call and prints its reply, or each of its replies with `more`.
    static func run(_ call: Call, path: String, _ output: Output) throws {
        do {
            let connection = try Connection(path: path)
            try connection.send(call)
            while true {
                let reply = try connection.nextValue()
                try output.write(json: Frame.json(reply.parameters))
                if !reply.continues { return }
            }
        } catch ClientError.refused(let error, let parameters) {
            throw Failure(
                message: "\(error) \(String(decoding: Frame.json(parameters), as: UTF8.self))",
                status: error == NoSuchInterface.error ? .noSuchInterface : .failed
            )
        } catch let error as ClientError {
            guard case .notReachable = error else { throw error }
            throw Failure(message: "\(error); start ifcountd first", status: .notReachable)
        }
    }
}
