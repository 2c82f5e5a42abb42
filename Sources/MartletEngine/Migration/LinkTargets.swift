import MartletSQLite
import MartletValues

/// Removes links to missing rows from the values that a migration copies from the previous version. The user's code may
/// have deleted these rows before the copy. The result is the same as if that code had deleted them after the copy.
struct LinkTargets {
    private let connection: Connection
    /// For the number of each type, a query that finds a row by its key.
    private let queries: [TableID: String]
    private let numbers: [String: TableID]

    /// `types` are the types with the layout that they have during the migration.
    init(_ connection: Connection, _ types: [(id: TableID, type: ObjectTypeSchema)]) {
        self.connection = connection
        let queries = types.map { id, type in
            let layout = TableLayout(type)
            return (id, "SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1")
        }
        self.queries = Dictionary(queries, uniquingKeysWith: { first, _ in first })
        numbers = Dictionary(types.map { ($0.type.name, $0.id) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the elements of a property without the links to missing rows. A single link becomes null, and so does a
    /// link in a map. Lists and sets of links lose the element. In an `AnyRealmValue`, null replaces the link. A set of
    /// `AnyRealmValue` loses each element that contains such a link.
    func existing(_ elements: [SQLValue], _ property: PropertySchema) throws -> [SQLValue] {
        guard property.isLink || property.isAny else { return elements }
        let losesElements = property.kind == .set || (property.kind == .list && property.isLink)
        let table = property.element.target.flatMap { numbers[$0] }
        return try elements.compactMap { element in
            let new = try property.isAny ? existing(element) : existing(element, in: table)
            return new == element || !losesElements ? new : nil
        }
    }

    private func existing(_ value: SQLValue) throws -> SQLValue {
        try AnyLink.replacing(in: value) { try exists($0) ? $0 : nil }
    }

    // The elements of a map of links include its keys. The keys are strings, so every integer is a link.
    private func existing(_ value: SQLValue, in table: TableID?) throws -> SQLValue {
        guard let table, case .integer(let key) = value else { return value }
        return try exists(AnyLink(table, key)) ? value : .null
    }

    private func exists(_ link: AnyLink) throws -> Bool {
        guard let query = queries[link.table] else { return false }
        return try connection.integer(query, [.integer(link.key)]) == 1
    }
}
