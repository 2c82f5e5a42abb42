import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Converts the changes of a transaction to the operations of an upload.
///
/// The service applies the operations to PostgreSQL in their order. A deletion in PostgreSQL also applies the deletion
/// rules of foreign keys. So the order of the operations is:
///
/// 1. Updates. They come before deletions, because an update may remove a link through which a deletion would cascade.
/// 2. Deletions.
/// 3. Creations. They come after deletions, because a transaction may delete an object and create it again.
/// 4. Updates that write links to an object that is deleted and created again. The deletion removes earlier links to
///    it.
///
/// For a type with `sync: upload`, only the creation of an object is sent.
struct OperationBuilder {
    private let schema: SyncSchema
    private let changes: CommittingChanges
    private let collections: CollectionRecorder
    private var values: CommittedValues
    private var updated: [ChangedObject] = []
    private var deleted: [ObjectAddress] = []
    private var created: [ChangedObject] = []

    /// The new values of an object.
    private struct ChangedObject {
        let address: ObjectAddress
        /// The values of properties, in the order of the properties.
        var values: [(property: PropertyIndex, value: SyncValue)]
        /// The values that the transaction has written inside embedded objects.
        var nested: [ValuePath: SyncValue] = [:]
        /// The differences that the operations add to counters.
        var amounts: [(property: PropertyIndex, amount: Int64)] = []
        /// The operations that change collections.
        var elements: [SyncOperation] = []

        var isUpdate: Bool { !values.isEmpty || !nested.isEmpty }
    }

    /// - Parameters:
    ///   - client: the number of the client, or a number that no client uses. See `ListPosition`.
    ///   - upload: the number of the upload.
    init(_ schema: SyncSchema, _ changes: CommittingChanges, client: UInt64, upload: UInt64) {
        (self.schema, self.changes) = (schema, changes)
        collections = CollectionRecorder(changes: changes, client: client, upload: upload)
        values = CommittedValues(schema, changes)
    }

    /// Returns the encoded operations, or nil if there are no operations.
    mutating func encodedOperations(of changed: [ChangedObjects]) throws -> [UInt8]? {
        var synced: [(ChangedObjects, SentColumns)] = []
        for objects in changed {
            if let sent = SentColumns(objects.table, schema) { synced.append((objects, sent)) }
        }
        if synced.allSatisfy({ Self.isSimple($0, $1) }) { return try encodedRows(synced) }
        for (objects, sent) in synced { try add(objects, sent) }
        let lastUpdates = takeLinksToRecreatedObjects()
        var count = 0
        var operations = MessageWriter()
        for object in updated { count += Self.write(object, isCreated: false, to: &operations) }
        for address in deleted { operations.operation(.delete(address)) }
        for object in created { count += Self.write(object, isCreated: true, to: &operations) }
        for object in lastUpdates { count += Self.write(object, isCreated: false, to: &operations) }
        return Self.list(count + deleted.count, operations)
    }

    private static func list(_ count: Int, _ operations: MessageWriter) -> [UInt8]? {
        if count == 0 { return nil }
        var writer = MessageWriter()
        writer.count(count)
        writer.append(operations)
        return writer.bytes
    }

    // MARK: Simple changes

    private static func isSimple(_ objects: ChangedObjects, _ sent: SentColumns) -> Bool {
        guard objects.deleted.isEmpty, objects.embedded.isEmpty, objects.elements.isEmpty else { return false }
        if !sent.collections.isEmpty {
            let isWritten = objects.updated.contains { !sent.collections($0.columns).isEmpty }
            if isWritten || !objects.created.isEmpty { return false }
        }
        return !objects.updated.contains { sent.containsCounter($0.columns) }
    }

    // A faster implementation for transactions that only create objects and update simple values. Deletions,
    // collections, counters and values inside embedded objects need the general implementation. This function encodes
    // each row while it reads the row.
    private mutating func encodedRows(_ changed: [(ChangedObjects, SentColumns)]) throws -> [UInt8]? {
        var count = 0
        var rows = MessageWriter()
        for (objects, sent) in changed where !sent.isUploadOnly {
            for group in objects.updated {
                let written = sent.written(group.columns)
                if written.isEmpty { continue }
                count += try encode(objects.table, sent, group.keys, written, isCreated: false, to: &rows)
            }
        }
        for (objects, sent) in changed where !objects.created.isEmpty {
            count += try encode(objects.table, sent, objects.created, sent.columns, isCreated: true, to: &rows)
        }
        return Self.list(count, rows)
    }

