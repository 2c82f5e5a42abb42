/// What the open write transaction has touched so far.
package struct ChangeRecorder {
    private var tables: [TableID: TableChangesBuilder] = [:]
    private var collections: [CollectionID: ListEditScript] = [:]
    private var relinked: [LinkID: [ObjectKey]] = [:]
    /// The collection that was edited last, while nothing else was recorded: its edits are added to the others later.
    private var edited: CollectionID?
    private var edits = ListEditScript()
    /// True once anything was recorded.
    package private(set) var hasChanges = false

    package init() {}

    package mutating func insert(_ key: ObjectKey, in table: TableID) {
        leaveCollection()
        tables[table, default: TableChangesBuilder()].insert(key)
    }

    package mutating func delete(_ key: ObjectKey, in table: TableID) {
        leaveCollection()
        tables[table, default: TableChangesBuilder()].delete(key)
    }

    package mutating func modify(_ key: ObjectKey, _ property: PropertyIndex, in table: TableID) {
        leaveCollection()
        tables[table, default: TableChangesBuilder()].modify(key, property)
    }

    package mutating func edit(_ collection: CollectionID, _ edit: ListEdit) {
        if edited != collection {
            leaveCollection()
            edited = collection
            edits = collections.removeValue(forKey: collection) ?? ListEditScript()
            tables[collection.table, default: TableChangesBuilder()].modify(collection.owner, collection.property)
        }
        edits.append(edit)
    }

    // Something else is about to be recorded.
    @inline(__always)
    private mutating func leaveCollection() {
        hasChanges = true
        if edited != nil { storeEdits() }
    }

    private mutating func storeEdits() {
        guard let collection = edited else { return }
        collections[collection] = edits
        edited = nil
        edits = ListEditScript()
    }

    /// Collections of a property began or ceased to link to rows; how they were edited is recorded besides.
    package mutating func relink(_ targets: [ObjectKey], _ link: LinkID) {
        if !targets.isEmpty { relinked[link, default: []] += targets }
    }

    package mutating func finish() -> ChangeSet {
        var changes = ChangeSet()
        for (table, builder) in tables { changes.tables[table] = builder.finish() }
        changes.collections = collections
        if let edited { changes.collections[edited] = edits }
        changes.relinked = relinked.mapValues { KeySet($0) }
        return changes
    }
}
