package import MartletSQLite
import MartletValues

extension RowStore {
    /// The keys of the rows to which a row links through a link property or a collection of links. Each key occurs
    /// once.
    package func targets(of property: PropertySchema, _ key: ObjectKey, _ connection: Connection) throws -> [ObjectKey]
    {
        if let column = layout.column(of: property.index) {
            return try connection.keys(
                "SELECT \(column.name) FROM \(layout.table) WHERE \(layout.keyColumn) = ?1 "
                    + "AND \(column.name) IS NOT NULL", [.integer(key)])
        }
        guard property.isCollection else { return [] }
        return try layout.collection(of: property.index).storedTargets(of: key, connection)
    }

    /// The keys of the rows that link to a row through a link property or a collection of links.
    package func holders(of target: ObjectKey, _ property: PropertySchema, _ connection: Connection) throws
        -> [ObjectKey]
    {
        if let column = layout.column(of: property.index) {
            return try connection.keys(
                "SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(column.name) = ?1", [.integer(target)])
        }
        guard property.isCollection, let targets = layout.collection(of: property.index).targetTable else { return [] }
        return try connection.keys("SELECT owner FROM \(targets) WHERE target = ?1", [.integer(target)])
    }

    /// Sets the link property of a row to NULL.
    package func clearLink(_ property: PropertyIndex, of key: ObjectKey, _ connection: Connection) throws {
        guard let column = layout.column(of: property) else { return }
        try connection.run(
            "UPDATE \(layout.table) SET \(column.name) = NULL WHERE \(layout.keyColumn) = ?1", [.integer(key)])
    }
}
