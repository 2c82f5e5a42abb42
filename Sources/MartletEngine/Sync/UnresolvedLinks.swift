package import MartletSQLite
package import MartletValues

/// The links of a synchronized file to objects that are not in the file, because no subscription contains them.
///
/// The property of the holder is nil, or an `AnyRealmValue` that is nil at these places. When the target comes, the link is
/// restored.
package struct UnresolvedLinks {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// A link property of a row.
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

    /// Stores the target of a link, which replaces an earlier one.
    package func remember(_ holder: Holder, target: SQLValue, in table: TableID) throws {
        try forget(holder)
        try add(holder, target: target, in: table, whole: nil)
    }

    /// Stores one of the targets of a value that may have several.
    ///
    /// - Parameter whole: the value of the property with all of its links.
    package func add(_ holder: Holder, target: SQLValue, in table: TableID, whole: [UInt8]?) throws {
        try connection.run(
            "INSERT OR REPLACE INTO martlet_unresolved VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            [
                .integer(Int64(holder.row.table)), .integer(holder.row.key), .text(holder.property),
                .integer(Int64(table)), target, whole.map(SQLValue.blob) ?? .null,
            ])
    }

    /// The value of a property with all of its links; empty if it has no links without a target.
    package func whole(_ holder: Holder) throws -> [UInt8] {
        let value = try connection.value(
            "SELECT value FROM martlet_unresolved WHERE holder_type = ?1 AND holder = ?2 AND property = ?3 LIMIT 1",
            [.integer(Int64(holder.row.table)), .integer(holder.row.key), .text(holder.property)])
        return if case .blob(let bytes)? = value { bytes } else { [] }
    }

    /// The values of properties with all of their links.
    package func wholes() throws -> [[UInt8]] {
        let statement = try connection.statement(
            "SELECT DISTINCT value FROM martlet_unresolved WHERE value IS NOT NULL")
        var values: [[UInt8]] = []
        while try statement.step() { values.append(statement.blob(0)) }
        return values
    }

    package func replaceWhole(_ value: [UInt8], by new: [UInt8]) throws {
        try connection.run(
            "UPDATE martlet_unresolved SET value = ?2 WHERE value = ?1", [.blob(value), .blob(new)])
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

    /// The links to an object, given by its primary key.
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
    /// Forgets the unresolved links that the program has overwritten, and those of deleted rows.
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
