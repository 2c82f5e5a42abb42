import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Converts stored values to the form that messages contain, during the commit of the transaction that wrote them.
struct CommittedValues {
    private let schema: SyncSchema
    private let changes: CommittingChanges
    /// The known addresses of link targets, by the rows of the targets.
    private var addresses: [RowID: ObjectAddress] = [:]
    /// True while a value from before the transaction is converted. The transaction may have deleted the targets of the
    /// value's links.
    private var isPrevious = false
    /// True if the file has unresolved links. Nil until it is known.
    private var hasUnresolved: Bool?

    /// The maximum nesting depth of embedded objects, and of collections inside of them. See `MessageLimits`.
    private static let maximumDepth = 100

    init(_ schema: SyncSchema, _ changes: CommittingChanges) { (self.schema, self.changes) = (schema, changes) }

    /// Converts a value of an object to the form in which the service sends it. The result contains the unresolved
    /// links of the property. The elements of a list have their positions.
    ///
    /// - Parameter stored: the value of the column. Ignored for a collection.
    mutating func downloaded(_ stored: SQLValue, _ property: PropertySchema, _ row: RowID) throws -> SyncValue {
        if let whole = try unresolved(property, row) { return whole }
        guard property.isCollection else { return try value(stored, property) }
        let value = try collection(property, row, depth: 1)
        guard property.kind == .list, case .list(let elements) = value else { return value }
        let positions = try changes.positions.stored(of: row, property).filter(\.isShown)
        // If the stored positions do not fit the elements, the result has no positions. It then differs from each list
        // that the service sends.
        guard positions.count == elements.count else { return value }
        return .elements(zip(positions, elements).map { ListElement(position: $0.position, value: $1) })
    }

    /// Converts the value of a column.
    mutating func value(_ stored: SQLValue, _ property: PropertySchema) throws -> SyncValue {
        try value(stored, property, depth: 0)
    }

    private mutating func value(_ stored: SQLValue, _ property: PropertySchema, depth: Int) throws -> SyncValue {
        if property.isAny { return try anyValue(stored) }
        guard property.isLink, case .integer(let key) = stored, let target = targetTable(of: property) else {
            return .scalar(stored)
        }
        guard property.element.isEmbedded else {
            return try address(of: RowID(table: target.id, key: key), target).map(SyncValue.link) ?? .null
        }
        guard let row = try changes.row(key, target) else { return .null }
        guard depth < Self.maximumDepth else {
            throw EngineError(
                .invalidInput, path: changes.path,
                "'\(target.type.name)' contains itself more than \(Self.maximumDepth) times, and cannot be uploaded; nothing "
                    + "was written; use links instead of embedded objects")
        }
        let id = RowID(table: target.id, key: key)
        return .embedded(try target.type.properties.map { try member($0, row, id, depth: depth + 1) })
    }

    /// Converts a value of an embedded object. The result also contains unresolved links, because otherwise an upload
    /// of the whole embedded object would remove these links from the database.
    private mutating func member(
        _ property: PropertySchema, _ row: StoredRow, _ id: RowID, depth: Int
    ) throws -> SyncValue {
        if let whole = try unresolved(property, id) { return whole }
        if property.isCollection { return try collection(property, id, depth: depth) }
        return property.isColumn ? try value(row.value(property.index), property, depth: depth) : .null
    }

    /// The value of a property with its unresolved links. Nil if it has none.
    private mutating func unresolved(_ property: PropertySchema, _ row: RowID) throws -> SyncValue? {
        guard property.isAny || (property.isLink && !property.element.isEmbedded) else { return nil }
        let links = UnresolvedLinks(changes.connection)
        let isUsed = try hasUnresolved ?? !links.isEmpty
        hasUnresolved = isUsed
        if !isUsed { return nil }
        let holder = UnresolvedLinks.Holder(row, property: property.name)
        let whole = try links.whole(holder)
        if !whole.isEmpty {
            var reader = try MessageReader(whole, limits: .forServiceMessages)
            return try reader.syncValue()
        }
        guard let target = try links.target(holder), let name = changes.schema.tables[target.table]?.type.name else {
            return nil
        }
        return schema.number(of: name).map { SyncValue.link(ObjectAddress(type: $0, key: target.key)) }
    }

