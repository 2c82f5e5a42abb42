/// The snapshot that a query reads, and the changes between an older version and this snapshot.
package struct ColumnSource {
    let handle: SnapshotHandle
    let schema: DatabaseSchema
    /// Returns the changes after a version, up to the version of the snapshot. Returns nil if a change set is no longer
    /// stored.
    let changes: (_ version: Version) throws -> ChangeSet?

    package init(
        _ handle: SnapshotHandle, _ schema: DatabaseSchema, changes: @escaping (_ version: Version) throws -> ChangeSet?
    ) {
        self.handle = handle
        self.schema = schema
        self.changes = changes
    }
}
