import MartletSQLite
import MartletValues

/// An object type as it was before the migration, and the connection that reads its rows in that version.
struct PreviousType {
    let type: ObjectTypeSchema
    let layout: TableLayout
    let connection: Connection

    init(_ type: ObjectTypeSchema, _ connection: Connection) {
        self.type = type
        layout = TableLayout(type)
        self.connection = connection
    }

    /// SQL that selects all rows. A caller can append a condition or an order.
    var select: String { "SELECT \(layout.rowColumns) FROM \(layout.table)" }

    /// The key of the current row of `select`.
    func key(_ row: Statement) -> ObjectKey { row.integer(layout.columns.count + (layout.hasSpecials ? 1 : 0)) }

    /// The elements of a property of the current row of `select`. A property that is not a collection has one element.
    func elements(of property: PropertySchema, _ row: Statement) throws -> [SQLValue] {
        guard let position = layout.columns.firstIndex(where: { $0.property == property.index }) else {
            return try elements(of: property, key(row))
        }
        let value = value(of: property, at: position, row)
        let isText = property.element == .scalar(.string) || property.element == .stringEnum
        if isText, value != .null, row.validText(position) == nil {
            throw
                (property.accepts(value)
                ? DamagedValue(notUTF8In: type.name, property, key(row))
                : DamagedValue(type.name, property, key(row), holds: value)).error(path: connection.options.path)
        }
        guard property.accepts(value) else {
            throw DamagedValue(type.name, property, key(row), holds: value).error(path: connection.options.path)
        }
        return [value]
    }

    /// The value of a property of the current row of `select`. For a floating-point property, this is the exact number,
    /// even if the number is NaN or negative zero.
    private func value(of property: PropertySchema, at position: Int, _ row: Statement) -> SQLValue {
        let value = row.value(position)
        let specials = layout.columns.count
        guard property.element.isFloating, layout.hasSpecials, !row.isNull(specials),
            let bits = FloatingSpecials.bits(row.blob(specials), property.index)
        else { return value }
        return .real(Double(bitPattern: bits))
    }

    private func elements(of property: PropertySchema, _ key: ObjectKey) throws -> [SQLValue] {
        let table = layout.collection(of: property.index).chunkTable
        var chunks = try ChunkedElements(owner: key, table: table, connection)
        let elements = try chunks.all {
            try ChunkedElements.load(owner: key, ordinal: $0, count: $1, table: table, connection)
        }
        if let position = property.firstInvalidPosition(elements) {
            throw DamagedValue(type.name, property, key, holds: elements[position], at: position)
                .error(path: connection.options.path)
        }
        return property.element.isFloating ? elements.map(FloatingSpecials.decodedElement) : elements
    }

    /// The name of an object in messages: its primary key, or the number of its row if the type has no primary key.
    func name(of key: ObjectKey) throws -> String {
        guard let primary = type.primaryKey, let column = layout.column(of: primary),
            let value = try connection.value(
                "SELECT \(column.name) FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)])
        else { return "number \(key)" }
        return ValueText.text(value, type.properties[primary].element)
    }

    /// The value of a property of an object, for messages.
    func text(of property: PropertySchema, _ key: ObjectKey) throws -> String {
        guard let column = layout.column(of: property.index) else {
            return "\(try elements(of: property, key).count) elements"
        }
        let value = try connection.value(
            "SELECT \(column.name) FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)])
        return property.isLink
            ? "a '\(property.element.target ?? "")'" : ValueText.text(value ?? .null, property.element)
    }
}
