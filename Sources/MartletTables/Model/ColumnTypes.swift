import MartletSchema

/// Computes the SQL types and SQL defaults for the types of a schema.
struct ColumnTypes {
    let schema: SchemaModel

    struct SQLType {
        var text: String
        /// Returns the condition of the CHECK constraint; nil if the column has none. The argument is the quoted name
        /// of the column.
        var check: ((String) -> String)?
    }

    func type(_ value: ValueTypeModel) -> SQLType {
        switch value {
        case .scalar(let kind): Self.type(kind)
        case .enumeration(let name, let raw): type(ofEnum: name, raw)
        case .link(let target): keyType(of: target)
        case .embedded: SQLType(text: "jsonb")
        }
    }

    /// The type of a link, which is the type of the primary key of its target.
    private func keyType(of target: String) -> SQLType {
        let object = schema.object(named: target)
        let key = object?.primaryKey.flatMap { object?.property(named: $0.value) }
        return SQLType(text: key.map { type($0.type.value).text } ?? "bigint")
    }

    private static func type(_ kind: ScalarKind) -> SQLType {
        switch kind {
        case .bool: SQLType(text: "boolean")
        case .int8: SQLType(text: "smallint") { "\($0) BETWEEN -128 AND 127" }
        case .int16: SQLType(text: "smallint")
        case .int32: SQLType(text: "integer")
        case .int, .int64: SQLType(text: "bigint")
        case .float: SQLType(text: "real")
        case .double: SQLType(text: "double precision")
        // With this collation, PostgreSQL compares texts by code points, as the runtime does.
        case .string: SQLType(text: "text COLLATE \"C\"")
        case .data: SQLType(text: "bytea")
        case .date: SQLType(text: "timestamp with time zone")
        case .uuid: SQLType(text: "uuid")
        case .objectId: SQLType(text: "martlet.object_id")
        case .decimal128: SQLType(text: "numeric")
        case .anyValue: SQLType(text: "jsonb")
        }
    }

    // If the enum has a case for unknown values, the column accepts all values, because newer programs can add cases.
    private func type(ofEnum name: String, _ raw: EnumRawKind) -> SQLType {
        let model = schema.enumeration(named: name)
        let text = raw == .int ? "bigint" : "text COLLATE \"C\""
        guard let model, model.unknown == nil else { return SQLType(text: text) }
        let values = model.cases.map { Self.literal($0.rawValue) }.joined(separator: ", ")
        return SQLType(text: text) { "\($0) IN (\(values))" }
    }

    private static func literal(_ value: EnumCaseModel.RawValue) -> String {
        switch value {
        case .int(let number): "\(number)"
        case .string(let text): SQLName.literal(text)
        }
    }

    // MARK: Defaults

    /// The SQL default of a column; nil if it has none. An INSERT without the column stores the value that the property
    /// has in a new object.
    func defaultText(_ property: PropertyModel) -> String? {
        if let value = property.defaultValue { return text(value, property.type.value) }
        guard !property.type.isOptional, !property.isPrimaryKey else { return nil }
        return switch property.type.value {
        case .scalar(let kind): Self.zero(kind)
        case .enumeration(let name, _):
            schema.enumeration(named: name)?.cases.first.map { Self.literal($0.rawValue) }
        case .link, .embedded: nil
        }
    }

    private static func zero(_ kind: ScalarKind) -> String? {
        switch kind {
        case .bool: "false"
        case .int, .int8, .int16, .int32, .int64, .float, .double, .decimal128: "0"
        case .string: "''"
        case .data: "''"
        case .date: date(0)
        case .uuid: "'00000000-0000-0000-0000-000000000000'"
        case .objectId: SQLName.literal([UInt8](repeating: 0, count: 12))
        case .anyValue: nil
        }
    }

    private func text(_ value: DefaultModel, _ type: ValueTypeModel) -> String? {
        if type == .scalar(.anyValue) { return Self.json(value) }
        return switch value {
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .floating(let number): "\(number)"
        case .string(let text): SQLName.literal(text)
        case .data(let bytes), .objectId(let bytes): SQLName.literal(bytes)
        case .date(let seconds): Self.date(seconds)
        case .now: "clock_timestamp()"
        case .uuid(let bytes): "'\(Self.uuid(bytes))'"
        case .newUUID: "gen_random_uuid()"
        // An ObjectId consists of the seconds in four bytes, as in the runtime, and eight random bytes.
        case .newObjectId:
            "int4send(extract(epoch FROM clock_timestamp())::integer) || substring(uuid_send(gen_random_uuid()) FROM 1 FOR 8)"
        case .decimal128(let digits): digits
        case .enumCase(let name): enumValue(name, type)
        }
    }

    private func enumValue(_ name: String, _ type: ValueTypeModel) -> String? {
        guard case .enumeration(let enumName, _) = type else { return nil }
        return schema.enumeration(named: enumName)?.enumCase(named: name).map { Self.literal($0.rawValue) }
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        let digits = SQLName.literal(bytes).dropFirst(3).dropLast()
        var rest = digits
        return [8, 4, 4, 4, 12].map { length in
            defer { rest = rest.dropFirst(length) }
            return String(rest.prefix(length))
        }.joined(separator: "-")
    }

    // PostgreSQL stores whole microseconds. The dates in a schema are in the years 1 to 9999, so the conversion to
    // `Int64` does not overflow.
    private static func date(_ seconds: Double) -> String {
        let microseconds = Int64((seconds * 1_000_000).rounded())
        return "timestamp with time zone '2001-01-01 00:00:00Z' + interval '\(microseconds) microseconds'"
    }

    // Booleans, integers and strings become JSON values. If the property has a default of another type, the column has
    // no default in SQL.
    private static func json(_ value: DefaultModel) -> String? {
        switch value {
        case .bool(let flag): SQLName.literal("\(flag)")
        case .integer(let number): SQLName.literal("\(number)")
        case .string(let text): "to_jsonb(\(SQLName.literal(text))::text)"
        default: nil
        }
    }
}
