import MartletSQLite
import MartletValues

/// Finds objects that have equal values in properties whose values must be unique.
struct Duplicates {
    private let connection: Connection
    private let type: ObjectTypeSchema
    private let properties: [PropertySchema]

    init(_ connection: Connection, _ type: ObjectTypeSchema, _ properties: [PropertyIndex]) {
        self.connection = connection
        self.type = type
        self.properties = properties.map { type.properties[$0] }
    }

    /// The maximum number of examples in a message. Further conflicts are only counted.
    static let exampleCount = 3

    /// Returns an array with one sentence, which names the first repeated values. The array is empty if no values
    /// repeat. Objects are ignored if one of their values is null.
    func conflicts() throws -> [String] {
        let columns = properties.map { SQLText.identifier($0.name) }
        let list = columns.joined(separator: ", ")
        let statement = try connection.statement(
            "SELECT \(list), count(*) FROM \(SQLText.identifier(type.name)) "
                + "WHERE \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) "
                + "GROUP BY \(list) HAVING count(*) > 1 ORDER BY \(list)")
        var examples: [String] = []
        var count = 0
        while try statement.step() {
            count += 1
            guard count <= Self.exampleCount else { continue }
            let values = properties.indices.map { ValueText.text(statement.value($0), properties[$0].element) }
            examples.append("\(values.joined(separator: " and ")) in \(statement.integer(properties.count)) objects")
        }
        guard count > 0 else { return [] }
        if count > examples.count { examples.append("and \(count - examples.count) more") }
        let names = properties.map { "'\(type.name).\($0.name)'" }.joined(separator: " and ")
        return [
            "\(names) must be unique, but objects share values (\(examples.joined(separator: ", "))): "
                + "make the values differ in the 'migrationBlock', or with the previous version of the program"
        ]
    }
}
