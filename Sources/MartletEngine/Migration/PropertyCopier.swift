import MartletSQLite
import MartletValues

/// Copies the values of a property of the previous version to a property of the new version, and converts them. Rows
/// that the user's code has deleted are skipped. Links to such rows are removed.
struct PropertyCopier {
    let previous: PreviousType
    let type: ObjectTypeSchema
    let converter: PropertyConverter
    let targets: LinkTargets
    let connection: Connection

    func run(_ unconverted: inout UnconvertedValues) throws {
        let layout = TableLayout(type)
        let selectCurrent = try connection.statement(
            "SELECT \(layout.hasSpecials ? TableLayout.specialColumn : "NULL") FROM \(layout.table) "
                + "WHERE \(layout.keyColumn) = ?1")
        let select = try previous.connection.statement(previous.select + " ORDER BY \(previous.layout.keyColumn)")
        defer { select.reset() }
        while try select.step() {
            let key = previous.key(select)
            selectCurrent.bind(key, at: 1)
            guard try selectCurrent.step() else { continue }
            let specials = selectCurrent.blob(0)
            selectCurrent.reset()
            guard let elements = converter.convert(try previous.elements(of: converter.old, select)) else {
                unconverted.insert(key, converter.new.index, of: type.name)
                continue
            }
            unconverted.markResolved(key, converter.new.index, of: type.name)
            try write(targets.existing(elements, converter.new), specials, key, layout)
        }
    }

    // If the new property cannot store null, a null is not written. The row then keeps its value, which is usually the
    // default.
    private func write(
        _ elements: [SQLValue], _ specials: [UInt8], _ key: ObjectKey, _ layout: TableLayout
    ) throws {
        if converter.new.isCollection {
            let rows = CollectionRows(converter.new, layout, connection)
            try rows.clear(owner: key)
            return try rows.write(elements, owner: key)
        }
        let value = elements.first ?? .null
        guard value != .null || converter.new.canStoreNull else { return }
        let column = SQLText.identifier(converter.new.name)
        guard converter.new.element.isFloating else {
            return try connection.run(
                "UPDATE \(layout.table) SET \(column) = ?1 WHERE \(layout.keyColumn) = ?2", [value, .integer(key)])
        }
        var bits = FloatingSpecials.without(converter.new.index, specials)
        if case .real(let number) = value, FloatingSpecials.needsBits(number) {
            FloatingSpecials.append(number, of: converter.new.index, to: &bits)
        }
        try connection.run(
            "UPDATE \(layout.table) SET \(column) = ?1, \(TableLayout.specialColumn) = ?2 WHERE \(layout.keyColumn) = ?3",
            [value, bits.isEmpty ? .null : .blob(bits), .integer(key)])
    }
}
