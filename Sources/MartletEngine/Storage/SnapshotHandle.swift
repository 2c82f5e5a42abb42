import CMartletRuntime
import Foundation
package import MartletSQLite
import Synchronization

/// One pinned version of a file: a connection with an open read transaction, shared by all readers of that version.
///
/// When the last reference is released, the read transaction ends and the connection returns to its pool.
///
/// Thread safety: `connection`, its statements and `isWriting` are used only under `lock`. `owners` is used only under
/// its mutex. The other properties never change.
// Sendable: every use of the connection, which is not Sendable, holds `lock`.
package final class SnapshotHandle: @unchecked Sendable {
    /// Refers to the handle without retaining it. `reference.object` returns a strong reference to the handle.
    let reference = WeakReference()
    package let version: Version
    package let epoch: Int64
    /// The time at which the version was pinned, on the clock of the environment.
    let pinnedAtNanoseconds: UInt64
    private let lock = NSLock()
    private var connection: Connection?
    private var isWriting = false
    private let owners = Mutex(Owners())
    private let release: @Sendable (ObjectIdentifier, Connection) -> Void
    private let forkCountAtCreation = cmartlet_fork_count()
    private let stopForkedChild: @Sendable (_ path: String) -> Never

    init(
        version: Version, epoch: Int64, pinnedAtNanoseconds: UInt64, connection: Connection,
        stopForkedChild: @escaping @Sendable (_ path: String) -> Never,
        release: @escaping @Sendable (ObjectIdentifier, Connection) -> Void
    ) {
        self.version = version
        self.epoch = epoch
        self.pinnedAtNanoseconds = pinnedAtNanoseconds
        self.connection = connection
        self.stopForkedChild = stopForkedChild
        self.release = release
        reference.begin(self)
    }

    deinit {
        reference.end()
        guard let connection else { return }
        // In a forked child, the connection is leaked: its transaction and its locks belong to the parent process.
        if forkCountAtCreation != cmartlet_fork_count() { return _ = Unmanaged.passRetained(connection) }
        release(ObjectIdentifier(self), connection)
    }

    /// Calls `body` with exclusive access to the connection. Calls must not be nested, and `body` must not call code of
    /// the user.
    package func read<R>(_ body: (Connection) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        guard let connection else { preconditionFailure("a snapshot was read after its connection had been taken") }
        // In a forked child, the locks of the file belong to the parent: other processes may overwrite pages while the
        // child reads them.
        if forkCountAtCreation != cmartlet_fork_count() { stopForkedChild(connection.options.path) }
        return try body(connection)
    }

    /// The owners that can keep a handle for a long time: a Realm, and a frozen object or collection.
    private struct Owners: Sendable {
        var live: (any CustomStringConvertible & Sendable)?
        var frozen: (any CustomStringConvertible & Sendable)?
    }

    /// Records the Realm that uses the handle, for reports of pinned versions. `holder` is nil if no Realm uses the
    /// handle any more.
    package func recordOwner(live holder: (any CustomStringConvertible & Sendable)?) {
        owners.withLock { $0.live = holder }
    }

    /// Records the place in the source where a value of this version was frozen, for reports of pinned versions.
    package func recordFreezing(at place: any CustomStringConvertible & Sendable) {
        owners.withLock { $0.frozen = place }
    }

    var ownerDescriptions: [String] {
        let owners = owners.withLock { $0 }
        return [owners.live, owners.frozen].compactMap { $0?.description }
    }

    /// True if both handles have the same version and epoch of the file.
    package func isSame(as other: SnapshotHandle) -> Bool {
        self === other || (version == other.version && epoch == other.epoch)
    }

    /// False after a write transaction has begun on the connection: reads then include the uncommitted changes of this
    /// transaction.
    package var isUnmodified: Bool {
        lock.lock()
        defer { lock.unlock() }
        return !isWriting
    }

    func beginWriting() {
        lock.lock()
        defer { lock.unlock() }
        isWriting = true
    }

    /// The path of the file.
    package var path: String { read { $0.options.path } }

    /// Removes and returns the connection. The caller holds the only reference to the handle.
    func takeConnection() -> Connection? {
        lock.lock()
        defer { lock.unlock() }
        defer { connection = nil }
        return connection
    }

    /// Replaces the connection by `other`, which has pinned the same version, and returns the previous connection.
    /// Returns nil if a read is in progress or the previous connection is inside a write transaction.
    func replaceConnection(_ other: Connection) -> Connection? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        guard let old = connection, !isWriting, !old.isWriting else { return nil }
        connection = other
        return old
    }
}
