import Foundation
import MartletEngine

extension RealmContext {
    var isFrozen: Bool { access == .frozen }

    /// The frozen context of the current version. Inside a write, the version before the write is frozen. If the write
    /// belongs to a group and has changed something, the version before the group is frozen. All frozen objects of one
    /// version share one context.
    func frozen(_ fileID: StaticString, _ line: UInt) -> RealmContext {
        if isFrozen { return self }
        confinement.require("a Realm")
        if access.isOfMigration { Misuse.frozenInMigration() }
        makeGroupDurable()
        return frozen(at: committedHandle, fileID, line)
    }

    /// The frozen context of a version that the Realm shows or has shown.
    func frozen(at handle: SnapshotHandle, _ fileID: StaticString, _ line: UInt) -> RealmContext {
        if let known = lastFrozen, known.handle.isSame(as: handle) { return known }
        let known = coordinator.frozen(handle.version) as? RealmContext
        let frozen =
            if let known, known.handle.isSame(as: handle), known.hasClasses(of: self) {
                known
            } else {
                RealmContext(frozen: self, handle)
            }
        if frozen !== known { handle.recordFreezing(at: FreezingPlace(fileID: fileID, line: line)) }
        coordinator.register(frozen: frozen.reference, handle.version)
        lastFrozen = frozen
        return frozen
    }

    // The committed version to freeze. Outside of a write, this is the version that the Realm shows. Inside a write, it
    // is the newest version. No other writer can commit then, so the transaction began from that version.
    private var committedHandle: SnapshotHandle {
        guard isInWrite else { return handle }
        if let known = lastFrozen?.handle, known.version == transaction?.firstVersion { return known }
        do {
            return try coordinator.openSnapshot()
        } catch {
            readFailed(error)
        }
    }

    /// True if both contexts are the same Realm, or are frozen at the same snapshot. In these cases, accessors with
    /// equal keys represent the same object.
    func showsSame(as other: RealmContext) -> Bool {
        self === other
            || (isFrozen && other.isFrozen && coordinator === other.coordinator && handle.isSame(as: other.handle))
    }

    /// Runs `body` under the lock of a frozen Realm, which several threads may use. A live Realm needs no lock.
    @inline(__always)
    func withFrozenLock<R>(_ body: () throws -> R) rethrows -> R {
        guard let frozenLock else { return try body() }
        frozenLock.lock()
        defer { frozenLock.unlock() }
        return try body()
    }
}

/// The line of the program that first froze a version.
private struct FreezingPlace: CustomStringConvertible, Sendable {
    let fileID: StaticString
    let line: UInt

    var description: String { "a value frozen at \(fileID):\(line)" }
}

extension ObjectTable {
    /// The frozen object of a row; nil if the row does not exist. The values of a new object are read before other
    /// threads can access the object.
    func frozenObject(_ key: ObjectKey) -> ObjectBase? {
        if let known = identity.object(key) { return known }
        let object = makeAccessor(key)
        guard context.loadIfThere(object, self) else { return nil }
        return identity.insertIfAbsent(object, key)
    }

    // An invalidated object for a key without a row. Its use stops the program.
    func missing(_ key: ObjectKey) -> ObjectBase {
        let object = makeAccessor(key)
        object._state = .invalidated
        return object
    }
}
