/// `io.ifcount.Forget`: nothing of an interface is kept. One that is here begins anew.
public enum Forget {
    public static let method = "io.ifcount.Forget"

    public struct Parameters: Codable, Hashable, Sendable {
        public var interface: String
        public init(interface: String) { self.interface = interface }
    }
}

/// `io.ifcount.Rename`: all that is kept of an interface that is gone belongs to a name that was never seen.
public enum Rename {
    public static let method = "io.ifcount.Rename"

    public struct Parameters: Codable, Hashable, Sendable {
        public var interface: String
        public var to: String
        public init(interface: String, to: String) {
            self.interface = interface
            self.to = to
        }
    }
}

/// `io.ifcount.Merge`: all that is kept of an interface that is gone is added to another's.
public enum Merge {
    public static let method = "io.ifcount.Merge"

    public struct Parameters: Codable, Hashable, Sendable {
        public var interface: String
        public var into: String
        public init(interface: String, into: String) {
            self.interface = interface
            self.into = into
        }
    }
}

/// What `Forget`, `Rename` and `Merge` answer, when it is done and on disk.
public struct Amended: Codable, Hashable, Sendable {
    /// Where a copy of the history as it was before lies.
    public var backup: String
    public init(backup: String) { self.backup = backup }
}

/// `io.ifcount.InterfacePresent`: it is here, or may turn up again, and would open its account anew.
public enum InterfacePresent {
    public static let error = "io.ifcount.InterfacePresent"
}

/// `io.ifcount.InterfaceKnown`: the name has an account already.
public enum InterfaceKnown {
    public static let error = "io.ifcount.InterfaceKnown"
}

/// `io.ifcount.NoBackup`: no copy could be made of what is to be changed, and so it was not changed; `reason` says why.
public enum NoBackup {
    public static let error = "io.ifcount.NoBackup"
}
