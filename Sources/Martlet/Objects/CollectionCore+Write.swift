import MartletEngine
import MartletValues

extension CollectionCore {
    /// Writes the changes since the last call.
    func write(_ connection: StoreConnection) throws {
        guard isQueued else { return }
        isQueued = false
        try elements?.write(owner: owner, table: layout.chunks, connection)
        if !anyLinkChanges.isEmpty, let transaction = context.transaction {
            let holder = AnyLinkIndex.Holder(table.id, property.index, owner)
            try transaction.createAnyLinks(connection).addCounts(anyLinkChanges, of: holder)
            anyLinkChanges = [:]
        }
        let relinked = try layout.write(targetCounts, of: owner, connection)
        targetCounts = TargetCounts()
        if relinked.isEmpty { return }
        context.transaction?.recorder.relink(relinked, LinkID(table: table.id, property: property.index))
    }
}
