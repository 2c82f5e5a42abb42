import MartletSQLite

/// Keeps the log from growing without bound.
///
/// SQLite starts the log again at its beginning when all of it was copied and nobody reads from it. Snapshots that overlap in
/// time, each held for a moment only, leave no instant for that. So a writer waits above a limit: while it has the write lock
/// there are no new versions, so that the old ones come to an end, and who shows the newest is moved to the database file.
extension StoreCoordinator {
    private static let patience: UInt64 = 2_000_000_000
    private static let pauseMicroseconds: UInt32 = 10_000

    /// Waits for old snapshots to end where the log is too long. Called under the write lock.
    ///
    /// - Throws: `.logFull` when that did not help and the options ask for it.
    func makeRoomInLog(_ handle: SnapshotHandle?, isUnshared: Bool = false) throws {
        let frames = frames(handle)
        guard environment.usesGate, isLogTooLong(frames) else { return }
        // The write that begins ends the use of its own old version.
        if let handle, isUnshared, handle.version < newestKnownVersion { return }
        // Where it did not help, the log grows by a part of the limit before it is tried again.
        let isWaiting = locked { frames >= $0.fullLogFrames }
        let start = environment.now()
        repeat {
            if try isRoomMade() { return locked { $0.fullLogFrames = 0 } }
            guard isWaiting else { break }
            environment.sleep(Self.pauseMicroseconds)
        } while environment.now() - start < Self.patience
        if isWaiting {
            environment.log(logIsHeld)
            locked { $0.fullLogFrames = frames + maximumLogFrames / 4 }
        }
        if options.throwsWhenLogIsFull {
            throw EngineError(.logFull, path: path, "nothing was written, because " + logIsHeld)
        }
    }

    private var frameBytes: Int { environment.pageSize + 24 }
    private var maximumLogFrames: Int { max(1, options.maximumLogBytes / frameBytes) }

    func isLogTooLong(_ frames: Int) -> Bool { frames > maximumLogFrames }

    // The index is in shared memory: nothing is read from disk.
    private func frames(_ handle: SnapshotHandle?) -> Int {
        let frames = handle.map { $0.read { $0.logState?.frames } } ?? locked { $0.idle.last?.logState?.frames }
        // The file is perhaps longer than the log in it.
        return frames ?? StoreFiles.logBytes(path) / frameBytes
    }

    private func isRoomMade() throws -> Bool {
        let writer = try takeConnection()
        defer { give(back: writer) }
        let done = try checkpoint(holding: writer)
        guard done.logFrames == done.copiedFrames, done.isLeft else { return false }
        return startLogAgain(writer, after: done.logFrames)
    }

    private var logIsHeld: String {
        let newest = newestKnownVersion
        let old = pinnedVersions.filter { $0.version < newest }
        let who =
            old.isEmpty
            ? "another process reads an older version, or this one reads the newest just now"
            : "older versions are in use: " + old.map(\.text).joined(separator: "; ")
        return
            "the log of '\(path)' is longer than 'maximumLogBytes' (\(options.maximumLogBytes)) and cannot start again: \(who); "
            + "release frozen objects, and refresh the Realms of other threads"
    }
}
