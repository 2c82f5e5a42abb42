import MartletEngine
package import MartletSyncProtocol
import MartletValues

extension SyncedStore {
    /// The checksums of all objects of synchronized types. Nil if the file cannot be compared with the database now.
    /// This is the case if the file contains unacknowledged uploads, or before the data of the first set of
    /// subscriptions has arrived.
    ///
    /// - Parameter state: the state of the session. The file must be at the same position.
    package func sums(at state: ClientState) throws -> RowSums? {
        guard state.shown.number > 0 else { return nil }
        return try coordinator.openSnapshot().read { connection in
            let tables = SyncTables(connection)
            let record = try record(tables)
            guard record.cursor == state.position?.cursor.text, record.shownSet == state.shown.number,
                try tables.outboxEntry(after: record.acknowledged) == nil
            else { return nil }
            var summer = RowSummer(schema.agreed)
            let changes = CommittingChanges(reading: coordinator, connection)
            for type in schema.types where !type.isEmbedded && type.syncMode != .upload {
                guard let table = changes.schema[type.name], let sent = SentColumns(table, schema) else { continue }
                try add(table, sent, changes, to: &summer)
            }
            return summer.sums
        }
    }

    private func add(
        _ table: DatabaseSchema.Table, _ sent: SentColumns, _ changes: CommittingChanges, to summer: inout RowSummer
    ) throws {
        var values = CommittedValues(schema, changes)
        let positions = Dictionary(uniqueKeysWithValues: sent.columns.map { ($0.property, $0.position) })
        try changes.forEachRow(of: table) { row in
            let id = RowID(table: table.id, key: row.key)
            try summer.add(ObjectAddress(type: sent.type, key: row.value(sent.keyPosition))) { property in
                let stored = positions[property.index].map { row.value($0) } ?? .null
                do {
                    return try values.downloaded(stored, table.type.properties[property.index], id)
                } catch is DamagedAnyValue {
                    // No row of the service has this value, so the row is a difference.
                    return .embedded([])
                }
            }
        }
    }
}
