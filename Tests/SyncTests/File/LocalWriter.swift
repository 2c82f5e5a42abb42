import MartletEngine
import MartletSyncProtocol
import MartletValues

@testable import MartletSync

/// Writes to a synchronized file as a program does. The operations only describe what the program writes: what is
/// uploaded is recorded by the engine.
struct LocalWriter {
    private let schema: SyncSchema
    private let writer: DownloadWriter

    init(_ schema: SyncSchema, _ transaction: WriteTransaction) {
        self.schema = schema
        writer = DownloadWriter(transaction)
        transaction.isDownload = false
    }

    func perform(_ operation: SyncOperation) throws {
        switch operation {
        case .create(let address, let values):
            if let row = try row(address) { return try update(row, values) }
            try insert(address, values)
        case .update(let address, let values): if let row = try row(address) { try update(row, values) }
        case .delete(let address): if let row = try row(address) { try delete(row) }
        case .add(let address, let path, let amount): try add(amount, path, address)
        default: throw CancellationError()
        }
    }

    private func add(_ amount: Int64, _ path: ValuePath, _ address: ObjectAddress) throws {
        guard let row = try row(address), let stored = try writer.row(row),
            case .integer(let number) = stored.value(path.properties[0])
        else { return }
        try writer.update(row, [path.properties[0]: .integer(number &+ amount)])
    }

    func table(_ name: String) throws -> DatabaseSchema.Table {
        guard let table = writer.schema[name] else { throw CancellationError() }
        return table
    }

    /// The row of an object; nil if it does not exist.
    func row(_ address: ObjectAddress) throws -> RowID? {
        let table = try table(schema.types[address.type].name)
        return try writer.key(primaryKey: address.key, in: table.id).map { RowID(table: table.id, key: $0) }
    }

    /// Inserts an object of a type that is not synchronized. `values` are those of all properties.
    @discardableResult
    func insert(_ type: String, _ values: [SQLValue]) throws -> RowID {
        let table = try table(type)
        let row = RowID(table: table.id, key: try writer.newKey(primaryKey: .null, in: table.id))
        try writer.insert(row, values)
        return row
    }

    private func insert(_ address: ObjectAddress, _ values: [ValuePath: SyncValue]) throws {
        let table = try table(schema.types[address.type].name)
        let row = RowID(table: table.id, key: try writer.newKey(primaryKey: address.key, in: table.id))
        var columns = writer.defaultValues(table.id)
        if let property = table.type.primaryKey { columns[property] = address.key }
        for (path, value) in values {
            columns[path.properties[0]] = try stored(value, table.type.properties[path.properties[0]])
        }
        try writer.insert(row, columns)
    }

    private func update(_ row: RowID, _ values: [ValuePath: SyncValue]) throws {
        let type = writer.schema[row.table].type
        for (path, value) in values.sorted(by: { $0.key.properties.lexicographicallyPrecedes($1.key.properties) }) {
            guard let stored = try writer.row(row) else { return }
            let property = type.properties[path.properties[0]]
            let current = stored.value(property.index)
            if path.properties.count > 1 {
                guard case .integer(let key) = current, let inner = property.element.target else { continue }
                let rest = ValuePath(Array(path.properties.dropFirst()))
                try update(RowID(table: table(inner).id, key: key), [rest: value])
                continue
            }
            // The program assigns another embedded object, and the former one is deleted.
            if property.element.isEmbedded, case .integer(let key) = current, let inner = property.element.target {
                try delete(RowID(table: table(inner).id, key: key))
            }
            try writer.update(row, [property.index: self.stored(value, property)])
        }
    }

    private func stored(_ value: SyncValue, _ property: PropertySchema) throws -> SQLValue {
        if property.isAny {
            return try AnyConversion.stored(value) { try row($0).map { AnyLink($0.table, $0.key) } }
        }
        switch value {
        case .list, .map: throw CancellationError()
        case .scalar(let scalar): return scalar
        // A program can link only to objects that it sees.
        case .link(let target): return try row(target).map { .integer($0.key) } ?? .null
        case .embedded(let values):
            guard let name = property.element.target else { return .null }
            let type = try table(name).type
            return .integer(try insert(name, zip(values, type.properties).map { try stored($0, $1) }).key)
        }
    }

    private func delete(_ row: RowID) throws {
        let host = ProgramDeletion(writer)
        var deletion = RowDeletion(host, writer.transaction)
        try deletion.run([row])
    }
}

/// A deletion by a program without objects in memory.
private final class ProgramDeletion: RowDeletionHost {
    private let writer: DownloadWriter
    var denials = DeletionDenials()
    let callsObservers = false
    let hasAnyValues = true

    init(_ writer: DownloadWriter) { self.writer = writer }

    var schema: DatabaseSchema { writer.schema }
    func rows(of table: TableID) -> RowStore { writer.store(table) }
    func willDelete(_ row: RowID) {}
    func didDelete(_ row: RowID) {}
    func rowWasDeleted(_ row: RowID) {}
    func willDeleteCollection(_ collection: CollectionID) {}
    func flush() throws {}
    func remove(_ targets: Set<SQLValue>, from collection: CollectionID) throws { throw CancellationError() }
    func remove(_ link: AnyLink, from collection: CollectionID) throws { throw CancellationError() }

    func change(_ property: PropertyIndex, of row: RowID, isSilent: Bool, _ body: () throws -> Void) throws {
        try writer.transaction.keepOldRow(row.key, writer.schema[row.table].layout, in: row.table)
        try body()
        writer.transaction.recorder.modify(row.key, property, in: row.table)
    }
}
