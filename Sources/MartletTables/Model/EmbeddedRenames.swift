import MartletSchema

/// Writes the statements for renamed properties of embedded objects. A column of the owner stores an embedded object as
/// JSON, and the names of the properties are keys of this JSON.
struct EmbeddedRenames {
    private struct Rename {
        let old: String
        let new: String
    }

    /// The renamed properties of each embedded type. The keys are the new names of the types.
    private let renames: [String: [Rename]]
    private let new: SchemaModel
    private let tables: [TableModel]

    init(old: SchemaModel, new: SchemaModel, names: SchemaNames) {
        self.new = new
        tables = TableBuilder(new).tables()
        var renames: [String: [Rename]] = [:]
        for object in old.objects where object.isEmbedded {
            guard let type = names.current(TableModel.Origin(type: object.name, property: nil))?.type else { continue }
            let changed = object.properties.compactMap { property in
                names.current(property.name, of: object.name).map { Rename(old: property.name, new: $0) }
            }.filter { $0.old != $0.new }
            if !changed.isEmpty { renames[type] = changed }
        }
        self.renames = renames
    }

    /// Messages about renamed properties of an embedded type that is the type of a property of another embedded type. A
    /// migration cannot rename the keys of nested embedded objects.
    var problems: [String] {
        let stored = Set(tables.map(\.origin.type))
        guard !stored.isEmpty else { return [] }
        return new.objects.filter(\.isEmbedded).flatMap { object in
            object.properties.compactMap { property in
                guard case .embedded(let type) = property.type.value, let first = renames[type]?.first else {
                    return nil
                }
                return "'\(type).\(first.old)' was renamed to '\(first.new)', but '\(object.name).\(property.name)' "
                    + "stores '\(type)' inside another embedded object, and a migration cannot rename keys there; "
                    + "keep the name '\(first.old)'"
            }
        }
    }

    /// The statements that rename the keys in the JSON.
    func statements() -> [String] {
        tables.flatMap { table in
            guard let object = new.object(named: table.origin.type) else { return [String]() }
            if let name = table.origin.property {
                return object.property(named: name).map { update(table, "value", $0) } ?? []
            }
            return table.columns.flatMap { column in
                object.property(named: column.property).map { update(table, column.name, $0) } ?? []
            }
        }
    }

    private func update(_ table: TableModel, _ column: String, _ property: PropertyModel) -> [String] {
        guard case .embedded(let type) = property.type.value, let renames = renames[type] else { return [] }
        let name = SQLName.quoted(column)
        let keys = "ARRAY[\(renames.map { SQLName.literal($0.old) }.joined(separator: ", "))]"
        let values = renames.map { rename in
            let old = SQLName.literal(rename.old)
            return
                "CASE WHEN \(name) ? \(old) THEN jsonb_build_object(\(SQLName.literal(rename.new)), \(name) -> \(old)) "
                + "ELSE '{}' END"
        }
        return [
            """
            UPDATE \(SQLName.quoted(table.name)) SET \(name) = (\(name) - \(keys))
                || \(values.joined(separator: "\n    || "))
                WHERE \(name) ?| \(keys);
            """
        ]
    }
}
