import MartletSQLite

/// Notices that the file was overwritten, or its log taken away, while it is open.
///
/// The database file names the log that continues it. A writer looks whether that is the log it is about to add to, and a
/// checkpoint whether it is the one it copies; a reader looks without the lock first.
extension StoreCoordinator {
    private enum Continuity {
        case same
        /// A program that marks no logs has begun one.
        case unmarked(log: UInt64)
        case overwritten
        case logTaken
    }

    /// Refuses to go on with a file that is not what it was. Called under the write lock, with a connection that has read.
    func requireContinuity(_ connection: Connection) throws {
        guard options.marksLog else { return }
        if let failure = locked({ $0.replacement }) { throw failure }
        switch try continuity(connection) {
        case .same: return
        case .unmarked(let log):
            if options.isReadOnly { return }
            try connection.markFile(log)
            remember(connection)
        case .overwritten: throw overwritten(connection)
        case .logTaken: throw logTaken(connection)
        }
    }

    /// The same without the write lock, which is taken only when something differs.
    func lookForReplacement(_ connection: Connection) throws {
        guard options.marksLog else { return }
        if let failure = locked({ $0.replacement }) { throw failure }
        if case .same = try continuity(connection) { return }
        if options.isReadOnly {
            guard case .overwritten = try continuity(connection) else { return }
            throw overwritten(connection)
        }
        // Who holds the lock for long has looked.
        let patience = min(1_000, environment.writeTimeoutMilliseconds)
        guard (try? writeLock.acquire(milliseconds: patience)) != nil else { return }
        defer { writeLock.release() }
        try requireContinuity(connection)
    }

    /// Takes the file as it is now for what it is to be.
    func remember(_ connection: Connection) {
        guard options.marksLog else { return }
        let header = connection.fileHeader()
        locked { $0.knownHeader = header }
    }

    private func continuity(_ connection: Connection) throws -> Continuity {
        let known = locked { $0.knownHeader }
        guard let header = try connection.readFileHeader() else { return known == nil ? .same : .overwritten }
        if connection.isLogMoved { return .logTaken }
        // Without a log, or while somebody commits.
        guard let log = connection.logState else { return .same }
        // Nobody has begun a log since the file was opened, so that nothing was copied into it either.
        if log.name == 0 && log.frames == 0 { return isUntouched(header, known) ? .same : .overwritten }
        if let mark = header.mark {
            if mark.current == log.name || (log.frames == 0 && log.isNext(after: mark)) { return .same }
        } else if log.frames == 0 && known?.mark == nil {
            return .same
        }
        let isUnchanged = known == nil || header.mark == known?.mark
        return log.frames > 0 && isUnchanged && writeLock.notedLog != log.name ? .unmarked(log: log.name) : .overwritten
    }

    // A log that could not be begun, for want of space or because the process was killed, has left its name.
    private func isUntouched(_ header: FileHeader, _ known: FileHeader?) -> Bool {
        guard let known, header != known else { return true }
        guard let mark = header.mark else { return false }
        return mark.previous == known.mark?.current ?? 0 || writeLock.notedLog == mark.current
    }

    /// Notes the name that a commit which failed has left, though no log has begun. For the holder of the write lock.
    func noteFailedLog(_ written: SnapshotHandle) {
        guard options.marksLog else { return }
        written.read { connection in
            guard connection.logState?.frames == 0, let mark = connection.fileHeader()?.mark,
                mark != locked({ $0.knownHeader?.mark })
            else { return }
            writeLock.note(log: mark.current)
            remember(connection)
        }
    }

    /// Notes the log that the last commit was written to, for who compares it with the file. For the holder of the write lock.
    func noteLog(_ written: SnapshotHandle) {
        guard options.marksLog, let log = written.read({ $0.logState })?.name, log != locked({ $0.notedLog }) else {
            return
        }
        locked { $0.notedLog = log }
        writeLock.note(log: log)
    }

    private func overwritten(_ connection: Connection) -> EngineError {
        var message = "another file was copied over the file while it was open; nothing was written to it; "
        if !options.isReadOnly, let name = setLogAside(connection) {
            message += "its log was set aside as '\(name)'; "
        }
        return refuse(message)
    }

    /// Takes away the log of a file in whose place there is another one, unless whoever opened that has done so.
    func setLogAside(_ connection: Connection) -> String? {
        guard options.marksLog, environment.vfsName == nil, !connection.isLogMoved else { return nil }
        if connection.logState?.frames == 0 {
            // The index still knows the length of the former file.
            SetAsideLogs.removeIndex(path)
            return nil
        }
        return SetAsideLogs.setAside(path, connection, environment)
    }

    // Connections that were open before still have the log, so that what it holds can be saved.
    private func logTaken(_ connection: Connection) -> EngineError {
        let saver = locked { $0.idle.popLast() }
        let isSaved = saver.map(saveTakenLog) ?? false
        if let saver { give(back: saver) }
        return refuse(
            "the log of the file was deleted or replaced while it was open; what was committed is "
                + (isSaved ? "in the file; " : "copied into the file, where that is possible, when it is closed; "))
    }

    /// Copies a log that was taken away, and that this connection still has, into the file. Called under the write lock, outside of
    /// a transaction. False where the file does not name this log any more.
    func saveTakenLog(_ connection: Connection) -> Bool {
        guard connection.isLogMoved, let log = connection.logState, connection.fileHeader()?.mark?.current == log.name,
            !connection.isFileMoved, let done = try? connection.checkpointPassively()
        else { return false }
        return done.logFrames == done.copiedFrames
    }

    private func refuse(_ message: String) -> EngineError {
        let error = EngineError(
            .fileReplaced, path: path, message + "release its Realms and objects and open it again")
        locked { $0.replacement = error }
        environment.log("'\(path)': \(error.message)")
        return error
    }
}
