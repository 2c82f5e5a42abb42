import Foundation
import MartletSQLite
import MartletValues

/// While the coordinator has listeners, detects commits of other processes and notifies the listeners. The monitor uses
/// events of the lock file, and also polls at long intervals in case it misses an event. If the lock file cannot be
/// watched, the monitor polls at short intervals. A notification does not say what changed, so a listener opens a
/// snapshot to find the changes.
///
/// Polling is cheap. SQLite's `data_version` changes with every commit of another connection, and SQLite reads it from
/// shared memory. The monitor reads the version row only if `data_version` has changed. No transaction stays open on
/// the connection of the monitor, so this connection pins no version.
///
/// Thread safety: `lock` guards `connection`, `dataVersion`, `stopped`, `isRetrying` and `heldLock`.
// Sendable as described above.
final class CommitMonitor: @unchecked Sendable {
    private weak var coordinator: StoreCoordinator?
    private let lock = NSLock()
    private var connection: Connection?
    private var dataVersion: Int64?
    private var stopped = false
    /// True if a poll failed and will be repeated.
    private var isRetrying = false
    /// Held while the lock file is watched.
    private var heldLock: WatchLock?

    init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

    /// Starts to watch the lock file at `path`, and to poll at long intervals. If there is no path, or if the lock file
    /// cannot be watched, starts to poll at short intervals. Does nothing if `commitPollMilliseconds` is zero.
    func start(_ environment: Environment, lockFile path: String?) {
        guard environment.commitPollMilliseconds > 0 else { return }
        LockFileWatcher.schedule { [weak self] in self?.begin(environment, path) }
    }

    private func begin(_ environment: Environment, _ path: String?) {
        guard !isStopped else { return }
        let interval = environment.commitPollMilliseconds
        guard watch(path) else { return PollTimer.every(milliseconds: interval).add(self) }
        if isStopped { return }
        let fallbackInterval = environment.missedCommitPollMilliseconds
        if fallbackInterval > 0 { PollTimer.every(milliseconds: fallbackInterval).add(self) }
        // These checks find commits that were made before the watch began. They ignore the version in the lock file,
        // because a writer does not write its version if it finds no watch lock, or if it is killed after its commit.
        checkForCommits(always: true)
        pollLater(interval)
    }

    // Returns false if the lock file cannot be watched.
    private func watch(_ path: String?) -> Bool {
        guard let path, let watch = LockFileWatcher.shared, watch.add(self, path) else { return false }
        let acquired = WatchLock(path: path)
        lock.lock()
        heldLock = stopped ? nil : acquired
        lock.unlock()
        guard acquired != nil else { return false }
        // If the monitor was stopped while the watch was added, `stop` did not remove this watch.
        if isStopped { watch.removeStopped() }
        return true
    }

    /// Called when the lock file was deleted or replaced. Watches a new lock file after a delay. The delay is necessary
    /// because another program may be deleting the whole folder, and a new lock file in the folder would prevent that.
    func watchAgainSoon() {
        LockFileWatcher.queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [weak self] in self?.watchAgain() }
    }

    // Does nothing if the database itself was moved, deleted or replaced.
    private func watchAgain() {
        guard !isStopped, let coordinator, (try? coordinator.requireUnmoved()) != nil else { return }
        let interval = coordinator.environment.commitPollMilliseconds
        guard watch(coordinator.writeLock.createFileIfNeeded()) else {
            return PollTimer.every(milliseconds: interval).add(self)
        }
        checkForCommits(always: true)
    }

    private func pollLater(_ milliseconds: Int) {
        LockFileWatcher.queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.checkForCommits(always: true)
        }
    }

    /// Called when a writer may have released the write lock. The writer has then usually committed.
    ///
    /// - Parameter always: true to poll even if this process has notified its listeners of the version in the lock
    ///   file. A writer may have been killed after its commit and before it wrote its version to the lock file.
    func checkForCommits(always: Bool) {
        guard let coordinator, !isStopped else { return }
        // In most cases this process was the writer, and has already notified its listeners.
        if !always, coordinator.hasNotified(coordinator.writeLock.recordedVersion) {
            return coordinator.repinAfterCheckpoint()
        }
        if !poll() { retry(coordinator.environment.commitPollMilliseconds) }
    }

    // Repeats a failed poll, because there may be no further event. One repetition covers all polls that failed.
    private func retry(_ milliseconds: Int) {
        lock.lock()
        let isFirst = !isRetrying
        isRetrying = true
        lock.unlock()
        guard isFirst else { return }
        LockFileWatcher.queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            lock.lock()
            isRetrying = false
            lock.unlock()
            checkForCommits(always: true)
        }
    }

    /// Waits until the polls in progress have ended, because a poll keeps the database file open. Waits at most one
    /// second for each of the two queues.
    static func waitForPolls() {
        for queue in [LockFileWatcher.queue, PollTimer.queue] {
            let end = DispatchSemaphore(value: 0)
            queue.async { end.signal() }
            _ = end.wait(timeout: .now() + 1)
        }
    }

    func stop() {
        lock.lock()
        stopped = true
        connection?.close()
        connection = nil
        heldLock = nil
        lock.unlock()
        LockFileWatcher.shared?.removeStopped()
    }

    /// The lock that this monitor holds while it watches the lock file.
    var watchLock: WatchLock? {
        lock.lock()
        defer { lock.unlock() }
        return heldLock
    }

    var isStopped: Bool {
        lock.lock()
        defer { lock.unlock() }
        return stopped
    }

    /// If the listeners were not yet notified of the newest version, notifies them. Returns false if the poll failed.
    @discardableResult
    func poll() -> Bool {
        guard let coordinator else { return true }
        defer { coordinator.repinAfterCheckpoint() }
        do {
            coordinator.environment.yield(.beforePoll)
            let found = try newVersion(coordinator)
            coordinator.environment.yield(.afterPoll)
            if let version = found, coordinator.markNotified(version) {
                coordinator.notifyListeners(version, nil)
            }
            return true
        } catch {
            return false
        }
    }

    /// The newest version if another connection has committed since the last poll, otherwise nil.
    private func newVersion(_ coordinator: StoreCoordinator) throws -> Version? {
        lock.lock()
        defer { lock.unlock() }
        guard !stopped else { return nil }
        let connection = try connection ?? coordinator.takeConnection()
        self.connection = connection
        let seen = try connection.integer("PRAGMA data_version")
        guard seen != dataVersion else { return nil }
        let version = try Catalog.meta(connection).version
        dataVersion = seen
        return version
    }
}
