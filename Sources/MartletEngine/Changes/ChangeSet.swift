/// Identifies one collection: a collection property of one row.
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

/// Identifies a link property of a table, for all rows of the table.
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

/// The rows and collections that one transaction, or several consecutive transactions, touched.
///
/// A change set contains no values. It lists what changed, and the new values are in the snapshot.
package struct ChangeSet: Sendable, Hashable {
    /// The changed rows, by table.
    package var tables: [TableID: TableChanges]

    /// The edits of each collection in the order in which they were made. If one of the transactions created the row
    /// that owns the collection, the edits of earlier transactions are omitted. If this transaction first deleted an
    /// older row with the same key, the edits of this transaction to the collection of the older row are included. So
    /// the edits must not be applied to an old state of the collection if `tables` contains the owner in `deleted`,
    /// because the old collection was deleted together with its owner.
    package var collections: [CollectionID: ListEditScript]

    /// For each collection property, the rows to which a collection of this property gained or lost a link. The rows
    /// are stored here because the edits contain only positions.
    package var changedTargets: [LinkID: KeySet]

    package init(
        tables: [TableID: TableChanges] = [:], collections: [CollectionID: ListEditScript] = [:],
        changedTargets: [LinkID: KeySet] = [:]
    ) {
        self.tables = tables
        self.collections = collections
        self.changedTargets = changedTargets
    }

    /// True if nothing was touched.
    package var isEmpty: Bool {
        tables.values.allSatisfy(\.isEmpty) && collections.values.allSatisfy(\.isEmpty)
    }

    /// True if a row of the table, or a collection of a row of the table, was touched.
    ///
    /// Complexity: O(1) if a row of the table was touched, otherwise O(collections).
    package func touches(table: TableID) -> Bool {
        if let changes = tables[table], !changes.isEmpty { return true }
        return collections.contains { $0.key.table == table && !$0.value.isEmpty }
    }

    /// Adds the rows and collections that a later change set touched (N40).
    ///
    /// If one of the merged versions created the row that owns a collection, the result contains only the edits of this
    /// version and of later versions. If several merged versions created the row, the last of these versions counts. If
    /// the row was created and deleted within the merged versions, the result contains no edits of its collections. If
    /// the row existed before the merged versions and was deleted, the edits of its collections are kept.
    ///
    /// Complexity: O(n) in the total size of both change sets. To merge many versions, call `merging` once.
    package mutating func merge(_ later: ChangeSet) {
        self = ChangeSet.merging([self, later])
    }

    /// Merges a series of change sets, oldest first, into one.
    ///
    /// Complexity: O(n log n) in the total size.
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
        for version in versions { merged.changedTargets.merge(version.changedTargets) { $0.union($1) } }
        return merged
    }

    /// Joins the scripts of each collection, beginning with the last version that created the owner of the collection.
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
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.cancellingEditsForgotten), joined.isEmpty { continue }
            #endif
            // If the edits cancel each other out, the empty script is kept: the elements are the same as before, but
            // they may be stored in other chunks.
            collections[collection] = joined
        }
    }
}
