import MartletEngine

/// The accessors and collections of rows that the open transaction has deleted. A rollback makes them live again.
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

    /// Removes and returns the accessors and collections that the write with the number `first`, or a later write, has
    /// deleted.
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
    /// True if this write number is `first` or later. The numbers may have wrapped around.
    func isSince(_ first: UInt32) -> Bool { Int32(bitPattern: self &- first) >= 0 }
}

extension RealmContext {
    /// Accessors and collections that a rollback makes live again.
    struct UndoneDeletions {
        var objects: [ObjectBase] = []
        var cores: [CollectionCore] = []

        var isObserved: Bool {
            objects.contains { $0._observers?.isEmpty == false } || cores.contains { $0.observers?.isEmpty == false }
        }
    }

    /// Invalidates an accessor whose row the open write has deleted. A rollback restores it, unless the same write
    /// added it.
    func invalidateDeleted(_ object: ObjectBase) {
        guard object._state == .live || object._state == .stale else { return }
        invalidate(object)
        if access == .readWrite && object._addedIn != pending.number {
            pending.deleted.append(object, in: pending.number)
        }
    }

    /// Invalidates a collection whose owner the open write has deleted. A rollback restores it.
    func invalidateDeleted(_ core: CollectionCore) {
        guard !core.isOwnerDeleted else { return }
        core.ownerWasDeleted()
        if access == .readWrite { pending.deleted.append(core, in: pending.number) }
    }

    /// Removes and returns the deletions of the write `first` and of later writes, which are being rolled back. Objects
    /// that these writes have added are not included.
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

    /// Makes the accessors and collections live again after their rows were restored. If other rows had the same keys
    /// in the meantime, the accessors of these rows are already invalidated.
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
