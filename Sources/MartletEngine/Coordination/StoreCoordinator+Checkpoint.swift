import Dispatch
import Foundation
import MartletSQLite

/// The gate: the only checkpoints of a file.
///
/// SQLite before 3.51.3 can lose committed transactions when a checkpoint races a commit. So no connection checkpoints by
/// itself, and this PASSIVE checkpoint runs on a second connection while the first holds the write lock.
extension StoreCoordinator {
    private static let queue = DispatchQueue(label: "martlet.checkpoint", qos: .utility)

    // A checkpoint under way is finished before the program ends, so that the next one finds a short log.
    private static let waitsAtExit: Void = {
        atexit { StoreCoordinator.queue.sync {} }
    }()

    // The log starts again at its beginning once it was copied and nobody reads from it.
    func isCheckpointDue(_ frames: Int) -> Bool {
        locked { state in
            if frames < state.checkpointedFrames { state.checkpointedFrames = 0 }
            guard frames - state.checkpointedFrames >= environment.checkpointFrames else { return false }
            state.checkpointedFrames = frames
            return true
        }
    }

    /// Checkpoints in the background, off the committing caller's path.
    func checkpointSoon() {
        let isFirst = locked { state in
            defer { state.isCheckpointPending = true }
            return !state.isCheckpointPending
        }
        guard isFirst else { return }
        Self.waitsAtExit
        environment.run(.checkpoint, on: Self.queue) { [weak self] in
            self?.locked { $0.isCheckpointPending = false }
            _ = try? self?.checkpoint()
        }
    }

    /// Returns when the checkpoints that were asked for have ended.
    static func waitForCheckpoints(_ environment: Environment = .live) {
        guard environment.isDriven else { return queue.sync {} }
        let end = DispatchSemaphore(value: 0)
        environment.run(.checkpoint, on: queue) { end.signal() }
        environment.wait(.checkpoints) {
            let isOver = end.wait(timeout: .now()) == .success
            if isOver { end.signal() }
            return isOver
        }
    }

    /// Copies the log into the database file as far as readers allow.
    /// Returns the frames in the log and the frames copied.
    @discardableResult
    package func checkpoint() throws(EngineError) -> (logFrames: Int, copiedFrames: Int) {
        // Without the gate this is what every SQLite program does: no lock is taken, and a commit may come in between.
        guard environment.usesGate else {
            return try EngineError.naming(path) { try checkpointer().checkpointPassively() }
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.checkpointUnlocked) {
                return try EngineError.naming(path) { try checkpoint(holding: takeConnection()) }
            }
        #endif
        try writeLock.acquire()
        defer { writeLock.release() }
        return try EngineError.naming(path) {
            let writer = try takeConnection()
            defer { give(back: writer) }
            let done = try checkpoint(holding: writer)
            let isLong = StoreFiles.logBytes(path) > Self.longLogBytes
            let isCopied = done.logFrames == done.copiedFrames
            locked { $0.isLogHeld = isLong && !isCopied }
            if isLong && isCopied { try shortenLog(writer) }
            return done
        }
    }

    private func checkpointer() throws -> Connection {
        let connection = try checkpointConnection ?? takeConnection()
        checkpointConnection = connection
        environment.yield(.beforeCheckpoint)
        return connection
    }

    // Called under the write lock.
    private func checkpoint(holding writer: Connection) throws -> (logFrames: Int, copiedFrames: Int) {
        let checkpointer = try checkpointer()
        try writer.run("BEGIN IMMEDIATE")
        defer { try? writer.run("ROLLBACK") }
        environment.yield(.insideGate)
        let (frames, copied) = try checkpointer.checkpointPassively()
        if frames > 0 && frames == copied { try? leaveLog() }
        return (frames, copied)
    }

    /// Moves handles of the newest version from the log to the database file, where the same version now lies: as long as
    /// anybody reads from the log it can only grow.
    // Under the write lock nobody can commit in between, so what is pinned anew is the same version.
    private func leaveLog() throws {
        let (handles, newest) = locked { state in (state.handles.values.compactMap(\.handle), state.newestVersion) }
        for handle in handles where handle.version == newest {
            var connection = try takeConnection()
            defer { give(back: connection) }
            try connection.run("BEGIN")
            guard try Catalog.meta(connection).version == handle.version else { return }
            if let old = handle.exchange(connection) { connection = old }
        }
    }

    // Reading a log of this size costs the next opening next to nothing.
    private static let shortLogBytes = 256 * 1_024

    // A log of this size is worth a commit of its own, although the program goes on.
    private static let longLogBytes = 32 * 1_024 * 1_024

    /// Leaves a short log behind: the next open has to read all of it. Skipped when others are writing.
    func closeLog(_ connection: Connection?) {
        guard let connection else { return }
        defer { connection.close() }
        guard environment.usesGate, StoreFiles.logBytes(path) > Self.shortLogBytes, writeLock.tryAcquire() else {
            return
        }
        defer { writeLock.release() }
        if connection.isInTransaction { try? connection.run("ROLLBACK") }
        guard let (frames, copied) = try? checkpoint(holding: connection), frames == copied else { return }
        try? shortenLog(connection)
    }

    // A commit on a log that is copied in full, and that nobody reads from, starts it again at its beginning and cuts it to
    // the limit. It is a version like any other, with an empty change set.
    private func shortenLog(_ connection: Connection) throws {
        try connection.execute("PRAGMA journal_size_limit = 0")
        defer { try? connection.execute("PRAGMA journal_size_limit = \(ConnectionOptions.logLimit)") }
        try connection.run("BEGIN IMMEDIATE")
        do {
            let version = Int64(bitPattern: try Catalog.meta(connection).version + 1)
            try connection.run("UPDATE martlet_meta SET version = ?1 WHERE id = 1", [.integer(version)])
            try connection.run(
                "INSERT INTO martlet_changes VALUES (?1, ?2)",
                [.integer(version), .blob(ChangeSetCodec.encode(ChangeSet()))])
            try connection.run("COMMIT")
            writeLock.note(Version(bitPattern: version))
        } catch {
            try? connection.run("ROLLBACK")
            throw error
        }
    }
}
