internal import Ledger
internal import SystemCalls

/// How a store comes to its file, or does without one.
extension Store {
    /// How often the lock of the directory is asked for.
    private static let attempts = 20

    /// Makes the directory and takes its lock. One that is held is asked for again a few times: a daemon that has just
    /// ended may still be letting go.
    static func acquire(_ directory: String) throws(Failure) -> Descriptor {
        do {
            try File.makeDirectory(directory, mode: 0o750)
            for _ in 0..<attempts {
                if let lock = try File.locked("\(directory)/lock") { return lock }
                _ = try waitReadable([], milliseconds: 50)
            }
        } catch {
            throw .directory(directory, error)
        }
        throw .locked(directory)
    }

    /// Moves a file, and the log that belongs to it, to a name that says what it was.
    ///
    /// - Returns: the name.
    static func move(
        _ path: String,
        aside word: String,
        _ directory: String,
        wall: Int
    ) throws(Failure) -> String {
        let aside = unusedPath("\(path).\(word)-", from: wall / 1_000_000)
        do {
            for suffix in ["-wal", "-shm", ""] { try File.rename(path + suffix, to: aside + suffix) }
        } catch {
            throw .directory(directory, error)
        }
        return aside
    }

    /// Puts a copy in the place of the file, while nobody has it.
    ///
    /// - Parameters:
    ///   - copy: a whole file of this program; it is moved.
    ///   - directory: the state directory.
    ///   - wall: the wall clock, µs since 1970, for the name of what is replaced.
    /// - Returns: where that is kept; nil when there was nothing.
    /// - Throws: `Failure`; nothing was changed then.
    package static func restore(_ copy: String, to directory: String, wall: Int) throws(Failure) -> String? {
        let lock = try acquire(directory)
        // Held until the end.
        defer { _ = lock.number }
        guard (try? FileStatus(at: copy)) != nil else { throw .directory(copy, .noEntry) }
        _ = try open(copy)
        let path = "\(directory)/\(fileName)"
        let hasBefore = (try? FileStatus(at: path)) != nil
        let aside = try move(path, aside: "replaced", directory, wall: wall)
        do {
            try File.rename(copy, to: path)
        } catch {
            // Another file system, perhaps: all as it was.
            for suffix in ["", "-shm", "-wal"] { try? File.rename(aside + suffix, to: path + suffix) }
            throw .directory(copy, error)
        }
        return hasBefore ? aside : nil
    }

    /// A path with the first number that no file has yet: a clock that is not set says the same at every start.
    static func unusedPath(_ prefix: String, from number: Int) -> String {
        var number = number
        while (try? FileStatus(at: prefix + "\(number)")) != nil { number += 1 }
        return prefix + "\(number)"
    }

    /// An open database, what is in it, and why it is in memory only.
    typealias Opened = (Database, Legacy?, [LinkName: Int64], unmade: SQLiteError?)

    /// Opens a file, which is made when it is not there.
    static func open(_ path: String) throws(Failure) -> Opened {
        // SQLite takes an empty file for a new one, and removes the log beside it, with all that is in it.
        let size = (try? FileStatus(at: path))?.size
        let hasLog = (try? FileStatus(at: path + "-wal")) != nil
        if size == 0 { throw .unusable(path, .senseless("it is empty")) }
        if size == nil && hasLog { throw .unusable(path, .senseless("only its log is there")) }
        let version: Int
        do {
            guard size != nil else { return try begin(path) }
            let database: Database
            (database, version) = try openExisting(path)
            if version <= self.version {
                let (left, identifiers) = try load(database)
                return (database, left, identifiers, nil)
            }
        } catch {
            throw .unusable(path, error)
        }
        throw .tooNew(path, version: version)
    }

    /// Opens a file that is there.
    private static func openExisting(_ path: String) throws(SQLiteError) -> (Database, version: Int) {
        do {
            let database = try Database(path: path, isShared: false)
            return (database, try database.setUp(applicationID: applicationID, version: version))
        } catch {
            // Whoever looks into it does not keep the daemon from starting.
            guard error.isBusy else { throw error }
            let database = try Database(path: path)
            return (database, try database.setUp(applicationID: applicationID, version: version))
        }
    }

    /// Makes a new file; where that fails, one in memory takes its place.
    private static func begin(_ path: String) throws(SQLiteError) -> Opened {
        do {
            return (try create(path), nil, [:], nil)
        } catch {
            let database = try Database(path: ":memory:")
            _ = try database.setUp(applicationID: applicationID, version: version)
            return (database, nil, [:], error)
        }
    }

    /// Makes a new file, or leaves nothing: the next start would have to take an empty one for one that has lost all.
    static func create(_ path: String) throws(SQLiteError) -> Database {
        do {
            let database = try Database(path: path, isShared: false)
            _ = try database.setUp(applicationID: applicationID, version: version)
            return database
        } catch {
            for suffix in ["-wal", "-shm", "-journal", ""] { try? File.remove(path + suffix) }
            throw error
        }
    }
}
