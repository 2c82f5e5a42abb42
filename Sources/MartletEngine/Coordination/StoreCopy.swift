import CMartletRuntime
import Foundation
import MartletSQLite
import MartletValues
import Synchronization

/// Writes compact copies of a database with SQLite. A copy of the bytes of the file would be incomplete without the
/// log.
///
/// A copy is written under a temporary name and renamed when it is complete, so no process sees an incomplete copy.
struct StoreCopy {
    let path: String
    let options: StoreOptions
    /// The file that `path` refers to, without symbolic links.
    private let file: String

    init(path: String, options: StoreOptions) {
        self.path = path
        self.options = options
        file = StoreFiles.resolved(path)
    }

    private static let copyNumbers = Atomic<Int>(0)

    /// Writes a copy of the newest version of `source`. The copy gets a new file id and has no stored change sets. The
    /// copy of a synchronized file is a file without synchronization. Otherwise two files with the same identity would
    /// upload changes.
    ///
    /// - Parameters:
    ///   - replacesLogs: true to remove the logs that a deleted file has left at the path of the copy, because SQLite
    ///     would read them into the copy. A write-ahead log that is not empty is set aside, and other logs are deleted.
    ///     If false, this method throws if there are such logs.
    ///   - check: called after the source was read. If `check` throws, no copy is created.
    func write(_ source: Connection, replacesLogs: Bool = false, check: () throws -> Void = {}) throws {
        try refuseExisting(replacesLogs)
        let number = Self.copyNumbers.add(1, ordering: .relaxed).newValue
        let unfinished = shortened(suffix: ".copy-\(options.environment.processID())-\(number)")
        defer { StoreFiles.removeUnfinished(unfinished) }
        // Removes the files that a killed process left under this name.
        StoreFiles.removeUnfinished(unfinished)
        try create(unfinished, source)
        do {
            try source.vacuum(into: unfinished)
        } catch {
            try check()
            throw error
        }
        try check()
        try makeDistinct(unfinished)
        if !MemoryFiles.contains(source.filePath) { cmartlet_match_permissions_of_copy(source.filePath, unfinished) }
        if replacesLogs { try removeLogs(thenRename: unfinished) } else { try rename(unfinished) }
        cmartlet_sync_folder(StoreFiles.folder(of: file))
    }

    // The path of the copy with a suffix. The name of the file is shortened if it would be too long with this suffix
    // and the suffix of SQLite's journal.
    private func shortened(suffix: String) -> String {
        guard !MemoryFiles.contains(file) else { return file + suffix }
        let name = (file as NSString).lastPathComponent
        let folder = file.dropLast(name.count)
        let longest = min(255, StoreFiles.maximumPathBytes - folder.utf8.count)
        var kept = Substring(name)
        while !kept.isEmpty, kept.utf8.count + suffix.utf8.count + "-journal".utf8.count > longest { kept.removeLast() }
        return folder + kept + suffix
    }

    // Creates the incomplete copy. Only its owner can read the incomplete copy of a file on disk. The complete copy
    // gets the mode of the original.
    private func create(_ unfinished: String, _ source: Connection) throws(EngineError) {
        guard options.environment.vfsName == nil, !MemoryFiles.contains(unfinished) else { return }
        let mode = MemoryFiles.contains(source.filePath) ? options.fileMode : 0o600
        guard cmartlet_create_file(unfinished, mode) == 0 else {
            throw EngineError(
                errno == ENOSPC ? .outOfDiskSpace : .accessDenied, path: path,
                "the copy cannot be created: \(String(cString: strerror(errno)))")
        }
    }

    // The logs may be deleted only under the write lock, because every process that creates the file holds this lock.
    private func removeLogs(thenRename unfinished: String) throws {
        let lock = WriteLock(path: file + LockFile.suffix, environment: options.environment)
        try lock.acquire()
        defer { lock.release() }
        if !StoreFiles.exists(file) {
            try SetAsideLogs.setAsideLogOfMissingFile(path, options.environment)
            StoreFiles.removeLogs(of: file)
        }
        try rename(unfinished)
    }

