import CMartletRuntime
import Foundation
import MartletSQLite
import Synchronization

/// Compact copies of a file, made by SQLite: the bytes of a file alone say nothing without its log.
///
/// A copy is written under a name of its own and gets its real one when it is whole: nobody ever sees a part of it.
struct StoreCopy {
    let path: String
    let options: StoreOptions

    private static let count = Atomic<Int>(0)

    /// Writes what is newest in `source`. The copy is a file of its own: it has another id, and no history.
    func write(_ source: Connection) throws {
        try refuseExisting()
        let number = Self.count.add(1, ordering: .relaxed).newValue
        let unfinished = "\(path).copy-\(options.environment.processID())-\(number)"
        defer { StoreFiles.remove(unfinished) }
        // What a killed process has left under this number.
        StoreFiles.remove(unfinished)
        try source.vacuum(into: unfinished)
        try makeOwn(unfinished)
        guard cmartlet_rename_exclusively(unfinished, path) == 0 else {
            try refuseExisting()
            throw EngineError(
                .inputOutput, path: path, "the copy cannot be given its name: \(String(cString: strerror(errno)))")
        }
        cmartlet_sync_folder(StoreFiles.folder(of: path))
    }

    private func refuseExisting() throws(EngineError) {
        guard StoreFiles.exists(path) else {
            guard StoreFiles.isFolder(StoreFiles.folder(of: path)) else {
                throw EngineError(
                    .fileNotFound, path: path,
                    "the folder '\(StoreFiles.folder(of: path))' does not exist; create it first")
            }
            return
        }
        throw EngineError(.fileExists, path: path, "a file is there already; nothing was written; choose another path")
    }

    private func makeOwn(_ unfinished: String) throws {
        var copyOptions = ConnectionOptions(path: unfinished)
        copyOptions.createsFile = false
        let copy = try Connection(copyOptions)
        defer { copy.close() }
        // Change sets are most of what a small file holds.
        let hasHistory = try copy.integer("SELECT count(*) FROM martlet_changes") ?? 0 > 0
        try copy.execute(
            """
            BEGIN IMMEDIATE; DELETE FROM martlet_changes; \
            UPDATE martlet_meta SET epoch = epoch + 1, file_id = randomblob(16); COMMIT
            """)
        if hasHistory { try copy.vacuum() }
    }
}

extension StoreCoordinator {
    /// Writes a compact copy of the newest version to a path where there is no file.
    package func writeCopy(to path: String) throws(EngineError) {
        try EngineError.naming(self.path) {
            let connection = try takeConnection()
            defer { give(back: connection) }
            try StoreCopy(path: path, options: options).write(connection)
        }
    }
}

extension StoreOpener {
    /// Makes the file of a copy of another one, if there is none yet.
    func plantSeed() throws {
        guard let seed = options.seedPath, !StoreFiles.exists(path) else { return }
        var seedOptions = options
        seedOptions.path = seed
        seedOptions.seedPath = nil
        seedOptions.isReadOnly = true
        seedOptions.leavesSchema = true
        let opened = try StoreOpener(seedOptions, nil).open()
        defer { opened.connection.close() }
        if opened.connection.isInTransaction { try opened.connection.run("ROLLBACK") }
        do {
            try StoreCopy(path: path, options: options).write(opened.connection)
        } catch let error as EngineError where error.code == .fileExists {
            // Another process was faster, with the same seed.
        }
    }
}
