import MartletSQLite

/// Detects that the file was overwritten while it is open, or that its log was deleted or replaced.
///
/// The database file contains the name of its log: the salts in the header of the log. Before a writer appends to a
/// log, it checks that the file contains the name of this log. A checkpoint makes the same check before it copies a
/// log. A reader makes the check too, but without the write lock. If the check fails and the file is open for writing,
/// the reader repeats the check under the lock.
extension StoreCoordinator {
    private enum Continuity {
        /// No difference was found.
        case same
        /// The file already names a log in which nothing is committed yet.
        case uncommitted(log: UInt64)
        /// The log was begun by a program that does not write log names to the file.
        case withoutLogName(log: UInt64)
        /// Another file was copied over the file.
        case overwritten
        /// The log was deleted or replaced.
        case logDetached
        /// The index of the log was deleted or replaced. Another process may therefore use a different index for the
        /// same log.
        case indexDetached
        /// The log was truncated or overwritten.
        case logDamaged
    }

    /// Throws if the file, its log or the index of the log was replaced after it was opened. Called under the write
    /// lock, with a connection that has read the file.
    func requireContinuity(_ connection: Connection) throws {
        guard options.recordsLogName else { return }
        if let failure = locked({ $0.replacement }) { throw failure }
        switch try continuity(connection, beforeWriting: true) {
        case .same: return
        // Records the name of this log in the lock file too. The next writer writes another name to the database file,
        // where the name of this log then becomes the previous name. If that writer is killed, `compareUncommitted`
        // finds the previous name in the lock file.
        case .uncommitted(let log): writeLock.record(log: log)
        case .withoutLogName(let log):
            if options.isReadOnly { return }
            try connection.recordLogName(log)
            recordHeader(connection)
        case .overwritten: throw overwritten(connection)
        case .logDetached: throw logDetached(connection)
        case .indexDetached:
            throw refuse(
                "the index of its log ('-shm') was deleted or replaced while it was open; what was committed is in "
                    + "the log; ")
        case .logDamaged:
            throw refuse(
                "the log of the file was truncated or overwritten while it was open; commits since the last "
                    + "checkpoint may be lost; ")
        }
    }

    /// Throws if the file was replaced after it was opened. Called without the write lock. If there is a difference,
    /// and the file is open for writing, this method acquires the lock and checks again.
    ///
    /// - Parameter beforeWriting: true to check the log and its index too, as before a write.
    func checkForReplacement(_ connection: Connection, beforeWriting: Bool = false) throws {
        guard options.recordsLogName else { return }
        if let failure = locked({ $0.replacement }) { throw failure }
        switch try continuity(connection, beforeWriting: beforeWriting) {
        case .same, .uncommitted: return
        default: break
        }
        if options.isReadOnly {
            guard case .overwritten = try continuity(connection, beforeWriting: false) else { return }
            throw overwritten(connection)
        }
        // If the lock is not free within this time, returns without the second check: the process that holds the lock
        // makes the check itself.
        let timeout = min(1_000, environment.writeTimeoutMilliseconds)
        guard (try? writeLock.acquire(timeoutMilliseconds: timeout)) != nil else { return }
        defer { writeLock.release() }
        try requireContinuity(connection)
    }

    /// Stores the current header of the file as the header that later checks expect.
    func recordHeader(_ connection: Connection) {
        guard options.recordsLogName else { return }
        let header = connection.fileHeader()
        locked { $0.knownHeader = header }
    }

    // Compares the file with the state of the log up to four times, because the two cannot be read at the same moment.
    // If the lock file was deleted, another process may begin a log between the two reads.
    private func continuity(_ connection: Connection, beforeWriting: Bool) throws -> Continuity {
        for _ in 0..<3 {
            let found = try compare(connection, beforeWriting)
            switch found {
            case .same, .uncommitted: return found
            default: break
            }
        }
        return try compare(connection, beforeWriting)
    }

