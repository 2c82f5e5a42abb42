package import MartletEngine

/// The names of tables and columns that `martlet postgres` writes.
///
/// The compiler and the service share no code. So `ConditionSQLTests` compares these names with the names that the
/// compiler writes.
package enum PostgresNames {
    /// The table of the objects of a type.
    package static func table(_ type: ObjectTypeSchema) -> String { quoted(SnakeCase.name(type.name)) }

    /// The table of the elements of a collection. It has the columns `owner` and `value`.
    package static func table(_ type: ObjectTypeSchema, _ property: PropertySchema) -> String {
        quoted(SnakeCase.name(type.name) + "_" + SnakeCase.name(property.name))
    }

    package static func column(_ property: PropertySchema) -> String { quoted(SnakeCase.name(property.name)) }

    private static func quoted(_ name: String) -> String { "\"\(name)\"" }
}
