import MartletEngine

/// The objects and collections of a Realm that have key-value observers.
struct KeyValueRegistry {
    /// When the Realm moves to another version, key-value observers are notified before and after the change. A phase
    /// says which of these notifications is in progress.
    enum Phase {
        case none, willChange, didChange
    }

    struct WeakObject {
        weak var object: ObjectBase?
    }

    /// Objects with key-value observers, which are notified before and after a change of the row.
    private(set) var objects: [ObjectIdentifier: WeakObject] = [:]
    /// Collections with key-value observers of `isInvalidated`.
    private(set) var collections: [CollectionID: CollectionCore.WeakCore] = [:]
    /// The objects that a rollback restores. The set is empty except while key-value observers are being notified of
    /// the rollback.
    var restored: Set<ObjectIdentifier> = []
    var phase = Phase.none
    /// The number of changes in progress that consist of several steps. The write cannot end before these changes are
    /// complete.
    var changesInProgress = 0

    var isEmpty: Bool { objects.isEmpty && collections.isEmpty }

    mutating func add(_ object: ObjectBase) { objects[ObjectIdentifier(object)] = WeakObject(object: object) }

    mutating func remove(_ object: ObjectBase) { objects[ObjectIdentifier(object)] = nil }

    mutating func add(_ core: CollectionCore) { collections[core.id] = CollectionCore.WeakCore(core) }

    mutating func remove(_ core: CollectionCore) { collections[core.id] = nil }

    /// The observed objects that are not invalidated, sorted by table and key, so that the order of notifications is
    /// deterministic.
    mutating func validObjects() -> [ObjectBase] {
        let living = objects.values.compactMap(\.object).filter { $0._state == .live || $0._state == .stale }
        if living.count < objects.count {
            // Some objects were deallocated before their observers were removed.
            objects = [:]
            living.forEach { add($0) }
        }
        return living.sorted { ($0._table?.id ?? 0, $0._key) < ($1._table?.id ?? 0, $1._key) }
    }

    /// The observed collections whose owners were not deleted, sorted by owner and property.
    mutating func validCollections() -> [CollectionCore] {
        if collections.isEmpty { return [] }
        collections = collections.filter { $0.value.core != nil }
        return collections.values.compactMap(\.core).filter { !$0.isOwnerDeleted }.sorted { $0.id < $1.id }
    }
}
