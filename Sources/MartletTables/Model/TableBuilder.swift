public import MartletSchema

/// Builds the tables for the objects of a schema.
///
/// Every top-level type with a primary key has a table, with a column for each property. Each list, set or map has a
/// table of its own. Embedded objects are stored as JSON. Linking objects and ignored properties have no column. If at
/// least one type of the schema is synchronized, only synchronized types have tables. Local properties have no column.
public struct TableBuilder {
    private let schema: SchemaModel
    private let types: ColumnTypes

    public init(_ schema: SchemaModel) {
        self.schema = schema
        types = ColumnTypes(schema: schema)
    }

    /// The tables, in the order of the schema. The table of a type precedes the tables of its collections.
    public func tables() -> [TableModel] {
        keyed.flatMap { [table($0)] + properties(of: $0).compactMap(collection($0)) }
    }

    /// Messages for the author of the schema. They say why the tables of the schema cannot be created correctly.
    public func problems() -> [String] {
        let objects = stored
        let keyless = objects.filter { $0.primaryKey == nil }.map {
            "type '\($0.name)' has no primary key, so its objects cannot be identified on other machines; add 'primaryKey:'"
        }
        let links = keyed.flatMap { object in
            properties(of: object).filter { isLinkToKeyless($0) }.map {
                "'\(object.name).\($0.name)' links to '\($0.type.value.name)', which has no primary key"
            }
        }
        return keyless + links + collisions()
    }

    /// The types that need tables: the synchronized types, or all top-level types if no type is synchronized.
    private var stored: [ObjectModel] {
        let isPartial = schema.isSynchronized
        return schema.objects.filter { !$0.isEmbedded && (!isPartial || $0.sync.mode != .none) }
    }

    /// The types that have tables: `stored` without the types that have no primary key.
    private var keyed: [ObjectModel] { stored.filter { $0.primaryKey != nil } }

    private func properties(of object: ObjectModel) -> [PropertyModel] {
        object.properties.filter { !$0.sync.isLocal }
    }

    private func isLinkToKeyless(_ property: PropertyModel) -> Bool {
        guard case .link(let target) = property.type.value, !property.type.isLinkingObjects else { return false }
        return schema.object(named: target)?.primaryKey == nil
    }

    // Returns messages about names that become equal in SQL, and about names that PostgreSQL would truncate.
    private func collisions() -> [String] {
        var owners: [String: String] = [:]
        var problems: [String] = []
        func add(_ sqlName: String, _ owner: String, _ scope: String) {
            if sqlName.utf8.count > SQLName.maximumBytes {
                problems.append("'\(owner)' becomes '\(sqlName)', which is longer than \(SQLName.maximumBytes) bytes")
            }
            if let other = owners.updateValue(owner, forKey: "\(scope).\(sqlName)") {
                problems.append("'\(other)' and '\(owner)' both become '\(sqlName)' in SQL; rename one of them")
            }
        }
        for object in keyed {
            add(SQLName.snakeCase(object.name), object.name, "")
            for property in properties(of: object) where !property.type.isLinkingObjects {
                let owner = "\(object.name).\(property.name)"
                if property.type.isSingle {
                    add(SQLName.snakeCase(property.name), owner, object.name)
                } else {
                    add(Self.tableName(object, property), owner, "")
                }
            }
        }
        return problems
    }

    private static func tableName(_ object: ObjectModel, _ property: PropertyModel) -> String {
        SQLName.snakeCase(object.name) + "_" + SQLName.snakeCase(property.name)
    }

    // MARK: Objects

    private func table(_ object: ObjectModel) -> TableModel {
        let singles = properties(of: object).filter(\.type.isSingle)
        let builder = PolicyBuilder(object, types)
        return TableModel(
            origin: TableModel.Origin(type: object.name, property: nil), name: SQLName.snakeCase(object.name),
            columns: singles.map(column),
            primaryKey: object.primaryKey.map { [SQLName.snakeCase($0.value)] } ?? [],
            unique: object.unique.map { $0.map { SQLName.snakeCase($0.value) } },
            indexes: singles.filter { $0.isIndexed || isLink($0) }.map { SQLName.snakeCase($0.name) },
            foreignKeys: singles.compactMap { foreignKey($0, SQLName.snakeCase($0.name), whenNullified: .setNull) },
            singleNull: nil, policies: builder.policies(), columnRules: builder.columnRules(types),
            documentation: object.documentation)
    }