    private mutating func encode(
        _ table: DatabaseSchema.Table, _ sent: SentColumns, _ keys: KeySet, _ columns: [SentColumns.Column],
        isCreated: Bool, to writer: inout MessageWriter
    ) throws -> Int {
        var count = 0
        try changes.forEachRow(of: table, keys) { row in
            count += 1
            writer.begin(isCreated: isCreated, type: sent.type)
            writer.value(row.unowned(sent.keyPosition))
            writer.count(columns.count)
            for column in columns {
                writer.path(column.property)
                if column.isConverted {
                    let property = table.type.properties[column.property]
                    writer.value(try values.value(row.value(column.position), property))
                } else {
                    writer.value(row.unowned(column.position))
                }
            }
        }
        return count
    }

    // Encodes the operations of an object, and returns the number of these operations.
    private static func write(_ object: ChangedObject, isCreated: Bool, to writer: inout MessageWriter) -> Int {
        var count = 0
        if !object.nested.isEmpty {
            let whole = object.values.map { (ValuePath($0.property), $0.value) }
            writer.operation(.update(object.address, object.nested.merging(whole) { $1 }))
            count += 1
        } else if isCreated || object.isUpdate {
            writer.operation(isCreated: isCreated, object.address, object.values)
            count += 1
        }
        for (property, amount) in object.amounts {
            writer.operation(.add(object.address, ValuePath(property), amount))
        }
        for operation in object.elements { writer.operation(operation) }
        return count + object.amounts.count + object.elements.count
    }

    /// Finds the links in `updated` to objects that are both deleted and created. Removes these links from `updated`,
    /// and returns them as updates that the service must apply last.
    private mutating func takeLinksToRecreatedObjects() -> [ChangedObject] {
        if deleted.isEmpty || created.isEmpty { return [] }
        let recreated = Set(deleted).intersection(created.map(\.address))
        if recreated.isEmpty { return [] }
        var lastUpdates: [ChangedObject] = []
        for index in updated.indices {
            let values = updated[index].values.filter { $0.value.targets.contains(where: recreated.contains) }
            let nested = updated[index].nested.filter { $0.value.targets.contains(where: recreated.contains) }
            let elements = updated[index].elements.filter { $0.targets.contains(where: recreated.contains) }
            if values.isEmpty && nested.isEmpty && elements.isEmpty { continue }
            lastUpdates.append(
                ChangedObject(address: updated[index].address, values: values, nested: nested, elements: elements))
            updated[index].elements.removeAll { $0.targets.contains(where: recreated.contains) }
            updated[index].values = updated[index].values.map { property, value in
                (property, values.contains { $0.property == property } ? value.withoutLinks : value)
            }
            updated[index].nested.merge(nested) { $1.withoutLinks }
        }
        return lastUpdates
    }

    // MARK: Other changes

    private mutating func add(_ objects: ChangedObjects, _ sent: SentColumns) throws {
        let table = objects.table
        if !sent.collections.isEmpty { try changes.forgetPositions(of: objects.deleted, in: table.id) }
        try forEachRow(of: table, sent, objects.created, sent.columns) { builder, row, object in
            var object = object
            object.elements = try builder.elements(sent.collections, row.key, objects, object.address, isNew: true)
            builder.created.append(object)
        }
        if sent.isUploadOnly { return }
        for key in objects.deleted {
            guard let primaryKey = try changes.previousPrimaryKey(of: key, table) else { continue }
            deleted.append(ObjectAddress(type: sent.type, key: primaryKey))
        }
        for group in objects.updated {
            let written = sent.written(group.columns)
            let (plain, counters) = (written.filter { !$0.isCounter }, written.filter(\.isCounter))
            let collections = sent.collections(group.columns)
            if written.isEmpty && collections.isEmpty { continue }
            try forEachRow(of: table, sent, group.keys, plain) { builder, row, object in
                var object = object
                object.elements = try builder.elements(collections, row.key, objects, object.address, isNew: false)
                if !counters.isEmpty { object.amounts = try builder.amounts(row, counters, table) }
                builder.updated.append(object)
            }
        }
        if !objects.embedded.isEmpty || !objects.elements.isEmpty { try addEmbedded(objects, sent) }
    }

