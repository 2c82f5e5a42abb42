import CMartletRuntime
import Foundation
import MartletSQLite

/// Prevents SQLite from reading a log into a database file to which the log does not belong, for example because a
/// backup was copied over the file.
///
/// SQLite reads any log that it finds beside a file. Therefore this check runs before the first read of a file that
/// this process does not have open. A log that does not belong to the file is renamed and reported.
struct LogVerifier {
    let connection: Connection
    let writeLock: WriteLock
    let options: StoreOptions

    private enum Verdict { case fits, isObsolete, differs }

    func verify() throws {
        try removeFilesOfOtherDatabase()
        guard options.recordsLogName, try verdict() != .fits else { return }
        if options.isReadOnly {
            // Reads both again. This process does not hold the lock, so a log may have begun between the two reads.
            guard try verdict() == .differs else { return }
            throw EngineError(
                .fileReplaced, path: options.path,
                "the log beside the file belongs to another state of the file, and is not set aside with 'readOnly'; "
                    + "open the file once for writing")
        }
        try writeLock.acquire()
        defer { writeLock.release() }
        switch try verdict() {
        case .fits: return
        case .isObsolete: try connection.truncateLog()
        case .differs: try setAside()
        }
    }

    // If another file was moved to the path, processes that have the former file open may still use the index and the
    // empty log beside it. The lock file contains the database for which they were created.
    private func removeFilesOfOtherDatabase() throws {
        let path = connection.filePath
        guard options.recordsLogName, !options.isReadOnly, options.environment.vfsName == nil,
            !MemoryFiles.contains(path), let database = StoreFiles.identity(path),
            StoreFiles.hasLog(path), writeLock.recordedDatabase != database,
            // A file of another program is rejected later, and left as it is.
            let header = try connection.readFileHeader(), header.applicationID == Catalog.applicationID,
            header.userVersion <= Catalog.format
        else { return }
        // Opening the file does not wait for a writer, which uses the index.
        guard writeLock.tryAcquire() else { return }
        defer { writeLock.release() }
        guard writeLock.recordedDatabase != database else { return }
        let log = try connection.logOnDisk()
        // Another identity does not prove that the index belongs to another database: a folder that was copied or
        // mounted again, and a lock file that was left behind, have it too. So an index in use is never removed.
        _ = connection.whileUnused { StoreFiles.removeIndex(of: path, andLog: log == nil) }
        writeLock.record(database)
    }

    private func verdict() throws -> Verdict {
        guard let log = try connection.logOnDisk() else { return .fits }
        // The header is not valid: a power cut has torn the first page, and the log repairs it.
        guard let header = try connection.readFileHeader() else { return .fits }
        // A file of another program or of a newer format is rejected later, and left as it is.
        if header.userVersion > Catalog.format || ![0, Catalog.applicationID].contains(header.applicationID) {
            return .fits
        }
        guard let names = header.logNames else {
            // Programs of the first format record no log names. Later ones record the name before they write to the log.
            let isOld = header.userVersion < Catalog.format && writeLock.recordedLog != log
            return isOld ? .fits : .differs
        }
        if names.current == log { return .fits }
        return names.previous == log ? .isObsolete : .differs
    }

    private func setAside() throws {
        let name = SetAsideLogs.setAside(options.path, connection, options.environment)
        let reason = errno
        // Fails if the log is still there, because SQLite would read it.
        if name == nil, options.environment.vfsName == nil, try connection.logOnDisk() != nil {
            throw EngineError(
                .inputOutput, path: options.path,
                "the log '\(options.path)-wal' belongs to another state of the file, for example because a backup was "
                    + "copied over the file, and cannot be renamed (\(String(cString: strerror(reason)))); "
                    + "rename or delete the log, and open the file again"
            )
        }
        options.environment.log(
            "the log beside '\(options.path)' belongs to another state of the file, for example because a backup was "
                + "copied over the file; the log was not read and " + (name.map { "is now '\($0)'" } ?? "was deleted"))
    }
}

/// Logs that were found beside a file to which they do not belong, and were renamed.
package enum SetAsideLogs {
    private static func path(_ number: Int, of file: String) -> String { "\(file)-wal.aside-\(number)" }

    /// The paths of the logs that were set aside, oldest first.
    package static func all(of path: String) -> [String] {
        let file = StoreFiles.resolved(path)
        return Array((1...).lazy.map { Self.path($0, of: file) }.prefix { StoreFiles.exists($0) })
    }

    /// Renames the log of a file and deletes the index of the log. Returns the new path of the log. Returns nil if the
    /// log cannot be renamed: `errno` contains the reason, and in the VFS of a test the log is deleted. The caller
    /// holds the write lock.
    ///
    /// A process that has the log and the index open still uses them, and detects the change before it writes.
    static func setAside(_ path: String, _ connection: Connection, _ environment: Environment) -> String? {
        let file = StoreFiles.resolved(path)
        // The index is removed first: SQLite would trust an index without its log.
        StoreFiles.removeIndex(of: file)
        var number = all(of: file).count
        while true {
            number += 1
            let name = Self.path(number, of: file)
            if cmartlet_rename_exclusively(file + "-wal", name) == 0 {
                cmartlet_sync_folder(StoreFiles.folder(of: file))
                return name
            }
            guard errno == EEXIST else { break }
        }
        if environment.vfsName != nil { try? connection.deleteLog() }
        return nil
    }

    /// Deletes the set-aside logs of a file.
    static func remove(_ path: String) {
        for log in all(of: path) { unlink(log) }
    }
}
