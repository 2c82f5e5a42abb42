import CMartletRuntime
import Foundation
package import MartletSQLite
import Synchronization

/// One version of a file, pinned: a connection inside a transaction, shared by whoever reads that version.
///
/// Ledger: `connection`, its statements and `isWriting` are used under `lock` only, `notes` under its mutex. The rest never
/// changes. The read transaction ends
/// when the last holder lets go, and the connection goes back to its pool.
// Sendable by the lock above; the connection itself is not.
package final class SnapshotHandle: @unchecked Sendable {
    /// What refers to it without keeping it: every read retains it.
    let reference = LooseReference()
    package let version: Version
    package let epoch: Int64
    /// When it was pinned, on the clock of the environment.
    let since: UInt64
    private let lock = NSLock()
    private var connection: Connection?
    private var isWriting = false
    private let notes = Mutex(Notes())
    private let release: @Sendable (ObjectIdentifier, Connection) -> Void
    private let forks = cmartlet_fork_count()
    private let stopForkedChild: @Sendable (_ path: String) -> Never

    init(
        version: Version, epoch: Int64, since: UInt64, connection: Connection,
        stopForkedChild: @escaping @Sendable (_ path: String) -> Never,
        release: @escaping @Sendable (ObjectIdentifier, Connection) -> Void
    ) {
        self.version = version
        self.epoch = epoch
        self.since = since
        self.connection = connection
        self.stopForkedChild = stopForkedChild
        self.release = release
        reference.begin(self)
    }

    deinit {
        reference.end()
        guard let connection else { return }
        // To end its transaction would touch the locks of the parent process.
        if forks != cmartlet_fork_count() { return _ = Unmanaged.passRetained(connection) }
        release(ObjectIdentifier(self), connection)
    }

    /// Reads with the connection to oneself. Must not be nested, and must not call out to users.
    package func read<R>(_ body: (Connection) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        guard let connection else { preconditionFailure("a snapshot was read after its connection had been taken") }
        // The locks of the file are the parent's: it may write over what is read here.
        if forks != cmartlet_fork_count() { stopForkedChild(connection.options.path) }
        return try body(connection)
    }

    /// Who holds a handle for long: a Realm that shows it, and what was frozen.
    private struct Notes: Sendable {
        var live: (any CustomStringConvertible & Sendable)?
        var frozen: (any CustomStringConvertible & Sendable)?
    }

    /// Notes the Realm that shows it, for whoever asks why a version is in use.
    package func note(live holder: (any CustomStringConvertible & Sendable)?) { notes.withLock { $0.live = holder } }

    /// Notes where it was frozen.
    package func note(frozen holder: any CustomStringConvertible & Sendable) { notes.withLock { $0.frozen = holder } }

    var holders: [String] {
        let notes = notes.withLock { $0 }
        return [notes.live, notes.frozen].compactMap { $0?.description }
    }

    /// True when both pin the same version of the same file's content.
    package func isSame(as other: SnapshotHandle) -> Bool {
        self === other || (version == other.version && epoch == other.epoch)
    }

    /// True once the connection belongs to a write transaction: what is read is the version no more.
    package var isVersion: Bool {
        lock.lock()
        defer { lock.unlock() }
        return !isWriting
    }

    func beginWriting() {
        lock.lock()
        defer { lock.unlock() }
        isWriting = true
    }

    /// The file that is read.
    package var path: String { read { $0.options.path } }

    /// Takes the connection out, for a holder that knows itself to be the only one.
    func surrender() -> Connection? {
        lock.lock()
        defer { lock.unlock() }
        defer { connection = nil }
        return connection
    }

    /// Puts another connection with the same version in place of the present one and returns that; nil when someone is
    /// reading just now, or the present one is inside a write, which is its own.
    func exchange(_ other: Connection) -> Connection? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        guard let old = connection, !isWriting, !old.isWriting else { return nil }
        connection = other
        return old
    }
}
