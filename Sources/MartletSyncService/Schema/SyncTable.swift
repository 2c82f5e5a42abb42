import MartletEngine
package import MartletPostgres
package import MartletSyncProtocol

/// The table of an object type, as `martlet postgres` writes it.
package struct SyncTable: Sendable {
    /// The number of the type in the schema.
    package let type: Int
    package let typeName: String
    /// The name of the table, without its schema.
    package let name: String
    /// The columns that are synchronized, in the order of the properties. Local properties (`sync: none`) have no
    /// columns.
    package let columns: [SyncColumn]
    /// The index of the primary key in `columns`.
    package let keyIndex: Int
    /// The names of the columns of each unique constraint, without the primary key.
    package let uniques: [[String]]
    /// The tables of lists, sets and maps, in the order of the properties.
    package let collections: [SyncCollection]
    /// True if clients send the objects of this type and never receive them: `sync: upload`.
    package let isUploadOnly: Bool
    private let positions: [Int: Int]

    package var key: SyncColumn { columns[keyIndex] }

    /// The position in `columns` of the column of a property; nil if the property has no column.
    package func position(of property: Int) -> Int? { positions[property] }

    /// The table of a list, set or map; nil for other properties.
    package func collection(of property: Int) -> SyncCollection? { collections.first { $0.property == property } }

    /// The number of the collection property with this name; nil if there is none.
    func collection(named name: String) -> Int? { collections.first { $0.value.propertyName == name }?.property }

    fileprivate init(_ number: Int, _ schema: SyncSchema, key: Int) throws(SyncSchemaError) {
        let type = schema.types[number]
        var columns: [SyncColumn] = []
        for property in type.properties where !property.isLocal {
            if let column = try SyncColumn(property, schema) { columns.append(column) }
        }
        guard let keyIndex = columns.firstIndex(where: { $0.property == key }) else {
            throw SyncSchemaError("the primary key of '\(type.name)' has a type that cannot be a key")
        }
        self.type = number
        typeName = type.name
        name = SnakeCase.name(type.name)
        self.columns = columns
        self.keyIndex = keyIndex
        positions = Dictionary(uniqueKeysWithValues: columns.indices.map { (columns[$0].property, $0) })
        uniques = type.uniques.map { $0.map { SnakeCase.name(type.properties[$0].name) } }
        collections = try type.properties.filter { $0.isCollection && !$0.isLocal }.map {
            property throws(SyncSchemaError) in try SyncCollection(property, of: type, schema)
        }
        isUploadOnly = type.syncMode == .upload
    }
}

extension SyncSchema {
    /// The tables of the synchronized types, by the numbers of the types.
    package func tables() throws(SyncSchemaError) -> [Int: SyncTable] {
        var tables: [Int: SyncTable] = [:]
        for (number, type) in types.enumerated() where !type.isEmbedded {
            guard let key = type.primaryKey else {
                throw SyncSchemaError(
                    "type '\(type.name)' has no primary key, so its objects cannot be identified on other machines; "
                        + "add 'primaryKey:'")
            }
            tables[number] = try SyncTable(number, self, key: key)
        }
        return tables
    }
}

/// The column of a property, or the column `value` of the table of a collection property.
package struct SyncColumn: Sendable {
    /// The index of the property in its type.
    package let property: Int
    package let path: ValuePath
    package let propertyName: String
    package let name: String
    package let type: SyncColumnType
    package let isRequired: Bool
    /// For a column of type `jsonb`, the property and the conversion of its values; nil for other columns.
    let json: (property: PropertySchema, conversion: JSONConversion)?
    /// For a link, the number of the type of its target; nil for other properties.
    package let target: Int?
    /// For a link, the names of the table of its target and of the primary key column there; nil for other properties.
    package let reference: (table: String, column: String)?

    /// The column of a property. Nil for a property without a column.
    fileprivate init?(_ property: PropertySchema, _ schema: SyncSchema) throws(SyncSchemaError) {
        guard property.isColumn, !property.isLocal else { return nil }
        try self.init(
            property, name: SnakeCase.name(property.name),
            isRequired: !property.isOptional && !property.isLink && !property.isAny, schema)
    }

    /// The column of a property, or of the elements of a collection.
    init(
        _ property: PropertySchema, name: String, isRequired: Bool, _ schema: SyncSchema
    ) throws(SyncSchemaError) {
        type = try SyncColumnType(property.element, schema)
        self.property = property.index
        path = ValuePath(property.index)
        propertyName = property.name
        self.name = name
        self.isRequired = isRequired
        json = type.base == .jsonb ? (property, JSONConversion(schema)) : nil
        if case .link(let name) = property.element, let number = schema.number(of: name),
            let key = schema.types[number].primaryKey
        {
            target = number
            reference = (SnakeCase.name(name), SnakeCase.name(schema.types[number].properties[key].name))
        } else {
            (target, reference) = (nil, nil)
        }
    }
}

/// The type of a column. It also converts values between PostgreSQL's binary format and `SQLValue`.
package enum SyncColumnType: Sendable, Hashable {
    case plain(PostgresType)
    /// An `Int8`, in a column of type `smallint`.
    case int8
    /// An `ObjectId`, in a column of the domain `martlet.object_id`, which has 12 bytes.
    case objectId
    /// A `numeric` of at most 34 digits.
    case decimal
    /// The JSON of an embedded object of the type with this name.
    case embedded(String)
    /// The JSON of an `AnyRealmValue`.
    case any

    fileprivate init(_ element: ElementType, _ schema: SyncSchema) throws(SyncSchemaError) {
        switch element {
        case .scalar(let scalar): self = Self(scalar)
        case .intEnum: self = .plain(.bigint)
        case .stringEnum: self = .plain(.text)
        case .embedded(let name): self = .embedded(name)
        case .link(let name):
            let target = schema.number(of: name).map { schema.types[$0] }
            guard let target, let key = target.primaryKey, !target.properties[key].isLink else {
                throw SyncSchemaError("'\(name)' has no primary key, so no object on another machine can link to it")
            }
            self = try Self(target.properties[key].element, schema)
        }
    }

    private init(_ scalar: ScalarType) {
        switch scalar {
        case .bool: self = .plain(.boolean)
        case .int8: self = .int8
        case .int16: self = .plain(.smallint)
        case .int32: self = .plain(.integer)
        case .int, .int64: self = .plain(.bigint)
        case .float: self = .plain(.real)
        case .double: self = .plain(.doublePrecision)
        case .string: self = .plain(.text)
        case .data: self = .plain(.bytea)
        case .date: self = .plain(.timestamp)
        case .uuid: self = .plain(.uuid)
        case .objectId: self = .objectId
        case .decimal128: self = .decimal
        case .any: self = .any
        }
    }
}

/// Converts names of types and properties to SQL names in the same way as `martlet postgres`. The compiler and the
/// service share no code, so a test compares the names.
package enum SnakeCase {
    /// `homeAddress` becomes `home_address`, `URLName` becomes `url_name`, and `line2` stays unchanged.
    package static func name(_ name: String) -> String {
        let letters = Array(name)
        var words = ""
        for (index, letter) in letters.enumerated() {
            let previous = index > 0 ? letters[index - 1] : nil
            let next = index + 1 < letters.count ? letters[index + 1] : nil
            let afterWord = previous.map { $0.isLowercase || $0.isNumber } ?? false
            let beforeWord = (previous?.isUppercase ?? false) && (next?.isLowercase ?? false)
            if letter.isUppercase && (afterWord || beforeWord) { words.append("_") }
            words.append(letter.lowercased())
        }
        return words
    }
}
