package import Ledger
internal import SystemCalls

/// One way to look at the kernel's links.
protocol ScanSource: AnyObject {
    var source: Source { get }
    /// How often events were lost since the beginning.
    var overruns: Int { get }
    /// Readable when events wait; nil for a source that has none.
    var eventDescriptor: Int32? { get }
    /// Takes a whole look: what happened, and what the counters say.
    func scan() throws(ReadError) -> Scan
    /// Takes only what happened; nil when nothing did.
    func waiting() throws(ReadError) -> Scan?
}

/// Reads links and their counters from the best source there is.
package struct Reader: ~Copyable {
    private let forced: Source?
    private var current: any ScanSource
    /// Looks since a better source was tried last.
    private var looks = 0
    /// Why the sources before the present one were not taken, or were left.
    package private(set) var refusals: [ReadError]

    /// What room is asked for events that wait, in bytes: some thousand. The kernel grants less to the unprivileged.
    package static let eventRoom: Int32 = 4 << 20
    private let eventRoom: Int32

    /// After how many looks a better source is tried again.
    private static let patience = 60

    /// - Parameters:
    ///   - source: the source to use; nil for the first of `Source` that works.
    ///   - eventRoom: what room to ask for events that wait, in bytes.
    /// - Throws: why the source that was asked for, or the last of all, cannot be read.
    package init(_ source: Source?, eventRoom: Int32 = Reader.eventRoom) throws(ReadError) {
        forced = source
        self.eventRoom = eventRoom
        refusals = []
        if let source {
            current = try Self.open(source, eventRoom)
        } else {
            current = try Self.first(of: Source.allCases[...], eventRoom, refusals: &refusals)
        }
    }

    /// The source in use.
    package var source: Source { current.source }

    /// How often events were lost.
    package var overruns: Int { current.overruns }

    /// Readable when link events wait; nil for a source that has none. It changes with the source.
    package var eventDescriptor: Int32? { current.eventDescriptor }

    /// Takes a look: what happened since the one before, and what the counters say.
    ///
    /// - Throws: why nothing could be read, from any source that may be used.
    package mutating func scan() throws(ReadError) -> Scan {
        tryBetter()
        do {
            return try current.scan()
        } catch {
            guard forced == nil else { throw error }
            refusals = [error]
            let worse = Source.allCases.drop { $0 != source }.dropFirst()
            current = try Self.first(of: worse, eventRoom, refusals: &refusals)
            return try current.scan()
        }
    }

    /// Takes the link events that wait, without reading counters; nil when there are none.
    ///
    /// - Throws: why they could not be received; the next `scan` finds another source.
    package mutating func waiting() throws(ReadError) -> Scan? { try current.waiting() }

    /// Goes back to a better source when it works again.
    private mutating func tryBetter() {
        guard forced == nil, source != Source.allCases[0] else { return }
        looks += 1
        guard looks >= Self.patience else { return }
        looks = 0
        var ignored: [ReadError] = []
        let better = Source.allCases.prefix { $0 != source }
        if let found = try? Self.first(of: better, eventRoom, refusals: &ignored) {
            current = found
            refusals = []
        }
    }

    private static func first(
        of sources: ArraySlice<Source>,
        _ eventRoom: Int32,
        refusals: inout [ReadError]
    ) throws(ReadError) -> any ScanSource {
        for source in sources {
            do { return try open(source, eventRoom) } catch { refusals.append(error) }
        }
        throw refusals.last ?? ReadError(.getifaddrs, "find a source", .notSupported)
    }

    private static func open(_ source: Source, _ eventRoom: Int32) throws(ReadError) -> any ScanSource {
        switch source {
        case .netlink: try NetlinkSource(eventRoom: eventRoom)
        case .procfs: try ProcfsSource()
        case .getifaddrs: try GetifaddrsSource()
        }
    }
}
