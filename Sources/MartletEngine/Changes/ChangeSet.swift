/// Names one collection: a property of one row.
package struct CollectionID: Sendable, Hashable, Comparable {
    package let table: TableID
    package let property: PropertyIndex
    package let owner: ObjectKey

    package init(table: TableID, property: PropertyIndex, owner: ObjectKey) {
        self.table = table
        self.property = property
        self.owner = owner
    }

    package static func < (left: CollectionID, right: CollectionID) -> Bool {
        (left.table, left.property, left.owner) < (right.table, right.property, right.owner)
    }
}

/// What one transaction, or several in a row, touched.
///
/// Change sets carry no values: they say where to look, the snapshot says what is there.
package struct ChangeSet: Sendable, Hashable {
    /// The changed rows, by table.
    package var tables: [TableID: TableChanges]

    /// The edits of collections, each in order of execution.
    package var collections: [CollectionID: ListEditScript]

    package init(tables: [TableID: TableChanges] = [:], collections: [CollectionID: ListEditScript] = [:]) {
        self.tables = tables
        self.collections = collections
    }

    /// Whether nothing was touched.
    package var isEmpty: Bool {
        tables.values.allSatisfy(\.isEmpty) && collections.values.allSatisfy(\.isEmpty)
    }

    /// Whether a row of a table, or a collection that belongs to one, was touched.
    ///
    /// Complexity: O(1) if its rows were, else O(collections).
    package func touches(table: TableID) -> Bool {
        if let changes = tables[table], !changes.isEmpty { return true }
        return collections.contains { $0.key.table == table && !$0.value.isEmpty }
    }

    /// Adds what a later change set touched (N40).
    ///
    /// Collections of rows that both came and went in between are forgotten.
    ///
    /// Complexity: O(size of both). Many versions are cheaper given to `merging` at once.
    package mutating func merge(_ later: ChangeSet) {
        self = ChangeSet.merging([self, later])
    }

    /// What a series of change sets, oldest first, comes to.
    ///
    /// Complexity: O(n log n) in the size of all.
    package static func merging(_ versions: [ChangeSet]) -> ChangeSet {
        if versions.count == 1 { return versions[0] }
        var builders: [TableID: TableChangesBuilder] = [:]
        for version in versions {
            for (table, changes) in version.tables {
                builders[table, default: TableChangesBuilder()].append(changes)
            }
        }
        return ChangeSet(
            tables: builders.mapValues { $0.finish() }.filter { !$0.value.isEmpty },
            collections: mergingCollections(of: versions))
    }

    /// Joins the scripts of each collection, for as long as the row that owns it lives.
    private static func mergingCollections(of versions: [ChangeSet]) -> [CollectionID: ListEditScript] {
        var scripts: [CollectionID: ListEditScript] = [:]
        var lives: [TableID: RowLives] = [:]
        if versions.allSatisfy({ $0.collections.isEmpty }) { return scripts }
        for version in versions {
            var gone: [TableID: KeySet] = [:]
            for (table, changes) in version.tables {
                let ended = lives[table, default: RowLives()].advance(changes)
                if ended.isEmpty { continue }
                gone[table] = ended.subtracting(changes.inserted)
                scripts = scripts.filter { $0.key.table != table || !ended.contains($0.key.owner) }
            }
            for (collection, script) in version.collections where !script.isEmpty {
                if let gone = gone[collection.table], gone.contains(collection.owner) { continue }
                scripts[collection, default: ListEditScript()].append(contentsOf: script)
            }
        }
        return scripts.filter { !$0.value.isEmpty }
    }

    /// Which rows of a table came into being since the first of a series of change sets.
    private struct RowLives {
        private var born = KeySet()
        private var knownFromStart = KeySet()

        /// Takes in the next change set; the rows of the series' own that it ended, be it to create them again.
        mutating func advance(_ changes: TableChanges) -> KeySet {
            let ended = changes.deleted.intersection(born)
            knownFromStart.formUnion(changes.deleted.subtracting(born))
            born = born.subtracting(ended.subtracting(changes.inserted))
            born.formUnion(changes.inserted.subtracting(changes.deleted).subtracting(knownFromStart))
            return ended
        }
    }
}
