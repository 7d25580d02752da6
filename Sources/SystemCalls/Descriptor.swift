internal import Glibc

/// An open file descriptor that has one owner and is closed with it (close(2)).
package struct Descriptor: ~Copyable, Sendable {
    /// The number, for calls that this module does not wrap. It must not be closed or kept.
    package let number: Int32

    /// Takes ownership of an open descriptor.
    package init(owning number: Int32) {
        precondition(number >= 0, "a descriptor is not negative")
        self.number = number
    }

    deinit { _ = Glibc.close(number) }

    /// Gives ownership up without closing.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// Reads up to `buffer.count` bytes (read(2)).
    ///
    /// - Returns: how many bytes were read; 0 at the end of the file.
    /// - Throws: the call's `Errno`; `.wouldBlock` when a nonblocking descriptor has nothing to read.
    package func read(into buffer: inout [UInt8]) throws(Errno) -> Int {
        try Self.read(number, into: &buffer)
    }

    /// `read(into:)` for a descriptor that is borrowed by number, such as standard input.
    package static func read(_ number: Int32, into buffer: inout [UInt8]) throws(Errno) -> Int {
        try retrying { unsafe Glibc.read(number, &buffer, buffer.count) }
    }

    /// Reads a line from a blocking descriptor, such as a terminal, and nothing behind it.
    ///
    /// - Parameters:
    ///   - number: the descriptor.
    ///   - limit: how many bytes a line may have; the rest of a longer one stays.
    /// - Returns: the line without its end.
    /// - Throws: the `Errno` of read(2).
    package static func readLine(_ number: Int32, limit: Int) throws(Errno) -> String {
        var line: [UInt8] = []
        var byte: [UInt8] = [0]
        while line.count < limit, try read(number, into: &byte) == 1, byte[0] != 0x0A { line.append(byte[0]) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Reads a blocking descriptor to its end.
    ///
    /// - Parameters:
    ///   - number: the descriptor.
    ///   - limit: how many bytes there may be.
    /// - Returns: all of them.
    /// - Throws: `.fileTooLarge` when there are more, or the `Errno` of read(2).
    package static func readAll(_ number: Int32, limit: Int) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = try read(number, into: &piece)
            if count == 0 { return bytes }
            bytes += piece[..<count]
            if bytes.count > limit { throw .fileTooLarge }
        }
    }

    /// Writes as much of `bytes` as the descriptor takes at once (write(2)).
    ///
    /// - Throws: the call's `Errno`; `.wouldBlock` when a nonblocking descriptor is full.
    package static func write(_ number: Int32, _ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
        try retrying { unsafe bytes.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) } }
    }

    /// Writes all of `bytes` to a blocking descriptor (write(2)).
    package static func writeAll(_ number: Int32, _ bytes: [UInt8]) throws(Errno) {
        var rest = bytes[...]
        while !rest.isEmpty { rest = rest.dropFirst(try write(number, rest)) }
    }

    /// Makes reads and writes answer `.wouldBlock` where they would wait (fcntl(2), O_NONBLOCK).
    package func setNonblocking() throws(Errno) {
        let flags = try retrying { fcntl(number, F_GETFL) }
        try retrying { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }
}

/// Which file a path or descriptor means (stat(2)): equal when both are the same.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
}

