import MartletSQLite
import MartletValues

/// Compaction rewrites the whole file without free pages, in one transaction of SQLite (`VACUUM`).
///
/// During a compaction, other processes can read the file, and the versions that they have pinned stay available. The
/// file becomes shorter at the next checkpoint during which no reader uses an older version.
extension StoreCoordinator {
    package typealias CompactionCondition = @Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool

    /// Compacts a file that was just opened, if the condition returns true for its sizes and no process is writing.
    /// After a failure the file is unchanged.
    func compactAtLaunch(_ isWanted: CompactionCondition) {
        guard !options.isReadOnly else { return }
        // A pinned version would prevent the file from shrinking.
        unpinOpened()
        guard let connection = try? takeConnection() else { return }
        guard let sizes = try? connection.sizes(), isWanted(sizes.total, sizes.used), writeLock.tryAcquire() else {
            return returnConnection(connection)
        }
        let result = Result { try compact(connection) }
        writeLock.release()
        returnConnection(connection)
        if case .failure(let error) = result {
            environment.log("'\(path)' could not be compacted: \(EngineError.wrap(error, path: path).message)")
        }
        _ = try? checkpoint()
    }

    /// Compacts the file after waiting for other writers.
    package func compact() throws(EngineError) {
        guard !options.isReadOnly else {
            throw EngineError(.accessDenied, path: path, "the file is open with 'readOnly'; open it for writing")
        }
        // A pinned version would prevent the file from shrinking.
        unpinOpened()
        try writeLock.acquire()
        do {
            let connection = try takeConnection()
            defer { returnConnection(connection) }
            try compact(connection)
            writeLock.release()
        } catch {
            writeLock.release()
            throw EngineError.wrap(error, path: path)
        }
        try checkpoint()
    }

    // Called under the write lock. VACUUM is a separate transaction. Therefore the new epoch is committed before
    // VACUUM, in a version without changes.
    private func compact(_ connection: Connection) throws {
        connection.finalizeStatements()
        try connection.run("BEGIN IMMEDIATE")
        do {
            try requireContinuity(connection)
            let version = Int64(bitPattern: try Catalog.meta(connection).version + 1)
            try connection.run(
                "UPDATE martlet_meta SET version = ?1, epoch = epoch + 1 WHERE id = 1", [.integer(version)])
            try connection.run(
                "INSERT INTO martlet_changes VALUES (?1, ?2)",
                [.integer(version), .blob(ChangeSetCodec.encode(ChangeSet()))])
            try connection.run("COMMIT")
            recordLog(connection)
            writeLock.record(Version(bitPattern: version))
        } catch {
            try? connection.run("ROLLBACK")
            throw error
        }
        try connection.vacuum()
    }
}
