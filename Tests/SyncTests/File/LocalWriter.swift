import MartletEngine
import MartletSyncProtocol
import MartletValues

@testable import MartletSync

/// Writes to a synchronized file as a program does. The operations describe the writes of the program. `SyncRecorder`
/// records these writes for upload, as it does for a real program.
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
        default: try change(operation)
        }
    }

    // In these operations, a position only selects an index of the list: the first byte of the position, modulo the
    // number of possible indices. If this byte is odd, or if the key of a map entry is "a", the program does not
    // replace an embedded object. Instead, it changes the first value of this object. The value is a number.
    private func change(_ operation: SyncOperation) throws {
        guard let row = try row(operation.address), let element = operation.element else { return }
        let property = writer.schema[row.table].type.properties[element.path.properties[0]]
        let stored = try writer.elements(of: row, property.index)
        func edit(_ edits: ElementEdit...) throws { try writer.edit(row, property.index, edits) }
        func index(_ position: ListPosition, _ count: Int) -> Int { Int(position.bytes[0]) % count }
        switch operation {
        case .insertElement(_, _, let position, let value):
            guard let value = try visible(value, property) else { return }
            try edit(.insert([value], at: index(position, stored.count + 1)))
        case .setElement(_, _, let position, let value):
            if stored.isEmpty { return }
            let index = index(position, stored.count)
            if position.bytes[0] % 2 == 1, try changeInside(stored[index], value, property) { return }
            guard let value = try visible(value, property) else { return }
            try edit(.replace(at: index, value))
            try deleteObject(stored[index], property)
        case .removeElement(_, _, let position):
            if stored.isEmpty { return }
            let index = index(position, stored.count)
            try edit(.remove(at: index, count: 1))
            try deleteObject(stored[index], property)
        case .insertMember(_, _, let value):
            let value = try self.stored(value, property)
            if !stored.contains(value) { try edit(.insert([value], at: stored.count)) }
        case .removeMember(_, _, let value):
            let value = try self.stored(value, property)
            if let index = stored.firstIndex(of: value) { try edit(.remove(at: index, count: 1)) }
        case .setEntry(_, _, let key, let value):
            let index = keyIndex(key, stored)
            if key == "a", let index, try changeInside(stored[index + 1], value, property) { return }
            let value = try self.stored(value, property)
            if let index {
                try edit(.replace(at: index + 1, value))
                try deleteObject(stored[index + 1], property)
            } else {
                try edit(.insert([.text(key), value], at: stored.count))
            }
        case .removeEntry(_, _, let key):
            guard let index = keyIndex(key, stored) else { return }
            try edit(.remove(at: index, count: 2))
            try deleteObject(stored[index + 1], property)
        default: throw CancellationError()
        }
    }

    /// Changes the first value of an element that is an embedded object. Returns false for other elements.
    private func changeInside(_ element: SQLValue, _ value: SyncValue, _ property: PropertySchema) throws -> Bool {
        guard property.element.isEmbedded, case .integer(let key) = element, case .embedded(let values) = value,
            let name = property.element.target
        else { return false }
        try update(RowID(table: table(name).id, key: key), [ValuePath(0): values[0]])
        return true
    }

    /// Deletes an embedded object that is no longer an element.
    private func deleteObject(_ element: SQLValue, _ property: PropertySchema) throws {
        guard property.element.isEmbedded, case .integer(let key) = element, let name = property.element.target else {
            return
        }
        try delete(RowID(table: table(name).id, key: key))
    }

    // Replaces all elements of a collection inside an embedded object.
    private func replace(_ value: SyncValue, _ property: PropertySchema, _ row: RowID) throws {
        let former = try writer.elements(of: row, property.index)
        if !former.isEmpty { try writer.edit(row, property.index, [.remove(at: 0, count: former.count)]) }
        for element in former { try deleteObject(element, property) }
        let new: [SQLValue]
        switch value {
        case .map(let entries): new = try entries.flatMap { [.text($0.key), try stored($0.value, property)] }
        case .list(let values) where property.isLink: new = try values.compactMap { try visible($0, property) }
        case .list(let values): new = try values.map { try stored($0, property) }
        default: throw CancellationError()
        }
        if !new.isEmpty { try writer.edit(row, property.index, [.insert(new, at: 0)]) }
    }

    private func keyIndex(_ key: String, _ stored: [SQLValue]) -> Int? {
        stride(from: 0, to: stored.count, by: 2).first { stored[$0] == .text(key) }
    }

    // Returns nil for a link to an object that is not in the file. A program cannot insert such a link.
    private func visible(_ value: SyncValue, _ property: PropertySchema) throws -> SQLValue? {
        let stored = try stored(value, property)
        return stored == .null ? nil : stored
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

    /// Changes one value of a row, for example of an embedded object.
    func change(_ type: String, _ key: ObjectKey, _ property: PropertyIndex, _ value: SQLValue) throws {
        try writer.update(RowID(table: table(type).id, key: key), [property: value])
    }

    /// The row of an object; nil if the object is not in the file.
    func row(_ address: ObjectAddress) throws -> RowID? {
        let table = try table(schema.types[address.type].name)
        return try writer.key(primaryKey: address.key, in: table.id).map { RowID(table: table.id, key: $0) }
    }

    /// Inserts an object of a type that is not synchronized. `values` contains the values of all properties.
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
            if property.isCollection {
                try replace(value, property, row)
                continue
            }
            // If the program assigns another embedded object, the previous one is deleted.
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
        // A program can link only to objects that are in the file.
        case .link(let target): return try row(target).map { .integer($0.key) } ?? .null
        case .embedded(let values):
            guard let name = property.element.target else { return .null }
            let properties = try table(name).type.properties
            let row = try insert(
                name, zip(values, properties).map { $1.isColumn ? try stored($0, $1) : .null })
            for property in properties where property.isCollection {
                try replace(values[property.index], property, row)
            }
            return .integer(row.key)
        }
    }

    private func delete(_ row: RowID) throws {
        let host = ProgramDeletion(writer)
        var deletion = RowDeletion(host, writer.transaction)
        try deletion.run([row])
    }
}

/// The host of a deletion by a program that has no accessors.
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
    func remove(_ targets: Set<SQLValue>, from collection: CollectionID) throws {
        let row = RowID(table: collection.table, key: collection.owner)
        let stored = try writer.elements(of: row, collection.property)
        let removed = stored.indices.filter { targets.contains(stored[$0]) }.reversed()
        try writer.edit(row, collection.property, removed.map { .remove(at: $0, count: 1) })
    }
    func remove(_ link: AnyLink, from collection: CollectionID) throws { throw CancellationError() }

    func change(_ property: PropertyIndex, of row: RowID, isSilent: Bool, _ body: () throws -> Void) throws {
        try writer.transaction.keepOldRow(row.key, writer.schema[row.table].layout, in: row.table)
        try body()
        writer.transaction.recorder.modify(row.key, property, in: row.table)
    }
}
