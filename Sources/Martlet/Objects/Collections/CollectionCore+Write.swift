import MartletEngine
import MartletValues

extension CollectionCore {
    /// Writes the changes since the last call to the file.
    func write(_ connection: StoreConnection) throws {
        guard isQueued else { return }
        isQueued = false
        try elements?.write(owner: owner, table: layout.chunks, connection)
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
