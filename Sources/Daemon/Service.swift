internal import History
internal import Ledger
internal import SystemCalls
internal import Wire

/// What the socket answers: each method, from the sampler's figures.
struct Service {
    /// What a request comes to.
    enum Answer {
        /// One frame.
        case reply([UInt8])
        /// A stream begins.
        case watch(Subscription)
        /// The history knows the answer; a stream may begin with it.
        case ask(HistoryService.Question, then: Subscription?)
        /// The history is to be changed, after all that was counted so far is in it.
        case change(HistoryService.Question)
        /// An account is to be changed, after a copy of the history was made.
        case amend(Amendment, copy: HistoryService.Question)
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
        case GetHistory.method:
            guard sampler.persistence != nil else { return noHistory }
            let interface = try request.string("interface")
            let reading = sampler.reading(of: interface)
            let question = try HistoryService.history(
                request,
                since: reading?.total.sinceUSec,
                now: Clock.wall
            )
            guard reading != nil else { return failure(NoSuchInterface.error, ["interface": .string(interface)]) }
            return .ask(question, then: nil)
        case Events.method:
            guard sampler.persistence != nil else { return noHistory }
            let question = try HistoryService.events(request)
            guard request.more else { return .ask(question, then: nil) }
            return .ask(question, then: try followed(try request.optionalString("interface")))
        case Import.method:
            guard request.mayChange else { return failure(VarlinkService.permissionDenied, [:]) }
            guard sampler.persistence != nil else { return noHistory }
            let interface = try request.string("interface")
            let reading = sampler.reading(of: interface)
            let question = try ImportService.question(request, before: reading?.total.sinceUSec ?? .max)
            guard reading != nil else { return failure(NoSuchInterface.error, ["interface": .string(interface)]) }
            return .change(question)
        case Forget.method, Rename.method, Merge.method:
            guard request.mayChange else { return failure(VarlinkService.permissionDenied, [:]) }
            guard sampler.persistence != nil else { return noHistory }
            let amendment = try AmendmentService.amendment(request)
            do throws(Amendment.Refusal) { try sampler.check(amendment) } catch {
                return .reply(AmendmentService.frame(error))
            }
            return .amend(amendment, copy: AmendmentService.copy(now: Clock.wall))
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
        if let names, names.count > mostInterfaces { throw InvalidParameter("interfaces") }
        let subscription: Subscription
        do {
            subscription = try Subscription(names, interval: interval.map { UInt64($0) })
        } catch {
            throw InvalidParameter("interfaces")
        }
        guard request.more else { return failure(VarlinkService.expectedMore, [:]) }
        return .watch(subscription)
    }

    private static func followed(_ interface: String?) throws(InvalidParameter) -> Subscription {
        do {
            return try Subscription(interface.map { [$0] }, interval: nil, isEventsOnly: true)
        } catch {
            throw InvalidParameter("interface")
        }
    }

    /// What is answered where there is no history to ask, or it cannot be read.
    static let noHistoryFrame = failureFrame(NoHistory.error, [:])

    private static var noHistory: Answer { .reply(noHistoryFrame) }

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
        .reply(failureFrame(error, parameters))
    }

    /// An error reply.
    static func failureFrame(_ error: String, _ parameters: [String: JSONValue]) -> [UInt8] {
        Frame.encode(Reply(parameters: parameters, error: error))
    }
}
