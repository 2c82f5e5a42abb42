import Foundation
import MartletSQLite

/// Notices commits of other processes while somebody listens: looks at the file from time to time and tells the
/// coordinator's listeners. What it tells are hints; whoever hears them opens a snapshot and finds out.
///
/// Looking is cheap: SQLite's `data_version` changes with every commit of another connection and is read from shared
/// memory; only then is the version row read. The connection is never left inside a transaction, so it pins nothing.
///
/// Ledger: `connection`, `dataVersion` and `isStopped` under `lock`.
// Sendable by the ledger above.
final class ExternalCommitMonitor: @unchecked Sendable {
    private weak var coordinator: StoreCoordinator?
    private let lock = NSLock()
    private var connection: Connection?
    private var dataVersion: Int64?
    private var isStopped = false

    init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

    /// Zero means that nobody looks but by hand.
    func start(everyMilliseconds interval: Int) {
        if interval > 0 { ExternalCommitClock.every(milliseconds: interval).add(self) }
    }

    func stop() {
        lock.lock()
        isStopped = true
        connection?.close()
        connection = nil
        lock.unlock()
    }

    var isOver: Bool {
        lock.lock()
        defer { lock.unlock() }
        return isStopped
    }

    /// Tells listeners if there is a version that they have not been told of.
    func look() {
        guard let coordinator, let version = try? newVersion(coordinator), coordinator.isNews(version) else { return }
        coordinator.tellListeners(version, nil)
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
