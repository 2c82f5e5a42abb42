import CMartletRuntime
import Foundation
import MartletSQLite

/// Prevents SQLite from reading a log into a database file to which the log does not belong, for example because a
/// backup was copied over the file.
///
/// SQLite reads any log that it finds beside a file. Therefore the verifier checks the log before the first read of a
/// file that this process does not have open. It renames and reports a log that does not belong to the file.
struct LogVerifier {
    let connection: Connection
    let writeLock: WriteLock
    let options: StoreOptions

    private enum Verdict: Equatable {
        /// There is no log, or SQLite may read the log.
        case fits
        /// The log does not belong to the file.
        case differs
        /// The log belonged to the file, and all of its frames were copied into the file.
        case isObsolete(log: UInt64)
    }

    /// Checks the log beside the file. Truncates an obsolete log if no process uses the file, and sets aside a log that
    /// does not belong to the file. With `readOnly`, the method changes nothing. It then returns the name of an
    /// obsolete log, which SQLite must not read. In all other cases it returns nil.
    ///
    /// - Throws: `.fileReplaced` if the file is opened with `readOnly` and the log does not belong to it;
    ///   `.inputOutput` if the log cannot be set aside; `.fileNotFound` if the file was moved or deleted.
    func verify() throws -> UInt64? {
        guard options.recordsLogName, try verdict() != .fits else { return nil }
        if options.isReadOnly {
            // Reads the log and the header again. This process does not hold the lock, so a new log may have begun
            // after the first check read the log and before it read the header.
            switch try verdict() {
            case .fits: return nil
            case .isObsolete(let log): return log
            case .differs: throw foreignLog
            }
        }
        try writeLock.acquire()
        defer { writeLock.release() }
        // If the open file was moved, the log at the path belongs to another file.
        try connection.requireUnmoved()
        switch try verdict() {
        case .fits: break
        // Truncates the log only if no process uses the file. Holding the write lock does not guarantee this: if the
        // lock file was deleted and created again, another process may hold the lock of the deleted file, and may
        // already write the next log. The other process does not read the obsolete log, because the index that it uses
        // contains no frames of it.
        case .isObsolete: _ = try connection.whileUnused { try connection.truncateLog() }
        case .differs: try setAside()
        }
        return nil
    }

    /// Called after the connection has read the file. Returns an error in two cases:
    /// - SQLite has read the obsolete log that `verify` found. This happens only if no other process uses the file.
    ///   Otherwise, SQLite uses the index of the other process, which contains no frames of the obsolete log.
    /// - The log in use is not on disk.
    ///
    /// Each condition can be true for a moment while another process begins a log or deletes the file, so the caller
    /// tries again.
    func errorOfReadLog(obsolete: UInt64?) -> EngineError? {
        guard options.recordsLogName, let log = connection.logState, log.frames > 0 else { return nil }
        if log.name == obsolete { return foreignLog }
        // SQLite truncates an index that no connection uses. If an index describes frames, a process uses the log that
        // contains these frames.
        guard isLogMissing, connection.logState?.name == log.name, !connection.isFileMoved else { return nil }
        return EngineError(
            .fileReplaced, path: options.path,
            "the log of the file ('-wal') was deleted or truncated while a program uses the file; if that program "
                + "still has the log open, it copies the log into the file when it ends; end that program and open the "
                + "file again")
    }

    private var isLogMissing: Bool {
        do { return try connection.nameOfLogOnDisk() == nil } catch { return false }
    }

    private var foreignLog: EngineError {
        EngineError(
            .fileReplaced, path: options.path,
            "the log beside the file belongs to another state of the file, and is not set aside with 'readOnly'; "
                + "open the file once for writing")
    }

    /// Deletes the index of another database that was at the path before and is still in use. The file of `connection`
    /// then gets its own index. If the log beside the file is empty, the method also deletes the log. The processes
    /// that use the other database detect the deletion before they write.
    ///
    /// Called after `connection` could not read the file because of this index. `connection` must stay open: then no
    /// new index can get the inode of the deleted index, and other processes can detect the deletion by the inode.
    func removeForeignIndex() throws {
        let header = try connection.readFileHeader()
        // The method does not change a file of another program or of a newer format. A new file has no header yet.
        let isOwn = header.map {
            $0.userVersion <= Catalog.newestFormat && [0, Catalog.applicationID].contains($0.applicationID)
        }
        guard !options.isReadOnly, isOwn ?? true else {
            throw EngineError(
                .fileReplaced, path: options.path,
                "another file was at this path before, and a program still uses the index ('-shm') of that file; end that "
                    + "program, or open the file once for writing")
        }
        try writeLock.acquire()
        defer { writeLock.release() }
        // If one of these checks fails, another process has removed the index, or the path now refers to another file.
        guard !connection.isLogIndexMoved, !connection.isFileMoved else { return }
        StoreFiles.removeIndex(of: connection.filePath, andLog: try connection.nameOfLogOnDisk() == nil)
    }

