import MartletSQLite

/// Begins and ends write transactions.
extension StoreCoordinator {
    /// Waits for the write lock and begins a write transaction. If `handle` pins the newest version and has no other
    /// owner, the transaction uses the connection of `handle`, so that the page cache of this connection stays in use.
    /// If this method throws, `handle` is unchanged.
    ///
    /// - Parameters:
    ///   - holdsLock: true if the caller holds the write lock. The transaction then owns the lock. If this method
    ///     throws, it releases the lock.
    ///   - releaseVersions: releases versions that the caller does not need. Called before a write is rejected because
    ///     too many versions are in use.
    package func beginWrite(
        replacing handle: inout SnapshotHandle?, holdsLock: Bool = false, releaseVersions: () -> Void = {}
    ) throws(EngineError) -> WriteTransaction {
        requireSameProcess()
        guard !options.isReadOnly else {
            throw EngineError(.accessDenied, path: path, "the file is open with 'readOnly'; open it for writing")
        }
        environment.yield(.beforeBegin)
        if !holdsLock { try writeLock.acquire() }
        do {
            try requireUnmoved(handle)
            let isUnshared = handle != nil && isKnownUniquelyReferenced(&handle)
            try waitForLogRestart(handle, isUnshared: isUnshared)
            let released = isUnshared ? handle : nil
            let writing = try upgrade(released, releaseVersions) ?? begin(releasing: released, releaseVersions)
            if isUnshared { handle = nil }
            environment.yield(.afterBegin)
            return WriteTransaction(handle: writing, coordinator: self)
        } catch {
            writeLock.release()
            throw EngineError.wrap(error, path: path)
        }
    }

    /// Releases the lock that a `WriteLease` acquired.
    package func releaseWriteLock() { writeLock.release() }

    // Turns the read transaction of a snapshot into a write transaction. Returns nil if the snapshot is not the newest
    // version, because SQLite then rejects the write with SQLITE_BUSY.
    private func upgrade(_ handle: SnapshotHandle?, _ releaseVersions: () -> Void) throws -> SnapshotHandle? {
        guard let handle, handle.epoch == locked({ $0.epoch }) else { return nil }
        try checkVersionLimit(writingOn: handle, releaseVersions)
        try handle.read { try requireContinuity($0) }
        do {
            // This statement changes no row, but acquires SQLite's write lock.
            try handle.read { try $0.run("UPDATE martlet_meta SET version = version WHERE 0") }
        } catch {
            // This code does not use `catch … where`, because the optimizer of Swift 6.3 crashes on it here.
            guard (error as? SQLiteError)?.primary == .busy else { throw error }
            return nil
        }
        return handle
    }

    private func begin(releasing handle: SnapshotHandle?, _ releaseVersions: () -> Void) throws -> SnapshotHandle {
        let connection = try takeConnection()
        do {
            let meta = try beginImmediately(connection)
            try adoptSchema(meta, connection)
            try checkVersionLimit(writingOn: handle, releaseVersions)
            return makeHandle(connection, meta)
        } catch {
            returnConnection(connection)
            throw error
        }
    }

    private func beginImmediately(_ connection: Connection) throws -> Catalog.Meta {
        do {
            try connection.run("BEGIN IMMEDIATE")
            let meta = try Catalog.meta(connection)
            // Another process may have made the file synchronized.
            if let error = options.formatError(for: meta.format) { throw error }
            try requireContinuity(connection)
            try requireNewest(meta.version, connection)
            return meta
        } catch {
            // If another file has replaced the database, it can look like a damaged file. This check then throws a more
            // specific error.
            try requireContinuity(connection)
            throw error
        }
    }

    // A write adds one version, and releases the version of `handle`. So the number of versions in use usually stays
    // the same. It increases by one if another reader has also pinned the version of `handle`. This reader may be the
    // runtime itself, which pins a version for a short time to compute change sets. Therefore the check is repeated for
    // a short time before a write is rejected.
    private func checkVersionLimit(writingOn handle: SnapshotHandle?, _ releaseVersions: () -> Void) throws(EngineError)
    {
        var triesLeft = environment.hasThreadDriver ? 0 : Self.versionLimitRetries
        while true {
            let isPinnedOnce = handle.map { handle in locked { $0.pinned[handle.version] == 1 } } ?? false
            do {
                return try checkVersionLimit(adding: isPinnedOnce ? 0 : 1)
            } catch {
                triesLeft -= 1
                if triesLeft < 0 { throw error }
                releaseVersions()
                environment.sleep(1_000)
            }
        }
    }

    private static let versionLimitRetries = 200

    /// Sets the version that a commit is about to create; nil if the commit has failed. Until the commit has ended, the
    /// monitor does not notify listeners of this version. If the monitor finds this version, another process cannot
    /// have committed it, because this process holds the write lock.
    func setCommittingVersion(_ version: Version?) { locked { $0.committingVersion = version } }

    /// Pins the committed version on the connection of the writer, then releases the write lock and notifies all
    /// listeners and processes.
    ///
    /// - Parameter keepsLock: true to keep the lock after success. If this method throws, it always releases the lock.
    func finishCommit(
        _ version: Version, _ written: SnapshotHandle, _ committer: ObjectIdentifier?, keepsLock: Bool = false
    ) throws(EngineError) -> SnapshotHandle {
        let frames = written.read { $0.logFrames }
        written.read { recordLog($0) }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.pinnedAfterRelease) {
                writeLock.release()
                let pinned = try EngineError.wrapping(path) { try reopen(written) }
                notifyListeners(version, committer)
                return pinned
            }
        #endif
        let pinned = Result { try reopen(written) }
        let monitor = locked { state in
            state.newestVersion = max(state.newestVersion, version)
            // Prevents the monitor from also notifying listeners of this version.
            state.lastNotifiedVersion = max(state.lastNotifiedVersion, version)
            state.committingVersion = nil
            // If a handle must be moved, this commit also wakes the monitor of this process.
            return state.isRepinDue ? nil : state.monitor
        }
        environment.yield(.beforeRecordingVersion)
        writeLock.record(version, besides: monitor?.watchLock)
        if !keepsLock { writeLock.release() }
        #if MARTLET_SEEDED_BUGS
            if !SeededRace.isOn(.notifiedBeforeCommit) { notifyListeners(version, committer) }
        #else
            notifyListeners(version, committer)
        #endif
        if isCheckpointDue(frames) { checkpointSoon() }
        do {
            return try pinned.get()
        } catch {
            if keepsLock { writeLock.release() }
            throw EngineError(
                .commitOutcomeUnknown, path: path,
                "the transaction was committed, but the file cannot be read any more; open it again: \(error)")
        }
    }

    func finishCancel(_ written: SnapshotHandle) throws(EngineError) -> SnapshotHandle {
        // A forked child must not release the lock of its parent, and must not end the transaction of its parent.
        requireSameProcess()
        defer { writeLock.release() }
        recordFailedLog(written)
        return try EngineError.wrapping(path) { try reopen(written) }
    }

    // Called under the write lock, so there is no later commit. The version that a connection pins now is therefore the
    // committed version or, after a rollback, the version before the write.
    private func reopen(_ written: SnapshotHandle) throws -> SnapshotHandle {
        if let connection = takeConnection(from: written), let handle = try? pin(connection, isCounted: false) {
            return handle
        }
        return try pin(takeConnection(), isCounted: false)
    }
}
