package import MartletSQLite

/// An object type of the program, with what only its generated class knows.
package struct TypeDeclaration: Sendable {
    package let type: ObjectTypeSchema
    /// What the catalog of a file keeps of it.
    let facts: String
    /// The column values of a new object, in schema order: called once per value that must differ per row.
    package let defaultRow: @Sendable () -> [SQLValue]
    /// True for the raw values that a property, or an element of it, can have: those of the cases of an enum.
    package let holds: @Sendable (PropertyIndex, SQLValue) -> Bool

    package init(
        _ type: ObjectTypeSchema, defaultRow: @escaping @Sendable () -> [SQLValue],
        holds: @escaping @Sendable (PropertyIndex, SQLValue) -> Bool = { _, _ in true }
    ) {
        self.type = type
        facts = SchemaText.facts(type)
        self.defaultRow = defaultRow
        self.holds = holds
    }
}
