import MartletSchema

/// A column of a table.
public struct ColumnModel: Hashable, Sendable {
    public let name: String
    /// The SQL type, with its collation.
    public let type: String
    public let isRequired: Bool
    /// The SQL expression of the default; nil for none.
    public let defaultText: String?
    /// The SQL condition of a CHECK constraint; nil for none.
    public let check: String?
    public let documentation: String?
}

/// A reference from a column to the primary key of another table.
public struct ForeignKeyModel: Hashable, Sendable {
    public enum Action: String, Sendable {
        case setNull = "SET NULL"
        case cascade = "CASCADE"
        /// If the reference still exists at the end of the transaction, PostgreSQL refuses the deletion of the target.
        case noAction = "NO ACTION"
    }

    public let column: String
    public let table: String
    public let targetColumn: String
    public let onDelete: Action
}

/// A table for the objects of one type, or for the elements of one collection property.
public struct TableModel: Hashable, Sendable {
    public let name: String
    public let columns: [ColumnModel]
    public let primaryKey: [String]
    public let unique: [[String]]
    public let indexes: [String]
    public let foreignKeys: [ForeignKeyModel]
    /// For a set with optional elements: the column of the elements, which contains NULL at most once for each owner.
    /// Nil for other tables.
    public let singleNull: String?
    public let documentation: String?
}
