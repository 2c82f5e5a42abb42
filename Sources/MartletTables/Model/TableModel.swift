import MartletSchema

/// A column of a table.
public struct ColumnModel: Hashable, Sendable {
    /// The name of the property in the schema. In the table of a collection, the role of the column, such as `owner` or
    /// `value`.
    public let property: String
    public let name: String
    /// The SQL type, with its collation.
    public var type: String
    public var isRequired: Bool
    /// The SQL expression of the default; nil if the column has none.
    public var defaultText: String?
    /// The SQL condition of the CHECK constraint; nil if the column has none.
    public var check: String?
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

/// A policy of row level security.
public struct PolicyModel: Hashable, Sendable {
    public enum Command: String, CaseIterable, Sendable {
        case select = "SELECT"
        case insert = "INSERT"
        case update = "UPDATE"
        case delete = "DELETE"
    }

    public let command: Command
    /// The condition for existing rows; nil for INSERT.
    public let using: String?
    /// The condition for new and changed rows; nil for SELECT and DELETE.
    public let check: String?

    public var name: String { command == .select ? "martlet_read" : "martlet_\(command.rawValue.lowercased())" }
}

/// A condition for changes of one column.
public struct ColumnRuleModel: Hashable, Sendable {
    public let column: String
    /// The condition that the row must satisfy before an update. It is not checked for an insertion.
    public let old: String
    /// The condition that the row must satisfy after an update or an insertion.
    public let new: String
    /// The condition that is true if the inserted value is the initial value of the property. Every user may insert
    /// this value, so `new` is not checked for it.
    public let isInitial: String
}

/// A table for the objects of one type, or for the elements of one collection property.
public struct TableModel: Hashable, Sendable {
    /// The type or property of the schema whose objects or elements a table contains.
    public struct Origin: Hashable, Sendable {
        public let type: String
        /// The collection property; nil for the table of the objects.
        public let property: String?
    }

    public let origin: Origin
    public let name: String
    public var columns: [ColumnModel]
    public let primaryKey: [String]
    public var unique: [[String]]
    public var indexes: [String]
    public var foreignKeys: [ForeignKeyModel]
    /// The column of the elements of a set, if the elements can be NULL. The column can contain NULL at most once for
    /// each owner. nil for other tables.
    public let singleNull: String?
    /// The policies of the table; empty if the schema has no rules for the table.
    public var policies: [PolicyModel]
    public var columnRules: [ColumnRuleModel]
    public let documentation: String?
}
