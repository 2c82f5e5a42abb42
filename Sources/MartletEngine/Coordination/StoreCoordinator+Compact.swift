import MartletSQLite

/// Compaction: the file is written anew without gaps, as one transaction of SQLite.
///
/// Other processes may read meanwhile, and go on reading what they have pinned. The space is given back by the checkpoint
/// that follows, or by a later one when somebody still reads.
extension StoreCoordinator {
    package typealias CompactionCondition = @Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool

    /// Compacts the file that was just opened if its sizes call for it and nobody is writing. A failure changes nothing, and
    /// the file stays as large as it is.
    func compactAtLaunch(_ isWanted: CompactionCondition) {
        guard !options.isReadOnly else { return }
        // A version that is pinned would keep the file from becoming shorter.
        unpinOpened()
        guard let connection = try? takeConnection() else { return }
        guard let sizes = try? connection.sizes(), isWanted(sizes.total, sizes.used), writeLock.tryAcquire() else {
            return give(back: connection)
        }
        let result = Result { try compact(connection) }
        writeLock.release()
        give(back: connection)
        if case .failure(let error) = result {
            environment.log("'\(path)' could not be compacted: \(EngineError.named(error, path: path).message)")
        }
        _ = try? checkpoint()
    }

    /// Compacts the file when others have stopped writing.
    package func compact() throws(EngineError) {
        guard !options.isReadOnly else {
            throw EngineError(.accessDenied, path: path, "the file is open with 'readOnly'; open it for writing")
        }
        // A version that is pinned would keep the file from becoming shorter.
        unpinOpened()
        try writeLock.acquire()
        do {
            let connection = try takeConnection()
            defer { give(back: connection) }
            try compact(connection)
            writeLock.release()
        } catch {
            writeLock.release()
            throw EngineError.named(error, path: path)
        }
        try checkpoint()
    }

    // Called under the write lock. The new epoch is a version of its own without changes, before the same content is
    // written anew: VACUUM is a transaction by itself.
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
            writeLock.note(Version(bitPattern: version))
        } catch {
            try? connection.run("ROLLBACK")
            throw error
        }
        try connection.vacuum()
    }
}
