import CMartletRuntime
import Dispatch
import Foundation
import MartletSQLite
import Synchronization

/// The checkpoints of a file. All of them run under the write lock of the file.
///
/// SQLite before 3.51.3 can lose committed transactions if a checkpoint and a commit run at the same time. Therefore
/// SQLite's automatic checkpoints are disabled. A checkpoint of mode PASSIVE runs on a second connection while the
/// first connection holds the write lock.
extension StoreCoordinator {
    private static let queue = DispatchQueue(label: "martlet.checkpoint", qos: .utility)

    // When the program exits, a handler waits for running checkpoints, and then copies and truncates the logs of all
    // open files. The exiting thread waits for at most two seconds, because a checkpoint may wait for a write that this
    // thread itself has begun. In a forked child the handler does nothing, because the child has no thread that does
    // the work.
    private static let waitsAtExit: Void = {
        _ = forksAtFirst
        atexit {
            guard cmartlet_fork_count() == StoreCoordinator.forksAtFirst else { return }
            let end = DispatchSemaphore(value: 0)
            StoreCoordinator.queue.async {
                // A poll that releases the last reference to a coordinator closes the file of the coordinator.
                CommitMonitor.waitForPolls()
                isExiting.store(true, ordering: .sequentiallyConsistent)
                _ = closing.wait(timeout: .now() + .seconds(1))
                for coordinator in StoreRegistry.openCoordinators { coordinator.emptyLogAtExit() }
                end.signal()
            }
            _ = end.wait(timeout: .now() + .seconds(2))
        }
    }()

    // The threads that are closing a file. The exit handler waits for these threads. If the program ended while a
    // thread copied a log, the closed database file would still need this log.
    private static let closing = DispatchGroup()
    private static let isExiting = Atomic(false)

    /// Registers a handler that empties the log of this file when the program exits.
    func registerExitHandler() {
        if !options.isReadOnly && !options.isTemporary { Self.waitsAtExit }
    }

    // Copies and truncates the log. Open Realms can continue to read the newest version, because the database file then
    // contains it.
    private func emptyLogAtExit() {
        guard !options.isReadOnly, !options.isTemporary, environment.checkpointsUnderWriteLock,
            !environment.hasThreadDriver,
            (try? writeLock.acquire(timeoutMilliseconds: Self.exitTimeoutMilliseconds)) != nil
        else { return }
        defer { writeLock.release() }
        guard (try? requireUnmoved()) != nil, let connection = try? takeConnection() else { return }
        emptyLog(connection)
        returnConnection(connection)
    }

    private static let exitTimeoutMilliseconds = 500

    private static let forksAtFirst = cmartlet_fork_count()

    // The number of milliseconds that a background checkpoint waits for writers.
    private static let backgroundTimeoutMilliseconds = 1_000

    // Returns true if the log has grown by `checkpointFrames` since the last checkpoint that was due. `frames`
    // decreases when the log restarts at its beginning. SQLite restarts the log only if the whole log was copied and no
    // reader uses it.
    func isCheckpointDue(_ frames: Int) -> Bool {
        locked { state in
            if frames < state.checkpointedFrames { state.checkpointedFrames = 0 }
            guard frames - state.checkpointedFrames >= environment.checkpointFrames else { return false }
            state.checkpointedFrames = frames
            return true
        }
    }

    /// Starts a checkpoint in the background, so that the committing caller does not wait.
    func checkpointSoon() {
        let isFirst = locked { state in
            defer { state.isCheckpointPending = true }
            return !state.isCheckpointPending
        }
        guard isFirst else { return }
        environment.run(.checkpoint, on: Self.queue) { [weak self] in
            guard let self else { return }
            locked { $0.isCheckpointPending = false }
            do throws(EngineError) {
                try checkpoint(
                    timeoutMilliseconds: min(Self.backgroundTimeoutMilliseconds, environment.writeTimeoutMilliseconds))
            } catch {
                locked { $0.checkpointedFrames = 0 }
                // The checkpoint is retried, because there may be no further commit that starts one.
                if error.code == .busy { retryCheckpoint() }
            }
        }
    }

    private func retryCheckpoint() {
        guard !environment.hasThreadDriver else { return }
        environment.later(Self.queue, .seconds(1)) { [weak self] in self?.checkpointSoon() }
    }

    /// Waits for the checkpoints that were requested.
    static func waitForCheckpoints(_ environment: Environment = .live) {
        guard environment.hasThreadDriver else { return queue.sync {} }
        let end = DispatchSemaphore(value: 0)
        environment.run(.checkpoint, on: queue) { end.signal() }
        environment.wait(.checkpoints) {
            let isOver = end.wait(timeout: .now()) == .success
            if isOver { end.signal() }
            return isOver
        }
    }

