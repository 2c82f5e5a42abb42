import MartletSQLite

/// Beginning and ending write transactions.
extension StoreCoordinator {
    /// Waits for the write lock and begins. `handle` is used up when nobody else holds it and it is the newest version:
    /// its connection then writes, so that its page cache stays warm. After a failure it is as it was.
    ///
    /// - Parameters:
    ///   - holdsLock: the caller has the write lock, which the transaction takes over. After a failure it is released.
    ///   - makeRoom: releases versions that the caller does not need, before a write is refused because too many are in use.
    package func beginWrite(
        replacing handle: inout SnapshotHandle?, holdsLock: Bool = false, makeRoom: () -> Void = {}
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
            try makeRoomInLog(handle, isUnshared: isUnshared)
            let released = isUnshared ? handle : nil
            let writing = try upgrade(released, makeRoom) ?? begin(releasing: released, makeRoom)
            if isUnshared { handle = nil }
            environment.yield(.afterBegin)
            return WriteTransaction(handle: writing, coordinator: self)
        } catch {
            writeLock.release()
            throw EngineError.named(error, path: path)
        }
    }

    /// Lets go of the lock that a lease gave.
    package func releaseWriteLock() { writeLock.release() }

    // A snapshot that is not the newest any more cannot be written on, which SQLite says at once.
    private func upgrade(_ handle: SnapshotHandle?, _ makeRoom: () -> Void) throws -> SnapshotHandle? {
        guard let handle, handle.epoch == locked({ $0.epoch }) else { return nil }
        try requireRoom(toWriteOn: handle, makeRoom)
        try handle.read { try requireContinuity($0) }
        do {
            // Touches no row, but takes SQLite's write lock.
            try handle.read { try $0.run("UPDATE martlet_meta SET version = version WHERE 0") }
        } catch {
            // Not `catch … where`: the optimizer of Swift 6.3 crashes on it here.
            guard (error as? SQLiteError)?.primary == .busy else { throw error }
            return nil
        }
        return handle
    }

    private func begin(releasing handle: SnapshotHandle?, _ makeRoom: () -> Void) throws -> SnapshotHandle {
        let connection = try takeConnection()
        do {
            let meta = try beginImmediately(connection)
            try follow(meta, connection)
            try requireRoom(toWriteOn: handle, makeRoom)
            return makeHandle(connection, meta)
        } catch {
            give(back: connection)
            throw error
        }
    }

    private func beginImmediately(_ connection: Connection) throws -> Catalog.Meta {
        do {
            try connection.run("BEGIN IMMEDIATE")
            let meta = try Catalog.meta(connection)
            try requireContinuity(connection)
            return meta
        } catch {
            // Another file in its place may look like damage.
            try requireContinuity(connection)
            throw error
        }
    }

    // The version that the writer shows makes room for the one it writes, unless others have it in use too. That may be the runtime,
    // which pins the newest version for a moment to work out change sets: a write is not refused for that.
    private func requireRoom(toWriteOn handle: SnapshotHandle?, _ makeRoom: () -> Void) throws(EngineError) {
        var patience = environment.isDriven ? 0 : Self.roomTries
        while true {
            let isPinnedOnce = handle.map { handle in locked { $0.pinned[handle.version] == 1 } } ?? false
            do {
                return try requireRoom(for: isPinnedOnce ? 0 : 1)
            } catch {
                patience -= 1
                if patience < 0 { throw error }
                makeRoom()
                environment.sleep(1_000)
            }
        }
    }

    private static let roomTries = 200

    /// Pins the committed version on the writer's own connection, still under the write lock, then tells everybody.
    func finishCommit(
        _ version: Version, _ written: SnapshotHandle, _ committer: ObjectIdentifier?
    ) throws(EngineError) -> SnapshotHandle {
        let frames = written.read { $0.logFrames }
        noteLog(written)
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.pinnedAfterRelease) {
                writeLock.release()
                let pinned = try EngineError.naming(path) { try reopen(written) }
                tellListeners(version, committer)
                return pinned
            }
        #endif
        let pinned = Result { try reopen(written) }
        locked { state in
            state.newestVersion = max(state.newestVersion, version)
            // So that nobody looks for what is about to be told.
            state.toldVersion = max(state.toldVersion, version)
        }
        environment.yield(.beforeSignal)
        writeLock.note(version)
        writeLock.release()
        #if MARTLET_SEEDED_BUGS
            if !SeededRace.isOn(.toldBeforeCommit) { tellListeners(version, committer) }
        #else
            tellListeners(version, committer)
        #endif
        if isCheckpointDue(frames) { checkpointSoon() }
        do {
            return try pinned.get()
        } catch {
            throw EngineError(
                .commitOutcomeUnknown, path: path,
                "the transaction was committed, but the file cannot be read any more; open it again: \(error)")
        }
    }

    func finishCancel(_ written: SnapshotHandle) throws(EngineError) -> SnapshotHandle {
        // The lock, and what the transaction has written to the log, are the parent's.
        requireSameProcess()
        defer { writeLock.release() }
        noteFailedLog(written)
        return try EngineError.naming(path) { try reopen(written) }
    }

    // Called under the write lock: what is newest is what the transaction left, on any connection.
    private func reopen(_ written: SnapshotHandle) throws -> SnapshotHandle {
        if let connection = surrender(written), let handle = try? pin(connection, isCounted: false) { return handle }
        return try pin(takeConnection(), isCounted: false)
    }
}
