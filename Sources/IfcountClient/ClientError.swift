package import SystemCalls
package import Wire

/// Why the daemon could not be asked. The descriptions are sentences for people; strings from outside stand in them as
/// they came.
package enum ClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing listens at the path, or it may not be used.
    case notReachable(path: String, Errno)
    /// The daemon ended the connection.
    case closed
    /// No answer came in time.
    case timedOut
    /// The daemon answered with a Varlink error.
    case refused(error: String, parameters: JSONValue)
    /// The daemon answered with something that is not Varlink, or not what the method says.
    case malformed(String)

    package var description: String {
        switch self {
        case .notReachable(let path, let error): "no daemon answers at \(path): \(error)"
        case .closed: "the daemon closed the connection"
        case .timedOut: "the daemon does not answer"
        case .refused(let error, let parameters):
            "the daemon says \(error) \(String(decoding: Frame.json(parameters), as: UTF8.self))"
        case .malformed(let what): "the daemon's answer makes no sense: \(what)"
        }
    }
}
