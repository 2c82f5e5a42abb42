import MartletSQLite
package import MartletValues

/// The objects of one synchronized type that a transaction has changed.
package struct ChangedObjects {
    package let table: DatabaseSchema.Table
    /// Objects that exist now and did not exist before, or were deleted and created again.
    package let created: KeySet
    /// Objects that existed before and do not exist now, or were deleted and created again.
    package let deleted: KeySet
    /// Objects that existed before, exist now and were not replaced, grouped by the properties that were written.
    package let updated: [TableChanges.ModifiedGroup]
    /// For each object that existed before, exists now and was not replaced, the paths of the properties that were
    /// written in its embedded objects. A path begins with a property of the object. It ends at the first collection
    /// inside an embedded object, because such a collection is one value.
    package internal(set) var embedded: [ObjectKey: Set<[PropertyIndex]>] = [:]
    /// For each object that existed before, exists now and was not replaced, the modified elements of its collections.
    /// A modified element is an embedded object in which values were written. It is represented by the key of its row.
    package internal(set) var elements: [ObjectKey: [PropertyIndex: Set<ObjectKey>]] = [:]

    init(_ table: DatabaseSchema.Table, _ changes: TableChanges?) {
        self.table = table
        created = changes?.inserted ?? []
        deleted = changes?.deleted ?? []
        updated = changes?.modified ?? []
    }
}

/// The place of an embedded object in the object that contains it.
private struct EmbeddedPlace {
    /// The object that contains the embedded object, directly or inside other embedded objects.
    var owner: RowID
    /// The properties that lead from the owner to the embedded object, or to the first collection on the way.
    var path: [PropertyIndex] = []
    /// The element of this collection that is the embedded object or contains it. Nil without a collection.
    var element: ObjectKey?
}

extension ChangedObjects {
    /// Adds values that were written in an embedded object.
    fileprivate mutating func add(_ place: EmbeddedPlace, _ properties: [PropertyIndex]) {
        let key = place.owner.key
        if let element = place.element {
            if place.path.count == 1 {
                elements[key, default: [:]][place.path[0], default: []].insert(element)
            } else {
                embedded[key, default: []].insert(place.path)
            }
        } else {
            embedded[key, default: []].formUnion(properties.map { place.path + [$0] })
        }
    }
}

extension CommittingChanges {
    /// The changed objects of all synchronized types, in the order of the types in the file.
    package func changedObjects() throws -> [ChangedObjects] {
        var found: [TableID: ChangedObjects] = [:]
        for (id, rows) in changes.tables where !rows.isEmpty {
            guard let table = schema.tables[id] else { continue }
            if isSynced(table.type) {
                if found[id] == nil { found[id] = ChangedObjects(table, rows) }
            } else if table.type.isEmbedded {
                try addOwners(of: rows, table, to: &found)
            }
        }
        return found.values.sorted { $0.table.id < $1.table.id }
    }

