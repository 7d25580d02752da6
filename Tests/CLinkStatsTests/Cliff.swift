import Glibc
internal import TestLinks

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

extension [UInt8] {
    /// A copy with a few bytes changed, cut out or put in.
    func mutated(using random: inout SplitMix64) -> [UInt8] {
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
