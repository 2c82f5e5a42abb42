import Foundation
import MartletEngine

extension RealmContext {
    var isFrozen: Bool { access == .frozen }

    /// What this Realm shows now, or showed before its open write, for ever. Shared by all who freeze the same version.
    func frozen(_ fileID: StaticString, _ line: UInt) -> RealmContext {
        if isFrozen { return self }
        confinement.require("a Realm")
        if access.isOfMigration { Misuse.frozenInMigration() }
        asyncWrites?.settle()
        return frozen(at: committedHandle, fileID, line)
    }

    /// The same of a version that the Realm shows, or has shown before.
    func frozen(at handle: SnapshotHandle, _ fileID: StaticString, _ line: UInt) -> RealmContext {
        if let known = lastFrozen, known.handle.isSame(as: handle) { return known }
        let known = coordinator.frozen(handle.version) as? RealmContext
        let frozen =
            if let known, known.handle.isSame(as: handle), known.hasClasses(of: self) {
                known
            } else {
                RealmContext(frozen: self, handle)
            }
        if frozen !== known { handle.note(frozen: FreezingPlace(fileID: fileID, line: line)) }
        coordinator.register(frozen: frozen.reference, handle.version)
        lastFrozen = frozen
        return frozen
    }

    // While a write is open nobody else can commit: what is newest is what the write began from.
    private var committedHandle: SnapshotHandle {
        guard isInWrite else { return handle }
        if let known = lastFrozen?.handle, known.version == transaction?.baseVersion { return known }
        do {
            return try coordinator.openSnapshot()
        } catch {
            readFailed(error)
        }
    }

    /// True when both show the same state, so that a row of one is the same as in the other.
    func showsSame(as other: RealmContext) -> Bool {
        self === other
            || (isFrozen && other.isFrozen && coordinator === other.coordinator && handle.isSame(as: other.handle))
    }

    /// Does what may be done by several threads at once in a frozen Realm, and by one only in others.
    @inline(__always)
    func guarded<R>(_ body: () throws -> R) rethrows -> R {
        guard let frozenLock else { return try body() }
        frozenLock.lock()
        defer { frozenLock.unlock() }
        return try body()
    }
}

/// Where a version was first frozen.
private struct FreezingPlace: CustomStringConvertible, Sendable {
    let fileID: StaticString
    let line: UInt

    var description: String { "what was frozen at \(fileID):\(line)" }
}

extension ObjectTable {
    /// The frozen object of a row, nil when there is none. It has its values before any other thread can see it.
    func frozenObject(_ key: ObjectKey) -> ObjectBase? {
        if let known = identity.object(key) { return known }
        let object = makeAccessor(key)
        guard context.loadIfThere(object, self) else { return nil }
        return identity.settle(object, key)
    }

    // Nothing in a version leads to a row that is not in it; who asks for one by its key is told so.
    func missing(_ key: ObjectKey) -> ObjectBase {
        let object = makeAccessor(key)
        object._state = .invalidated
        return object
    }
}
