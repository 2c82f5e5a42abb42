/// The snapshot from which a query is answered, and the changes that lead to its version.
package struct ColumnSource {
    let handle: SnapshotHandle
    let schema: DatabaseSchema
    /// The changes after a version, up to the version of the snapshot. Nil if they are not known any more.
    let changes: (_ version: Version) throws -> ChangeSet?

    package init(
        _ handle: SnapshotHandle, _ schema: DatabaseSchema, changes: @escaping (_ version: Version) throws -> ChangeSet?
    ) {
        self.handle = handle
        self.schema = schema
        self.changes = changes
    }
}
