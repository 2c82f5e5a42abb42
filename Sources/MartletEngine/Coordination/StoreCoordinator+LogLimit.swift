import MartletSQLite

/// Limits the growth of the log.
///
/// SQLite restarts the log at its beginning when the whole log was copied and no reader uses it. If snapshots overlap
/// in time, there is always a reader, even if each snapshot is short. Therefore a writer waits if the log is longer
/// than the limit. While the writer holds the write lock, no new version appears. During the wait, readers release
/// their older snapshots, and the checkpoints of the writer repin the handles of the newest version (glossary: Repin),
/// so that they read from the database file and no longer from the log.
extension StoreCoordinator {
    private static let waitNanoseconds: UInt64 = 2_000_000_000
    private static let pauseMicroseconds: UInt32 = 10_000

    /// If the log is too long, waits until it can restart, for at most two seconds. Called under the write lock.
    ///
    /// After an unsuccessful wait, later calls try once to restart the log, without waiting. They wait again only when
    /// the log has grown by a quarter of the limit.
    ///
    /// - Parameter isUnshared: true if only the caller uses `handle`.
    /// - Throws: `.logFull` if the log cannot restart and `throwsWhenLogIsFull` is true.
    func waitForLogRestart(_ handle: SnapshotHandle?, isUnshared: Bool = false) throws {
        let frames = frames(handle)
        guard environment.checkpointsUnderWriteLock else { return }
        guard isLogTooLong(frames) else { return locked { $0.fullLogFrames = 0 } }
        // The caller's own handle pins an older version, so waiting would not help. The write that the caller begins
        // next releases this handle. This write is executed even if `throwsWhenLogIsFull` is true.
        if let handle, isUnshared, handle.version < newestKnownVersion { return }
        let isWaiting = locked { frames >= $0.fullLogFrames }
        let start = environment.now()
        repeat {
            if try tryToRestartLog() { return locked { $0.fullLogFrames = 0 } }
            guard isWaiting else { break }
            environment.sleep(Self.pauseMicroseconds)
        } while environment.now() - start < Self.waitNanoseconds
        if isWaiting {
            environment.log(logHeldMessage)
            locked { $0.fullLogFrames = frames + maximumLogFrames / 4 }
        }
        if options.throwsWhenLogIsFull {
            throw EngineError(.logFull, path: path, "nothing was written, because " + logHeldMessage)
        }
    }

    private var frameBytes: Int { environment.pageSize + 24 }
    private var maximumLogFrames: Int { max(1, options.maximumLogBytes / frameBytes) }

    func isLogTooLong(_ frames: Int) -> Bool { frames > maximumLogFrames }

    // The number of frames in the log. It is usually read from the index of the log, which is in shared memory.
    private func frames(_ handle: SnapshotHandle?) -> Int {
        let frames = handle.map { $0.read { $0.logState?.frames } } ?? locked { $0.idle.last?.logState?.frames }
        // This value is an estimate, because the file may be longer than the log that it contains.
        return frames ?? StoreFiles.logBytes(path) / frameBytes
    }

    private func tryToRestartLog() throws -> Bool {
        let writer = try takeConnection()
        defer { returnConnection(writer) }
        let done = try checkpoint(holding: writer)
        guard done.logFrames == done.copiedFrames, done.isLogUnused else { return false }
        return restartLog(writer, after: done.logFrames)
    }

    private var logHeldMessage: String {
        let newest = newestKnownVersion
        let old = pinnedVersions.filter { $0.version < newest }
        let reason =
            old.isEmpty
            ? "another process is reading an older version, or this process is reading the newest version"
            : "older versions are in use: " + old.map(\.text).joined(separator: "; ")
        return
            "the log of '\(path)' is longer than 'maximumLogBytes' (\(options.maximumLogBytes)) and cannot restart: \(reason); "
            + "release frozen objects, and refresh the Realms of other threads"
    }
}
