internal import Daemon
internal import SystemCalls
internal import Wire

/// The kernel itself, read by this process and counted from its start.
struct KernelSource: ReadingSource {
    private let sampler: Sampler
    private var subscription: Subscription?
    private var isFirst = true
    /// When the next reading is due, on CLOCK_BOOTTIME in µs.
    private var due: UInt64 = 0
    /// Why the kernel cannot be read at the moment.
    private(set) var note: String?

    /// How often the kernel is read where nothing else was asked, in µs.
    private static let ownInterval: UInt64 = 1_000_000

    /// Takes the first look; counting begins with it.
    ///
    /// - Throws: why the kernel cannot be read.
    init() throws {
        sampler = try Sampler(source: nil)
    }

    mutating func list(all: Bool) throws -> [Reading] { sampler.readings(all: all) }

    mutating func get(_ interface: String) throws -> Reading? { sampler.reading(of: interface) }

    mutating func watch(interfaces: [String]?, intervalUSec: Int?) throws {
        do {
            subscription = try Subscription(interfaces, interval: intervalUSec.map { UInt64($0) })
        } catch {
            throw Failure(message: "no interface can be called \"\(error.name)\": a name has 1 to 15 bytes")
        }
        due = Clock.boot + interval
    }

    var descriptors: [Int32] { sampler.eventDescriptor.map { [$0] } ?? [] }

    var timeoutMilliseconds: Int32? {
        let now = Clock.boot
        return due > now ? Int32(clamping: (due - now + 999) / 1000) : 0
    }

    mutating func next() throws -> Watch.Reply? {
        guard let subscription else { return nil }
        if isFirst {
            isFirst = false
            return subscription.reply(from: sampler, events: [], isFirst: true)
        }
        do {
            try sampler.takeWaiting()
            let events = sampler.takeEvents()
            let now = Clock.boot
            guard now >= due || events.contains(where: subscription.covers) else { return nil }
            if now >= due {
                // In step with its own beat, unless that is long past.
                due = max(due + interval, now + interval / 2)
                try sampler.sample()
            }
            note = nil
            return subscription.reply(from: sampler, events: events + sampler.takeEvents(), isFirst: false)
        } catch {
            note = "\(error); counting waits for it"
            due = Clock.boot + interval
            return nil
        }
    }

    private var interval: UInt64 { subscription?.interval ?? Self.ownInterval }
}
