import Foundation
package import MartletSQLite

/// One version of a file, pinned: a connection inside a transaction, shared by whoever reads that version.
///
/// Ledger: `connection`, its statements and `isWriting` are used under `lock` only. `version` never changes. The read transaction ends
/// when the last holder lets go, and the connection goes back to its pool.
// Sendable by the lock above; the connection itself is not.
package final class SnapshotHandle: @unchecked Sendable {
    package let version: Version
    package let epoch: Int64
    private let lock = NSLock()
    private var connection: Connection?
    private var isWriting = false
    private let release: @Sendable (ObjectIdentifier, Connection) -> Void

    init(
        version: Version, epoch: Int64, connection: Connection,
        release: @escaping @Sendable (ObjectIdentifier, Connection) -> Void
    ) {
        self.version = version
        self.epoch = epoch
        self.connection = connection
        self.release = release
    }

    deinit {
        if let connection { release(ObjectIdentifier(self), connection) }
    }

    /// Reads with the connection to oneself. Must not be nested, and must not call out to users.
    package func read<R>(_ body: (Connection) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        guard let connection else { preconditionFailure("a snapshot was read after its connection had been taken") }
        return try body(connection)
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
    /// reading just now.
    func exchange(_ other: Connection) -> Connection? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        guard let old = connection else { return nil }
        connection = other
        return old
    }
}
