import MartletSQLite
import MartletValues

extension StoreCoordinator {
    // MARK: Listening

    /// Calls `body` after each commit of this process, on the thread of the commit. Also calls `body` after one or
    /// several commits of other processes, on a background queue.
    ///
    /// While there are listeners, a monitor detects commits of other processes.
    package func listen(_ owner: AnyObject, _ body: @escaping Listener) {
        environment.yield(.beforeListen)
        let monitor = locked { state -> CommitMonitor? in
            state.listeners.append((ObjectIdentifier(owner), body))
            guard state.monitor == nil else { return nil }
            state.lastNotifiedVersion = max(state.lastNotifiedVersion, state.newestVersion)
            let monitor = CommitMonitor(self)
            state.monitor = monitor
            return monitor
        }
        // A temporary file needs no monitor, because no other process uses it.
        if !options.isTemporary {
            monitor?.start(environment, lockFile: options.isReadOnly ? nil : writeLock.createFileIfNeeded())
        }
    }

    package func stopListening(_ owner: AnyObject) {
        let monitor = locked { state -> CommitMonitor? in
            state.listeners.removeAll { $0.owner == ObjectIdentifier(owner) }
            state.observingListeners.remove(ObjectIdentifier(owner))
            guard state.listeners.isEmpty else { return nil }
            defer { state.monitor = nil }
            return state.monitor
        }
        monitor?.stop()
    }

    /// Sets whether a listener has observers of objects or collections. If any listener has such observers, each write
    /// keeps the previous rows in the commit log.
    package func setObserving(_ owner: AnyObject, _ isObserving: Bool) {
        locked { state in
            if isObserving {
                state.observingListeners.insert(ObjectIdentifier(owner))
            } else {
                state.observingListeners.remove(ObjectIdentifier(owner))
            }
        }
    }

    var isObserved: Bool { locked { !$0.observingListeners.isEmpty } }

    /// Polls for commits of other processes now. The monitor also polls at intervals.
    package func pollForCommits() { locked { $0.monitor }?.poll() }

    /// True if this process knows of a version newer than `version`. A listener that was added after `version` was read
    /// may not have been notified of the newer version.
    package func hasNewerVersion(than version: Version) -> Bool {
        locked { max($0.newestVersion, $0.lastNotifiedVersion) > version }
    }

    /// True if `version` is the newest version of which listeners were notified.
    func hasNotified(_ version: Version?) -> Bool { locked { $0.lastNotifiedVersion == version } }

    /// Records that listeners are notified of `version`. Returns false if they were already notified of this version or
    /// of a newer version. Also returns false if this process is committing the version, because the commit then
    /// notifies the listeners.
    func markNotified(_ version: Version) -> Bool {
        locked { state in
            guard version > state.lastNotifiedVersion, version != state.committingVersion else { return false }
            state.lastNotifiedVersion = version
            return true
        }
    }

    func notifyListeners(_ version: Version, _ committer: ObjectIdentifier?) {
        let listeners = locked { state in
            state.lastNotifiedVersion = max(state.lastNotifiedVersion, version)
            return state.listeners
        }
        environment.yield(.beforeNotifying)
        for listener in listeners { listener.notify(version, committer) }
    }

    // MARK: Changes

    func appendToCommitLog(_ entry: CommitLog.Entry) { locked { $0.commitLog.append(entry) } }

    func removeFromCommitLog(_ version: Version) { locked { $0.commitLog.removeLast(version) } }

    /// The merged change set of the commits after `start`, up to and including `end`, and the previous rows that are in
    /// memory. Returns nil if one of the change sets is not available. The caller then compares the states in full.
    package func changes(
        after start: Version, through end: Version, _ handle: SnapshotHandle
    ) throws -> (changes: ChangeSet, oldRows: RowImages)? {
        let logged = locked { $0.commitLog.newestEntries(after: start, through: end) }
        // The commit log does not contain the earlier commits, because another process made them, or because they were
        // too many for the log. The change sets of these commits are read from the file.
        let lastStored = logged.first.map { $0.version - 1 } ?? end
        guard let stored = try storedChanges(after: start, through: lastStored, handle) else { return nil }
        var oldRows = RowImages()
        var incomplete = stored
        for entry in logged {
            oldRows.merge(entry.oldRows, unlessTouchedBy: incomplete)
            if !entry.oldRows.isComplete { incomplete.append(entry.changes) }
        }
        return (ChangeSet.merging(stored + logged.map(\.changes)), oldRows)
    }

    // The change sets that the file stores for the commits after `start`, up to and including `end`. Returns nil if one
    // of them is missing.
    private func storedChanges(
        after start: Version, through end: Version, _ handle: SnapshotHandle
    ) throws -> [ChangeSet]? {
        guard start < end else { return [] }
        return try handle.read { connection in
            let statement = try connection.statement(
                "SELECT version, changes FROM martlet_changes WHERE version > ?1 AND version <= ?2 ORDER BY version")
            statement.bind(Int64(bitPattern: start), at: 1)
            statement.bind(Int64(bitPattern: end), at: 2)
            var found: [ChangeSet] = []
            var next = start + 1
            while try statement.step() {
                guard Version(bitPattern: statement.integer(0)) == next, !statement.isNull(1),
                    let changes = ChangeSetCodec.decode(statement.blob(1))
                else {
                    statement.reset()
                    return nil
                }
                found.append(changes)
                next += 1
            }
            return next == end + 1 ? found : nil
        }
    }
}