    private func compare(_ connection: Connection, _ beforeWriting: Bool) throws -> Continuity {
        let found = try compareFileWithLog(connection)
        guard beforeWriting, case .same = found else { return found }
        if connection.isLogIndexMoved || connection.isLogIndexOfOtherDatabase { return .indexDetached }
        return connection.isLogDamaged ? .logDamaged : .same
    }

    private func compareFileWithLog(_ connection: Connection) throws -> Continuity {
        let (known, namedLog) = locked { ($0.knownHeader, $0.namedLog) }
        guard let header = try connection.readFileHeader() else { return known == nil ? .same : .overwritten }
        if connection.isLogMoved { return .logDetached }
        // If there is no state, there is no log, or another connection is committing.
        guard let log = connection.logState else { return .same }
        // No log has begun since the file was opened, so no checkpoint has changed the file either.
        if log.name == 0 && log.frames == 0 { return isUntouched(header, known) ? .same : .overwritten }
        if let names = header.logNames {
            if names.current == log.name {
                if log.name != namedLog { locked { $0.namedLog = log.name } }
                return .same
            }
            if let found = try compareUncommitted(log, names, connection) { return found }
        } else if log.frames == 0 && known?.logNames == nil {
            return .same
        }
        // The file must still name the newest log that any process of Martlet began. Otherwise the file was replaced
        // with an older file.
        let isNewest =
            namedLog == nil
            ? known == nil || header.logNames == known?.logNames
            : header.logNames?.current == namedLog || isEmptied(namedLog, header.logNames)
        return log.frames > 0 && isNewest && log.name != namedLog && log.name != writeLock.recordedLog
            ? .withoutLogName(log: log.name) : .overwritten
    }

    // True if another process has copied and truncated the log, and has then replaced its name (`retireLogName`).
    private func isEmptied(_ log: UInt64?, _ names: RecordedLogNames?) -> Bool {
        names != nil && names?.previous == log && names?.current == writeLock.recordedLog
    }

    // Compares the log with the file if the file names a log in which nothing is committed yet. Otherwise returns nil.
    // Such a log may not exist: after a writer has written the name, the writer may have been killed, or the disk may
    // have been full. This may even have happened to several writers in a row. Each of them has then written a
    // different name, because a connection that has never restarted a log chooses a new name while the log has no
    // frames.
    private func compareUncommitted(
        _ log: LogState, _ names: RecordedLogNames, _ connection: Connection
    ) throws -> Continuity? {
        guard log.frames == 0, isNewest(connection) else { return nil }
        if log.isNext(after: names.current) { return .same }
        let begun = try connection.nameOfLogOnDisk()
        let recorded = writeLock.recordedLog
        let isKnown = [names.current, names.previous].contains { $0 == begun || $0 == recorded }
        return isKnown || begun == nil && log.isNext(after: names.previous) ? .uncommitted(log: names.current) : nil
    }

    // Called if the log has no frames, so that the version row is read from the database file. If this version is older
    // than the newest known version, a backup was copied over the file.
    private func isNewest(_ connection: Connection) -> Bool {
        guard let version = try? Catalog.meta(connection).version else { return false }
        return version >= locked { $0.newestVersion }
    }

    // True if the header equals the known header. Also true if the file names a later log that could not begin. Its
    // writer may have been killed after it had written the name, or the disk may have been full.
    private func isUntouched(_ header: FileHeader, _ known: FileHeader?) -> Bool {
        guard let known, header != known else { return true }
        guard let names = header.logNames else { return false }
        return names.previous == known.logNames?.current ?? 0 || writeLock.recordedLog == names.current
    }

    /// A failed commit may have written the name of a log that did not begin to the file. In that case, records this
    /// name. The caller holds the write lock.
    func recordFailedLog(_ written: SnapshotHandle) {
        guard options.recordsLogName else { return }
        written.read { connection in
            guard connection.logState?.frames == 0, let names = connection.fileHeader()?.logNames,
                names != locked({ $0.knownHeader?.logNames })
            else { return }
            writeLock.record(log: names.current)
            recordHeader(connection)
        }
    }

