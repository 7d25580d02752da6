package import SystemCalls

/// The listening socket: the service manager's, or one of our own at a path.
package struct Listener: ~Copyable {
    /// Why there is no socket to listen on.
    package enum Failure: Error, Sendable, CustomStringConvertible {
        case inUse(String)
        case notSocket(String)
        case tooLong(String)
        case cannot(String, path: String, Errno)

        package var description: String {
            switch self {
            case .inUse(let path):
                "another ifcountd answers on \(path); stop it, or choose another socket with --socket"
            case .notSocket(let path):
                "\(path) exists and is no socket; remove it, or choose another path with --socket"
            case .tooLong(let path):
                "the socket's path has more than \(UnixSocket.longestPath) bytes: \(path)"
            case .cannot(let doing, let path, let error):
                "cannot \(doing) \(path): \(error)"
            }
        }
    }

    private let socket: Descriptor
    /// The path that was bound here, and the file that this made; nil for a socket of the service manager.
    private let bound: (path: String, identity: FileIdentity)?

    /// The number, to be polled.
    package var number: Int32 { socket.number }

    /// Takes over a socket that the service manager listens on (sd_listen_fds(3)).
    package init(inherited number: Int32) throws(Errno) {
        let socket = Descriptor(owning: number)
        try socket.setNonblocking()
        self.init(socket, bound: nil)
    }

    private init(_ socket: consuming Descriptor, bound: (path: String, identity: FileIdentity)?) {
        self.socket = socket
        self.bound = bound
    }

    /// Binds a path. The socket of a daemon that has ended is replaced; that of one that lives, or any other file, is not.
    ///
    /// - Parameter path: the path, or an abstract name that begins with "@".
    /// - Returns: the listening socket.
    /// - Throws: `Failure`; nothing was changed then.
    package static func bind(_ path: String) throws(Failure) -> Listener {
        guard path.utf8.count <= UnixSocket.longestPath, !path.isEmpty else { throw .tooLong(path) }
        if path.hasPrefix("@") { return Listener(try listen(path), bound: nil) }
        // The lock makes looking, removing and binding one step: two daemons that start at once cannot replace each
        // other's socket.
        let lock = try lock(directory(of: path))
        try removeStale(path)
        let socket = try listen(path)
        let identity: FileIdentity
        do {
            identity = try FileStatus(at: path).identity
            // What it tells is in /proc/net/dev for everyone to read.
            try File.setMode(path, 0o666)
        } catch {
            throw .cannot("open to all", path: path, error)
        }
        _ = consume lock
        return Listener(socket, bound: (path, identity))
    }

    /// Removes the socket's file, if it is still the one that was made here.
    package func removeFile() {
        guard let bound, let now = try? FileStatus(at: bound.path), now.identity == bound.identity else { return }
        try? File.remove(bound.path)
    }

    private static func listen(_ path: String) throws(Failure) -> Descriptor {
        do {
            return try UnixSocket.listen(at: path, backlog: 512)
        } catch {
            throw error == .addressInUse ? .inUse(path) : .cannot("listen on", path: path, error)
        }
    }

    /// Removes the socket of a daemon that has ended. Whether one lives is asked by connecting to it.
    private static func removeStale(_ path: String) throws(Failure) {
        do {
            guard try FileStatus(at: path).isSocket else { throw Failure.notSocket(path) }
        } catch let error as Errno where error == .noEntry {
            return
        } catch let error as Errno {
            throw .cannot("look at", path: path, error)
        } catch {
            throw .notSocket(path)
        }
        do {
            _ = try UnixSocket.connect(to: path, nonblocking: true)
        } catch  where error == .connectionRefused {
            do { try File.remove(path) } catch { throw .cannot("replace", path: path, error) }
            return
        } catch  where error == .wouldBlock {
            // So many wait to be accepted that there is no room: it lives.
        } catch {
            throw .cannot("connect to", path: path, error)
        }
        throw .inUse(path)
    }

    /// Waits a moment for the lock of a directory, which another daemon holds only while it starts.
    private static func lock(_ directory: String) throws(Failure) -> Descriptor {
        do {
            if directory != "/" && directory != "." { try File.makeDirectory(directory, mode: 0o755) }
        } catch {
            throw .cannot("make the directory", path: directory, error)
        }
        do {
            let file = try File.open(directory)
            for _ in 0..<20 {
                if try File.lock(file) { break }
                _ = try waitReadable([], milliseconds: 100)
            }
            return file
        } catch {
            throw .cannot("lock the directory", path: directory, error)
        }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
