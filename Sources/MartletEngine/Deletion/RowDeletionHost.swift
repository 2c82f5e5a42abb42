package import MartletValues

/// The interface that `RowDeletion` requires of the Realm whose rows it deletes. The Realm has the objects and
/// collections that the program holds.
package protocol RowDeletionHost: AnyObject {
    var schema: DatabaseSchema { get }
    /// True if objects have key-value observers. These observers are called between the steps of the deletion, and may
    /// change the file.
    var callsObservers: Bool { get }
    var denials: DeletionDenials { get set }
    /// True if a type has `AnyRealmValue` properties, whose values may contain links.
    var hasAnyValues: Bool { get }

    func rows(of table: TableID) -> RowStore

    /// Notifies observers that a row will be deleted. Does nothing if they were already notified.
    func willDelete(_ row: RowID)
    /// Called after `willDelete`. Notifies the same observers that the row was deleted, by this deletion or by another
    /// deletion.
    func didDelete(_ row: RowID)
    /// Called when a row is no longer in the file. Invalidates the accessors of the row.
    func rowWasDeleted(_ row: RowID)
    /// Called before a collection is deleted together with its owner.
    func willDeleteCollection(_ collection: CollectionID)

    /// Writes the changes of objects and collections that are only in memory.
    func flush() throws
    /// Changes a property of a row in the file with `body`. Notifies the observers of the property before and after the
    /// change, unless `isSilent` is true. Afterwards, the accessors of the row read their values from the file again.
    func change(_ property: PropertyIndex, of row: RowID, isSilent: Bool, _ body: () throws -> Void) throws
    /// Removes links to rows that are being deleted from a collection.
    func remove(_ targets: Set<SQLValue>, from collection: CollectionID) throws
    /// Removes a link from the `AnyRealmValue` values of a collection.
    func remove(_ link: AnyLink, from collection: CollectionID) throws
}
