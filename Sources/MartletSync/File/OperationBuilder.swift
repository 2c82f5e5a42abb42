import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Turns the changes of a transaction into the operations of an upload.
///
/// The order of the operations is that in which PostgreSQL can apply them, with the deletion rules of its foreign keys:
/// updates come before deletions, because an update may remove a link that would cascade. Creations come after
/// deletions, because an object may be deleted and created again. Links to such an object are written last, because its
/// deletion removes them.
struct OperationBuilder {
    private let schema: SyncSchema
    private let changes: CommittingChanges
    private var updated: [ChangedObject] = []
    private var deleted: [ObjectAddress] = []
    private var created: [ChangedObject] = []
    /// The addresses of link targets.
    private var addresses: [RowID: ObjectAddress] = [:]

    /// The new values of an object.
    private struct ChangedObject {
        let address: ObjectAddress
        /// In the order of the properties.
        var values: [(property: PropertyIndex, value: SyncValue)]
        /// The values that were written inside embedded objects.
        var nested: [ValuePath: SyncValue] = [:]
    }

    init(_ schema: SyncSchema, _ changes: CommittingChanges) {
        (self.schema, self.changes) = (schema, changes)
    }

    /// The encoded operations; nil if there are none.
    mutating func encodedOperations() throws -> [UInt8]? {
        let changed = try changes.changedObjects()
        if changed.allSatisfy({ $0.deleted.isEmpty && $0.embedded.isEmpty }) { return try encodedRows(changed) }
        for objects in changed { try add(objects) }
        let late = takeLateLinks()
        let count = updated.count + deleted.count + created.count + late.count
        if count == 0 { return nil }
        var writer = MessageWriter()
        writer.count(count)
        for object in updated { Self.write(object, isCreated: false, to: &writer) }
        for address in deleted { writer.operation(.delete(address)) }
        for object in created { Self.write(object, isCreated: true, to: &writer) }
        for object in late { Self.write(object, isCreated: false, to: &writer) }
        return writer.bytes
    }

    // Without deletions and embedded objects, the rows are encoded while they are read.
    private mutating func encodedRows(_ changed: [ChangedObjects]) throws -> [UInt8]? {
        var count = 0
        var rows = MessageWriter()
        for objects in changed {
            for group in objects.updated {
                let written = columns(of: objects.table).filter { group.columns.contains($0.property) }
                if written.isEmpty { continue }
                count += try encode(objects.table, group.keys, written, isCreated: false, to: &rows)
            }
        }
        for objects in changed where !objects.created.isEmpty {
            let all = columns(of: objects.table)
            count += try encode(objects.table, objects.created, all, isCreated: true, to: &rows)
        }
        if count == 0 { return nil }
        var writer = MessageWriter()
        writer.count(count)
        writer.append(rows)
        return writer.bytes
    }

    /// A column and its property. It has no references, because every row uses it.
    private struct Column {
        let position: Int
        let property: PropertyIndex
        let isLink: Bool
    }

    // All columns except the primary key.
    private func columns(of table: DatabaseSchema.Table) -> [Column] {
        table.layout.columns.enumerated().filter { $0.element.property != table.type.primaryKey }
            .map {
                let property = table.type.properties[$0.element.property]
                return Column(position: $0.offset, property: property.index, isLink: property.isLink)
            }
    }

    private mutating func encode(
        _ table: DatabaseSchema.Table, _ keys: KeySet, _ columns: [Column], isCreated: Bool,
        to writer: inout MessageWriter
    ) throws -> Int {
        guard let type = schema.number(of: table.type.name),
            let keyPosition = table.layout.columns.firstIndex(where: { $0.property == table.type.primaryKey })
        else { return 0 }
        var count = 0
        try changes.forEachRow(of: table, keys) { row in
            count += 1
            writer.begin(isCreated: isCreated, type: type)
            writer.value(row.unowned(keyPosition))
            writer.count(columns.count)
            for column in columns {
                writer.path(column.property)
                if column.isLink {
                    writer.value(try value(row.value(column.position), table.type.properties[column.property]))
                } else {
                    writer.value(row.unowned(column.position))
                }
            }
        }
        return count
    }

    private static func write(_ object: ChangedObject, isCreated: Bool, to writer: inout MessageWriter) {
        guard object.nested.isEmpty else {
            let whole = object.values.map { (ValuePath($0.property), $0.value) }
            return writer.operation(.update(object.address, object.nested.merging(whole) { $1 }))
        }
        writer.operation(isCreated: isCreated, object.address, object.values)
    }

    /// Removes the links to objects that are deleted and created again from the updates, and returns them.
    private mutating func takeLateLinks() -> [ChangedObject] {
        if deleted.isEmpty || created.isEmpty { return [] }
        let recreated = Set(deleted).intersection(created.map(\.address))
        if recreated.isEmpty { return [] }
        var late: [ChangedObject] = []
        for index in updated.indices {
            let values = updated[index].values.filter { $0.value.targets.contains(where: recreated.contains) }
            let nested = updated[index].nested.filter { $0.value.targets.contains(where: recreated.contains) }
            if values.isEmpty && nested.isEmpty { continue }
            late.append(ChangedObject(address: updated[index].address, values: values, nested: nested))
            updated[index].values = updated[index].values.map { property, value in
                (property, values.contains { $0.property == property } ? value.withoutLinks : value)
            }
            updated[index].nested.merge(nested) { $1.withoutLinks }
        }
        return late
    }

