import CMartletRuntime
import Dispatch
import Foundation
import MartletSQLite

/// The gate: the only checkpoints of a file.
///
/// SQLite before 3.51.3 can lose committed transactions when a checkpoint races a commit. So no connection checkpoints by
/// itself, and this PASSIVE checkpoint runs on a second connection while the first holds the write lock.
extension StoreCoordinator {
    private static let queue = DispatchQueue(label: "martlet.checkpoint", qos: .utility)

    // The program ends with logs that are empty: a checkpoint under way is finished, and then every file that is open is
    // copied in full. That is not waited for long, for it may wait itself for a write that the thread which ends the program
    // has begun; and not at all in a forked child, where nobody carries it out.
    private static let waitsAtExit: Void = {
        _ = forksAtFirst
        atexit {
            guard cmartlet_fork_count() == StoreCoordinator.forksAtFirst else { return }
            let end = DispatchSemaphore(value: 0)
            StoreCoordinator.queue.async {
                for coordinator in StoreRegistry.openCoordinators { coordinator.emptyLogAtExit() }
                end.signal()
            }
            _ = end.wait(timeout: .now() + .seconds(2))
        }
    }()

    /// From now on the end of the program waits for the log of this file.
    func emptiesAtExit() {
        if !options.isReadOnly && !options.isTemporary { Self.waitsAtExit }
    }

    // Realms that are open still show the newest version, which then lies in the file.
    private func emptyLogAtExit() {
        guard !options.isReadOnly, !options.isTemporary, environment.usesGate, !environment.isDriven,
            (try? writeLock.acquire(milliseconds: Self.patienceAtExit)) != nil
        else { return }
        defer { writeLock.release() }
        guard (try? requireUnmoved()) != nil, let connection = try? takeConnection() else { return }
        emptyLog(connection)
        give(back: connection)
    }

    private static let patienceAtExit = 500

    private static let forksAtFirst = cmartlet_fork_count()