    // Adds the owners of modified embedded objects. If an embedded object was created or deleted, the transaction has
    // also written the property of its owner, so the owner is already recorded.
    private func addOwners(
        of rows: TableChanges, _ table: DatabaseSchema.Table, to found: inout [TableID: ChangedObjects]
    ) throws {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.ownerForgotten) { return }
        #endif
        for group in rows.modified {
            for key in group.keys {
                guard let place = try place(of: RowID(table: table.id, key: key)) else { continue }
                let owner = place.owner
                let known = changes.tables[owner.table]
                if known?.inserted.contains(owner.key) ?? false { continue }
                let properties = table.type.properties.indices.filter(group.columns.contains)
                found[owner.table, default: ChangedObjects(schema[owner.table], known)].add(place, properties)
            }
        }
    }

    /// The place of an embedded object in an object of a synchronized type. Nil if the containing object has a local
    /// type.
    private func place(of embedded: RowID) throws -> EmbeddedPlace? {
        var row = embedded
        var place = EmbeddedPlace(owner: embedded)
        while true {
            guard let holder = try holder(of: row) else { return nil }
            let type = schema[holder.row.table].type
            if type.properties[holder.property].isCollection {
                (place.path, place.element) = ([], row.key)
            }
            place.path.insert(holder.property, at: 0)
            row = holder.row
            if type.isEmbedded { continue }
            place.owner = row
            return isSynced(type) ? place : nil
        }
    }

    private func holder(of embedded: RowID) throws -> (row: RowID, property: PropertyIndex)? {
        for incoming in schema[embedded.table].incoming {
            let table = schema[incoming.table]
            let query: String
            if let column = table.layout.column(of: incoming.property) {
                query = "SELECT \(table.layout.keyColumn) FROM \(table.layout.table) WHERE \(column.name) = ?1"
            } else if table.type.properties[incoming.property].isCollection,
                let targets = table.layout.collection(of: incoming.property).targetTable
            {
                query = "SELECT owner FROM \(targets) WHERE target = ?1"
            } else {
                continue
            }
            let key = try connection.integer(query, [.integer(embedded.key)])
            if let key { return (RowID(table: incoming.table, key: key), incoming.property) }
        }
        return nil
    }

    // MARK: Values

    /// Calls `body` with the stored rows of a type, in ascending order of their keys. A key without a row is skipped.
    package func forEachRow(
        of table: DatabaseSchema.Table, _ keys: KeySet, _ body: (CommittingRow) throws -> Void
    ) throws { try forEachRow(of: table, keys.ranges, body) }

    /// Calls `body` with all stored rows of a type, in ascending order of their keys.
    package func forEachRow(of table: DatabaseSchema.Table, _ body: (CommittingRow) throws -> Void) throws {
        try forEachRow(of: table, [.min ... .max], body)
    }

    private func forEachRow(
        of table: DatabaseSchema.Table, _ ranges: [ClosedRange<ObjectKey>], _ body: (CommittingRow) throws -> Void
    ) throws {
        let statement = try connection.statement(table.layout.selectRange)
        let row = CommittingRow(statement, table.layout)
        let specials = table.layout.hasSpecials ? table.layout.columns.count : nil
        for range in ranges {
            statement.bind(range.lowerBound, at: 1)
            statement.bind(range.upperBound, at: 2)
            defer { statement.reset() }
            while try statement.step() {
                if let specials { row.hasSpecials = !statement.isNull(specials) }
                try body(row)
            }
        }
    }

    /// The row with a key. Nil if there is no such row.
    package func row(_ key: ObjectKey, _ table: DatabaseSchema.Table) throws -> StoredRow? {
        try StoredRow(key, table.layout, connection)
    }

    /// The row with a key as it was before the transaction. Nil if there was no such row.
    package func previousRow(_ key: ObjectKey, _ table: DatabaseSchema.Table) throws -> StoredRow? {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.counterAssigned) { return try row(key, table) }
        #endif
        return try readPrevious { try StoredRow(key, table.layout, $0) }
    }

    /// The primary key of an object that exists now. Nil if there is no such object. See `Table.primaryKey`.
    package func primaryKey(of key: ObjectKey, _ table: DatabaseSchema.Table) throws -> SQLValue? {
        try table.primaryKey(of: key, connection)
    }

    /// The primary key of an object that existed before the transaction. Nil if there was no such object. See
    /// `Table.primaryKey`.
    package func previousPrimaryKey(of key: ObjectKey, _ table: DatabaseSchema.Table) throws -> SQLValue? {
        if table.layout.keyIsProperty { return .integer(key) }
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.keysAfterDeletion) { return try table.primaryKey(of: key, connection) }
        #endif
        return try readPrevious { try table.primaryKey(of: key, $0) }
    }
}

extension DatabaseSchema.Table {
    /// The primary key of an object. Nil if there is no such object, or if the type has no primary key. If the primary
    /// key is also the key of the row, this method returns it without a check that the row exists.
    func primaryKey(of key: ObjectKey, _ connection: Connection) throws -> SQLValue? {
        if layout.keyIsProperty { return .integer(key) }
        guard let column = type.primaryKey.flatMap(layout.column) else { return nil }
        return try connection.value(
            "SELECT \(column.name) FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)])
    }
}

/// The row that `forEachRow` is reading. One instance represents all rows one after the other, so its values are valid
/// until the next row is read.
package final class CommittingRow {
    private let statement: Statement
    private let layout: TableLayout
    /// True if the row has floating-point values that a column cannot represent.
    fileprivate var hasSpecials = false

    fileprivate init(_ statement: Statement, _ layout: TableLayout) {
        (self.statement, self.layout) = (statement, layout)
    }

    package var key: ObjectKey { statement.integer(layout.columns.count + (layout.hasSpecials ? 1 : 0)) }

    /// The value of a column, with the exact bits of a floating-point number.
    package func value(_ position: Int) -> SQLValue {
        (hasSpecials ? special(position).map(SQLValue.real) : nil) ?? statement.value(position)
    }

    /// The result of `value(_:)` without a copy of its bytes. The bytes are valid until the next row is read.
    package func unowned(_ position: Int) -> UnownedValue {
        (hasSpecials ? special(position).map(UnownedValue.real) : nil) ?? statement.column(position).unowned
    }

    private func special(_ position: Int) -> Double? {
        guard layout.columns[position].sqlType == "REAL" else { return nil }
        return statement.withBlob(layout.columns.count) { FloatingSpecials.bits($0, layout.columns[position].property) }
            .map { Double(bitPattern: $0) }
    }
}
