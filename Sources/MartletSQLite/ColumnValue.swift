import CMartletSQLite
package import MartletValues

/// The value of one column of a statement's current row. It is valid until the next step.
///
/// It keeps SQLite's pointer to the value, because each call of a `sqlite3_column_…` function would look the column up
/// again.
package struct ColumnValue {
    let pointer: OpaquePointer

    package var isNull: Bool { sqlite3_value_type(pointer) == SQLITE_NULL }

    package var integer: Int64 { sqlite3_value_int64(pointer) }

    package var real: Double { sqlite3_value_double(pointer) }

    package var text: String {
        guard let bytes = sqlite3_value_text(pointer) else { return "" }
        let count = Int(sqlite3_value_bytes(pointer))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    package var isInteger: Bool { sqlite3_value_type(pointer) == SQLITE_INTEGER }

    package var isBlob: Bool { sqlite3_value_type(pointer) == SQLITE_BLOB }

    /// The value as a floating-point number. Nil if it is neither an integer nor a floating-point number.
    package var number: Double? {
        let type = sqlite3_value_type(pointer)
        return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? real : nil
    }

    /// The text. Nil for values of other types and for bytes that are not valid UTF-8.
    package var validText: String? {
        guard sqlite3_value_type(pointer) == SQLITE_TEXT else { return nil }
        guard let bytes = sqlite3_value_text(pointer) else { return "" }
        let count = Int(sqlite3_value_bytes(pointer))
        return String(validUTF8: UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The bytes of a text. They are valid until the next step. Nil for values of other types.
    package var textBytes: UnsafeRawBufferPointer? {
        guard sqlite3_value_type(pointer) == SQLITE_TEXT else { return nil }
        let bytes = sqlite3_value_text(pointer)
        return UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(pointer)))
    }

    /// The bytes of a blob. They are valid until the next step. Nil for values of other types.
    package var validBlob: UnsafeRawBufferPointer? {
        guard isBlob else { return nil }
        let bytes = sqlite3_value_blob(pointer)
        return UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(pointer)))
    }

    package func withBlob<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        let bytes = sqlite3_value_blob(pointer)
        let count = Int(sqlite3_value_bytes(pointer))
        return body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }

    /// The value without a copy of its bytes, which are valid until the next step.
    package var unowned: UnownedValue {
        switch sqlite3_value_type(pointer) {
        case SQLITE_INTEGER: .integer(integer)
        case SQLITE_FLOAT: .real(real)
        case SQLITE_TEXT: withBlob { .text($0) }
        case SQLITE_BLOB: withBlob { .blob($0) }
        default: .null
        }
    }

    package var value: SQLValue {
        switch sqlite3_value_type(pointer) {
        case SQLITE_INTEGER: .integer(integer)
        case SQLITE_FLOAT: .real(real)
        case SQLITE_TEXT: .text(text)
        case SQLITE_BLOB: .blob(withBlob { Array($0) })
        default: .null
        }
    }
}
