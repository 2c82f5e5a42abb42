import MartletEngine
import MartletSQLite
import MartletSyncProtocol
import MartletValues

@testable import MartletSync

/// Reads the synchronized objects of a file directly from its tables.
struct ObjectReader {
    private let sync: SyncSchema
    private let schema: DatabaseSchema
    private let connection: StoreConnection

    init(_ sync: SyncSchema, _ schema: DatabaseSchema, _ connection: StoreConnection) {
        (self.sync, self.schema, self.connection) = (sync, schema, connection)
    }

    mutating func objects() throws -> [ObjectAddress: [ValuePath: SyncValue]] {
        var found: [ObjectAddress: [ValuePath: SyncValue]] = [:]
        for (number, type) in sync.types.enumerated() {
            guard let table = schema[type.name], let keyProperty = type.primaryKey else { continue }
            let statement = try connection.statement("SELECT \(table.layout.keyColumn) FROM \(table.layout.table)")
            var keys: [ObjectKey] = []
            while try statement.step() { keys.append(statement.integer(0)) }
            for key in keys {
                guard let row = try StoredRow(key, table.layout, connection) else { continue }
                var values: [ValuePath: SyncValue] = [:]
                for property in type.properties
                where property.isColumn && !property.isLocal && property.index != keyProperty {
                    values[ValuePath(property.index)] = try value(row.value(property.index), property)
                }
                for property in type.properties where property.isCollection && !property.isLocal {
                    let collection = try collection(property, RowID(table: table.id, key: key), table)
                    if !collection.isEmptyCollection { values[ValuePath(property.index)] = collection }
                }
                found[ObjectAddress(type: number, key: row.value(keyProperty))] = values
            }
        }
        return found
    }

    private func value(_ stored: SQLValue, _ property: PropertySchema) throws -> SyncValue {
        if property.isAny {
            return try AnyConversion.value(stored) { link in
                guard let table = schema.tables[link.table] else { return nil }
                return try address(link.key, table)
            }
        }
        guard case .integer(let key) = stored, let name = property.element.target, let table = schema[name] else {
            return .scalar(stored)
        }
        guard property.element.isEmbedded else { return .link(try address(key, table)) }
        guard let row = try StoredRow(key, table.layout, connection) else { throw CancellationError() }
        return .embedded(
            try table.type.properties.map {
                $0.isCollection
                    ? try collection($0, RowID(table: table.id, key: key), table)
                    : try value(row.value($0.index), $0)
            })
    }

    // Reads a whole collection. The elements of a list have positions, except inside an embedded object.
    private func collection(
        _ property: PropertySchema, _ row: RowID, _ table: DatabaseSchema.Table
    ) throws -> SyncValue {
        var chunks = try ChunkedElements(
            owner: row.key, table: table.layout.collection(of: property.index).chunkTable, connection)
        let stored = try chunks.all {
            try ChunkedElements.load(
                owner: row.key, ordinal: $0, count: $1, table: table.layout.collection(of: property.index).chunkTable,
                connection)
        }
        switch property.kind {
        case .list where table.type.isEmbedded: return .list(try stored.map { try value($0, property) })
        case .list:
            let positions = try ListPositions(connection).stored(of: row, property).filter(\.isShown)
            guard positions.count == stored.count else { throw CancellationError() }
            return .elements(
                try zip(positions, stored).map { ListElement(position: $0.position, value: try value($1, property)) })
        case .set: return .list(ModelValues.sorted(try stored.map { try value($0, property) }))
        default:
            return .map(
                MapEntry.sorted(
                    try stride(from: 0, to: stored.count, by: 2).map { index in
                        guard case .text(let key) = stored[index] else { throw CancellationError() }
                        return MapEntry(key: key, value: try value(stored[index + 1], property))
                    }))
        }
    }

    private func address(_ key: ObjectKey, _ table: DatabaseSchema.Table) throws -> ObjectAddress {
        guard let row = try StoredRow(key, table.layout, connection), let type = sync.number(of: table.type.name),
            let keyProperty = table.type.primaryKey
        else { throw CancellationError() }
        return ObjectAddress(type: type, key: row.value(keyProperty))
    }
}