    private func verdict() throws -> Verdict {
        guard let log = try connection.nameOfLogOnDisk() else { return .fits }
        // If the header is not valid, a power failure has torn the first page, and the log contains the correct page.
        guard let header = try connection.readFileHeader() else { return .fits }
        // The caller rejects a file of another program or of a newer format later. The log of such a file is left as it
        // is.
        if header.userVersion > Catalog.newestFormat || ![0, Catalog.applicationID].contains(header.applicationID) {
            return .fits
        }
        guard let names = header.logNames else {
            // Programs that know only format 1 record no log names. Newer programs record the name in the database file
            // before they write to a log, and in the lock file after each commit. So if the lock file names this log,
            // and the header of the database file names none, the database file was overwritten after the log was
            // written.
            let isOld = header.userVersion < Catalog.format && writeLock.recordedLog != log
            return isOld ? .fits : .differs
        }
        if names.current == log { return .fits }
        return names.previous == log ? .isObsolete(log: log) : .differs
    }

    private func setAside() throws {
        let name = SetAsideLogs.setAside(options.path, connection, options.environment)
        let reason = errno
        // If the log still exists, this method throws, because SQLite would read the log.
        if name == nil, options.environment.vfsName == nil, try connection.nameOfLogOnDisk() != nil {
            throw SetAsideLogs.cannotRename(
                options.path,
                "belongs to another state of the file, for example because a backup was copied over the file", reason)
        }
        options.environment.log(
            "the log beside '\(options.path)' belongs to another state of the file, for example because a backup was "
                + "copied over the file; the log was not read and " + (name.map { "is now '\($0)'" } ?? "was deleted"))
    }
}

/// Logs that were found beside a database file to which they do not belong, and that were therefore renamed.
package enum SetAsideLogs {
    private static func path(_ number: Int, of file: String) -> String { "\(file)-wal.aside-\(number)" }

    /// The paths of the logs that were set aside, oldest first.
    package static func all(of path: String) -> [String] {
        let file = StoreFiles.resolved(path)
        return numbers(of: file).map { Self.path($0, of: file) }
    }

    // The numbers of the logs, in ascending order. Numbers may be missing, because users delete logs.
    private static func numbers(of file: String) -> [Int] {
        let names = StoreFiles.names(in: StoreFiles.folder(of: file))
        let prefix = "\(file.split(separator: "/").last ?? "")-wal.aside-"
        let numbers = names.compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }
        return numbers.filter { $0 > 0 }.sorted()
    }

    /// Renames the log of a file and deletes the index of the log. Returns the new path of the log. Returns nil if the
    /// log cannot be renamed; `errno` then contains the reason. If a test uses its own VFS, a log that cannot be
    /// renamed is deleted, because it may exist only in that VFS. The caller holds the write lock.
    ///
    /// A process that has the log and the index open can still read them. Before this process writes, it detects that
    /// they were moved.
    static func setAside(_ path: String, _ connection: Connection, _ environment: Environment) -> String? {
        let name = rename(StoreFiles.resolved(path))
        if name == nil, environment.vfsName != nil { try? connection.deleteLog() }
        return name
    }

    /// Sets aside the log of a database that was moved or deleted, before another database is created at its path.
    /// SQLite would delete the log, but the first database may be moved back and then need it. The caller holds the
    /// write lock.
    static func setAsideLogOfMissingFile(_ path: String, _ environment: Environment) throws(EngineError) {
        let file = StoreFiles.resolved(path)
        guard !StoreFiles.exists(file), StoreFiles.logBytes(file) > 0 else { return }
        guard let name = rename(file) else {
            throw cannotRename(path, "belongs to a file that was moved or deleted", errno)
        }
        environment.log(
            "the file '\(path)' does not exist, but there is a log with commits of a file that was moved or deleted; the "
                + "log is now '\(name)'")
    }

    // Renames the log of a file to the name with the next free number, and returns the new name. Returns nil if the log
    // cannot be renamed; `errno` then contains the reason.
    private static func rename(_ file: String) -> String? {
        // The index is removed first, because SQLite would use the index even without its log.
        StoreFiles.removeIndex(of: file)
        var number = numbers(of: file).last ?? 0
        while true {
            number += 1
            let name = Self.path(number, of: file)
            if cmartlet_rename_exclusively(file + "-wal", name) == 0 {
                cmartlet_sync_folder(StoreFiles.folder(of: file))
                return name
            }
            guard errno == EEXIST else { return nil }
        }
    }

    static func cannotRename(_ path: String, _ what: String, _ reason: Int32) -> EngineError {
        EngineError(
            .inputOutput, path: path,
            "the log '\(path)-wal' \(what), and cannot be renamed (\(String(cString: strerror(reason)))); "
                + "rename or delete the log, and open the file again")
    }

    /// Deletes the set-aside logs of a file.
    static func remove(_ path: String) {
        for log in all(of: path) { unlink(log) }
    }
}
