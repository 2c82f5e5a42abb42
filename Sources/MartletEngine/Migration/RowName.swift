package import MartletSQLite
import MartletValues

extension DatabaseSchema.Table {
    /// The name of an object in messages: its type and its primary key. If the type has no primary key, the name
    /// contains the key of the row instead.
    package func name(of key: ObjectKey, _ connection: Connection) throws -> String {
        guard let primary = type.primaryKey, let column = layout.column(of: primary),
            let value = try connection.value(
                "SELECT \(column.name) FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)])
        else { return "the '\(type.name)' in row \(key)" }
        return "the '\(type.name)' with the primary key \(ValueText.text(value, type.properties[primary].element))"
    }
}
