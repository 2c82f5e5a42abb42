import MartletEngine

/// The accessors and collections of rows that the open transaction has deleted. A rollback restores these accessors and
/// collections.
struct DeletedAccessors {
    private struct Entry {
        weak var object: ObjectBase?
        let write: UInt32
    }

    private struct CoreEntry {
        let core: CollectionCore.WeakCore
        let write: UInt32
    }

    private var objects: [Entry] = []
    private var cores: [CoreEntry] = []
    /// When `objects` has this many entries, the entries of deallocated objects are removed.
    private var limit = 1 << 12

    mutating func append(_ object: ObjectBase, in write: UInt32) {
        objects.append(Entry(object: object, write: write))
        guard objects.count >= limit else { return }
        objects.removeAll { $0.object == nil }
        limit = max(1 << 12, 2 * objects.count)
    }

    mutating func append(_ core: CollectionCore, in write: UInt32) {
        cores.append(CoreEntry(core: CollectionCore.WeakCore(core), write: write))
    }

    /// Removes the entries of the write with the number `first` and of later writes. Returns their accessors and
    /// collections that are not deallocated yet.
    mutating func take(since first: UInt32) -> (objects: [ObjectBase], cores: [CollectionCore]) {
        let taken = (
            objects.filter { $0.write.isSince(first) }.compactMap(\.object),
            cores.filter { $0.write.isSince(first) }.compactMap(\.core.core)
        )
        objects.removeAll { $0.write.isSince(first) }
        cores.removeAll { $0.write.isSince(first) }
        return taken
    }

    mutating func removeAll() {
        if !objects.isEmpty { objects = [] }
        if !cores.isEmpty { cores = [] }
    }
}

extension UInt32 {
    /// True if this write number is `first` or later, even if the numbers have wrapped around in between.
    func isSince(_ first: UInt32) -> Bool { Int32(bitPattern: self &- first) >= 0 }
}

extension RealmContext {
    /// The accessors and collections that a rollback restores.
    struct UndoneDeletions {
        var objects: [ObjectBase] = []
        var cores: [CollectionCore] = []

        var isObserved: Bool {
            objects.contains { $0._observers?.isEmpty == false } || cores.contains { $0.observers?.isEmpty == false }
        }
    }

    /// Invalidates an accessor whose row the open write has deleted. A rollback restores the accessor, unless the same
    /// write also added the object.
    func invalidateDeleted(_ object: ObjectBase) {
        guard object._state == .live || object._state == .stale else { return }
        invalidate(object)
        if access == .readWrite && object._addedIn != pending.number {
            pending.deleted.append(object, in: pending.number)
        }
    }

    /// Invalidates a collection whose owner the open write has deleted. A rollback restores the collection.
    func invalidateDeleted(_ core: CollectionCore) {
        guard !core.isOwnerDeleted else { return }
        core.ownerWasDeleted()
        if access == .readWrite { pending.deleted.append(core, in: pending.number) }
    }

    /// Called while the write `first` and all later writes are rolled back. Removes and returns the accessors and
    /// collections of the rows that these writes have deleted. Objects that the same writes added are left out.
    /// `changes` are the changes of these writes.
    func takeUndoneDeletions(since first: UInt32, _ changes: ChangeSet) -> UndoneDeletions {
        let taken = pending.deleted.take(since: first)
        return UndoneDeletions(
            objects: taken.objects.filter { object in
                guard object._state == .invalidated, let table = object._table else { return false }
                let isNew = object._addedIn != 0 && object._addedIn.isSince(first)
                return !isNew && changes.tables[table.id]?.deleted.contains(object._key) == true
            },
            cores: taken.cores.filter { core in
                core.isOwnerDeleted && changes.tables[core.table.id]?.deleted.contains(core.owner) == true
            })
    }

    /// Restores the accessors and collections after the rollback has restored their rows. If a new row got the key of a
    /// deleted row in the meantime, the accessor of the new row is already invalidated.
    func restore(_ undone: UndoneDeletions) {
        for object in undone.objects {
            object._table?.restore(object)
            if object._observers?.isEmpty == false { keyValue.add(object) }
        }
        for core in undone.cores {
            core.ownerWasRestored()
            if collections[core.id]?.core == nil { collections[core.id] = CollectionCore.WeakCore(core) }
        }
    }
}
