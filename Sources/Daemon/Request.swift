internal import Wire

/// A call as it came, checked for Varlink's form; what its parameters mean is not looked at yet.
struct Request {
    var method: String
    var parameters: [String: JSONValue]
    var more: Bool
    var oneway: Bool
    /// Whether the one who asks may change what is kept.
    let mayChange: Bool

    /// A call that is not Varlink: the connection is closed, for nothing after it can be trusted either.
    struct Malformed: Error {}

    /// - Parameters:
    ///   - message: the bytes without the NUL.
    ///   - mayChange: whether the one who asks may change what is kept.
    /// - Throws: `Malformed`.
    init(_ message: [UInt8], mayChange: Bool) throws(Malformed) {
        self.mayChange = mayChange
        guard case .object(let members)? = try? JSONValue(parsing: message) else { throw Malformed() }
        guard case .string(let method)? = members["method"] else { throw Malformed() }
        self.method = method
        switch members["parameters"] {
        case nil, .null?: parameters = [:]
        case .object(let parameters)?: self.parameters = parameters
        default: throw Malformed()
        }
        more = try Self.flag(members["more"])
        oneway = try Self.flag(members["oneway"])
        if more && oneway { throw Malformed() }
        // A protocol to upgrade to there is none.
        if try Self.flag(members["upgrade"]) { throw Malformed() }
        let known: Set = ["method", "parameters", "more", "oneway", "upgrade"]
        if !known.isSuperset(of: members.keys) { throw Malformed() }
    }

    private static func flag(_ value: JSONValue?) throws(Malformed) -> Bool {
        switch value {
        case nil, .null?: false
        case .bool(let value)?: value
        default: throw Malformed()
        }
    }
}

/// Parameters that a method does not take, or not like this.
struct InvalidParameter: Error, Hashable {
    var parameter: String
    init(_ parameter: String) { self.parameter = parameter }
}

extension Request {
    /// Refuses parameters that the method does not declare.
    func allow(_ names: String...) throws(InvalidParameter) {
        if let unknown = parameters.keys.sorted().first(where: { !names.contains($0) }) {
            throw InvalidParameter(unknown)
        }
    }

    func string(_ name: String) throws(InvalidParameter) -> String {
        guard case .string(let value)? = parameters[name] else { throw InvalidParameter(name) }
        return value
    }

    func optionalString(_ name: String) throws(InvalidParameter) -> String? {
        switch parameters[name] {
        case nil, .null?: nil
        case .string(let value)?: value
        default: throw InvalidParameter(name)
        }
    }

    func optionalBool(_ name: String) throws(InvalidParameter) -> Bool? {
        switch parameters[name] {
        case nil, .null?: nil
        case .bool(let value)?: value
        default: throw InvalidParameter(name)
        }
    }

    func optionalInteger(_ name: String, in range: ClosedRange<Int>) throws(InvalidParameter) -> Int? {
        switch parameters[name] {
        case nil, .null?: return nil
        case .integer(let value)?:
            guard range.contains(value) else { throw InvalidParameter(name) }
            return value
        default: throw InvalidParameter(name)
        }
    }

    func optionalStrings(_ name: String) throws(InvalidParameter) -> [String]? {
        switch parameters[name] {
        case nil, .null?: return nil
        case .array(let values)?:
            var strings: [String] = []
            for value in values {
                guard case .string(let string) = value else { throw InvalidParameter(name) }
                strings.append(string)
            }
            return strings
        default: throw InvalidParameter(name)
        }
    }
}