    private func rename(_ unfinished: String) throws {
        try refuseExisting()
        if MemoryFiles.contains(file), MemoryFiles.rename(unfinished, to: file) { return }
        guard cmartlet_rename_exclusively(unfinished, file) == 0 else {
            let reason = String(cString: strerror(errno))
            try refuseExisting()
            throw EngineError(.inputOutput, path: path, "the copy cannot be renamed to its final name: \(reason)")
        }
    }

    private func refuseExisting(_ ignoresLogs: Bool = false) throws(EngineError) {
        if StoreFiles.exists(file) {
            throw EngineError(
                .fileExists, path: path, "a file exists already; nothing was written; choose another path")
        }
        if !MemoryFiles.contains(file) {
            try StoreFiles.checkName(file)
            try StoreFiles.checkLengthOfNewName(file)
        }
        guard StoreFiles.hasFolder(file) else {
            throw EngineError(
                .fileNotFound, path: path,
                "the folder '\(StoreFiles.folder(of: file))' does not exist; create it first")
        }
        if !ignoresLogs, let log = StoreFiles.log(of: file) {
            throw EngineError(
                .fileExists, path: path,
                "the log '\(log)' of a deleted file exists, and would be read into the copy; nothing was written; "
                    + "delete it with 'Realm.deleteFiles' or choose another path")
        }
    }

    private func makeDistinct(_ unfinished: String) throws {
        var copyOptions = ConnectionOptions(path: unfinished)
        copyOptions.createsFile = false
        let copy = try Connection(copyOptions)
        defer { copy.close() }
        // In a small file, change sets take most of the space. Therefore the copy is compacted again after they were
        // deleted.
        let hasHistory = try copy.integer("SELECT count(*) FROM martlet_changes") ?? 0 > 0
        try copy.execute(
            """
            BEGIN IMMEDIATE; DELETE FROM martlet_changes; \
            UPDATE martlet_meta SET epoch = epoch + 1, file_id = randomblob(16)
            """)
        if try copy.integer("PRAGMA user_version") == Catalog.syncedFormat { try SyncCatalog.remove(copy) }
        try copy.execute("COMMIT")
        if hasHistory { try copy.vacuum() }
        // Writes a random log name into the header of the copy. No log has this name, so no log is read into the copy.
        // The name also distinguishes two copies if one replaces the other.
        try copy.recordLogName(.random(in: 1...UInt64.max))
    }
}

extension StoreCoordinator {
    /// Writes a compact copy of the newest version to a path where there is no file.
    package func writeCopy(to path: String) throws(EngineError) {
        try EngineError.wrapping(self.path) {
            let connection = try takeConnection()
            defer { returnConnection(connection) }
            try connection.run("BEGIN")
            _ = try meta(connection)
            try connection.run("ROLLBACK")
            let check = { try self.checkForReplacement(connection, beforeWriting: true) }
            try check()
            // Another file may replace this file during the copy. The copy can then be a mixture of the two files, or
            // it can fail as if the file were damaged. `check` then throws a more specific error.
            try StoreCopy(path: path, options: options).write(connection, check: check)
        }
    }
}

extension StoreOpener {
    /// If the file does not exist yet, creates it as a copy of the seed file.
    func copySeedFile() throws {
        guard let seed = options.seedPath, !StoreFiles.exists(path) else { return }
        var seedOptions = options
        seedOptions.path = seed
        seedOptions.seedPath = nil
        seedOptions.isReadOnly = true
        seedOptions.usesStoredSchema = true
        let opened = try StoreOpener(seedOptions, nil).open()
        defer { opened.connection.close() }
        if opened.connection.isInTransaction { try opened.connection.run("ROLLBACK") }
        do {
            try StoreCopy(path: path, options: options).write(opened.connection, replacesLogs: true)
        } catch let error as EngineError where error.code == .fileExists {
            // Another process has created the file in the meantime. The caller opens this file like any existing file.
        }
    }
}
