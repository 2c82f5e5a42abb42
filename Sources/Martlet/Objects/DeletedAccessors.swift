import MartletEngine

/// Accessors and collections of rows that the open transaction has deleted: a rollback makes them live again.
struct DeletedAccessors {
    private struct Entry {
        weak var object: ObjectBase?
        let write: UInt32
    }

    private struct CoreEntry {
        let core: RealmContext.WeakCore
        let write: UInt32
    }

    private var objects: [Entry] = []
    private var cores: [CoreEntry] = []
    /// The number of objects at which those that are gone are dropped.
    private var limit = 1 << 12

    mutating func append(_ object: ObjectBase, in write: UInt32) {
        objects.append(Entry(object: object, write: write))
        guard objects.count >= limit else { return }
        objects.removeAll { $0.object == nil }
        limit = max(1 << 12, 2 * objects.count)
    }

    mutating func append(_ core: CollectionCore, in write: UInt32) {
        cores.append(CoreEntry(core: RealmContext.WeakCore(core: core), write: write))
    }

    /// Takes out what a write, or one that came after it, has deleted.
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
    /// True for the numbers of writes from `first` on; they may have wrapped around.
    func isSince(_ first: UInt32) -> Bool { Int32(bitPattern: self &- first) >= 0 }
}

extension RealmContext {
    /// What a rollback makes live again.
    struct Revival {
        var objects: [ObjectBase] = []
        var cores: [CollectionCore] = []

        var isObserved: Bool {
            objects.contains { $0._observers?.isEmpty == false } || cores.contains { $0.observers?.isEmpty == false }
        }
    }

    /// The row of an accessor was deleted by the open write. An object that the same write has added stays invalidated.
    func invalidateDeleted(_ object: ObjectBase) {
        guard object._state == .live || object._state == .stale else { return }
        invalidate(object)
        if access == .readWrite && object._addedIn != writeNumber { deleted.append(object, in: writeNumber) }
    }

    /// The same for the collections of the row.
    func invalidateDeleted(_ core: CollectionCore) {
        guard !core.isOwnerGone else { return }
        core.ownerWasDeleted()
        if access == .readWrite { deleted.append(core, in: writeNumber) }
    }

    /// What has been deleted since a write began, when its changes are taken back.
    func takeRevival(since first: UInt32, _ changes: ChangeSet) -> Revival {
        let taken = deleted.take(since: first)
        return Revival(
            objects: taken.objects.filter { object in
                guard object._state == .invalidated, let table = object._table else { return false }
                let isNew = object._addedIn != 0 && object._addedIn.isSince(first)
                return !isNew && changes.tables[table.id]?.deleted.contains(object._key) == true
            },
            cores: taken.cores.filter { core in
                core.isOwnerGone && changes.tables[core.table.id]?.deleted.contains(core.owner) == true
            })
    }

    /// The rows are there again. What had taken their keys meanwhile is invalidated by now.
    func revive(_ revival: Revival) {
        for object in revival.objects {
            object._table?.revive(object)
            if object._observers?.isEmpty == false {
                observedObjects[ObjectIdentifier(object)] = WeakObject(object: object)
            }
        }
        for core in revival.cores {
            core.ownerIsBack()
            if collections[core.id]?.core == nil { collections[core.id] = WeakCore(core: core) }
        }
    }
}
