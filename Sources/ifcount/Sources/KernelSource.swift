internal import Wire

/// The kernel itself, read by this process and counted from its start.
struct KernelSource: ReadingSource {
    init() throws {
        throw Failure(message: "the kernel cannot be read without the daemon yet; start ifcountd")
    }

    mutating func list(all: Bool) throws -> [Reading] { [] }

    mutating func get(_ interface: String) throws -> Reading? { nil }

    mutating func watch(interfaces: [String]?, intervalUSec: Int?) throws {}

    var descriptors: [Int32] { [] }

    var timeoutMilliseconds: Int32? { nil }

    mutating func next() throws -> Watch.Reply? { nil }
}
