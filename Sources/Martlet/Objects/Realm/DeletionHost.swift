import MartletEngine
import MartletValues

/// Connects a deletion of rows to the Realm that performs it. The host notifies observers, and invalidates accessors
/// and collections.
final class DeletionHost: RowDeletionHost {
    private let context: RealmContext
    /// The notifications for rows that are not deleted yet. The observers of these rows were already called before the
    /// deletion, and must be called again after it.
    private var notified: [RowID: KeyValueNotification] = [:]

    init(_ context: RealmContext) { self.context = context }

    var schema: DatabaseSchema { context.schema }

    var denials: DeletionDenials {
        get { context.pending.denials }
        set { context.pending.denials = newValue }
    }

    var hasAnyValues: Bool { context.hasAnyProperties }

    func rows(of table: TableID) -> RowStore { context.table(table).rows }

    /// Completes the notifications for the rows that remain because their deletion failed.
    func finish() {
        let rows = notified.keys.sorted { ($0.table, $0.key) < ($1.table, $1.key) }
        for row in rows { didDelete(row) }
    }

    var callsObservers: Bool { !context.keyValue.isEmpty }

    func willDelete(_ row: RowID) {
        guard context.hasObserversBeforeChange, notified[row] == nil else { return }
        context.pending.rowsBeingDeleted.insert(row)
        notified[row] = context.notifyWillInvalidate(of: row.key, context.table(row.table))
    }

    func didDelete(_ row: RowID) {
        if notified.isEmpty { return }
        context.pending.rowsBeingDeleted.remove(row)
        notified.removeValue(forKey: row)?.didChange()
    }

    func rowWasDeleted(_ row: RowID) {
        context.bumpChangeCount()
        context.pending.deletionCount += 1
        context.table(row.table).forEachAccessor(row.key, context.invalidateDeleted)
    }

    func willDeleteCollection(_ collection: CollectionID) {
        guard let core = context.collections.removeValue(forKey: collection)?.core else { return }
        context.invalidateDeleted(core)
    }

    func flush() throws { try context.flush() }

    func change(_ property: PropertyIndex, of row: RowID, isSilent: Bool, _ body: () throws -> Void) throws {
        try context.change(property, of: row.key, context.table(row.table), isSilent: isSilent, body)
    }

    func remove(_ targets: Set<SQLValue>, from collection: CollectionID) throws {
        core(collection).removeLinks(to: targets)
    }

    func remove(_ link: AnyLink, from collection: CollectionID) throws { core(collection).removeLinks(to: link) }

    private func core(_ collection: CollectionID) -> CollectionCore {
        context.core(context.table(collection.table), collection.property, collection.owner)
    }
}