    /// Copies the log into the database file, except for frames that cannot be copied because of readers of older
    /// versions. Returns the number of frames in the log and the number of copied frames.
    ///
    /// - Parameter timeoutMilliseconds: the number of milliseconds to wait for writers; nil for the timeout of a write.
    @discardableResult
    package func checkpoint(
        timeoutMilliseconds: Int? = nil
    ) throws(EngineError) -> (logFrames: Int, copiedFrames: Int) {
        // One test disables the lock, to act like a program that uses SQLite directly. Such a program acquires no lock,
        // so a commit can happen during the checkpoint.
        guard environment.checkpointsUnderWriteLock else {
            return try EngineError.wrapping(path) { try checkpointer().checkpointPassively() }
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.checkpointUnlocked) {
                let done = try EngineError.wrapping(path) { () throws in try checkpoint(holding: takeConnection()) }
                return (done.logFrames, done.copiedFrames)
            }
        #endif
        try writeLock.acquire(timeoutMilliseconds: timeoutMilliseconds ?? environment.writeTimeoutMilliseconds)
        defer { writeLock.release() }
        return try EngineError.wrapping(path) {
            try requireUnmoved(nil)
            let writer = try takeConnection()
            defer { returnConnection(writer) }
            let wasOldVersionPinned = isOldVersionPinned
            let done = try checkpoint(holding: writer)
            let isLong = StoreFiles.logBytes(path) > Self.longLogBytes
            // If a reader of another process uses the log, this process is not notified when the reader ends. In that
            // case, the copy is completed by the next checkpoint that is due.
            let isHeld = isLong && done.logFrames != done.copiedFrames
            locked { $0.isLogHeldByOldVersion = isHeld && isOldVersionPinned(&$0) }
            if isHeld && wasOldVersionPinned && !isOldVersionPinned { checkpointSoon() }
            let isShortened = isLong && done.isLogUnused && shortenLogAfterDelay(writer)
            retryShortening(isLong && !isHeld && !isShortened)
            return (done.logFrames, done.copiedFrames)
        }
    }

    // Waits a few milliseconds before it shortens the log, because other processes need this time to stop reading the
    // log after they were notified of the copy. Returns false if one of these processes was too slow.
    private func shortenLogAfterDelay(_ writer: Connection) -> Bool {
        environment.sleep(Self.reactionMicroseconds)
        return shortenLog(writer, Self.longLogBytes)
    }

    // If an attempt to shorten the log has failed, schedules one retry, because there may be no further commit. It
    // schedules no more retries, because each attempt adds to the log, and a reader may use the log for a long time.
    // The next checkpoint that is due tries again.
    private func retryShortening(_ hasFailed: Bool) {
        let isFirst = locked { state in
            state.isShorteningRetryScheduled = hasFailed && !state.isShorteningRetryScheduled
            return state.isShorteningRetryScheduled
        }
        if isFirst { retryCheckpoint() }
    }

    // True if this process reads a version that is older than the newest version.
    private var isOldVersionPinned: Bool { locked { isOldVersionPinned(&$0) } }

    private func isOldVersionPinned(_ state: inout State) -> Bool {
        let newest = state.newestVersion
        return state.pinned.keys.contains { $0 < newest }
    }

    func checkpointer() throws -> Connection {
        let connection = try checkpointConnection ?? takeConnection()
        checkpointConnection = connection
        environment.yield(.beforeCheckpoint)
        return connection
    }

    // Called under the write lock. `isLogUnused` is true if the whole log was copied and no reader of this process uses
    // the log any more.
    func checkpoint(
        holding writer: Connection
    ) throws -> (logFrames: Int, copiedFrames: Int, isLogUnused: Bool) {
        let checkpointer = try checkpointer()
        try writer.run("BEGIN IMMEDIATE")
        defer { try? writer.run("ROLLBACK") }
        // Throws if another file has replaced the database, so that the log is not copied into that file.
        try requireContinuity(writer)
        let version = try Catalog.meta(writer).version
        try requireNewest(version, writer)
        environment.yield(.insideCheckpoint)
        let (frames, copied): (Int, Int)
        do {
            (frames, copied) = try checkpointer.checkpointPassively()
        } catch {
            // Before the VFS writes a page, it checks that the file still names the log. If this check was the cause of
            // the error, `requireContinuity` throws a more specific error.
            try requireContinuity(writer)
            throw error
        }
        guard frames > 0 && frames == copied else { return (frames, copied, false) }
        return (frames, copied, repinToDatabaseFile(copied: version))
    }

    // Called under the write lock. Moves the handles of this process to the database file. Then records the copied
    // version in the lock file, which notifies all processes. A handle that cannot be moved now is moved when this
    // process is notified.
    private func repinToDatabaseFile(copied version: Version) -> Bool {
        let isLogUnused = repinToDatabaseFile()
        setRepinned(isLogUnused, writeLock.record(copied: version))
        return isLogUnused
    }

