package import MartletSQLite
package import MartletValues

/// The links of a synchronized file to objects that are not in the file, because no subscription contains them.
///
/// The holder does not show an unresolved link. A link property is nil, an `AnyRealmValue` or a map has nil in the
/// place of the link, and a list or set does not contain the element. When the target arrives, the link is restored.
package struct UnresolvedLinks {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// A property of a row that contains unresolved links.
    package struct Holder: Hashable {
        package let row: RowID
        package let property: String

        package init(_ row: RowID, property: String) {
            self.row = row
            self.property = property
        }
    }

    package var isEmpty: Bool {
        get throws { try connection.integer("SELECT 1 FROM martlet_unresolved LIMIT 1") == nil }
    }

    /// Stores the target of a single link. Removes the target that was stored before.
    package func remember(_ holder: Holder, target: SQLValue, in table: TableID) throws {
        try forget(holder)
        try add(holder, target: target, in: table, whole: nil)
    }

    /// Stores one target of a value that may contain links to several targets.
    ///
    /// - Parameter whole: the encoded value of the property with all of its links. Nil for a single link.
    package func add(_ holder: Holder, target: SQLValue, in table: TableID, whole: [UInt8]?) throws {
        try connection.run(
            "INSERT OR REPLACE INTO martlet_unresolved VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            [
                .integer(Int64(holder.row.table)), .integer(holder.row.key), .text(holder.property),
                .integer(Int64(table)), target, whole.map(SQLValue.blob) ?? .null,
            ])
    }

    /// The target of the single link of a property. Nil if no target is stored.
    package func target(_ holder: Holder) throws -> (table: TableID, key: SQLValue)? {
        let statement = try connection.statement(
            "SELECT target_type, target FROM martlet_unresolved WHERE holder_type = ?1 AND holder = ?2 AND property = ?3"
        )
        statement.bind([.integer(Int64(holder.row.table)), .integer(holder.row.key), .text(holder.property)])
        defer { statement.reset() }
        return try statement.step() ? (TableID(statement.integer(0)), statement.value(1)) : nil
    }

    /// The encoded value of a property with all of its links. Empty if no value is stored.
    package func whole(_ holder: Holder) throws -> [UInt8] {
        let value = try connection.value(
            "SELECT value FROM martlet_unresolved WHERE holder_type = ?1 AND holder = ?2 AND property = ?3 LIMIT 1",
            [.integer(Int64(holder.row.table)), .integer(holder.row.key), .text(holder.property)])
        return if case .blob(let bytes)? = value { bytes } else { [] }
    }

    /// All encoded values that are stored. Equal values are returned once.
    package func wholes() throws -> [[UInt8]] {
        let statement = try connection.statement(
            "SELECT DISTINCT value FROM martlet_unresolved WHERE value IS NOT NULL")
        var values: [[UInt8]] = []
        while try statement.step() { values.append(statement.blob(0)) }
        return values
    }

    /// Replaces encoded values. A new value may be equal to the old value of another change.
    package func replaceWholes(_ changes: [(old: [UInt8], new: [UInt8])]) throws {
        // The values are replaced in two steps, because a new value must not be replaced again. The placeholders are
        // unique, because no encoded value begins with the byte 255.
        let replace = "UPDATE martlet_unresolved SET value = ?2 WHERE value = ?1"
        func placeholder(_ number: Int) -> SQLValue { .blob([255] + Array(String(number).utf8)) }
        for (number, change) in changes.enumerated() {
            try connection.run(replace, [.blob(change.old), placeholder(number)])
        }
        for (number, change) in changes.enumerated() {
            try connection.run(replace, [placeholder(number), .blob(change.new)])
        }
    }

    package func forget(_ holder: Holder) throws {
        try connection.run(
            "DELETE FROM martlet_unresolved WHERE holder_type = ?1 AND holder = ?2 AND property = ?3",
            [.integer(Int64(holder.row.table)), .integer(holder.row.key), .text(holder.property)])
    }

    /// Removes the links of a row that was deleted.
    package func forgetLinks(of row: RowID) throws {
        try connection.run(
            "DELETE FROM martlet_unresolved WHERE holder_type = ?1 AND holder = ?2",
            [.integer(Int64(row.table)), .integer(row.key)])
    }

    /// The properties that contain unresolved links to the object with the primary key `target`.
    package func holders(of target: SQLValue, in table: TableID) throws -> [Holder] {
        let statement = try connection.statement(
            "SELECT holder_type, holder, property FROM martlet_unresolved WHERE target_type = ?1 AND target = ?2")
        statement.bind([.integer(Int64(table)), target])
        var holders: [Holder] = []
        while try statement.step() {
            let row = RowID(table: TableID(statement.integer(0)), key: statement.integer(1))
            holders.append(Holder(row, property: statement.text(2)))
        }
        return holders
    }
}

extension CommittingChanges {
    /// Removes the unresolved links of properties that the transaction has written, and of rows that it has deleted.
    package func forgetUnresolvedLinks() throws {
        let links = UnresolvedLinks(connection)
        if try links.isEmpty { return }
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.unresolvedKept) { return }
        #endif
        for (id, rows) in changes.tables {
            guard let table = schema.tables[id] else { continue }
            for key in rows.deleted { try links.forgetLinks(of: RowID(table: id, key: key)) }
            for property in table.type.properties where property.isLink || property.isAny {
                for key in rows.keys(modifiedIn: ColumnSet(property.index)) {
                    try links.forget(.init(RowID(table: id, key: key), property: property.name))
                }
            }
        }
    }
}
