internal import CTestLinks

/// Servers on the loopback of the calling thread's namespace.
package enum Loopback {
    /// Sends a request to a TCP port and takes the answer to its end.
    ///
    /// - Throws: `LinkFailure`: ECONNREFUSED where nobody listens, EAGAIN when nothing came for two seconds, EMSGSIZE for
    ///   an answer of more than 4 MiB.
    package static func ask(port: UInt16, _ request: String) throws(LinkFailure) -> String {
        var answer = [UInt8](repeating: 0, count: 4 << 20)
        let bytes = Array(request.utf8)
        let count = unsafe ifct_tcp_ask(port, bytes, bytes.count, &answer, answer.count)
        try succeeding("ask port \(port) of the loopback", count)
        return String(decoding: answer.prefix(count), as: UTF8.self)
    }
}
