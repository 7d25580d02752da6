internal import CLinux
internal import Glibc

/// Stream sockets of the local machine (unix(7)).
package enum UnixSocket {
    /// The longest path that fits into `sockaddr_un`, in bytes.
    package static let longestPath = 107

    /// Connects to a listening socket (connect(2)).
    ///
    /// - Parameters:
    ///   - path: the socket's path, or an abstract name that begins with "@".
    ///   - nonblocking: whether to answer `.wouldBlock` where the listener has no room for another connection.
    /// - Returns: the connected socket.
    /// - Throws: the call's `Errno`; `.nameTooLong` when the path does not fit.
    package static func connect(to path: String, nonblocking: Bool = false) throws(Errno) -> Descriptor {
        let socket = try make(flags: nonblocking ? Int32(SOCK_NONBLOCK.rawValue) : 0)
        let number = socket.number
        try unsafe withAddress(path) { unsafe Int(Glibc.connect(number, $0, $1)) }
        return socket
    }

    /// Binds a nonblocking socket to a path that does not exist yet, and listens (bind(2), listen(2)).
    package static func listen(at path: String, backlog: Int32) throws(Errno) -> Descriptor {
        let socket = try make(flags: Int32(SOCK_NONBLOCK.rawValue))
        let number = socket.number
        try unsafe withAddress(path) { unsafe Int(Glibc.bind(number, $0, $1)) }
        try retrying { Glibc.listen(number, backlog) }
        return socket
    }

    /// Takes the next connection of a listening socket, nonblocking (accept4(2)).
    ///
    /// - Throws: the call's `Errno`; `.wouldBlock` when there is none.
    package static func accept(_ listener: Int32) throws(Errno) -> Descriptor {
        Descriptor(owning: try retrying { ifc_accept(listener) })
    }

    /// Sets how many bytes a socket keeps of what its peer has not read; the kernel adds as much again for its own
    /// bookkeeping (socket(7), SO_SNDBUF).
    package static func setSendBuffer(_ number: Int32, bytes: Int32) throws(Errno) {
        var bytes = bytes
        let length = socklen_t(MemoryLayout<Int32>.size)
        try retrying { unsafe setsockopt(number, SOL_SOCKET, SO_SNDBUF, &bytes, length) }
    }

    /// The user id of who connected, at the time it did (unix(7), SO_PEERCRED). A user whom this user namespace does not
    /// know has the id that stands for all of them, 65534 usually.
    ///
    /// - Throws: the call's `Errno`.
    package static func peerUser(_ number: Int32) throws(Errno) -> UInt32 {
        UInt32(truncatingIfNeeded: try retrying { ifc_peer_user(number) })
    }

    /// Sends as much as the socket takes at once, without SIGPIPE (send(2)).
    ///
    /// - Throws: the call's `Errno`; `.wouldBlock` when nothing fits, `.brokenPipe` when the peer is gone.
    package static func send(_ number: Int32, _ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
        try retrying {
            unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// Whether a descriptor is a listening stream socket of the local machine (socket(7), SO_ACCEPTCONN).
    package static func isListening(_ number: Int32) -> Bool {
        option(number, SO_DOMAIN) == AF_UNIX && option(number, SO_TYPE) == Int32(SOCK_STREAM.rawValue)
            && option(number, SO_ACCEPTCONN) == 1
    }

    /// Sends one datagram to a path, or to an abstract name when it begins with "@" (unix(7)).
    package static func sendDatagram(_ bytes: [UInt8], to path: String) throws(Errno) {
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Descriptor(owning: try retrying { Glibc.socket(AF_UNIX, type, 0) })
        let number = socket.number
        try unsafe withAddress(path) {
            unsafe sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1)
        }
    }

    private static func make(flags: Int32) throws(Errno) -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue) | flags
        return Descriptor(owning: try retrying { Glibc.socket(AF_UNIX, type, 0) })
    }

    private static func option(_ number: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// Runs a call that takes an address; EINTR is retried.
    private static func withAddress(
        _ path: String,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int
    ) throws(Errno) {
        var name = Array(path.utf8)
        guard !name.isEmpty, name.count <= longestPath else { throw .nameTooLong }
        let abstract = name[0] == UInt8(ascii: "@")
        if abstract { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        // An abstract name is as long as it says; a path ends with a NUL.
        let length = MemoryLayout<sa_family_t>.size + name.count + (abstract ? 0 : 1)
        try retrying {
            unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0, socklen_t(length)) }
            }
        }
    }
}
