package import MartletValues

/// An object type of the program, with information that only its generated class has.
package struct TypeDeclaration: Sendable {
    package let type: ObjectTypeSchema
    /// The schema facts that the catalog of a file stores.
    let facts: String
    /// Returns the column values of a new object, in schema order. Some default values differ from call to call, such
    /// as `new` in the schema. The closure is then called again for each row.
    package let defaultRow: @Sendable () -> [SQLValue]
    /// Returns true if a value is valid for a property, or for an element of a collection property. For an enum, only
    /// the raw values of its cases are valid.
    package let isValidRawValue: @Sendable (PropertyIndex, SQLValue) -> Bool

    package init(
        _ type: ObjectTypeSchema, defaultRow: @escaping @Sendable () -> [SQLValue],
        isValidRawValue: @escaping @Sendable (PropertyIndex, SQLValue) -> Bool = { _, _ in true }
    ) {
        self.type = type
        facts = SchemaFactsWriter.facts(type)
        self.defaultRow = defaultRow
        self.isValidRawValue = isValidRawValue
    }
}
