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

/// A property that links, with all rows that have it.
package struct LinkID: Sendable, Hashable, Comparable {
    package let table: TableID
    package let property: PropertyIndex

    package init(table: TableID, property: PropertyIndex) {
        self.table = table
        self.property = property
    }

    package static func < (left: LinkID, right: LinkID) -> Bool {
        (left.table, left.property) < (right.table, right.property)
    }
}

/// What one transaction, or several in a row, touched.
///
/// Change sets carry no values: they say where to look, the snapshot says what is there.
package struct ChangeSet: Sendable, Hashable {
    /// The changed rows, by table.
    package var tables: [TableID: TableChanges]

    /// The edits of collections, each in order of execution, since the row that owns it came into being: where a
    /// transaction deletes a row and creates it again, the recorder begins a new script.
    package var collections: [CollectionID: ListEditScript]

    /// The rows that some list, set or map began or ceased to link to, by its property: edits tell positions, and what
    /// stood there before is not kept.
    package var relinked: [LinkID: KeySet]

    package init(
        tables: [TableID: TableChanges] = [:], collections: [CollectionID: ListEditScript] = [:],
        relinked: [LinkID: KeySet] = [:]
    ) {
        self.tables = tables
        self.collections = collections
        self.relinked = relinked
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
    /// Of a collection remain the edits since its row last came into being; those of a row that came into being and went
    /// in between are forgotten, those of a row that was there before and is deleted are kept.
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
        var merged = ChangeSet(tables: builders.mapValues { $0.finish() }.filter { !$0.value.isEmpty })
        if !versions.allSatisfy({ $0.collections.isEmpty }) { merged.joinCollections(of: versions) }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.relinksForgotten) { return merged }
        #endif
        for version in versions { merged.relinked.merge(version.relinked) { $0.union($1) } }
        return merged
    }

    /// Joins the scripts of each collection, back to the last time that its row was created.
    private mutating func joinCollections(of versions: [ChangeSet]) {
        var created: [TableID: KeySet] = [:]
        var deleted: [TableID: KeySet] = [:]
        var scripts: [CollectionID: [ListEditScript]] = [:]
        for version in versions.reversed() {
            for (collection, script) in version.collections {
                if let created = created[collection.table], created.contains(collection.owner) { continue }
                scripts[collection, default: []].append(script)
            }
            for (table, changes) in version.tables {
                created[table, default: []].formUnion(changes.inserted)
                deleted[table, default: []].formUnion(changes.deleted)
            }
        }
        for (collection, newestFirst) in scripts {
            let owner = collection.owner
            let rows = tables[collection.table] ?? TableChanges()
            let wasDeleted = deleted[collection.table]?.contains(owner) ?? false
            if wasDeleted && !rows.deleted.contains(owner) && !rows.inserted.contains(owner) { continue }
            var joined = ListEditScript()
            #if MARTLET_SEEDED_BUGS
                let newestFirst = SeededBug.isOn(.scriptsOutOfOrder) ? newestFirst.reversed() : newestFirst
            #endif
            for script in newestFirst.reversed() { joined.append(contentsOf: script) }
            if !joined.isEmpty { collections[collection] = joined }
        }
    }
}
