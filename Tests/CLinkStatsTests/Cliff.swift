import Glibc

/// Calls the body with a copy of the bytes that ends at the edge of readable memory.
///
/// One byte read past the end is then a crash, also without a sanitizer. The copy starts wherever that puts it, so
/// odd lengths test unaligned reading as well.
func withCliff<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<UInt8>) throws -> Result) rethrows -> Result {
    let page = sysconf(Int32(_SC_PAGESIZE))
    let readable = max(1, (bytes.count + page - 1) / page) * page
    let mapped = unsafe mmap(nil, readable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { fatalError("mmap: errno \(errno)") }
    defer { unsafe munmap(mapped, readable + page) }
    precondition(unsafe mprotect(mapped + readable, page, PROT_NONE) == 0)
    let start = unsafe mapped + readable - bytes.count
    unsafe start.copyMemory(from: bytes, byteCount: bytes.count)
    return try unsafe body(UnsafePointer(start.assumingMemoryBound(to: UInt8.self)))
}

/// SplitMix64: the same numbers in every run from the same seed.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension [UInt8] {
    /// A copy with a few bytes changed, cut out or put in.
    func mutated(using random: inout Seeded) -> [UInt8] {
        var copy = self
        for _ in 0..<Int.random(in: 1...6, using: &random) where !copy.isEmpty {
            let place = Int.random(in: 0..<copy.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: copy.remove(at: place)
            case 1: copy.insert(.random(in: 0...255, using: &random), at: place)
            case 2: copy[place] = [0, 1, 4, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            case 3: copy.removeLast(Int.random(in: 0...Swift.min(8, copy.count), using: &random))
            default: copy[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
        return copy
    }
}
