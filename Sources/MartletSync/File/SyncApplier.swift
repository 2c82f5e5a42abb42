package import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Writes a downloaded batch to the rows of a file, in one transaction. The changes are not recorded for upload.
///
/// A new object gets the default value of the schema for each property that the batch lacks. Local properties are never
/// downloaded, so they always get their defaults. If the target of a link is not in the file, the property becomes nil
/// and the link is stored in `martlet_unresolved`. The link is restored when its target arrives.
package struct SyncApplier {
    let schema: SyncSchema
    let writer: DownloadWriter
    /// The tables of the synchronized types and of the embedded types in them, by the numbers of the types.
    let tables: [TableID]
    /// The rows of the objects of the batch. The row of a new object may not be written yet.
    var rows: [ObjectAddress: (row: RowID, isNew: Bool)] = [:]
    /// The row keys of linked objects that are not in `rows`. Emptied when objects are deleted.
    private var targets: [ObjectAddress: ObjectKey] = [:]
    /// For each table, whether it was empty before the batch.
    private var wasEmpty: [TableID: Bool] = [:]
    /// If false, the table `martlet_unresolved` is empty. If true, the table may contain links.
    var hasUnresolved: Bool

    package init(_ schema: SyncSchema, _ transaction: WriteTransaction) throws {
        self.schema = schema
        writer = DownloadWriter(transaction)
        tables = schema.types.compactMap { [writer] in writer.schema[$0.name]?.id }
        hasUnresolved = try transaction.handle.read { try !UnresolvedLinks($0).isEmpty }
        writer.encodeAny = { [schema, unowned writer] stored in
            var message = MessageWriter()
            message.value(
                try AnyConversion.value(stored) { link in
                    guard let type = writer.schema.tables[link.table]?.type, let number = schema.number(of: type.name),
                        let property = type.primaryKey,
                        let row = try writer.row(RowID(table: link.table, key: link.key))
                    else { return nil }
                    return ObjectAddress(type: number, key: row.value(property))
                })
            return message.bytes
        }
        rememberCollections()
    }

    /// - Throws: `MalformedMessage` if the batch has types, properties or values that the schema does not have.
    package mutating func apply(_ batch: DownloadedBatch) throws {
        try remove(batch.leaving)
        for address in batch.rows.addresses where rows[address] == nil { rows[address] = try place(address) }
        try batch.rows.forEach { try write($0, $1) }
        if hasUnresolved { for address in batch.rows.addresses { try resolveLinks(to: address) } }
    }

    /// Deletes the objects of synchronized types for which the closure returns true. Links to these objects become
    /// unresolved links.
    mutating func removeObjects(where isLeaving: (ObjectAddress) -> Bool) throws {
        for (number, table) in tables.enumerated() where !schema.types[number].isEmbedded {
            let all = try writer.primaryKeys(in: table).map { ObjectAddress(type: number, key: $0) }
            try remove(all.filter(isLeaving))
        }
    }

    private mutating func remove(_ leaving: [ObjectAddress]) throws {
        var found: [RowID] = []
        for address in leaving {
            let (table, key) = try (table(address), key(address))
            if let key { found.append(RowID(table: table, key: key)) }
        }
        if found.isEmpty { return }
        try writer.delete(found)
        targets = [:]
        hasUnresolved = try writer.transaction.handle.read { try !UnresolvedLinks($0).isEmpty }
    }

    // MARK: Addresses

    func table(_ address: ObjectAddress) throws -> TableID {
        guard tables.indices.contains(address.type) else {
            throw MalformedMessage("there is no type with the number \(address.type)")
        }
        return tables[address.type]
    }

    /// The row key of an object; nil if the object is not in the file.
    func key(_ address: ObjectAddress) throws -> ObjectKey? {
        let table = try table(address)
        try requireKey(address, table)
        return try writer.key(primaryKey: address.key, in: table)
    }

    private func requireKey(_ address: ObjectAddress, _ table: TableID) throws {
        let type = writer.schema[table].type
        guard let property = type.primaryKey, address.key != .null, type.properties[property].accepts(address.key)
        else {
            throw MalformedMessage("a primary key of '\(type.name)' has the wrong type")
        }
    }

    private mutating func isEmpty(_ table: TableID) throws -> Bool {
        if let known = wasEmpty[table] { return known }
        let isEmpty = try writer.isEmpty(table)
        wasEmpty[table] = isEmpty
        return isEmpty
    }

    private mutating func place(_ address: ObjectAddress) throws -> (row: RowID, isNew: Bool) {
        let table = try table(address)
        if try !isEmpty(table), let key = try key(address) { return (RowID(table: table, key: key), false) }
        try requireKey(address, table)
        return (RowID(table: table, key: try writer.newKey(primaryKey: address.key, in: table)), true)
    }

    /// The row key of the target of a link; nil if the target is neither in the batch nor in the file.
    private mutating func target(_ address: ObjectAddress, of property: PropertySchema) throws -> ObjectKey? {
        guard case .link(let name) = property.element, schema.number(of: name) == address.type else {
            throw MalformedMessage("a link of '\(property.name)' has the wrong type")
        }
        if let known = rows[address]?.row.key ?? targets[address] { return known }
        let key = try key(address)
        targets[address] = key
        return key
    }

    // MARK: Rows

    /// Values of properties, in the order of the properties.
    typealias Values = [(property: PropertyIndex, value: SyncValue)]

    private mutating func write(
        _ address: ObjectAddress, _ downloaded: [(path: ValuePath, value: SyncValue)]
    ) throws {
        guard let place = rows[address] else { return }
        let type = writer.schema[place.row.table].type
        let declared = schema[address.type]
        var values: Values = []
        var nested: [(path: ValuePath, value: SyncValue)] = []
        var collections: Values = []
        values.reserveCapacity(downloaded.count)
        // The values are in the order of their paths.
        for (path, value) in downloaded {
            let first = path.first
            guard type.properties.indices.contains(first) else {
                throw MalformedMessage("'\(type.name)' has no property at the path \(path.properties)")
            }
            // The primary key never changes.
            if first == type.primaryKey { continue }
            if declared?.properties[first].isLocal ?? false {
                throw MalformedMessage(
                    "'\(type.name).\(type.properties[first].name)' is local, and a value was received")
            }
            if path.count > 1 {
                nested.append((path, value))
            } else if type.properties[first].isCollection {
                collections.append((first, value))
            } else {
                values.append((first, value))
            }
        }
        if place.isNew {
            // A row that was deleted without the engine may have left unresolved links in `martlet_unresolved`.
            if hasUnresolved { try unresolved { try $0.forgetLinks(of: place.row) } }
            try insert(place.row, values, primaryKey: address.key)
            rows[address]?.isNew = false
        } else {
            try update(place.row, values)
        }
        for (path, value) in nested { try write(value, at: path.properties[...], in: place.row) }
        for (property, value) in collections {
            try write(value, type.properties[property], place.row)
        }
    }

    private mutating func insert(_ row: RowID, _ values: Values, primaryKey: SQLValue? = nil) throws {
        let table = writer.schema[row.table]
        // The defaults are not needed if each property has a value. The primary key is not in `values`.
        let key = primaryKey == nil ? nil : table.type.primaryKey
        let isComplete = values.count == table.type.properties.count { $0.isColumn && $0.index != key }
        var columns =
            isComplete
            ? [SQLValue](repeating: .null, count: table.type.properties.count) : writer.defaultValues(row.table)
        if let primaryKey, let key { columns[key] = primaryKey }
        try forEachStored(values, row, nil) { columns[$0] = $1 }
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.defaultsForgotten) { columns[0] = writer.defaultValues(row.table)[0] }
        #endif
        try writer.insert(row, columns)
    }

    mutating func update(_ row: RowID, _ values: Values) throws {
        if values.isEmpty { return }
        guard let current = try writer.row(row) else { return }
        var columns: [PropertyIndex: SQLValue] = [:]
        try forEachStored(values, row, current) { columns[$0] = $1 }
        try writer.update(row, columns)
    }

    /// Writes a value inside an embedded object. Creates the embedded object if it does not exist.
    private mutating func write(_ value: SyncValue, at path: ArraySlice<Int>, in row: RowID) throws {
        guard let first = path.first else { return }
        guard path.count > 1 else {
            let type = writer.schema[row.table].type
            let isCollection = type.properties.indices.contains(first) && type.properties[first].isCollection
            return try isCollection ? write(value, type.properties[first], row) : update(row, [(first, value)])
        }
        let property = try property(first, row.table)
        guard case .embedded(let name) = property.element, let table = writer.schema[name] else {
            throw MalformedMessage("'\(property.name)' is not an embedded object")
        }
        let inner: RowID
        if case .integer(let key)? = try writer.row(row)?.value(property.index) {
            inner = RowID(table: table.id, key: key)
        } else {
            inner = RowID(table: table.id, key: try writer.newKey(primaryKey: .null, in: table.id))
            try insert(inner, [])
            try writer.update(row, [property.index: .integer(inner.key)])
        }
        try write(value, at: path.dropFirst(), in: inner)
    }

    private func property(_ index: Int, _ table: TableID) throws -> PropertySchema {
        let type = writer.schema[table].type
        guard type.properties.indices.contains(index), type.properties[index].isColumn else {
            throw Self.noValue(index, type)
        }
        return type.properties[index]
    }

    // MARK: Values

    /// Converts values to the form that the columns of a row contain, and calls the closure with each of them. Also
    /// creates, changes and deletes the embedded objects of the row.
    ///
    /// - Parameter current: the stored row; nil for a new row.
    private mutating func forEachStored(
        _ values: Values, _ row: RowID, _ current: StoredRow?, _ each: (PropertyIndex, SQLValue) -> Void
    ) throws {
        let type = writer.schema[row.table].type
        for (index, value) in values {
            guard type.properties.indices.contains(index), type.properties[index].isColumn else {
                throw Self.noValue(index, type)
            }
            let property = type.properties[index]
            switch property.element {
            case .link: each(index, try link(value, property, row, isNew: current == nil))
            case .embedded: each(index, try embedded(value, property, current?.value(index) ?? .null))
            case .scalar(.any): each(index, try anyValue(value, property, row, isNew: current == nil))
            default: each(index, try scalar(value, property))
            }
        }
    }

    private static func noValue(_ index: PropertyIndex, _ type: ObjectTypeSchema) -> MalformedMessage {
        MalformedMessage("'\(type.name)' has no value with the number \(index)")
    }

    private func scalar(_ value: SyncValue, _ property: PropertySchema) throws -> SQLValue {
        guard case .scalar(let scalar) = value, property.accepts(scalar) else {
            throw MalformedMessage("a value of '\(property.name)' does not have the type \(property.typeDescription)")
        }
        return scalar
    }

    private mutating func link(
        _ value: SyncValue, _ property: PropertySchema, _ row: RowID, isNew: Bool
    ) throws -> SQLValue {
        let holder = UnresolvedLinks.Holder(row, property: property.name)
        switch value {
        case .null:
            if hasUnresolved && !isNew { try unresolved { try $0.forget(holder) } }
            return .null
        case .link(let address):
            if let key = try target(address, of: property) {
                if hasUnresolved && !isNew { try unresolved { try $0.forget(holder) } }
                return .integer(key)
            }
            let table = try table(address)
            try unresolved { try $0.remember(holder, target: address.key, in: table) }
            hasUnresolved = true
            return .null
        default: throw MalformedMessage("a value of '\(property.name)' is not a link")
        }
    }

    private mutating func anyValue(
        _ value: SyncValue, _ property: PropertySchema, _ row: RowID, isNew: Bool
    ) throws -> SQLValue {
        let holder = UnresolvedLinks.Holder(row, property: property.name)
        var missing: [ObjectAddress] = []
        let stored = try AnyConversion.stored(value) { address in
            let table = try table(address)
            if let key = try rows[address]?.row.key ?? key(address) { return AnyLink(table, key) }
            missing.append(address)
            return nil
        }
        if hasUnresolved && !isNew { try unresolved { try $0.forget(holder) } }
        var writer = MessageWriter()
        if !missing.isEmpty { writer.value(value) }
        for address in Set(missing) {
            let table = try table(address)
            try unresolved { try $0.add(holder, target: address.key, in: table, whole: writer.bytes) }
            hasUnresolved = true
        }
        return stored
    }

    /// Writes an embedded object, and returns its row key.
    ///
    /// - Parameter current: the row key of the existing embedded object; null to create one.
    mutating func embedded(
        _ value: SyncValue, _ property: PropertySchema, _ current: SQLValue
    ) throws -> SQLValue {
        guard case .embedded(let name) = property.element, let table = writer.schema[name] else { return .null }
        switch value {
        case .null:
            if case .integer(let key) = current { try writer.delete([RowID(table: table.id, key: key)]) }
            return .null
        case .embedded(let inner):
            guard inner.count == table.type.properties.count else {
                throw MalformedMessage("an embedded '\(name)' has \(inner.count) values")
            }
            let values: Values = table.type.properties.filter(\.isColumn).map { ($0.index, inner[$0.index]) }
            let row: RowID
            if case .integer(let key) = current {
                row = RowID(table: table.id, key: key)
                try update(row, values)
            } else {
                row = RowID(table: table.id, key: try writer.newKey(primaryKey: .null, in: table.id))
                try insert(row, values)
            }
            for property in table.type.properties where property.isCollection {
                try write(inner[property.index], property, row)
            }
            return .integer(row.key)
        default: throw MalformedMessage("a value of '\(property.name)' is not an embedded object")
        }
    }
}
