import CMartletRuntime
import Dispatch
import Foundation
import MartletSQLite
import Synchronization

/// The checkpoints of a file, all of which run under its write lock.
///
/// SQLite before 3.51.3 can lose committed transactions if a checkpoint and a commit run at the same time. Therefore
/// SQLite's automatic checkpoints are disabled. A checkpoint of mode PASSIVE runs on a second connection while the
/// first one holds the write lock.
extension StoreCoordinator {
    private static let queue = DispatchQueue(label: "martlet.checkpoint", qos: .utility)

    // When the program exits, a handler waits for running checkpoints, and then copies and truncates the logs of all
    // open files. The exiting thread waits for at most two seconds, because a checkpoint may wait for a write that this
    // thread itself has begun. A forked child does not wait, because it has no thread that runs the work.
    private static let waitsAtExit: Void = {
        _ = forksAtFirst
        atexit {
            guard cmartlet_fork_count() == StoreCoordinator.forksAtFirst else { return }
            let end = DispatchSemaphore(value: 0)
            StoreCoordinator.queue.async {
                // A poll that releases the last reference to a coordinator closes its file.
                CommitMonitor.waitForPolls()
                isExiting.store(true, ordering: .sequentiallyConsistent)
                _ = closing.wait(timeout: .now() + .seconds(1))
                for coordinator in StoreRegistry.openCoordinators { coordinator.emptyLogAtExit() }
                end.signal()
            }
            _ = end.wait(timeout: .now() + .seconds(2))
        }
    }()

    // The threads that are closing a file. If the program ended while one of them copied a log, the closed database
    // file would still need its log.
    private static let closing = DispatchGroup()
    private static let isExiting = Atomic(false)

    /// Makes the program empty the log of this file when it exits.
    func registerExitHandler() {
        if !options.isReadOnly && !options.isTemporary { Self.waitsAtExit }
    }

    // Open Realms continue to read the newest version, which is then in the database file.
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

    // Milliseconds that a background checkpoint waits for writers.
    private static let backgroundTimeoutMilliseconds = 1_000

    // `frames` decreases when the log restarts at its beginning. SQLite restarts the log only if the whole log was
    // copied and no reader uses it.
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
                // Retried, because there may be no further commit.
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

    /// Copies the log into the database file as far as readers allow. Returns the number of frames in the log and the
    /// number of frames copied.
    ///
    /// - Parameter timeoutMilliseconds: milliseconds to wait for writers; nil for the timeout of a write.
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
            // If a reader of another process uses the log, this process is not notified when the reader ends. The next
            // checkpoint that is due retries.
            let isHeld = isLong && done.logFrames != done.copiedFrames
            locked { $0.isLogHeldByOldVersion = isHeld && isOldVersionPinned(&$0) }
            if isHeld && wasOldVersionPinned && !isOldVersionPinned { checkpointSoon() }
            let isShortened = isLong && done.isLogUnused && shortenLogAfterDelay(writer)
            retryShortening(isLong && !isHeld && !isShortened)
            return (done.logFrames, done.copiedFrames)
        }
    }

    // Waits a few milliseconds before it shortens the log, because other processes need this time to stop reading the
    // log after they were notified of the copy. Returns false if one of them was too slow.
    private func shortenLogAfterDelay(_ writer: Connection) -> Bool {
        environment.sleep(Self.reactionMicroseconds)
        return shortenLog(writer, Self.longLogBytes)
    }

    // Retries once, because there may be no further commit. It does not retry more often, because each attempt adds to
    // the log, and a reader may use the log for a long time. The next checkpoint that is due tries again.
    private func retryShortening(_ hasFailed: Bool) {
        let isFirst = locked { state in
            state.isShorteningRetryScheduled = hasFailed && !state.isShorteningRetryScheduled
            return state.isShorteningRetryScheduled
        }
        if isFirst { retryCheckpoint() }
    }

    // True if this process reads a version older than the newest one.
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
    // it any more.
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
            // Before the VFS writes a page, it checks that the file still names the log. If this check failed, the next
            // line throws a more specific error.
            try requireContinuity(writer)
            throw error
        }
        guard frames > 0 && frames == copied else { return (frames, copied, false) }
        return (frames, copied, repinToDatabaseFile(copied: version))
    }

    // Called under the write lock. All processes are notified of the copy by the lock file. A handle that cannot be
    // moved now is moved when this process is notified.
    private func repinToDatabaseFile(copied version: Version) -> Bool {
        let isLogUnused = repinToDatabaseFile()
        let checkpoint = writeLock.record(copied: version)
        if isLogUnused { locked { $0.repinnedCheckpoint = checkpoint } }
        return isLogUnused
    }

    /// Stops reading the log after the checkpoint of another process has copied it.
    func repinAfterCheckpoint() {
        guard let checkpoint = writeLock.recordedCheckpoint, locked({ $0.repinnedCheckpoint != checkpoint }) else {
            return
        }
        // If this process does not know the copied version yet, it has no handle that can be moved. It may still open
        // the copied version, and a later call then moves that handle. It cannot open older versions any more.
        guard locked({ $0.newestVersion >= checkpoint.version }) else { return }
        if repinToDatabaseFile() { locked { $0.repinnedCheckpoint = checkpoint } }
    }

    /// Moves handles of the newest version from the log to the database file, which now contains the same version.
    /// While any reader uses the log, the log can only grow. Returns false if a handle could not be moved.
    // If the caller holds the write lock, no commit can happen while a handle is moved. If the caller does not hold the
    // lock, the new transaction may pin a different version. It is then ended, and the handle is not moved.
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

    // A log that is longer than this is shortened by an extra commit while the program runs.
    private static let longLogBytes = 32 * 1_024 * 1_024

    // Enough time for another process to react to a change of the lock file.
    private static let reactionMicroseconds: UInt32 = 5_000

    /// Empties the log, so that the closed file is complete without it. Then closes the connection. Does not touch the
    /// log if the file was replaced. Does not empty the log if another process writes, or reads an older version: that
    /// process empties the log when it closes the file.
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
        // Random bytes, because SQLite does not write a page if no byte changes.
        try? connection.run("REPLACE INTO martlet_changes VALUES (-1, randomblob(8))")
        recordLog(connection)
        guard StoreFiles.logBytes(path) > limit else { return true }
        // A reader still uses the log, so the commit was added at the end of the log. SQLite cannot copy this end while
        // readers read the database file without the log. Therefore the handles that were moved to the database file
        // are moved back to the end of the log. They are moved to the database file again after the next copy.
        if let version = try? Catalog.meta(connection).version { _ = repinToDatabaseFile(copied: version) }
        return false
    }
}
