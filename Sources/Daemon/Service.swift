internal import Ledger
internal import Wire

/// What the socket answers: each method, from the sampler's figures.
struct Service {
    /// What a request comes to.
    enum Answer {
        /// One frame.
        case reply([UInt8])
        /// A stream begins.
        case watch(Subscription)
    }

    /// What a client watches.
    struct Subscription {
        /// The names in their escaped form; nil for all.
        var interfaces: [String]?
        /// In µs; nil for the daemon's own interval.
        var interval: UInt64?

        /// Whether an event is of an interface that is watched.
        func covers(_ event: Event) -> Bool {
            guard let interfaces else { return true }
            return interfaces.contains(event.interface) || event.previous.map(interfaces.contains) ?? false
        }
    }

    /// How many interfaces one watch may name.
    private static let mostInterfaces = 1024

    /// Answers a request.
    static func answer(_ request: Request, from sampler: Sampler) -> Answer {
        do {
            return try dispatch(request, sampler)
        } catch {
            return failure(VarlinkService.invalidParameter, ["parameter": .string(error.parameter)])
        }
    }

    private static func dispatch(_ request: Request, _ sampler: Sampler) throws(InvalidParameter) -> Answer {
        switch request.method {
        case List.method:
            try request.allow("all")
            let all = try request.optionalBool("all") ?? false
            return success(List.Reply(readings: sampler.readings(all: all)))
        case Get.method:
            try request.allow("interface")
            let interface = try request.string("interface")
            guard let reading = sampler.reading(of: interface) else {
                return failure(NoSuchInterface.error, ["interface": .string(interface)])
            }
            return success(Get.Reply(reading: reading))
        case Watch.method:
            try request.allow("interfaces", "intervalUSec")
            return try watch(request)
        case VarlinkService.getInfo:
            try request.allow()
            return success(
                VarlinkService.Info(
                    vendor: "ifcount",
                    product: "ifcountd",
                    version: Wire.version,
                    url: "",
                    interfaces: [VarlinkService.interface, "io.ifcount"]
                )
            )
        case VarlinkService.getInterfaceDescription:
            try request.allow("interface")
            return describe(try request.string("interface"))
        default:
            return failure(VarlinkService.methodNotFound, ["method": .string(request.method)])
        }
    }

    private static func watch(_ request: Request) throws(InvalidParameter) -> Answer {
        let names = try request.optionalStrings("interfaces")
        let interval = try request.optionalInteger("intervalUSec", in: Watch.intervals)
        var interfaces: [String]?
        if let names {
            guard names.count <= mostInterfaces else { throw InvalidParameter("interfaces") }
            var seen: Set<LinkName> = []
            interfaces = []
            for name in names {
                // Waiting for a name that no link can have would be for ever.
                guard let link = LinkName(escaped: name) else { throw InvalidParameter("interfaces") }
                if seen.insert(link).inserted { interfaces?.append(link.escaped) }
            }
        }
        guard request.more else { return failure(VarlinkService.expectedMore, [:]) }
        return .watch(Subscription(interfaces: interfaces, interval: interval.map { UInt64($0) }))
    }

    private static func describe(_ interface: String) -> Answer {
        let description: String
        switch interface {
        case "io.ifcount": description = InterfaceDescriptions.ifcount
        case VarlinkService.interface: description = InterfaceDescriptions.service
        default: return failure(VarlinkService.interfaceNotFound, ["interface": .string(interface)])
        }
        return success(["description": description])
    }

    private static func success(_ parameters: some Codable & Sendable) -> Answer {
        .reply(Frame.encode(Reply(parameters: parameters)))
    }

    private static func failure(_ error: String, _ parameters: [String: JSONValue]) -> Answer {
        .reply(Frame.encode(Reply(parameters: parameters, error: error)))
    }
}
