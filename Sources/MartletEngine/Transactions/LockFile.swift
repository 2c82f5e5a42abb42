import CMartletRuntime
import Foundation

/// The file beside a database that its writers lock. Never opened through SQLite, never through a link.
///
/// | bytes | content |
/// |---|---|
/// | 0..<8 | the version that was committed last |
/// | 8..<24 | the version that was copied into the database last, and the number of that copy |
/// | 24..<40 | `magic` |
/// | 40..<64 | zeros |
/// | 64..<128 | reserved |
///
/// Lock files of earlier releases end after the words. They are adopted: the magic number is written behind the words.
struct LockFile {
    static let suffix = ".lock"
    static let magic = Array("Martlet lock 1\r\n".utf8)
    private static let magicOffset = 24
    private static let headBytes = 64
    /// More commits than this never lie between two looks at a file.
    private static let versionSlack: Version = 1_000
    /// More versions than any database has had.
    private static let versionLimit: Version = 1 << 48

    let path: String

    var database: String { String(path.dropLast(Self.suffix.count)) }

    enum Content: Equatable {
        case missing, current
        /// Of an earlier release: the versions that it names.
        case earlier([Version])
    }

    // MARK: Looking

    /// What the file is, which is neither created nor changed.
    ///
    /// - Throws: `.accessDenied` for a file of another kind or of another program.
    func look() throws(EngineError) -> Content {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 && errno == ENOENT { return .missing }
        // Not for the eyes of this user; an attempt to write says so.
        if descriptor < 0 && errno == EACCES { return .current }
        guard descriptor >= 0 else { throw cannotOpen(errno) }
        defer { close(descriptor) }
        return try content(descriptor)
    }

    /// Refuses a file of an earlier release whose words are not those of a database at this version.
    func check(_ content: Content, fits version: Version) throws(EngineError) {
        guard case .earlier(let versions) = content, versions.contains(where: { $0 > version &+ Self.versionSlack })
        else { return }
        throw foreign("names versions that the database never had")
    }

    private func content(_ descriptor: Int32) throws(EngineError) -> Content {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw foreign("is no ordinary file")
        }
        guard status.st_nlink <= 1 else { throw foreign("has \(status.st_nlink) names (hard links)") }
        var head = [UInt8](repeating: 0, count: Self.headBytes)
        let count = pread(descriptor, &head, head.count, 0)
        if count >= Self.magicOffset + Self.magic.count, head[Self.magicOffset...].starts(with: Self.magic) {
            return .current
        }
        // What was written first was the first word or the two behind it.
        guard [0, 8, 24].contains(status.st_size), count == status.st_size else {
            throw foreign(
                head.starts(with: "SQLite format 3\0".utf8) ? "is a database" : "holds something else")
        }
        let versions = [0, 8].filter { $0 < count }.map { offset in
            head[offset..<offset + 8].reversed().reduce(Version(0)) { $0 << 8 | Version($1) }
        }
        guard versions.allSatisfy({ $0 < Self.versionLimit }) else { throw foreign("holds something else") }
        return .earlier(versions)
    }

    // MARK: Opening

    /// Opens the file for reading and writing. A new file has the mode, the group and, where that is possible, the owner of
    /// the database.
    func opened() throws(EngineError) -> Int32 {
        // Another process may create or delete it meanwhile.
        for _ in 0..<100 {
            let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { return try adopted(descriptor) }
            guard errno == ENOENT else { throw cannotOpen(errno) }
            let created = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if created >= 0 {
                writeMagic(created)
                cmartlet_match_mode(database, path)
                return created
            }
            guard errno == EEXIST else { throw cannotOpen(errno) }
        }
        throw foreign("is created and deleted all the time")
    }

    private func adopted(_ descriptor: Int32) throws(EngineError) -> Int32 {
        do {
            if try content(descriptor) != .current { writeMagic(descriptor) }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    // The words before it are left as they are: another process may be writing them.
    private func writeMagic(_ descriptor: Int32) {
        let tail = Self.headBytes - Self.magicOffset
        let bytes = Self.magic + [UInt8](repeating: 0, count: tail - Self.magic.count)
        _ = pwrite(descriptor, bytes, tail, off_t(Self.magicOffset))
    }

    /// True while the path leads to what is open.
    func isCurrent(_ descriptor: Int32) -> Bool {
        var (opened, there) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &there) == 0 && opened.st_ino == there.st_ino
            && opened.st_dev == there.st_dev
    }

    // MARK: Refusing

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
        default:
            EngineError(
                .accessDenied, path: path,
                "the lock file beside the database cannot be opened: \(String(cString: strerror(reason))); "
                    + "writers need permission to create and to write it")
        }
    }
}