    private mutating func add(_ objects: ChangedObjects) throws {
        let table = objects.table
        guard let type = schema.number(of: table.type.name) else { return }
        for key in objects.deleted {
            guard let primaryKey = try changes.previousPrimaryKey(of: key, table) else { continue }
            deleted.append(ObjectAddress(type: type, key: primaryKey))
        }
        let columns = columns(of: table)
        try forEachRow(of: table, type, objects.created, columns) { $0.created.append($1) }
        for group in objects.updated {
            let written = columns.filter { group.columns.contains($0.property) }
            if !written.isEmpty { try forEachRow(of: table, type, group.keys, written) { $0.updated.append($1) } }
        }
        if !objects.embedded.isEmpty { try addEmbedded(objects, type) }
    }

    private mutating func forEachRow(
        of table: DatabaseSchema.Table, _ type: Int, _ keys: KeySet,
        _ columns: [Column], _ body: (inout OperationBuilder, ChangedObject) -> Void
    ) throws {
        let layout = table.layout
        guard let position = layout.columns.firstIndex(where: { $0.property == table.type.primaryKey }) else { return }
        try changes.forEachRow(of: table, keys) { row in
            var values: [(property: PropertyIndex, value: SyncValue)] = []
            values.reserveCapacity(columns.count)
            for column in columns {
                let property = table.type.properties[column.property]
                values.append((column.property, try value(row.value(column.position), property)))
            }
            let address = ObjectAddress(type: type, key: row.value(position))
            body(&self, ChangedObject(address: address, values: values))
        }
    }

    // MARK: Embedded objects

    // Adds the values that were written inside embedded objects, unless the whole embedded object was written.
    private mutating func addEmbedded(_ objects: ChangedObjects, _ type: Int) throws {
        let table = objects.table
        let positions = Dictionary(
            updated.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
        for (key, paths) in objects.embedded.sorted(by: { $0.key < $1.key }) {
            let written = objects.updated.first { $0.keys.contains(key) }?.columns ?? []
            guard let row = try changes.row(key, table), let keyProperty = table.type.primaryKey else { continue }
            var values: [ValuePath: SyncValue] = [:]
            for path in paths where path.first.map({ !written.contains($0) }) ?? false {
                guard !paths.contains(where: { $0.count < path.count && path.starts(with: $0) }) else { continue }
                values[ValuePath(path)] = try value(at: path, row, table)
            }
            if values.isEmpty { continue }
            let address = ObjectAddress(type: type, key: row.value(keyProperty))
            if let position = positions[address] {
                updated[position].nested = values
            } else {
                updated.append(ChangedObject(address: address, values: [], nested: values))
            }
        }
    }

    private mutating func value(
        at path: [PropertyIndex], _ row: StoredRow, _ table: DatabaseSchema.Table
    ) throws -> SyncValue {
        let property = table.type.properties[path[0]]
        let stored = row.value(property.index)
        guard path.count > 1, case .integer(let key) = stored, let inner = targetTable(of: property),
            let innerRow = try changes.row(key, inner)
        else { return try value(stored, property) }
        return try value(at: Array(path.dropFirst()), innerRow, inner)
    }

    // MARK: Values

    private mutating func value(_ stored: SQLValue, _ property: PropertySchema) throws -> SyncValue {
        guard property.isLink, case .integer(let key) = stored, let target = targetTable(of: property) else {
            return .scalar(stored)
        }
        guard property.element.isEmbedded else {
            return try address(of: RowID(table: target.id, key: key), target).map(SyncValue.link) ?? .null
        }
        guard let row = try changes.row(key, target) else { return .null }
        return .embedded(
            try target.type.properties.map { $0.isColumn ? try value(row.value($0.index), $0) : .null })
    }

    private func targetTable(of property: PropertySchema) -> DatabaseSchema.Table? {
        property.element.target.flatMap { changes.schema[$0] }
    }

    private mutating func address(of row: RowID, _ table: DatabaseSchema.Table) throws -> ObjectAddress? {
        guard let type = schema.number(of: table.type.name) else { return nil }
        if table.layout.keyIsProperty { return ObjectAddress(type: type, key: .integer(row.key)) }
        if let known = addresses[row] { return known }
        guard let key = try changes.primaryKey(of: row.key, table) else {
            return nil
        }
        let address = ObjectAddress(type: type, key: key)
        addresses[row] = address
        return address
    }
}

extension SyncValue {
    /// The objects to which the value links.
    fileprivate var targets: [ObjectAddress] {
        switch self {
        case .scalar: []
        case .link(let target): [target]
        case .embedded(let values): values.flatMap(\.targets)
        }
    }

    fileprivate var withoutLinks: SyncValue {
        switch self {
        case .scalar: self
        case .link: .null
        case .embedded(let values): .embedded(values.map(\.withoutLinks))
        }
    }
}
