/// A call as a client sends it.
public struct Call: Codable, Hashable, Sendable {
    public var method: String
    public var parameters: JSONValue?
    /// The client wants a stream of replies.
    public var more: Bool?
    /// The client wants no reply, not even an error.
    public var oneway: Bool?

    public init(method: String, parameters: JSONValue?, more: Bool? = nil, oneway: Bool? = nil) {
        self.method = method
        self.parameters = parameters
        self.more = more
        self.oneway = oneway
    }
}

/// A reply as the daemon sends it: parameters of a method, or of an error when `error` names one.
public struct Reply<Parameters: Codable & Sendable>: Codable, Sendable {
    public var parameters: Parameters?
    public var error: String?
    /// More replies to the same call follow.
    public var continues: Bool?

    public init(parameters: Parameters?, error: String? = nil, continues: Bool? = nil) {
        self.parameters = parameters
        self.error = error
        self.continues = continues
    }
}

/// The errors and methods of `org.varlink.service`, which every Varlink service has.
public enum VarlinkService {
    public static let interface = "org.varlink.service"
    public static let getInfo = "org.varlink.service.GetInfo"
    public static let getInterfaceDescription = "org.varlink.service.GetInterfaceDescription"

    public static let interfaceNotFound = "org.varlink.service.InterfaceNotFound"
    public static let methodNotFound = "org.varlink.service.MethodNotFound"
    public static let invalidParameter = "org.varlink.service.InvalidParameter"
    public static let permissionDenied = "org.varlink.service.PermissionDenied"
    public static let expectedMore = "org.varlink.service.ExpectedMore"

    /// The reply of `GetInfo`.
    public struct Info: Codable, Hashable, Sendable {
        public var vendor: String
        public var product: String
        public var version: String
        public var url: String
        public var interfaces: [String]
        public init(vendor: String, product: String, version: String, url: String, interfaces: [String]) {
            self.vendor = vendor
            self.product = product
            self.version = version
            self.url = url
            self.interfaces = interfaces
        }
    }
}