/// What lies at a path.
package struct FileStatus: Hashable, Sendable {
    package var identity: FileIdentity
    /// Whether it is a socket.
    package var isSocket: Bool
    /// Whether it is a directory.
    package var isDirectory: Bool
    /// Whether it is a regular file.
    package var isRegular: Bool
    /// In bytes.
    package var size: Int
    /// When its content was last changed, ns since 1970.
    package var modifiedNSec: Int

    private init(_ status: stat) {
        identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = Int(status.st_size)
        modifiedNSec = Int(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int(status.st_mtim.tv_nsec)
    }

    /// The status of a path; a symbolic link at its end is followed (stat(2)).
    package init(following path: String) throws(Errno) {
        var status = stat()
        try retrying { unsafe stat(path, &status) }
        self.init(status)
    }

    /// The status of a path; a symbolic link at its end is not followed (lstat(2)).
    package init(at path: String) throws(Errno) {
        var status = stat()
        try retrying { unsafe lstat(path, &status) }
        self.init(status)
    }

    /// The status of an open descriptor (fstat(2)).
    package init(of number: Int32) throws(Errno) {
        var status = stat()
        try retrying { unsafe fstat(number, &status) }
        self.init(status)
    }
}

/// Whole small files, and the names that lead to them.
package enum File {
    /// Opens a path for reading (open(2)).
    package static func open(_ path: String) throws(Errno) -> Descriptor {
        Descriptor(owning: try retrying { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC) })
    }

    /// Reads a whole file, such as one of /proc, into `buffer`, which grows as needed and keeps its room.
    ///
    /// - Returns: how many bytes of `buffer` are the file's.
    package static func read(_ path: String, into buffer: inout [UInt8]) throws(Errno) -> Int {
        let file = try open(path)
        var length = 0
        while true {
            if buffer.count - length < 4096 {
                buffer += [UInt8](repeating: 0, count: max(buffer.count, 16384))
            }
            let number = file.number
            let room = buffer.count - length
            let got = try retrying {
                unsafe buffer.withUnsafeMutableBytes {
                    unsafe Glibc.read(number, $0.baseAddress?.advanced(by: length), room)
                }
            }
            if got == 0 { return length }
            length += got
        }
    }

    /// Reads a whole small file as bytes.
    package static func read(_ path: String) throws(Errno) -> [UInt8] {
        var buffer: [UInt8] = []
        let length = try read(path, into: &buffer)
        return Array(buffer.prefix(length))
    }

    /// Reads a whole small text file, without the white space at its end.
    package static func text(_ path: String) throws(Errno) -> String {
        let bytes = try read(path)
        let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x20 && $0 != 0x0D }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Where a symbolic link points (readlink(2)); what is longer than 4095 bytes is cut.
    package static func destination(ofLink path: String) throws(Errno) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = try retrying { unsafe readlink(path, &buffer, buffer.count - 1) }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a name (unlink(2)).
    package static func remove(_ path: String) throws(Errno) {
        try retrying { unsafe unlink(path) }
    }

    /// Makes a directory (mkdir(2)); one that is there already is fine.
    package static func makeDirectory(_ path: String, mode: UInt32) throws(Errno) {
        do { try retrying { unsafe mkdir(path, mode) } } catch  where error == .exists {}
    }

    /// Sets a path's permissions (chmod(2)).
    package static func setMode(_ path: String, _ mode: UInt32) throws(Errno) {
        try retrying { unsafe chmod(path, mode) }
    }

    /// Opens a file, made when it is not there, and takes its lock; nil when another has it (open(2), flock(2)).
    package static func locked(_ path: String) throws(Errno) -> Descriptor? {
        let file = Descriptor(owning: try retrying { unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640) })
        guard try lock(file) else { return nil }
        return file
    }

    /// Gives a file another name (rename(2)); that there is none is fine.
    package static func rename(_ path: String, to other: String) throws(Errno) {
        do { try retrying { unsafe Glibc.rename(path, other) } } catch  where error == .noEntry {}
    }

    /// Waits until a file or directory is on the disk (fsync(2)).
    package static func sync(_ path: String) throws(Errno) {
        let file = try open(path)
        let number = file.number
        try retrying { fsync(number) }
    }

    /// Takes the exclusive lock of an open file or directory, or answers false when another has it (flock(2)).
    package static func lock(_ file: borrowing Descriptor) throws(Errno) -> Bool {
        let number = file.number
        do {
            try retrying { flock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch  where error == .wouldBlock {
            return false
        }
    }
}
