/// Records the rows and collections that the open write transaction touches.
package struct ChangeRecorder {
    private var tables: [TableID: TableChangesBuilder] = [:]
    private var collections: [CollectionID: ListEditScript] = [:]
    private var changedTargets: [LinkID: [ObjectKey]] = [:]
    /// The collection whose edits are in `edits`. When another row or collection is recorded, the edits are moved to
    /// `collections`.
    private var edited: CollectionID?
    private var edits = ListEditScript()
    /// True if a change was recorded.
    package private(set) var hasChanges = false

    package init() {}

    package mutating func insert(_ key: ObjectKey, in table: TableID) {
        finishEdits()
        tables[table, default: TableChangesBuilder()].insert(key)
    }

    package mutating func delete(_ key: ObjectKey, in table: TableID) {
        finishEdits()
        tables[table, default: TableChangesBuilder()].delete(key)
    }

    package mutating func modify(_ key: ObjectKey, _ property: PropertyIndex, in table: TableID) {
        finishEdits()
        tables[table, default: TableChangesBuilder()].modify(key, property)
    }

    package mutating func edit(_ collection: CollectionID, _ edit: ListEdit) {
        if edited != collection {
            finishEdits()
            edited = collection
            edits = collections.removeValue(forKey: collection) ?? ListEditScript()
            tables[collection.table, default: TableChangesBuilder()].modify(collection.owner, collection.property)
        }
        edits.append(edit)
    }

    // Moves the edits of the last collection to `collections`, and sets `hasChanges`. Called before every change,
    // except before a further edit of the same collection.
    @inline(__always)
    private mutating func finishEdits() {
        hasChanges = true
        if edited != nil { storeEdits() }
    }

    private mutating func storeEdits() {
        guard let collection = edited else { return }
        collections[collection] = edits
        edited = nil
        edits = ListEditScript()
    }

    /// Records the target rows to which the collections of one property (`link`) now contain more or fewer links than
    /// before. The edits of these collections are recorded separately.
    package mutating func recordChangedTargets(_ targets: [ObjectKey], _ link: LinkID) {
        if !targets.isEmpty { changedTargets[link, default: []] += targets }
    }

    /// True if the transaction has inserted a row with this key, even if it has deleted the row again.
    package mutating func hasInserted(_ key: ObjectKey, in table: TableID) -> Bool {
        tables[table]?.hasRecorded(.insert, key) ?? false
    }

    /// True if the transaction has deleted a row with this key, even if it has inserted the row again.
    package mutating func hasDeleted(_ key: ObjectKey, in table: TableID) -> Bool {
        tables[table]?.hasRecorded(.delete, key) ?? false
    }

    package mutating func finish() -> ChangeSet {
        var changes = ChangeSet()
        for (table, builder) in tables { changes.tables[table] = builder.finish() }
        changes.collections = collections
        if let edited { changes.collections[edited] = edits }
        changes.changedTargets = changedTargets.mapValues { KeySet($0) }
        return changes
    }
}
