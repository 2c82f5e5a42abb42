import Foundation
import MartletSQLite

/// Notices commits of other processes while somebody listens: looks at the file when the system tells of a writer, or else
/// from time to time, and tells the coordinator's listeners. What it tells are hints; whoever hears them opens a snapshot
/// and finds out.
///
/// Looking is cheap: SQLite's `data_version` changes with every commit of another connection and is read from shared
/// memory; only then is the version row read. The connection is never left inside a transaction, so it pins nothing.
///
/// Ledger: `connection`, `dataVersion`, `isStopped` and `isRetrying` under `lock`.
// Sendable by the ledger above.
final class ExternalCommitMonitor: @unchecked Sendable {
    private weak var coordinator: StoreCoordinator?
    private let lock = NSLock()
    private var connection: Connection?
    private var dataVersion: Int64?
    private var isStopped = false
    /// A look has failed and is going to be repeated.
    private var isRetrying = false

    init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

    /// From soon on looks when a writer lets go of the lock file at `path`, or as often as the environment says.
    func start(_ environment: Environment, lockFile path: String?) {
        guard environment.externalCommitMilliseconds > 0 else { return }
        CommitWatch.soon { [weak self] in self?.begin(environment, path) }
    }

    private func begin(_ environment: Environment, _ path: String?) {
        guard !isOver else { return }
        let interval = environment.externalCommitMilliseconds
        guard watch(path) else { return ExternalCommitClock.every(milliseconds: interval).add(self) }
        if isOver { return }
        let rarely = environment.missedCommitMilliseconds
        if rarely > 0 { ExternalCommitClock.every(milliseconds: rarely).add(self) }
        // What was committed before the watch began, and then also by one that was killed.
        hear(isCertain: false)
        lookSoon(interval)
    }

    // False where the file cannot be watched.
    private func watch(_ path: String?) -> Bool {
        guard let path, let watch = CommitWatch.shared, watch.add(self, path) else { return false }
        // Stopped meanwhile, which found nothing to end.
        if isOver { watch.sweep() }
        return true
    }

    /// The lock file was deleted or replaced: soon another one is watched. Not at once, since the whole folder may be on the way
    /// to being deleted, which a new file in it would prevent.
    func watchAgainSoon() {
        CommitWatch.queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [weak self] in self?.watchAgain() }
    }

    // Where the database itself is another one by now, there is nothing to watch.
    private func watchAgain() {
        guard !isOver, let coordinator, (try? coordinator.requireUnmoved()) != nil else { return }
        let interval = coordinator.environment.externalCommitMilliseconds
        guard watch(coordinator.writeLock.madeFile()) else {
            return ExternalCommitClock.every(milliseconds: interval).add(self)
        }
        hear(isCertain: true)
    }

    private func lookSoon(_ milliseconds: Int) {
        CommitWatch.queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.hear(isCertain: true)
        }
    }

    /// A writer has let go of the file.
    ///
    /// - Parameter isCertain: it may have been killed between its commit and the note in the lock file.
    func hear(isCertain: Bool) {
        guard let coordinator, !isOver else { return }
        // Most often the writer was this process.
        if !isCertain, coordinator.hasTold(coordinator.writeLock.noted) { return coordinator.leaveCopiedLog() }
        if !look() { retry(coordinator.environment.externalCommitMilliseconds) }
    }

    // Nobody may ever tell of it again. One look is enough for all that could not be done.
    private func retry(_ milliseconds: Int) {
        lock.lock()
        let isFirst = !isRetrying
        isRetrying = true
        lock.unlock()
        guard isFirst else { return }
        CommitWatch.queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            lock.lock()
            isRetrying = false
            lock.unlock()
            hear(isCertain: true)
        }
    }

    /// Returns when the looks that have begun have ended, which hold their files open, or after a second.
    static func waitForLooks() {
        for queue in [CommitWatch.queue, ExternalCommitClock.queue] {
            let end = DispatchSemaphore(value: 0)
            queue.async { end.signal() }
            _ = end.wait(timeout: .now() + 1)
        }
    }

    func stop() {
        lock.lock()
        isStopped = true
        connection?.close()
        connection = nil
        lock.unlock()
        CommitWatch.shared?.sweep()
    }

    var isOver: Bool {
        lock.lock()
        defer { lock.unlock() }
        return isStopped
    }

    /// Tells listeners if there is a version that they have not been told of; false when that could not be found out.
    @discardableResult
    func look() -> Bool {
        guard let coordinator else { return true }
        defer { coordinator.leaveCopiedLog() }
        do {
            coordinator.environment.yield(.beforeLook)
            let found = try newVersion(coordinator)
            coordinator.environment.yield(.afterLook)
            if let version = found, coordinator.isNews(version) {
                coordinator.tellListeners(version, nil)
            }
            return true
        } catch {
            return false
        }
    }

    /// The newest version, if anything was committed since the last look.
    private func newVersion(_ coordinator: StoreCoordinator) throws -> Version? {
        lock.lock()
        defer { lock.unlock() }
        guard !isStopped else { return nil }
        let connection = try connection ?? coordinator.takeConnection()
        self.connection = connection
        let seen = try connection.integer("PRAGMA data_version")
        guard seen != dataVersion else { return nil }
        let version = try Catalog.meta(connection).version
        dataVersion = seen
        return version
    }
}