    // How long a checkpoint in the background waits for writers.
    private static let backgroundPatience = 1_000

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
        environment.run(.checkpoint, on: Self.queue) { [weak self] in
            guard let self else { return }
            locked { $0.isCheckpointPending = false }
            do throws(EngineError) {
                try checkpoint(patience: min(Self.backgroundPatience, environment.writeTimeoutMilliseconds))
            } catch {
                locked { $0.checkpointedFrames = 0 }
                // Perhaps nobody ever commits again.
                if error.code == .busy { retryCheckpoint() }
            }
        }
    }

    private func retryCheckpoint() {
        guard !environment.isDriven else { return }
        environment.later(Self.queue, .seconds(1)) { [weak self] in self?.checkpointSoon() }
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
    ///
    /// - Parameter patience: milliseconds to wait for writers; nil for as long as a write waits.
    @discardableResult
    package func checkpoint(patience: Int? = nil) throws(EngineError) -> (logFrames: Int, copiedFrames: Int) {
        // Without the gate this is what every SQLite program does: no lock is taken, and a commit may come in between.
        guard environment.usesGate else {
            return try EngineError.naming(path) { try checkpointer().checkpointPassively() }
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.checkpointUnlocked) {
                let done = try EngineError.naming(path) { () throws in try checkpoint(holding: takeConnection()) }
                return (done.logFrames, done.copiedFrames)
            }
        #endif
        try writeLock.acquire(milliseconds: patience ?? environment.writeTimeoutMilliseconds)
        defer { writeLock.release() }
        return try EngineError.naming(path) {
            try requireUnmoved(nil)
            let writer = try takeConnection()
            defer { give(back: writer) }
            let wasHeldHere = isOldVersionPinned
            let done = try checkpoint(holding: writer)
            let isLong = StoreFiles.logBytes(path) > Self.longLogBytes
            // What another process holds is not known to have ended before the next checkpoint that is due.
            let isHeld = isLong && done.logFrames != done.copiedFrames
            locked { $0.isLogHeld = isHeld && isOldVersionPinned(&$0) }
            if isHeld && wasHeldHere && !isOldVersionPinned { checkpointSoon() }
            let isShortened = isLong && done.isLeft && shortenLogWithOthers(writer)
            retryShortening(isLong && !isHeld && !isShortened)
            return (done.logFrames, done.copiedFrames)
        }
    }

    // Others have been told, and leave the log in an instant. False when somebody was too slow.
    private func shortenLogWithOthers(_ writer: Connection) -> Bool {
        environment.sleep(Self.othersMicroseconds)
        return shortenLog(writer, Self.longLogBytes)
    }

    // Perhaps nobody ever commits again. Once: each time adds to a log that somebody may hold for long, and the next
    // checkpoint that is due tries it as well.
    private func retryShortening(_ hasFailed: Bool) {
        let isFirst = locked { state in
            state.isShorteningRetried = hasFailed && !state.isShorteningRetried
            return state.isShorteningRetried
        }
        if isFirst { retryCheckpoint() }
    }

    // Somebody in this process reads an older version than the newest.
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

    // Called under the write lock. `isLeft` says that all was copied and that nobody of this process reads the log any more.
    func checkpoint(
        holding writer: Connection
    ) throws -> (logFrames: Int, copiedFrames: Int, isLeft: Bool) {
        let checkpointer = try checkpointer()
        try writer.run("BEGIN IMMEDIATE")
        defer { try? writer.run("ROLLBACK") }
        // Nothing is copied over another file.
        try requireContinuity(writer)
        environment.yield(.insideGate)
        let (frames, copied): (Int, Int)
        do {
            (frames, copied) = try checkpointer.checkpointPassively()
        } catch {
            // Before each page the file is asked whether it still names the log.
            try requireContinuity(writer)
            throw error
        }
        guard frames > 0 && frames == copied, let version = try? Catalog.meta(writer).version else {
            return (frames, copied, false)
        }
        return (frames, copied, leaveLog(copied: version))
    }

    // Called under the write lock. What could not be moved here is moved when this process hears of the copy, as others do.
    private func leaveLog(copied version: Version) -> Bool {
        let isLeft = leaveLog()
        let mark = writeLock.note(copied: version)
        if isLeft { locked { $0.copied = mark } }
        return isLeft
    }

    /// Leaves the log when the checkpoint of another process has copied it.
    func leaveCopiedLog() {
        guard let mark = writeLock.notedCopied, locked({ $0.copied != mark }) else { return }
        // What this process does not show yet it may come to show; of older versions nothing is to be had.
        guard locked({ $0.newestVersion >= mark.version }) else { return }
        if leaveLog() { locked { $0.copied = mark } }
    }

    /// Moves handles of the newest version from the log to the database file, where the same version now lies: as long as
    /// anybody reads from the log it can only grow. False when one of them could not be moved just now.
    // Under the write lock nobody can commit in between; without it, what is pinned anew may be another version, and is let go.
    private func leaveLog() -> Bool {
        let (handles, newest) = locked { state in (state.handles.values.compactMap(\.handle), state.newestVersion) }
        var isLeft = true
        for handle in handles where handle.version == newest {
            guard var connection = try? takeConnection() else { return false }
            defer { give(back: connection) }
            guard (try? connection.run("BEGIN")) != nil, let meta = try? Catalog.meta(connection),
                meta.version == handle.version, meta.epoch == handle.epoch, let old = handle.replaceConnection(connection)
            else {
                isLeft = false
                continue
            }
            connection = old
        }
        return isLeft
    }

    // A log of this size is worth a commit of its own, although the program goes on.
    private static let longLogBytes = 32 * 1_024 * 1_024

    // Enough for a process that is told of a file to hear it.
    private static let othersMicroseconds: UInt32 = 5_000

    /// Leaves no log behind: a closed file is whole without it. Skipped when others are writing or reading an older version, who
    /// do it when they close the file, and where the file is another one by now.
    func closeLog(_ connection: Connection?) {
        guard let connection else { return }
        defer { connection.close() }
        guard environment.usesGate, connection.logState?.frames != 0, (try? requireUnmoved()) != nil,
            writeLock.tryAcquire()
        else { return }
        defer { writeLock.release() }
        if connection.isInTransaction { try? connection.run("ROLLBACK") }
        if connection.isLogMoved { _ = saveTakenLog(connection) } else { emptyLog(connection) }
    }

    /// Copies all of the log and cuts it to nothing, if nobody reads from it. Called under the write lock: SQLite then empties a
    /// log without danger, because nobody commits meanwhile.
    @discardableResult
    func emptyLog(_ connection: Connection) -> Bool {
        guard let done = try? checkpoint(holding: connection), done.logFrames == done.copiedFrames else { return false }
        return connection.checkpointAndTruncateLog()
    }

    /// True when the log has begun anew. Called under the write lock, when all of it was copied.
    func startLogAgain(_ connection: Connection, after frames: Int) -> Bool {
        shortenLog(connection, options.maximumLogBytes)
        return connection.logState.map { $0.frames < frames || !isLogTooLong($0.frames) } ?? false
    }

    // A commit on a log that is copied in full, and that nobody reads from, starts it again at its beginning and cuts it to
    // the limit. It is no version, and nobody is told of it: it changes a row that stands for none. What cannot be done now is
    // left to the next checkpoint. False when the log is as long as before.
    @discardableResult
    private func shortenLog(_ connection: Connection, _ limit: Int) -> Bool {
        guard (try? connection.execute("PRAGMA journal_size_limit = 0")) != nil else { return false }
        defer { try? connection.execute("PRAGMA journal_size_limit = \(ConnectionOptions.logLimit)") }
        // Random, because SQLite writes no page for what changes no byte.
        try? connection.run("REPLACE INTO martlet_changes VALUES (-1, randomblob(8))")
        guard StoreFiles.logBytes(path) > limit else { return true }
        // Somebody still reads the log, and it has only grown. Nobody can copy what was added while anybody reads the database
        // file without it: who has left the log for that comes back to its end, to leave it again after the next copy.
        if let version = try? Catalog.meta(connection).version { _ = leaveLog(copied: version) }
        return false
    }
}