    /// Converts a collection inside an embedded object.
    private mutating func collection(_ property: PropertySchema, _ row: RowID, depth: Int) throws -> SyncValue {
        let stored = try changes.elements(of: row, property.index)
        guard property.kind == .map else {
            return .list(try stored.map { try value($0, property, depth: depth + 1) })
        }
        return .map(
            MapEntry.sorted(
                try stride(from: 0, to: stored.count - 1, by: 2).compactMap { index in
                    guard case .text(let key) = stored[index] else { return nil }
                    return MapEntry(key: key, value: try value(stored[index + 1], property, depth: depth + 1))
                }))
    }

    /// Converts an element of a collection property.
    mutating func element(_ stored: SQLValue, _ property: PropertySchema) throws -> SyncValue {
        try value(stored, property, depth: 0)
    }

    /// Converts an element that the collection had before the transaction.
    mutating func previousElement(_ stored: SQLValue, _ property: PropertySchema) throws -> SyncValue {
        isPrevious = true
        defer { isPrevious = false }
        return try value(stored, property, depth: 0)
    }

    /// Reads and converts the value at a path, which may lead into embedded objects.
    mutating func value(at path: [PropertyIndex], _ id: RowID, _ row: StoredRow) throws -> SyncValue {
        let property = changes.schema[id.table].type.properties[path[0]]
        if property.isCollection { return try collection(property, id, depth: path.count) }
        let stored = row.value(property.index)
        guard path.count > 1, case .integer(let key) = stored, let inner = targetTable(of: property),
            let innerRow = try changes.row(key, inner)
        else { return try value(stored, property) }
        return try value(at: Array(path.dropFirst()), RowID(table: inner.id, key: key), innerRow)
    }

    private mutating func anyValue(_ stored: SQLValue) throws -> SyncValue {
        try AnyConversion.value(stored) { link in
            guard let table = changes.schema.tables[link.table] else { return nil }
            return try address(of: RowID(table: link.table, key: link.key), table)
        }
    }

    private func targetTable(of property: PropertySchema) -> DatabaseSchema.Table? {
        property.element.target.flatMap { changes.schema[$0] }
    }

    /// Returns the address of an object, or nil if the type of the object is not synchronized.
    ///
    /// If the table uses the primary key as the row key, this method returns an address without checking that the
    /// object exists. For other tables, it returns nil if the object does not exist.
    private mutating func address(of row: RowID, _ table: DatabaseSchema.Table) throws -> ObjectAddress? {
        guard let type = schema.number(of: table.type.name) else { return nil }
        if table.layout.keyIsProperty { return ObjectAddress(type: type, key: .integer(row.key)) }
        if let known = addresses[row] { return known }
        let current = try changes.primaryKey(of: row.key, table)
        guard let key = try isPrevious && current == nil ? changes.previousPrimaryKey(of: row.key, table) : current
        else { return nil }
        let address = ObjectAddress(type: type, key: key)
        addresses[row] = address
        return address
    }
}

extension SyncOperation {
    /// The targets of the links in the collection element that the operation writes. Empty for other operations.
    var targets: [ObjectAddress] {
        switch self {
        case .insertElement(_, _, _, let value), .setElement(_, _, _, let value), .insertMember(_, _, let value),
            .setEntry(_, _, _, let value):
            value.targets
        default: []
        }
    }
}

extension SyncValue {
    /// The targets of all links in the value.
    var targets: [ObjectAddress] {
        switch self {
        case .scalar: []
        case .link(let target): [target]
        case .embedded(let values), .list(let values): values.flatMap(\.targets)
        case .map(let entries): entries.flatMap(\.value.targets)
        }
    }

    /// The value, with nil in the place of each link.
    var withoutLinks: SyncValue {
        switch self {
        case .scalar: self
        case .link: .null
        case .embedded(let values): .embedded(values.map(\.withoutLinks))
        case .list(let values): .list(values.map(\.withoutLinks))
        case .map(let entries): .map(entries.map { MapEntry(key: $0.key, value: $0.value.withoutLinks) })
        }
    }
}
