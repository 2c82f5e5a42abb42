/// Records the rows and collections that the open write transaction touches.
package struct ChangeRecorder {
    private var tables: [TableID: TableChangesBuilder] = [:]
    private var collections: [CollectionID: ListEditScript] = [:]
    private var changedTargets: [LinkID: [ObjectKey]] = [:]
    /// The collection whose edits are in `edits`. When another row or collection is recorded, the edits are moved to
    /// `collections`.
    private var edited: CollectionID?
    private var edits = ListEditScript()
    /// The newest insertions, if they have consecutive keys. When another change is recorded, they are moved to `tables`.
    private var insertions: (table: TableID, keys: ClosedRange<ObjectKey>)?
    /// True if a change was recorded.
    package private(set) var hasChanges = false

    package init() {}

    package mutating func insert(_ key: ObjectKey, in table: TableID) {
        if let run = insertions, run.table == table, key > run.keys.upperBound, key - 1 == run.keys.upperBound {
            insertions = (table, run.keys.lowerBound...key)
        } else {
            finishRun()
            insertions = (table, key...key)
        }
    }

    package mutating func delete(_ key: ObjectKey, in table: TableID) {
        finishRun()
        tables[table, default: TableChangesBuilder()].delete(key)
    }

    package mutating func modify(_ key: ObjectKey, _ property: PropertyIndex, in table: TableID) {
        finishRun()
        tables[table, default: TableChangesBuilder()].modify(key, property)
    }

    package mutating func edit(_ collection: CollectionID, _ edit: ListEdit) {
        if edited != collection {
            finishRun()
            edited = collection
            edits = collections.removeValue(forKey: collection) ?? ListEditScript()
            tables[collection.table, default: TableChangesBuilder()].modify(collection.owner, collection.property)
        }
        edits.append(edit)
    }

    // Moves the newest edits or insertions to the other changes, and sets `hasChanges`. Called before every change that
    // does not continue them.
    @inline(__always)
    private mutating func finishRun() {
        hasChanges = true
        if edited != nil { storeEdits() }
        if insertions != nil { storeInsertions() }
    }

    private mutating func storeInsertions() {
        guard let run = insertions else { return }
        insertions = nil
        tables[run.table, default: TableChangesBuilder()].insert(run.keys)
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
        storeInsertions()
        return tables[table]?.hasRecorded(.insert, key) ?? false
    }

    /// True if the transaction has deleted a row with this key, even if it has inserted the row again.
    package mutating func hasDeleted(_ key: ObjectKey, in table: TableID) -> Bool {
        storeInsertions()
        return tables[table]?.hasRecorded(.delete, key) ?? false
    }

    package mutating func finish() -> ChangeSet {
        storeInsertions()
        var changes = ChangeSet()
        for (table, builder) in tables { changes.tables[table] = builder.finish() }
        changes.collections = collections
        if let edited { changes.collections[edited] = edits }
        changes.changedTargets = changedTargets.mapValues { KeySet($0) }
        return changes
    }
}
