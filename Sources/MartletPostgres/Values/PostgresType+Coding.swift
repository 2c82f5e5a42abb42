package import MartletValues

// In this file, an `SQLValue` has the form in which MartletEngine stores it in SQLite: booleans are 0 and 1, dates are
// seconds since 2001, UUIDs are 16 bytes. There are two exceptions: decimal numbers and JSON values are texts here.

extension PostgresType {
    /// Returns the binary format of a value, or nil for NULL.
    ///
    /// - Throws: `UnencodableValue` if the column cannot hold the value. Examples are numbers that are out of range,
    ///   texts that contain the character NUL, dates that are NaN or outside of the range of `timestamptz`, and values
    ///   of another type.
    package func encode(_ value: SQLValue) throws(UnencodableValue) -> [UInt8]? {
        if value == .null { return nil }
        switch (self, value) {
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return [UInt8(number)]
        case (.smallint, .integer(let number)): return Self.bigEndian(try Self.exactly(number, Int16.self))
        case (.integer, .integer(let number)): return Self.bigEndian(try Self.exactly(number, Int32.self))
        case (.bigint, .integer(let number)): return Self.bigEndian(number)
        case (.real, .real(let number)):
            let float = Float(number)
            guard !float.isInfinite || number.isInfinite else { throw UnencodableValue("a number is out of range") }
            return Self.bigEndian(float.bitPattern)
        case (.doublePrecision, .real(let number)): return Self.bigEndian(number.bitPattern)
        case (.text, .text(let text)): return try Self.utf8(text)
        case (.jsonb, .text(let text)): return [1] + (try Self.utf8(text))
        case (.numeric, .text(let text)): return try NumericFormat.encode(text)
        case (.bytea, .blob(let bytes)): return bytes
        case (.uuid, .blob(let bytes)) where bytes.count == 16: return bytes
        case (.timestamp, .real(let seconds)): return Self.bigEndian(try TimestampFormat.encode(seconds))
        default: throw UnencodableValue("a value does not have the type '\(sqlName)'")
        }
    }

    /// Decodes bytes in the binary format. Returns `.null` for nil.
    package func decode(_ bytes: UnsafeRawBufferPointer?) throws(PostgresError) -> SQLValue {
        guard let bytes else { return .null }
        switch self {
        case .boolean:
            guard bytes.count == 1, bytes[0] <= 1 else { throw .malformed("a boolean") }
            return .integer(Int64(bytes[0]))
        case .smallint: return .integer(Int64(try Self.number(bytes, Int16.self)))
        case .integer: return .integer(Int64(try Self.number(bytes, Int32.self)))
        case .bigint: return .integer(try Self.number(bytes, Int64.self))
        case .real: return .real(Double(Float(bitPattern: try Self.number(bytes, UInt32.self))))
        case .doublePrecision: return .real(Double(bitPattern: try Self.number(bytes, UInt64.self)))
        case .text: return .text(try Self.text(bytes))
        case .jsonb:
            guard bytes.first == 1 else { throw .malformed("a JSON value") }
            return .text(try Self.text(UnsafeRawBufferPointer(rebasing: bytes.dropFirst())))
        case .numeric: return .text(try NumericFormat.decode(bytes))
        case .bytea: return .blob(Array(bytes))
        case .uuid:
            guard bytes.count == 16 else { throw .malformed("a UUID") }
            return .blob(Array(bytes))
        case .timestamp: return .real(TimestampFormat.decode(try Self.number(bytes, Int64.self)))
        }
    }

    package static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Decodes a number whose most significant byte comes first. Throws if the count of the bytes is not the size of
    /// `Number`.
    package static func number<Number: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, _: Number.Type
    ) throws(PostgresError) -> Number {
        guard bytes.count == MemoryLayout<Number>.size else { throw .malformed("a number") }
        return Number(bigEndian: bytes.loadUnaligned(as: Number.self))
    }

    package static func text(_ bytes: UnsafeRawBufferPointer) throws(PostgresError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed("a text") }
        return text
    }

    private static func exactly<Number: FixedWidthInteger>(
        _ number: Int64, _: Number.Type
    ) throws(UnencodableValue) -> Number {
        guard let exact = Number(exactly: number) else { throw UnencodableValue("a number is out of range") }
        return exact
    }

    private static func utf8(_ text: String) throws(UnencodableValue) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard !bytes.contains(0) else {
            throw UnencodableValue("a text contains the character NUL, which PostgreSQL does not store")
        }
        return bytes
    }
}
