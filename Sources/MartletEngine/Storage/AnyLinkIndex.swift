package import MartletSQLite
import MartletValues

/// The index of links in `AnyRealmValue` values. It has one row for each pair of an object's property and a link in the
/// value of this property.
///
/// The engine creates the table when the first such link is stored in a file, and writes the table together with the
/// values. It reads the table when it deletes a row, when it determines the rows on which observers depend, and in
/// migrations.
package struct AnyLinkIndex {
    /// A property of one object, whose value contains a link.
    package struct Source: Hashable, Sendable {
        package let table: TableID
        package let property: PropertyIndex
        package let owner: ObjectKey

        package init(_ table: TableID, _ property: PropertyIndex, _ owner: ObjectKey) {
            self.table = table
            self.property = property
            self.owner = owner
        }

        fileprivate var values: [SQLValue] { [.integer(Int64(table)), .integer(owner), .integer(Int64(property))] }
    }

    static let name = "martlet_any_links"

    private static let definition = [
        """
        CREATE TABLE IF NOT EXISTS \(name) (target_type INTEGER NOT NULL, target INTEGER NOT NULL, \
        type INTEGER NOT NULL, owner INTEGER NOT NULL, property INTEGER NOT NULL, count INTEGER NOT NULL, \
        PRIMARY KEY (target_type, target, type, owner, property)) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX IF NOT EXISTS \"\(name).owner\" ON \(name) (type, owner, property)",
    ]

    /// True if the file has the table.
    package static func exists(_ connection: Connection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(name)]) == 1
    }

    package static func create(_ connection: Connection) throws {
        for statement in definition { try connection.execute(statement) }
    }

    private let connection: Connection

    /// Creates the index for a connection to a file that has the table.
    package init(_ connection: Connection) { self.connection = connection }

    // MARK: Writing

    /// Adds `changes` to the counts of the links from one property. `changes` may contain negative numbers. A link
    /// whose count drops to zero is removed.
    package func addCounts(_ changes: [AnyLink: Int], of source: Source) throws {
        // Writes in the order of the table's primary key, because this order is the fastest.
        for (link, change) in changes.sorted(by: { ($0.key.table, $0.key.key) < ($1.key.table, $1.key.key) })
        where change != 0 {
            let key = [.integer(Int64(link.table)), .integer(link.key)] + source.values
            if change < 0 {
                try connection.run(
                    "DELETE FROM \(Self.name) WHERE target_type = ?1 AND target = ?2 AND type = ?3 AND owner = ?4 "
                        + "AND property = ?5 AND count <= ?6", key + [.integer(Int64(-change))])
                if connection.changedRows > 0 { continue }
            }
            try connection.run(
                "INSERT INTO \(Self.name) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
                    + "ON CONFLICT (target_type, target, type, owner, property) DO UPDATE SET count = count + excluded.count",
                key + [.integer(Int64(change))])
        }
    }

    /// Removes the links of one property.
    package func remove(_ source: Source) throws {
        try connection.run(
            "DELETE FROM \(Self.name) WHERE type = ?1 AND owner = ?2 AND property = ?3", source.values)
    }

    /// Removes the links of an object that is being deleted.
    package func removeLinks(of owner: ObjectKey, in table: TableID) throws {
        try connection.run(
            "DELETE FROM \(Self.name) WHERE type = ?1 AND owner = ?2", [.integer(Int64(table)), .integer(owner)])
    }

    package func removeAll() throws { try connection.run("DELETE FROM \(Self.name)") }

    // MARK: Reading

    /// The rows to which the values of one property link.
    package func targets(of source: Source) throws -> [TableID: KeySet] {
        let statement = try connection.statement(
            "SELECT target_type, target FROM \(Self.name) WHERE type = ?1 AND owner = ?2 AND property = ?3")
        statement.bind(source.values)
        var targets: [TableID: [ObjectKey]] = [:]
        while try statement.step() { targets[TableID(statement.integer(0)), default: []].append(statement.integer(1)) }
        return targets.mapValues { KeySet($0) }
    }

    /// The properties that contain a link to a row, in the order of the primary key: by type, owner and property.
    package func sources(of link: AnyLink) throws -> [Source] {
        let statement = try connection.statement(
            "SELECT type, property, owner FROM \(Self.name) WHERE target_type = ?1 AND target = ?2")
        statement.bind([.integer(Int64(link.table)), .integer(link.key)])
        var sources: [Source] = []
        while try statement.step() {
            sources.append(
                Source(TableID(statement.integer(0)), PropertyIndex(statement.integer(1)), statement.integer(2)))
        }
        return sources
    }
}
