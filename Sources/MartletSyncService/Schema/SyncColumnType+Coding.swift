import MartletEngine
package import MartletPostgres
package import MartletSyncProtocol
package import MartletValues

extension SyncColumnType {
    /// The PostgreSQL type that determines the binary format of the column.
    package var base: PostgresType {
        switch self {
        case .plain(let type): type
        case .int8: .smallint
        case .objectId: .bytea
        case .decimal: .numeric
        case .embedded, .any: .jsonb
        }
    }

    /// The name that PostgreSQL's `format_type` returns for the column.
    package var sqlName: String { self == .objectId ? "martlet.object_id" : base.sqlName }

    /// Encodes a value in the binary format of PostgreSQL. Returns nil for NULL.
    package func encode(_ value: SQLValue) throws(UnencodableValue) -> [UInt8]? {
        switch (self, value) {
        case (_, .null): return nil
        case (.int8, .integer(let number)) where Int8(exactly: number) == nil:
            throw UnencodableValue("a number is out of range")
        case (.objectId, .blob(let bytes)) where bytes.count != 12:
            throw UnencodableValue("an object id does not have 12 bytes")
        case (.decimal, .blob(let bytes)):
            guard let number = DecimalNumber(bytes: bytes) else {
                throw UnencodableValue("a decimal number is damaged")
            }
            return try base.encode(.text(number.description))
        case (.decimal, _): throw UnencodableValue("a value does not have the type 'numeric'")
        default: return try base.encode(value)
        }
    }

    /// Decodes a value from the binary format of PostgreSQL. A `numeric` with more digits than a `Decimal128` can have
    /// is rounded.
    package func decode(_ bytes: UnsafeRawBufferPointer?) throws(PostgresError) -> SQLValue {
        let value = try base.decode(bytes)
        guard self == .decimal, case .text(let text) = value else { return value }
        return .blob(DecimalNumber.nearest(text).bytes)
    }
}

extension SyncColumn {
    /// Encodes a value of the property in the binary format of PostgreSQL. Returns nil for NULL.
    package func encode(_ value: SyncValue) throws(UnencodableValue) -> [UInt8]? {
        if let json {
            guard let text = try json.conversion.text(value, json.property) else { return nil }
            return try type.base.encode(.text(text))
        }
        switch value {
        case .scalar(.null) where isRequired: throw UnencodableValue("a required value is missing")
        case .scalar(.null): return nil
        case .scalar(let scalar) where target == nil: return try type.encode(scalar)
        case .link(let address) where address.type == target: return try type.encode(address.key)
        default: throw UnencodableValue("a value has another kind than its property")
        }
    }

    /// Decodes a value of the property from the binary format of PostgreSQL.
    ///
    /// - Parameter problems: the method adds a text for each part of the JSON that does not fit the property.
    package func decode(
        _ bytes: UnsafeRawBufferPointer?, _ problems: inout [String]
    ) throws(PostgresError) -> SyncValue {
        let value = try type.decode(bytes)
        if let json {
            guard case .text(let text) = value else { return .null }
            let decoded = json.conversion.value(text, json.property)
            problems += decoded.problems
            return decoded.value
        }
        guard let target, value != .null else { return .scalar(value) }
        return .link(ObjectAddress(type: target, key: value))
    }

    /// The name in quotes, for SQL.
    package var quoted: String { "\"\(name)\"" }
}
