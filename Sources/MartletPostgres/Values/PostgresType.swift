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

    /// The object identifier of the type of arrays whose elements have this type.
    fileprivate var arrayOID: UInt32 {
        switch self {
        case .boolean: 1000
        case .bytea: 1001
        case .smallint: 1005
        case .integer: 1007
        case .text: 1009
        case .bigint: 1016
        case .real: 1021
        case .doublePrecision: 1022
        case .timestamp: 1185
        case .numeric: 1231
        case .uuid: 2951
        case .jsonb: 3807
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
        PostgresParameter(oid: 271, bytes: array(numbers.map(PostgresType.bigEndian), oid: 5069))
    }

    /// An array.
    ///
    /// - Parameter elements: the elements in the binary format of their type; nil for NULL.
    package static func array(_ elements: [[UInt8]?], of type: PostgresType) -> PostgresParameter {
        PostgresParameter(oid: type.arrayOID, bytes: array(elements, oid: type.oid))
    }

    private static func array(_ elements: [[UInt8]?], oid: UInt32) -> [UInt8] {
        // The header contains the number of dimensions, whether there are NULLs, and the type of the elements. For an
        // array with elements, the number of elements and the index of the first element follow.
        let hasNull = elements.contains { $0 == nil }
        let header = [Int32(elements.isEmpty ? 0 : 1), hasNull ? 1 : 0, Int32(oid)]
        let size = elements.isEmpty ? [] : [Int32(elements.count), 1]
        return (header + size).flatMap { PostgresType.bigEndian($0) }
            + elements.flatMap { PostgresType.bigEndian(Int32($0?.count ?? -1)) + ($0 ?? []) }
    }

    /// A `bit varying`. The bytes contain the number of bits, followed by the bits. The first bit is the highest bit of
    /// its byte.
    package static func bits(_ bits: [Bool]) -> PostgresParameter {
        var bytes = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (index, bit) in bits.enumerated() where bit { bytes[index / 8] |= 0x80 >> UInt8(index % 8) }
        return PostgresParameter(oid: 1562, bytes: PostgresType.bigEndian(Int32(bits.count)) + bytes)
    }
}