    /// After a checkpoint of another process has copied the log, moves the handles of this process to the database
    /// file. This process then no longer reads the log.
    func repinAfterCheckpoint() {
        guard let checkpoint = writeLock.recordedCheckpoint, locked({ $0.repinnedCheckpoint != checkpoint }) else {
            return
        }
        // If this process does not know the copied version yet, it has no handle that can be moved. It may still open
        // the copied version, and a later call then moves the new handle. It cannot open older versions any more.
        let isKnown = locked { $0.newestVersion >= checkpoint.version }
        setRepinned(isKnown && repinToDatabaseFile(), checkpoint)
    }

    private func setRepinned(_ isDone: Bool, _ checkpoint: WriteLock.CheckpointRecord) {
        locked { state in
            if isDone { state.repinnedCheckpoint = checkpoint }
            state.isRepinDue = !isDone
        }
    }

    /// Moves handles of the newest version from the log to the database file, which now contains the same version. The
    /// handles are moved because the log cannot restart while a reader uses it. Returns false if a handle could not be
    /// moved.
    // If the caller holds the write lock, no commit can happen while a handle is moved. If the caller does not hold the
    // lock, the new transaction may pin a different version. In that case this transaction is ended, and the handle is
    // not moved.
    private func repinToDatabaseFile() -> Bool {
        let (handles, newest) = locked { state in (state.handles.values.compactMap(\.handle), state.newestVersion) }
        var isLogUnused = true
        for handle in handles where handle.version == newest {
            guard var connection = try? takeConnection() else { return false }
            defer { returnConnection(connection) }
            guard (try? connection.run("BEGIN")) != nil, let meta = try? Catalog.meta(connection),
                meta.version == handle.version, meta.epoch == handle.epoch,
                let old = handle.replaceConnection(connection)
            else {
                isLogUnused = false
                continue
            }
            connection = old
        }
        return isLogUnused
    }

    // If a log is longer than this, the process shortens it with an extra commit while the program runs.
    private static let longLogBytes = 32 * 1_024 * 1_024

    // The time that another process needs to react to a change of the lock file.
    private static let reactionMicroseconds: UInt32 = 5_000

    /// Empties the log, so that the closed file is complete without its log. Then closes the connection. Does not
    /// change the log if the file was replaced. If another process is writing, or is reading an older version, the log
    /// is not emptied, because that process empties the log when it closes the file.
    func closeLog(_ connection: Connection?) {
        guard let connection else { return }
        defer { connection.close() }
        Self.closing.enter()
        defer { Self.closing.leave() }
        guard !Self.isExiting.load(ordering: .sequentiallyConsistent) else { return }
        guard environment.checkpointsUnderWriteLock, connection.logState?.frames != 0, (try? requireUnmoved()) != nil,
            writeLock.tryAcquire()
        else { return }
        defer { writeLock.release() }
        if connection.isInTransaction { try? connection.run("ROLLBACK") }
        if connection.isLogMoved { _ = saveDetachedLog(connection) } else { emptyLog(connection) }
    }

    /// Copies the log, and truncates it if all of it was copied and no reader uses it. Returns true if the log was
    /// truncated. Called under the write lock, so that no commit happens during the truncation.
    @discardableResult
    func emptyLog(_ connection: Connection) -> Bool {
        guard let done = try? checkpoint(holding: connection), done.logFrames == done.copiedFrames else { return false }
        let copied = connection.logState
        guard connection.checkpointAndTruncateLog() else { return false }
        if let copied, copied.frames > 0 { retireLogName(connection, copied.name) }
        return true
    }

    /// Restarts the log. Called under the write lock, after the whole log was copied. Returns true if the log restarted
    /// or is not longer than its limit.
    func restartLog(_ connection: Connection, after frames: Int) -> Bool {
        shortenLog(connection, options.maximumLogBytes)
        return connection.logState.map { $0.frames < frames || !isLogTooLong($0.frames) } ?? false
    }

    // Makes a commit. If the log was copied and has no readers, the commit restarts the log at its beginning, and
    // SQLite then truncates the file of the log. The commit changes a row that belongs to no version, so it creates no
    // version and notifies no observers. If the commit fails, the next checkpoint tries again. Returns false if the log
    // is still longer than `limit`.
    @discardableResult
    private func shortenLog(_ connection: Connection, _ limit: Int) -> Bool {
        guard (try? connection.execute("PRAGMA journal_size_limit = 0")) != nil else { return false }
        defer { try? connection.execute("PRAGMA journal_size_limit = \(ConnectionOptions.journalSizeLimitBytes)") }
        // The row gets random bytes, because SQLite does not write a page if none of its bytes changes.
        try? connection.run("REPLACE INTO martlet_changes VALUES (-1, randomblob(8))")
        recordLog(connection)
        guard StoreFiles.logBytes(path) > limit else { return true }
        // A reader still uses the log, so the commit was added at the end of the log. SQLite cannot copy this end while
        // readers read the database file without the log. Therefore the handles that were moved to the database file
        // are moved back to the end of the log. The next call that copies the log moves them to the database file
        // again.
        if let version = try? Catalog.meta(connection).version { _ = repinToDatabaseFile(copied: version) }
        return false
    }
}
