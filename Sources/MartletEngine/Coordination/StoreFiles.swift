import CMartletRuntime
import Foundation
import MartletSQLite

/// The files that make up one database, on disk or in memory. This type inspects and deletes them, and can create an
/// empty database file. It does not read or write their content.
package enum StoreFiles {
    package static let suffixes = ["", "-wal", "-shm", "-journal", LockFile.suffix, SyncLock.suffix]

    package static func exists(_ path: String) -> Bool {
        MemoryFiles.contains(path) ? MemoryFiles.number(path) != nil : access(path, F_OK) == 0
    }

    /// The size of the write-ahead log in bytes, determined without opening the log.
    static func logBytes(_ path: String) -> Int {
        if MemoryFiles.contains(path) { return MemoryFiles.size(path + "-wal") ?? 0 }
        return status(resolved(path) + "-wal").map { Int($0.st_size) } ?? 0
    }

    /// Deletes the database and the files beside it and, if `path` is a symbolic link, the link. If the database cannot
    /// be deleted, no other file is deleted. Returns the error for the first file that cannot be deleted, or nil if no
    /// file is left.
    @discardableResult
    package static func remove(_ path: String) -> EngineError? {
        let file = resolved(path)
        var failure: EngineError?
        for suffix in suffixes where !delete(file + suffix) {
            let error = cannotDelete(file + suffix)
            if suffix.isEmpty { return error }
            failure = failure ?? error
        }
        SetAsideLogs.remove(file)
        if file != path, unlink(path) != 0, errno != ENOENT { failure = failure ?? cannotDelete(path) }
        return failure
    }

    private static func cannotDelete(_ path: String) -> EngineError {
        EngineError(.accessDenied, path: path, "the file cannot be deleted: \(String(cString: strerror(errno)))")
    }

    /// Deletes a database under a name that only this process uses, and the files beside it. If the name is a symbolic
    /// link, its target is not deleted.
    static func removeUnfinished(_ path: String) { for suffix in suffixes { delete(path + suffix) } }

    // Returns false, with the reason in `errno`, if the file still exists.
    @discardableResult
    private static func delete(_ path: String) -> Bool {
        if MemoryFiles.contains(path) {
            MemoryFiles.remove(path)
            return true
        }
        return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR
    }

    /// Creates an empty database file, unless the file exists. The mode of the file is `mode` reduced by the umask.
    static func create(_ path: String, mode: UInt32) {
        if !exists(path) { _ = cmartlet_create_file(resolved(path), mode) }
    }

    /// Gives the files beside a database the mode and the group of the database and, if the process runs as root, also
    /// the owner.
    static func matchModes(of path: String) {
        for suffix in ["-wal", "-shm", LockFile.suffix] { cmartlet_match_permissions(path, path + suffix) }
    }

    /// True if the database or one of the files beside it exists.
    static func anyExists(_ path: String) -> Bool {
        let file = resolved(path)
        return suffixes.contains { exists(file + $0) }
    }

    /// The suffixes of the files that SQLite uses if it finds them beside a database.
    private static let logs = ["-wal", "-shm", "-journal"]

    /// The path of a log, index or journal beside a database, or beside the path of a deleted database. Nil if there is
    /// no such file.
    static func log(of path: String) -> String? { logs.map { path + $0 }.first(where: exists) }

    /// Deletes the log, the index and the journal of a database that no longer exists. These files are useless without
    /// the database.
    static func removeLogs(of path: String) {
        for suffix in logs { delete(path + suffix) }
    }

    /// Deletes the index of a log and, if `andLog` is true, the log. A process that has these files open continues to
    /// use them until it detects the deletion before a write. Other processes create new files.
    static func removeIndex(of path: String, andLog: Bool = false) {
        let file = resolved(path)
        unlink(file + "-shm")
        if andLog { unlink(file + "-wal") }
    }

    /// The path of a Realm in memory.
    package static func memoryPath(identifier: String) -> String {
        var name = ""
        // A hash (FNV-1a) distinguishes long names with the same prefix.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in identifier.utf8 {
            name += byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "%") ? "%\(byte)%" : String(UnicodeScalar(byte))
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let isLong = name.utf8.count > 400
        let shortened = isLong ? "\(name.prefix(400))%-\(identifier.utf8.count)-\(String(hash, radix: 16))" : name
        // A forked child must not use the files of its parent, although it has a copy of the parent's memory. Therefore
        // the paths in the child differ from the paths in the parent.
        let forks = cmartlet_fork_count()
        return MemoryFiles.prefix + (forks == 0 ? "" : "%fork-\(forks)%") + shortened
    }

    // MARK: Inspecting

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names of the files in a folder. Empty if the folder cannot be read.
    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
                    String(cString: $0)
                }
            }
            names.append(name)
        }
        return names
    }

    static func hasFolder(_ path: String) -> Bool { MemoryFiles.contains(path) || isFolder(folder(of: path)) }

    static func isFolder(_ path: String) -> Bool { (status(path)?.st_mode ?? 0) & S_IFMT == S_IFDIR }

    static func identity(_ path: String) -> FileIdentity? {
        if MemoryFiles.contains(path) { return MemoryFiles.number(path).map { FileIdentity(device: .max, inode: $0) } }
        return status(path).map { FileIdentity($0) }
    }

    /// The identity of the file at a path. If the path is a symbolic link, this is the identity of the link itself.
    static func identityWithoutLink(_ path: String) -> FileIdentity? {
        if MemoryFiles.contains(path) { return identity(path) }
        return FileIdentity(withoutFollowingLink: path)
    }

    /// The path with symbolic links replaced by their targets. The last component of the path, or the target of this
    /// component if it is a link, need not exist.
    static func resolved(_ path: String) -> String {
        if MemoryFiles.contains(path) { return path }
        var path = path
        // Links may form a cycle, so at most 40 are followed. Linux has the same limit.
        for _ in 0..<40 {
            if let whole = real(path) { return whole }
            guard let folder = real(folder(of: path)) else { return path }
            path = (folder as NSString).appendingPathComponent((path as NSString).lastPathComponent)
            guard let target = target(of: path) else { return path }
            path = target.hasPrefix("/") ? target : (folder as NSString).appendingPathComponent(target)
        }
        return path
    }

    /// The target of a symbolic link; nil if the path is no symbolic link.
    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Throws if a database cannot be opened or created at the path. Called before any file is opened.
    static func check(_ path: String, isReadOnly: Bool, _ environment: Environment) throws(EngineError) {
        try checkName(path)
        try checkNameLength(path)
        let folder = folder(of: path)
        if let status = status(path) {
            try check(status, path, isReadOnly)
        } else if isReadOnly {
            throw EngineError(.fileNotFound, path: path, "there is no file to open; 'readOnly' does not create one")
        } else if !isFolder(folder) {
            throw EngineError(.fileNotFound, path: path, "the folder '\(folder)' does not exist; create it first")
        }
        if environment.isOnNetwork(self.folder(of: resolved(path))) {
            throw EngineError(
                .accessDenied, path: path, "the file is on a network file system, where locks are not reliable; move it"
            )
        }
    }

    /// Throws if the name is reserved for a file beside a database. Otherwise one database could use the file of
    /// another database as its log or lock file.
    static func checkName(_ path: String) throws(EngineError) {
        for path in [path, resolved(path)] {
            let name = (path as NSString).lastPathComponent.lowercased()
            guard let suffix = suffixes.dropFirst().first(where: name.hasSuffix) else { continue }
            throw EngineError(
                .accessDenied, path: path,
                "names that end in '\(suffix)' belong to files beside a database; choose another name")
        }
    }

    // Throws if the path is too long. SQLite refuses such paths too, but only after an empty file was created.
    private static func checkNameLength(_ path: String) throws(EngineError) {
        let file = resolved(path)
        guard file.utf8.count > maximumPathBytes else { return }
        throw EngineError(
            .accessDenied, path: path,
            "the path has \(file.utf8.count) bytes, and paths of databases have at most \(maximumPathBytes); "
                + "choose a shorter path")
    }

    /// Throws if the name of a copy is too long. The copy could not be opened, because the names of the files beside
    /// the copy are longer and would exceed the limit of the file system.
    static func checkLengthOfNewName(_ path: String) throws(EngineError) {
        try checkNameLength(path)
        let bytes = (path as NSString).lastPathComponent.utf8.count
        let longest = 255 - "-journal".utf8.count
        guard bytes > longest else { return }
        throw EngineError(
            .accessDenied, path: path,
            "the name has \(bytes) bytes, and names of databases have at most \(longest); choose a shorter name")
    }

    // SQLite's limit of 512 bytes, minus the longest suffix that SQLite appends to the path.
    static let maximumPathBytes = 512 - "-journal".utf8.count

    private static func check(_ status: stat, _ path: String, _ isReadOnly: Bool) throws(EngineError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            let what = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "something other than a regular file"
            throw EngineError(.accessDenied, path: path, "the path leads to \(what); name a file")
        }
        if status.st_nlink > 1 {
            throw EngineError(
                .accessDenied, path: path,
                "the file has \(status.st_nlink) names (hard links), but its log has only one; "
                    + "remove the other names or copy the file"
            )
        }
        if !isAllowed(R_OK, path) {
            throw EngineError(
                .accessDenied, path: path, "this user has no permission to read the file; change its permissions")
        }
        if !isReadOnly && !isAllowed(W_OK, path) { throw notWritable(path) }
        // Every page has at least 512 bytes, so a shorter file is not a database. SQLite would treat a file of one byte
        // as empty. A short file with a journal is accepted, because SQLite restores the file from the journal.
        if status.st_size > 0, status.st_size < 512, !exists(path + "-journal") {
            throw EngineError(
                .notADatabase, path: path,
                "the file has \(status.st_size) bytes, fewer than any database; it was left as it is; choose another path"
            )
        }
        // SQLite treats an empty file as new. SQLite would delete the log, including the commits that the log contains.
        // The size is read again, because another process may just have created the database.
        if status.st_size == 0, logBytes(path) > 0, self.status(path)?.st_size == 0 {
            throw EngineError.damaged("the file is empty but its log is not", path: path)
        }
    }

    // Checks the permissions of the effective user, because the system checks the same permissions when the file is
    // opened. Returns true if the file does not exist, because another process may have deleted it meanwhile.
    private static func isAllowed(_ mode: Int32, _ path: String) -> Bool {
        faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 || errno == ENOENT
    }

    static func notWritable(_ path: String) -> EngineError {
        EngineError(
            .accessDenied, path: path,
            "this user has no permission to write the file; change its permissions or open it with 'readOnly'")
    }

    /// Throws if a database ends in the middle of a page.
    static func checkLength(_ path: String) throws(EngineError) {
        // Every page size is a multiple of 512. If there is a log, it may still contain the part of the file that was
        // lost in a power failure.
        guard let status = status(path), status.st_size % 512 != 0 else { return }
        if logBytes(path) == 0 { throw EngineError.damaged("the file was cut off in the middle of a page", path: path) }
    }
}