    private mutating func forEachRow(
        of table: DatabaseSchema.Table, _ sent: SentColumns, _ keys: KeySet, _ columns: [SentColumns.Column],
        _ body: (inout OperationBuilder, CommittingRow, ChangedObject) throws -> Void
    ) throws {
        try changes.forEachRow(of: table, keys) { row in
            var found: [(property: PropertyIndex, value: SyncValue)] = []
            found.reserveCapacity(columns.count)
            for column in columns {
                let property = table.type.properties[column.property]
                found.append((column.property, try values.value(row.value(column.position), property)))
            }
            let address = ObjectAddress(type: sent.type, key: row.value(sent.keyPosition))
            try body(&self, row, ChangedObject(address: address, values: found))
        }
    }

    private mutating func elements(
        _ properties: [PropertyIndex], _ key: ObjectKey, _ objects: ChangedObjects, _ address: ObjectAddress,
        isNew: Bool
    ) throws -> [SyncOperation] {
        var operations: [SyncOperation] = []
        let table = objects.table
        for index in properties {
            operations += try collections.operations(
                table.type.properties[index], of: RowID(table: table.id, key: key), address, isNew: isNew,
                written: objects.elements[key]?[index] ?? [], &values)
        }
        return operations
    }

    /// Returns the differences between the new and the previous values of counters.
    private func amounts(
        _ row: CommittingRow, _ counters: [SentColumns.Column], _ table: DatabaseSchema.Table
    ) throws -> [(property: PropertyIndex, amount: Int64)] {
        guard let former = try changes.previousRow(row.key, table) else { return [] }
        var amounts: [(property: PropertyIndex, amount: Int64)] = []
        for counter in counters {
            guard case .integer(let new) = row.value(counter.position),
                case .integer(let old) = former.value(counter.property), new != old
            else { continue }
            // A difference that does not fit into 64 bits is sent in parts. Each partial sum is between the old and the
            // new value, so no addition overflows.
            var rest = Int128(new) - Int128(old)
            while rest != 0 {
                let part = Int64(clamping: rest)
                amounts.append((counter.property, part))
                rest -= Int128(part)
            }
        }
        return amounts
    }

    // Adds the values that the transaction has written inside embedded objects. Leaves out the values of an embedded
    // object that the transaction has written as a whole, because the update of its owner contains them. Also leaves
    // out a collection that the transaction has written as a whole.
    private mutating func addEmbedded(_ objects: ChangedObjects, _ sent: SentColumns) throws {
        let table = objects.table
        let positions = Dictionary(
            updated.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
        for key in Set(objects.embedded.keys).union(objects.elements.keys).sorted() {
            let written = objects.updated.first { $0.keys.contains(key) }?.columns ?? []
            guard let row = try changes.row(key, table), let keyProperty = table.type.primaryKey else { continue }
            var nested: [ValuePath: SyncValue] = [:]
            let paths = objects.embedded[key] ?? []
            for path in paths where !written.contains(path[0]) && sent.contains(path[0]) {
                guard !paths.contains(where: { $0.count < path.count && path.starts(with: $0) }) else { continue }
                nested[ValuePath(path)] = try values.value(at: path, RowID(table: table.id, key: key), row)
            }
            let address = ObjectAddress(type: sent.type, key: row.value(keyProperty))
            let collections = sent.collections.filter { objects.elements[key]?[$0] != nil && !written.contains($0) }
            let elements = try elements(collections, key, objects, address, isNew: false)
            if nested.isEmpty && elements.isEmpty { continue }
            if let position = positions[address] {
                updated[position].nested = nested
                updated[position].elements += elements
            } else {
                updated.append(ChangedObject(address: address, values: [], nested: nested, elements: elements))
            }
        }
    }
}