    private func isLink(_ property: PropertyModel) -> Bool {
        if case .link = property.type.value { true } else { false }
    }

    private func column(_ property: PropertyModel) -> ColumnModel {
        let type = types.type(property.type.value)
        let name = SQLName.snakeCase(property.name)
        return ColumnModel(
            property: property.name, name: name, type: type.text,
            isRequired: !property.type.isOptional && !isLink(property) && !isAny(property),
            defaultText: types.defaultText(property), check: type.check?(SQLName.quoted(name)),
            documentation: property.documentation)
    }

    private func isAny(_ property: PropertyModel) -> Bool { property.type.value == .scalar(.anyValue) }

    private func foreignKey(
        _ property: PropertyModel, _ column: String, whenNullified: ForeignKeyModel.Action
    ) -> ForeignKeyModel? {
        guard case .link(let name) = property.type.value, let target = schema.object(named: name),
            let key = target.primaryKey
        else { return nil }
        let action: ForeignKeyModel.Action =
            switch property.onDelete {
            case .nullify: whenNullified
            // In the table of a collection, CASCADE deletes only the element. A trigger of the service deletes the
            // owner.
            case .cascade: .cascade
            case .deny: .noAction
            }
        return ForeignKeyModel(
            column: column, table: SQLName.snakeCase(name), targetColumn: SQLName.snakeCase(key.value), onDelete: action
        )
    }

    // MARK: Collections

    private func collection(_ object: ObjectModel) -> (PropertyModel) -> TableModel? {
        { property in
            guard property.type.isStoredCollection, let key = object.primaryKey,
                let keyProperty = object.property(named: key.value)
            else { return nil }
            let owner = ForeignKeyModel(
                column: "owner", table: SQLName.snakeCase(object.name), targetColumn: SQLName.snakeCase(key.value),
                onDelete: .cascade)
            return collection(object, property, types.type(keyProperty.type.value).text, owner)
        }
    }

    private func collection(
        _ object: ObjectModel, _ property: PropertyModel, _ keyType: String, _ owner: ForeignKeyModel
    ) -> TableModel {
        let value = types.type(property.type.value)
        let isSet = property.type.kind == .set
        let isNullable = property.type.isOptional || isAny(property)
        func column(_ name: String, _ type: String, isRequired: Bool = true, check: String? = nil) -> ColumnModel {
            ColumnModel(
                property: name, name: name, type: type, isRequired: isRequired, defaultText: nil, check: check,
                documentation: nil)
        }
        var columns = [column("owner", keyType)]
        if property.type.kind == .list { columns.append(column("position", "bytea")) }
        if property.type.kind == .map { columns.append(column("key", "text COLLATE \"C\"")) }
        columns.append(
            column("value", value.text, isRequired: !isNullable, check: value.check?(SQLName.quoted("value"))))
        let second = property.type.kind == .list ? "position" : property.type.kind == .map ? "key" : "value"
        let hasNullKey = isSet && isNullable
        let name = Self.tableName(object, property)
        return TableModel(
            origin: TableModel.Origin(type: object.name, property: property.name), name: name, columns: columns,
            primaryKey: hasNullKey ? [] : ["owner", second], unique: hasNullKey ? [["owner", "value"]] : [],
            indexes: isLink(property) ? ["value"] : [],
            foreignKeys: [owner]
                + [
                    // If the target is deleted, a list or set loses the element, and a map keeps the key with the value
                    // NULL.
                    foreignKey(property, "value", whenNullified: property.type.kind == .map ? .setNull : .cascade)
                ].compactMap { $0 },
            singleNull: hasNullKey ? "value" : nil,
            policies: PolicyBuilder(object, types).policies(of: property, in: name), columnRules: [],
            documentation: property.documentation)
    }
}
