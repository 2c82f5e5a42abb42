import MartletSQLite

/// Copies the values of a property in the file to a property of all rows, and converts them.
struct PropertyFill {
    let past: PastType
    let type: ObjectTypeSchema
    let fit: PropertyFit
    let connection: Connection

    func run(_ unsettled: inout UnsettledValues) throws {
        let layout = TableLayout(type)
        let exists = try connection.statement(
            "SELECT \(layout.hasSpecials ? TableLayout.specialColumn : "NULL") FROM \(layout.table) "
                + "WHERE \(layout.keyColumn) = ?1")
        let select = try past.connection.statement(past.select + " ORDER BY \(past.layout.keyColumn)")
        defer { select.reset() }
        while try select.step() {
            let key = past.key(select)
            exists.bind(key, at: 1)
            guard try exists.step() else { continue }
            let specials = exists.blob(0)
            exists.reset()
            guard let elements = fit.fit(try past.elements(of: fit.old, select)) else {
                unsettled.insert(key, fit.new.index, of: type.name)
                continue
            }
            unsettled.settle(key, fit.new.index, of: type.name)
            try write(elements, specials, key, layout)
        }
    }

    // A null that the new property cannot store is skipped: the default stays.
    private func write(
        _ elements: [SQLValue], _ specials: [UInt8], _ key: ObjectKey, _ layout: TableLayout
    ) throws {
        if fit.new.isCollection {
            let rows = CollectionRows(fit.new, layout, connection)
            try rows.clear(owner: key)
            return try rows.write(elements, owner: key)
        }
        let value = elements.first ?? .null
        guard value != .null || fit.new.holdsNothing else { return }
        let column = SQLText.identifier(fit.new.name)
        guard fit.new.element.isFloating else {
            return try connection.run(
                "UPDATE \(layout.table) SET \(column) = ?1 WHERE \(layout.keyColumn) = ?2", [value, .integer(key)])
        }
        var bits = FloatingSpecials.without(fit.new.index, specials)
        if case .real(let number) = value, FloatingSpecials.needsBits(number) {
            FloatingSpecials.append(number, of: fit.new.index, to: &bits)
        }
        try connection.run(
            "UPDATE \(layout.table) SET \(column) = ?1, \(TableLayout.specialColumn) = ?2 WHERE \(layout.keyColumn) = ?3",
            [value, bits.isEmpty ? .null : .blob(bits), .integer(key)])
    }
}
