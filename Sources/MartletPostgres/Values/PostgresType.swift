package import MartletValues

/// The PostgreSQL types of the columns that hold property values of objects.
package enum PostgresType: String, Sendable, Hashable, CaseIterable {
    case boolean, smallint, integer, bigint, real
    case doublePrecision = "double precision"
    case text, bytea, uuid
    case timestamp = "timestamp with time zone"
    case numeric, jsonb

    /// The name that PostgreSQL's `format_type` returns.
    package var sqlName: String { rawValue }

    /// The object identifier of the type, which is the same in every database.
    package var oid: UInt32 {
        switch self {
        case .boolean: 16
        case .bytea: 17
        case .bigint: 20
        case .smallint: 21
        case .integer: 23
        case .text: 25
        case .real: 700
        case .doublePrecision: 701
        case .timestamp: 1184
        case .numeric: 1700
        case .uuid: 2950
        case .jsonb: 3802
        }
    }

    /// The name of the PostgreSQL function that returns the binary format of a value.
    package var sendFunction: String {
        switch self {
        case .boolean: "boolsend"
        case .bytea: "byteasend"
        case .bigint: "int8send"
        case .smallint: "int2send"
        case .integer: "int4send"
        case .text: "textsend"
        case .real: "float4send"
        case .doublePrecision: "float8send"
        case .timestamp: "timestamptz_send"
        case .numeric: "numeric_send"
        case .uuid: "uuid_send"
        case .jsonb: "jsonb_send"
        }
    }

    /// True for floating-point types. PostgreSQL's operator `=` treats zero and negative zero of these types as equal,
    /// although their bits differ.
    package var isFloating: Bool { self == .real || self == .doublePrecision }
}

/// The reason why a value cannot be stored in a column. The description does not contain the value.
package struct UnencodableValue: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A parameter of a statement: a type and a value in the binary format of the type.
package struct PostgresParameter: Sendable, Equatable {
    /// The object identifier of the type; 0 lets PostgreSQL infer the type.
    package let oid: UInt32
    /// Nil for NULL.
    package let bytes: [UInt8]?

    package init(oid: UInt32, bytes: [UInt8]?) {
        self.oid = oid
        self.bytes = bytes
    }

    package init(_ value: SQLValue, as type: PostgresType) throws(UnencodableValue) {
        self.init(oid: type.oid, bytes: try type.encode(value))
    }

    package static func bigint(_ number: Int64?) -> PostgresParameter {
        PostgresParameter(oid: PostgresType.bigint.oid, bytes: number.map(PostgresType.bigEndian))
    }

    package static func integer(_ number: Int32?) -> PostgresParameter {
        PostgresParameter(oid: PostgresType.integer.oid, bytes: number.map(PostgresType.bigEndian))
    }

    /// The text must not contain the character NUL, which PostgreSQL refuses.
    package static func text(_ text: String?) -> PostgresParameter {
        PostgresParameter(oid: PostgresType.text.oid, bytes: text.map { Array($0.utf8) })
    }

    package static func bytes(_ bytes: [UInt8]?) -> PostgresParameter {
        PostgresParameter(oid: PostgresType.bytea.oid, bytes: bytes)
    }

    /// An `xid8`, the PostgreSQL type for numbers of transactions.
    package static func transaction(_ number: UInt64) -> PostgresParameter {
        PostgresParameter(oid: 5069, bytes: PostgresType.bigEndian(number))
    }

    /// An array of `xid8`.
    package static func transactions(_ numbers: [UInt64]) -> PostgresParameter {
        // The header contains the number of dimensions, flags, and the type of the elements. For an array with
        // elements, the number of elements and the index of the first element follow.
        let header = [Int32(numbers.isEmpty ? 0 : 1), 0, 5069] + (numbers.isEmpty ? [] : [Int32(numbers.count), 1])
        let elements = numbers.flatMap { PostgresType.bigEndian(Int32(8)) + PostgresType.bigEndian($0) }
        return PostgresParameter(oid: 271, bytes: header.flatMap { PostgresType.bigEndian($0) } + elements)
    }

    /// A `bit varying`. The bytes contain the number of bits, followed by the bits. The first bit is the highest bit of
    /// its byte.
    package static func bits(_ bits: [Bool]) -> PostgresParameter {
        var bytes = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (index, bit) in bits.enumerated() where bit { bytes[index / 8] |= 0x80 >> UInt8(index % 8) }
        return PostgresParameter(oid: 1562, bytes: PostgresType.bigEndian(Int32(bits.count)) + bytes)
    }
}
