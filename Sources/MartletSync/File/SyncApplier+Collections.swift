import MartletEngine
import MartletSyncProtocol
import MartletValues

extension SyncApplier {
    /// Writes a whole collection.
    mutating func write(_ value: SyncValue, _ property: PropertySchema, _ row: RowID) throws {
        let collections = CollectionWriter(schema: schema, writer: writer)
        if property.element.isEmbedded {
            return try collections.writeElements(value, property, row) { element, current in
                if element == .null, property.accepts(.null) { return .null }
                guard case .embedded = element else { throw CollectionWriter.malformed(property) }
                return try embedded(element, property, current ?? .null)
            }
        }
        let expected = property.element.target
        let missing = try collections.write(value, property, row) { address in
            if let expected, schema[address.type]?.name != expected { throw CollectionWriter.malformed(property) }
            if let row = rows[address]?.row { return row }
            return try key(address).map { RowID(table: try table(address), key: $0) }
        }
        if hasUnresolved || !missing.isEmpty {
            if try collections.remember(missing, value, property, row) { hasUnresolved = true }
        }
    }

    /// Sets closures that the writer calls when an object leaves the file. The writer calls them for each collection
    /// that links to the object. The closures store the whole value of the collection in `martlet_unresolved`, and
    /// remove the link from the collection.
    func rememberCollections() {
        writer.encodeCollection = { [schema, unowned writer] row, property in
            var message = MessageWriter()
            message.value(try CollectionWriter(schema: schema, writer: writer).whole(property, row))
            return message.bytes
        }
        writer.removeTarget = { [schema, tables, unowned writer] row, property, whole, leaving in
            var reader = try MessageReader(whole, limits: .forServiceMessages)
            let value = try reader.syncValue()
            let collections = CollectionWriter(schema: schema, writer: writer)
            let missing = try collections.write(value, property, row) { address in
                guard tables.indices.contains(address.type) else { return nil }
                let table = tables[address.type]
                let key = try writer.key(primaryKey: address.key, in: table)
                return key.map { RowID(table: table, key: $0) }.flatMap { $0 == leaving ? nil : $0 }
            }
            try collections.remember(missing, value, property, row)
        }
    }
}
