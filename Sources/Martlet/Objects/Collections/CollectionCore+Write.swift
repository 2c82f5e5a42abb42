import MartletEngine
import MartletValues

extension CollectionCore {
    /// Traps if the collection cannot be changed now. A call that changes a collection requires a write transaction even
    /// if it has nothing to change. A missing transaction is therefore found whatever the collection contains.
    func requireWrite() {
        requireValid()
        _ = context.requireWrite("the \(property.kind) '\(name)'")
    }

    /// Called when the program assigns the property. Deletions that were denied because of the property's previous
    /// links are no longer denied.
    func recordAssignment() {
        context.pending.denials.propertyWasAssigned(property.index, of: RowID(table: table.id, key: owner))
    }

    /// Called when the program assigns or removes a key of a map. A deletion that was denied because of the previous
    /// link of the key is no longer denied.
    func recordAssignment(ofKey key: @autoclosure () -> SQLValue) {
        if context.pending.denials.isEmpty { return }
        context.pending.denials.keyWasAssigned(key(), property.index, of: RowID(table: table.id, key: owner))
    }

    /// Writes to the file all changes that were made since the last call.
    func write(_ connection: StoreConnection) throws {
        guard isQueued else { return }
        isQueued = false
        try elements?.write(owner: owner, table: layout.chunkTable, connection)
        if !anyLinkChanges.isEmpty, let transaction = context.transaction {
            let holder = AnyLinkIndex.Source(table.id, property.index, owner)
            try transaction.createAnyLinks(connection).addCounts(anyLinkChanges, of: holder)
            anyLinkChanges = [:]
        }
        let changedTargets = try layout.write(targetCounts, of: owner, connection)
        targetCounts = TargetCounts()
        if changedTargets.isEmpty { return }
        context.transaction?.recorder.recordChangedTargets(
            changedTargets, LinkID(table: table.id, property: property.index))
    }
}
