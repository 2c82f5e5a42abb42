import MartletEngine
package import MartletSyncProtocol

/// The table of the elements of a list, set or map, as `martlet postgres` writes it. It has the columns `owner` and
/// `value`. The table of a list also has the column `position`, and the table of a map has the column `key`.
package struct SyncCollection: Sendable {
    package enum Kind: Sendable {
        case list, set, map
    }

    package let kind: Kind
    /// The index of the property in its type.
    package let property: Int
    /// The name of the table, without its schema.
    package let name: String
    /// The column `value`, which contains the elements.
    package let value: SyncColumn

    package var path: ValuePath { ValuePath(property) }

    /// The column that, together with `owner`, identifies an element.
    package var keyColumn: String {
        switch kind {
        case .list: "position"
        case .set: "value"
        case .map: "key"
        }
    }

    /// The columns of the table.
    package var columns: [String] { kind == .set ? ["owner", "value"] : ["owner", keyColumn, "value"] }

    /// True for sets that may contain nil. Their tables have no primary key, because PostgreSQL permits no NULL in a
    /// primary key.
    package var isNullableSet: Bool { kind == .set && !value.isRequired }

    init(
        _ property: PropertySchema, of type: ObjectTypeSchema, _ schema: SyncSchema
    ) throws(SyncSchemaError) {
        switch property.kind {
        case .set: kind = .set
        case .map: kind = .map
        default: kind = .list
        }
        let isRequired = !property.isOptional && !property.isAny
        self.property = property.index
        name = SnakeCase.name(type.name) + "_" + SnakeCase.name(property.name)
        value = try SyncColumn(property, name: "value", isRequired: isRequired, schema)
    }

    /// The value that a client gets for the whole collection.
    ///
    /// - Parameter elements: all elements, in the order of their positions, keys or members.
    package func whole(_ elements: [(key: ElementKey, value: SyncValue)]) -> SyncValue {
        switch kind {
        case .list:
            .elements(
                elements.compactMap { element in
                    guard case .position(let position) = element.key else { return nil }
                    return ListElement(position: position, value: element.value)
                })
        case .set: .list(elements.map(\.value))
        case .map:
            .map(
                MapEntry.sorted(
                    elements.compactMap { element in
                        guard case .key(let key) = element.key else { return nil }
                        return MapEntry(key: key, value: element.value)
                    }))
        }
    }
}

/// The part of an element that identifies it in its collection.
package enum ElementKey: Sendable, Hashable {
    case position(ListPosition)
    /// For an element of a set, which is identified by its value.
    case member
    case key(String)
}
