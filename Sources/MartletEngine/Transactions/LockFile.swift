import CMartletRuntime
import Foundation

/// The lock file beside a database. Each writer of the database locks this file. The lock file is never opened through
/// SQLite, and never through a symbolic link.
///
/// | bytes | content |
/// |---|---|
/// | 0..<8 | the version that was committed last |
/// | 8..<24 | the version that the last complete checkpoint has copied, and the number of that checkpoint |
/// | 24..<40 | `magic` |
/// | 40..<64 | zeros |
/// | 64..<72 | the name of the newest log |
/// | 72..<128 | reserved |
///
/// Lock files of earlier releases end before the magic number, or have zeros in its place if the disk was full.
/// `opened()` adds the magic number to such a file.
struct LockFile {
    static let suffix = ".lock"
    static let magic = Array("Martlet lock 1\r\n".utf8)
    private static let magicOffset = 24
    private static let headBytes = 64
    /// How far a version in the lock file may be ahead of the version of the database. The two numbers are not read at
    /// the same time, and other processes may commit in between.
    private static let maximumVersionLead: Version = 1_000
    /// This number is larger than the version of any database.
    private static let versionLimit: Version = 1 << 48

    let path: String

    var database: String { String(path.dropLast(Self.suffix.count)) }

    enum Content: Equatable {
        case missing
        /// A lock file of this release, or a lock file that this user has no permission to read.
        case currentOrUnreadable
        /// A lock file of an earlier release, with the versions that it contains.
        case earlier([Version])
    }

    // MARK: Inspecting

    /// Determines whether the lock file exists, and whether an earlier release wrote it. Does not create or change the
    /// file.
    ///
    /// - Throws: `.accessDenied` if the file is not a regular file, or belongs to another program.
    func inspect() throws(EngineError) -> Content {
        let descriptor = openForReading()
        if descriptor < 0 && errno == ENOENT { return .missing }
        // This user has no permission to read the file. The next attempt to write reports the error.
        if descriptor < 0 && errno == EACCES { return .currentOrUnreadable }
        guard descriptor >= 0 else { throw cannotOpen(errno) }
        defer { close(descriptor) }
        return try content(descriptor)
    }

    /// Rejects a file of an earlier release if a version in the file cannot be a version of a database that is at
    /// `version`.
    func check(_ content: Content, fits version: Version) throws(EngineError) {
        guard case .earlier(let versions) = content,
            versions.contains(where: { $0 > version &+ Self.maximumVersionLead })
        else { return }
        throw foreign("contains versions that the database never had")
    }

    private func content(_ descriptor: Int32) throws(EngineError) -> Content {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw foreign("is not a regular file")
        }
        guard status.st_nlink <= 1 else { throw foreign("has \(status.st_nlink) names (hard links)") }
        var head = [UInt8](repeating: 0, count: Self.headBytes)
        let count = pread(descriptor, &head, head.count, 0)
        if count >= Self.magicOffset + Self.magic.count, head[Self.magicOffset...].starts(with: Self.magic) {
            return .currentOrUnreadable
        }
        // Early releases wrote nothing, only the first word (8 bytes), or only the first three words (24 bytes). If the
        // disk was full, later releases wrote the name of the log without the magic number (72 bytes). In this release,
        // the file has the same content if another program truncates it while it is open.
        let isEarly = [0, 8, 24].contains(status.st_size) && count == status.st_size
        let isWithoutMagic = status.st_size == 72 && head[Self.magicOffset...].allSatisfy { $0 == 0 }
        guard isEarly || isWithoutMagic else {
            throw foreign(
                head.starts(with: "SQLite format 3\0".utf8) ? "is a database" : "has other content")
        }
        let versions = [0, 8].filter { $0 < count }.map { offset in
            head[offset..<offset + 8].reversed().reduce(Version(0)) { $0 << 8 | Version($1) }
        }
        guard versions.allSatisfy({ $0 < Self.versionLimit }) else { throw foreign("has other content") }
        return .earlier(versions)
    }

    // MARK: Opening

    /// Opens the file for reading. Returns -1 and sets `errno` on failure. Closing the descriptor wakes no watcher.
    func openForReading() -> Int32 { open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }

    /// Opens the file for reading and writing, and creates it if it does not exist. A new file gets the mode, the group
    /// and, if permitted, the owner of the database.
    func opened() throws(EngineError) -> Int32 {
        // Another process may create or delete the file between the two calls of `open`.
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { return try validatedAndUpgraded(descriptor) }
            guard errno == ENOENT else { throw cannotOpen(errno) }
            let created = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if created >= 0 {
                do throws(EngineError) {
                    try writeMagic(created)
                } catch {
                    close(created)
                    throw error
                }
                cmartlet_match_permissions(database, path)
                return created
            }
            guard errno == EEXIST else { throw cannotOpen(errno) }
        }
        throw foreign("is repeatedly created and deleted")
    }

    private func validatedAndUpgraded(_ descriptor: Int32) throws(EngineError) -> Int32 {
        do {
            if try content(descriptor) != .currentOrUnreadable { try writeMagic(descriptor) }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    // Does not write the words before the magic number, because another process may be writing them.
    private func writeMagic(_ descriptor: Int32) throws(EngineError) {
        let tail = Self.headBytes - Self.magicOffset
        let bytes = Self.magic + [UInt8](repeating: 0, count: tail - Self.magic.count)
        guard pwrite(descriptor, bytes, tail, off_t(Self.magicOffset)) != tail else { return }
        // Without the magic number, later words in the file would make it look like a file of another program.
        throw EngineError(
            errno == ENOSPC || errno == EDQUOT ? .outOfDiskSpace : .inputOutput, path: path,
            "the lock file beside the database cannot be written: \(String(cString: strerror(errno)))")
    }

    /// True while the path refers to the file of the descriptor.
    func isCurrent(_ descriptor: Int32) -> Bool {
        guard let opened = FileIdentity(descriptor: descriptor) else { return false }
        return FileIdentity(withoutFollowingLink: path) == opened
    }

    // MARK: Errors

    private func foreign(_ what: String) -> EngineError {
        EngineError(
            .accessDenied, path: database,
            "'\(path)', which is the name of the lock file of this database, \(what); it was left as it is; "
                + "move it away or choose another name for the database")
    }

    private func cannotOpen(_ reason: Int32) -> EngineError {
        switch reason {
        case ELOOP: foreign("is a symbolic link")
        case EISDIR: foreign("is a folder")
        case ENOENT:
            EngineError(
                .fileNotFound, path: database,
                "the folder of the file was moved or deleted while it was open; nothing was written; "
                    + "release its Realms and objects and open it again")
        default:
            EngineError(
                .accessDenied, path: path,
                "the lock file beside the database cannot be opened: \(String(cString: strerror(reason))); "
                    + "writers need permission to create and to write it")
        }
    }
}