    /// Records the name of the log to which the last commit was written, so that other processes can compare this name
    /// with the name in the file. The caller holds the write lock.
    func recordLog(_ connection: Connection) {
        guard options.recordsLogName, let log = connection.logState?.name else { return }
        writeLock.record(log: log)
        if locked({ $0.namedLog != log }) { locked { $0.namedLog = log } }
    }

    /// Replaces the name of a log in the file by a random name, after the log was copied completely and truncated.
    /// After that, an older copy of this log, for example from a backup, does not count as the log of the file. To
    /// other processes, the file looks as if a writer had been killed before it began the next log. The caller holds
    /// the write lock.
    func retireLogName(_ connection: Connection, _ copied: UInt64) {
        // While this transaction is open, programs that do not use the write lock cannot begin a log either.
        guard options.recordsLogName, (try? connection.run("BEGIN IMMEDIATE")) != nil else { return }
        defer { try? connection.run("ROLLBACK") }
        guard let log = connection.logState, log.frames == 0, log.isNext(after: copied),
            connection.fileHeader()?.logNames?.current == copied, !connection.isFileMoved,
            let name = try? connection.retireLogName()
        else { return }
        writeLock.record(log: name)
        locked { $0.namedLog = name }
        recordHeader(connection)
    }

    /// Throws if the file contains an older version than this process has seen. In that case a backup of the file, its
    /// log and the index of its log was copied over these three files.
    func requireNewest(_ version: Version, _ connection: Connection) throws {
        guard options.recordsLogName, version < locked({ $0.newestVersion }) else { return }
        throw overwritten(connection)
    }

    private func overwritten(_ connection: Connection) -> EngineError {
        var message = "another file was copied over the file while it was open; nothing was written to it; "
        if !options.isReadOnly, let name = setLogAside(connection) {
            message += "its log was set aside as '\(name)'; "
        }
        return refuse(message)
    }

    /// Sets the log aside if another file has replaced the database. Does nothing if the path of the log or of its
    /// index refers to another file than this process has open. In that case another process has already set the log
    /// aside, and may be using the new file.
    func setLogAside(_ connection: Connection) -> String? {
        guard options.recordsLogName, environment.vfsName == nil, !connection.isLogMoved, !connection.isLogIndexMoved
        else { return nil }
        let isFileMoved = connection.isFileMoved
        guard let log = try? connection.nameOfLogOnDisk(), connection.logState?.frames != 0 else {
            // If the file was overwritten, the index still contains the length of the former file, so the index is
            // removed. If another file was moved to the path, the process that opens that file removes the index.
            if !isFileMoved { StoreFiles.removeIndex(of: path) }
            return nil
        }
        // Only a log of the former file is set aside. The connection reads the header of the file that it has open. If
        // the former file was moved away, the open file is the former file, which must name the log. If the former file
        // was overwritten, the open file is the new file, which must not name the log. If the new file names the log, a
        // process that opened the new file has begun this log.
        guard (connection.fileHeader()?.logNames?.current == log) == isFileMoved else { return nil }
        return SetAsideLogs.setAside(path, connection, environment)
    }

    // Connections that were opened earlier still have the old log open, so they can save its content.
    private func logDetached(_ connection: Connection) -> EngineError {
        let saver = locked { $0.idle.popLast() }
        let isSaved = saver.map(saveDetachedLog) ?? false
        if let saver { returnConnection(saver) }
        return refuse(
            "the log of the file was deleted or replaced while it was open; what was committed is "
                + (isSaved ? "in the file; " : "copied into the file, if possible, when it is closed; "))
    }

    /// Copies a log into the file after the log was deleted or replaced. The connection still has this log open. Called
    /// under the write lock, outside a transaction. Returns false if the file does not name this log any more.
    func saveDetachedLog(_ connection: Connection) -> Bool {
        guard connection.isLogMoved, let log = connection.logState,
            connection.fileHeader()?.logNames?.current == log.name,
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
