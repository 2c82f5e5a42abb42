import CMartletRuntime
import Foundation
import MartletSQLite

/// Keeps a log from being read into a database file that it does not continue: one that a backup was copied over, or that was
/// put in the place of another.
///
/// SQLite reads any log into the file beside it. So this is asked before the first read of a file that this process does not
/// have open yet. A log that does not fit is set aside under another name and reported.
struct LogFit {
    let connection: Connection
    let writeLock: WriteLock
    let options: StoreOptions

    private enum Verdict { case fits, isCopied, differs }

    func ensure() throws {
        guard options.marksLog, try verdict() != .fits else { return }
        if options.isReadOnly {
            // Without the lock the two were perhaps read while a log began.
            guard try verdict() == .differs else { return }
            throw EngineError(
                .fileReplaced, path: options.path,
                "the log beside the file continues another state of it, and 'readOnly' does not set it aside; "
                    + "open the file once for writing")
        }
        try writeLock.acquire()
        defer { writeLock.release() }
        switch try verdict() {
        case .fits: return
        case .isCopied: try connection.truncateLog()
        case .differs: try setAside()
        }
    }

    private func verdict() throws -> Verdict {
        guard let log = try connection.logOnDisk() else { return .fits }
        // A page that a power cut has torn is healed by the log.
        guard let header = try connection.readFileHeader() else { return .fits }
        // Of another program, or of a newer version: refused by and by, and left as it is.
        if header.userVersion > Catalog.format || ![0, Catalog.applicationID].contains(header.applicationID) {
            return .fits
        }
        guard let mark = header.mark else {
            // Programs of the first format mark no logs, and this one marks a file before it writes to its log.
            let isOld = header.userVersion < Catalog.format && writeLock.notedLog != log
            return isOld ? .fits : .differs
        }
        if mark.current == log { return .fits }
        return mark.previous == log ? .isCopied : .differs
    }

    private func setAside() throws {
        let name = SetAsideLogs.setAside(options.path, connection, options.environment)
        options.environment.log(
            "the log beside '\(options.path)' continues another state of the file, as when a backup was copied over it; it was "
                + "not read and " + (name.map { "is now '\($0)'" } ?? "was deleted"))
    }
}

/// Logs that were found beside a file that they do not continue, and were given another name.
package enum SetAsideLogs {
    private static func path(_ number: Int, of file: String) -> String { "\(file)-wal.aside-\(number)" }

    /// The paths of the logs that were set aside, oldest first.
    package static func all(of path: String) -> [String] {
        let file = StoreFiles.resolved(path)
        return Array((1...).lazy.map { Self.path($0, of: file) }.prefix { StoreFiles.exists($0) })
    }

    /// Takes the log and its index away from a file. Returns the new path of the log; nil when it was deleted because the file
    /// system knows no names. For the holder of the write lock.
    ///
    /// Who has the file open keeps both, and finds out before it writes.
    static func setAside(_ path: String, _ connection: Connection, _ environment: Environment) -> String? {
        let file = StoreFiles.resolved(path)
        // First: an index without its log would be believed.
        removeIndex(file)
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

    /// Takes the index of a log away: who has the file open keeps it, and others make a new one.
    static func removeIndex(_ path: String) { unlink(StoreFiles.resolved(path) + "-shm") }

    /// Deletes them with their file.
    static func remove(_ path: String) {
        for log in all(of: path) { unlink(log) }
    }
}
