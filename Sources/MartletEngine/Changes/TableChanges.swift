/// The changes of the rows of one table between two versions.
///
/// Each key is in one of five states: untouched, inserted, deleted, replaced (deleted and created again, a member of
/// both `inserted` and `deleted`), or modified in some columns. No columns are recorded for inserted, deleted and
/// replaced rows.
package struct TableChanges: Sendable, Hashable {
    /// Rows modified in exactly the same columns.
    package struct ModifiedGroup: Sendable, Hashable {
        package let columns: ColumnSet
        package let keys: KeySet

        package init(columns: ColumnSet, keys: KeySet) {
            self.columns = columns
            self.keys = keys
        }
    }

    /// Rows that exist now and did not exist before, or were deleted and created again.
    package let inserted: KeySet

    /// Rows that existed before and do not exist now, or were deleted and created again.
    package let deleted: KeySet

    /// Rows that existed before, exist now and were not replaced, grouped by the columns that were written. No key is
    /// in two groups. The groups are sorted by their columns.
    package let modified: [ModifiedGroup]

    /// Creates an empty set of changes.
    package init() {
        inserted = []
        deleted = []
        modified = []
    }

    /// Creates changes from sets. If a key is in two groups, it gets the columns of both. An inserted or deleted key
    /// gets no columns.
    package init(inserted: KeySet = [], deleted: KeySet = [], modified: [ModifiedGroup] = []) {
        var builder = TableChangesBuilder()
        builder.append(inserted: inserted, deleted: deleted, modified: modified)
        self = builder.finish()
    }

    /// Creates changes from groups that are sorted and disjoint. No key of a group may be in `inserted` or `deleted`.
    init(canonicalInserted inserted: KeySet, deleted: KeySet, modified: [ModifiedGroup]) {
        self.inserted = inserted
        self.deleted = deleted
        self.modified = modified
    }

    /// True if no row was changed.
    package var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    /// The rows that were deleted and created again.
    package var replaced: KeySet { inserted.intersection(deleted) }

    /// All rows that were modified in some column.
    ///
    /// Complexity: O(r log r) for the r runs of all groups, O(1) for one group.
    package var modifiedKeys: KeySet {
        if modified.count == 1 { return modified[0].keys }
        return TableChanges.union(of: modified.map(\.keys))
    }

    /// All rows that were inserted, deleted or modified.
    package var touchedKeys: KeySet {
        inserted.union(deleted).union(modifiedKeys)
    }

    /// True if the row was inserted, deleted or modified.
    package func touches(_ key: ObjectKey) -> Bool {
        inserted.contains(key) || deleted.contains(key) || modified.contains { $0.keys.contains(key) }
    }

    /// The columns that were written in a modified row. Empty for any other row.
    ///
    /// Complexity: O(groups × log runs).
    package func columns(modifiedFor key: ObjectKey) -> ColumnSet {
        modified.first { $0.keys.contains(key) }?.columns ?? []
    }

    /// The rows that were modified in at least one of the given columns.
    ///
    /// Complexity: O(r log r) for the r runs of all groups.
    package func keys(modifiedIn columns: ColumnSet) -> KeySet {
        TableChanges.union(of: modified.filter { !$0.columns.isDisjoint(with: columns) }.map(\.keys))
    }

    /// Adds the changes of a later version.
    ///
    /// The changes of a row combine as follows:
    /// - inserted, then modified: inserted
    /// - inserted, then deleted: untouched
    /// - deleted, then inserted: replaced
    /// - replaced, then modified: replaced
    /// - replaced, then deleted: deleted
    /// - modified, then deleted: deleted
    /// - modified, then modified: modified in the columns of both
    ///
    /// Complexity: O(r log r) for the r runs of both values. To merge many versions, append them to one
    /// `TableChangesBuilder`.
    package mutating func merge(_ later: TableChanges) {
        if later.isEmpty { return }
        if isEmpty {
            self = later
            return
        }
        var builder = TableChangesBuilder()
        builder.append(self)
        builder.append(later)
        self = builder.finish()
    }

    private static func union(of sets: [KeySet]) -> KeySet {
        if sets.count <= 1 { return sets.first ?? [] }
        var runs = sets.flatMap(\.ranges)
        runs.sort { $0.lowerBound < $1.lowerBound }
        var result = KeySet()
        for run in runs { result.append(run) }
        return result
    }
}
