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

    /// Checkpoints in the background, off the committing caller's path.
    func checkpointSoon() {
        Self.waitsAtExit
        Self.queue.async { [weak self] in _ = try? self?.checkpoint() }
    }

    /// Copies the log into the database file as far as readers allow.
    /// Returns the frames in the log and the frames copied.
    @discardableResult
    package func checkpoint() throws -> (logFrames: Int, copiedFrames: Int) {
        try writeLock.acquire()
        defer { writeLock.release() }
        let writer = try takeConnection()
        defer { giveBackIdle(writer) }
        let done = try checkpoint(holding: writer)
        if done.logFrames == done.copiedFrames, done.logFrames > 8 * environment.checkpointFrames { try shortenLog(writer) }
        return done
    }

    // Called under the write lock.
    private func checkpoint(holding writer: Connection) throws -> (logFrames: Int, copiedFrames: Int) {
        let checkpointer = try checkpointConnection ?? takeConnection()
        checkpointConnection = checkpointer
        environment.yield(.beforeCheckpoint)
        guard environment.usesGate else { return try checkpointer.checkpointPassively() }
        try writer.run("BEGIN IMMEDIATE")
        defer { try? writer.run("ROLLBACK") }
        environment.yield(.insideGate)
        return try checkpointer.checkpointPassively()
    }

    private func giveBackIdle(_ connection: Connection) {
        locked { $0.idle.append(connection) }
    }

    // Reading a log of this size costs the next opening next to nothing.
    private static let shortLogBytes = 256 * 1_024

    /// Leaves a short log behind: the next open has to read all of it. Skipped when others are writing.
    func closeLog(_ connection: Connection?) {
        guard let connection, StoreFiles.logBytes(path) > Self.shortLogBytes, writeLock.tryAcquire() else { return }
        defer { writeLock.release() }
        if connection.isInTransaction { try? connection.run("ROLLBACK") }
        guard let (frames, copied) = try? checkpoint(holding: connection), frames == copied, frames > 64 else {
            connection.close()
            return
        }
        try? shortenLog(connection)
        connection.close()
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
                "INSERT INTO martlet_changes VALUES (?1, ?2)", [.integer(version), .blob(ChangeSetCodec.encode(ChangeSet()))])
            try connection.run("COMMIT")
        } catch {
            try? connection.run("ROLLBACK")
            throw error
        }
    }
}
