/// Where the daemon's socket is: decided here for every program.
public struct SocketPath: Hashable, Sendable {
    /// The socket's path, or an abstract name that begins with "@".
    public var path: String
    /// Whether the user named it, so that nothing else may be used in its place.
    public var isExplicit: Bool

    /// The system-wide socket.
    public static let system = "/run/ifcount/io.ifcount"

    /// Where a client looks: `--socket`, else IFCOUNT_SOCKET, else the system's socket for root or when it exists, else
    /// the user's.
    ///
    /// - Parameters:
    ///   - option: the value of `--socket`, if it was given.
    ///   - environment: looks up a variable.
    ///   - isRoot: whether the process acts as root.
    ///   - exists: whether there is something at a path.
    /// - Returns: one path, also when nothing is there.
    public static func resolve(
        option: String?,
        environment: (String) -> String?,
        isRoot: Bool,
        exists: (String) -> Bool
    ) -> SocketPath {
        if let path = explicit(option, environment) { return SocketPath(path: path, isExplicit: true) }
        let user = isRoot || exists(system) ? nil : user(environment)
        return SocketPath(path: user ?? system, isExplicit: false)
    }

    /// Where the daemon listens: `--socket`, else IFCOUNT_SOCKET, else the system's socket for root and the user's for
    /// everyone else; nil for a user without XDG_RUNTIME_DIR.
    public static func resolveForDaemon(
        option: String?,
        environment: (String) -> String?,
        isRoot: Bool
    ) -> SocketPath? {
        if let path = explicit(option, environment) { return SocketPath(path: path, isExplicit: true) }
        return (isRoot ? system : user(environment)).map { SocketPath(path: $0, isExplicit: false) }
    }

    private static func explicit(_ option: String?, _ environment: (String) -> String?) -> String? {
        guard let text = option ?? environment("IFCOUNT_SOCKET").flatMap({ $0.isEmpty ? nil : $0 }) else { return nil }
        // A Varlink address: "unix:/path", perhaps with ";mode=0666" behind it.
        guard text.hasPrefix("unix:") else { return text }
        return String(text.dropFirst(5).prefix { $0 != ";" })
    }

    private static func user(_ environment: (String) -> String?) -> String? {
        // The specification of XDG_RUNTIME_DIR says to ignore a path that is not absolute.
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return directory + "/ifcount/io.ifcount"
    }
}
