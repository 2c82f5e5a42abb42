import CMartletSQLite
package import MartletValues

/// Rows that were copied out of a statement. They can be decoded after the statement was reused, and while another
/// thread holds the lock of the connection.
package final class RowBuffer {
    /// One value. The bytes of texts and blobs are stored separately.
    @usableFromInline struct Value {
        /// The integer, the bits of the floating-point number, or the offset of the bytes. Zero for NULL.
        @usableFromInline let bits: UInt64
        @usableFromInline let byteCount: Int32
        @usableFromInline let type: ValueType

        init(_ type: ValueType, bits: UInt64 = 0, byteCount: Int32 = 0) {
            self.bits = bits
            self.byteCount = byteCount
            self.type = type
        }
    }

    @usableFromInline enum ValueType: UInt8 {
        case null, integer, real, text, blob
    }

    private let columnCount: Int
    // The buffer is used by one thread at a time, and no two accesses to these properties overlap.
    @exclusivity(unchecked) private var rowCount = 0
    @exclusivity(unchecked) private var rowCapacity: Int
    @exclusivity(unchecked) private var values: UnsafeMutablePointer<Value>
    @exclusivity(unchecked) private var byteCapacity: Int
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var usedBytes = 0

    package init(columnCount: Int, rowCapacity: Int) {
        self.columnCount = columnCount
        self.rowCapacity = max(rowCapacity, 1)
        values = .allocate(capacity: self.rowCapacity * columnCount)
        byteCapacity = self.rowCapacity * 64
        bytes = .allocate(byteCount: byteCapacity, alignment: 8)
    }

    // Computed, because other modules would check each access to a stored property for exclusivity.
    package var count: Int { rowCount }

    deinit {
        values.deallocate()
        bytes.deallocate()
    }

    /// True if the buffer contains at least 1 MiB of texts and blobs. The caller then decodes the rows before it adds
    /// more rows.
    package var isLarge: Bool { usedBytes >= 1 << 20 }

    package func removeAll() {
        rowCount = 0
        usedBytes = 0
    }

    /// Copies the current row of a statement that has the same number of columns.
    package func append(_ statement: Statement) {
        if rowCount == rowCapacity { growRows() }
        let row = values + rowCount * columnCount
        let pointer = statement.pointer
        for column in 0..<columnCount {
            // The pointer is never null: for a column outside of the row, SQLite returns a value of type NULL.
            let value = sqlite3_column_value(pointer, Int32(truncatingIfNeeded: column)).unsafelyUnwrapped
            (row + column).initialize(to: copy(value))
        }
        rowCount += 1
    }

    @inline(__always)
    private func copy(_ value: OpaquePointer) -> Value {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: Value(.integer, bits: UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: Value(.real, bits: sqlite3_value_double(value).bitPattern)
        case SQLITE_TEXT: copy(sqlite3_value_text(value), sqlite3_value_bytes(value), .text)
        case SQLITE_BLOB: copy(sqlite3_value_blob(value), sqlite3_value_bytes(value), .blob)
        default: Value(.null)
        }
    }

    // Copies the bytes of a text or blob. If SQLite runs out of memory for a text, the copy is empty. In this case,
    // `Statement.text` also returns an empty text.
    @inline(__always)
    private func copy(_ source: UnsafeRawPointer?, _ byteCount: Int32, _ type: ValueType) -> Value {
        guard let source, byteCount > 0 else { return Value(type) }
        let start = usedBytes
        if start + Int(byteCount) > byteCapacity { growBytes(to: start + Int(byteCount)) }
        (bytes + start).copyMemory(from: source, byteCount: Int(byteCount))
        usedBytes = start + Int(byteCount)
        return Value(type, bits: UInt64(start), byteCount: byteCount)
    }

    private func growRows() {
        let larger = UnsafeMutablePointer<Value>.allocate(capacity: rowCapacity * 2 * columnCount)
        larger.moveInitialize(from: values, count: rowCount * columnCount)
        values.deallocate()
        values = larger
        rowCapacity *= 2
    }

    private func growBytes(to needed: Int) {
        let capacity = max(needed, byteCapacity * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: bytes, byteCount: usedBytes)
        bytes.deallocate()
        bytes = larger
        byteCapacity = capacity
    }

    /// The row with the given number. The first row has the number zero.
    package func row(_ number: Int) -> BufferedRow {
        precondition(number >= 0 && number < rowCount)
        return BufferedRow(values: values + number * columnCount, columnCount: columnCount, bytes: bytes)
    }
}

/// One row of a buffer, valid until the buffer changes.
///
/// The typed accessors return nil for NULL, for a value of another type, and for text that is not valid UTF-8. Columns
/// have fixed types, so values of another type and invalid UTF-8 occur only in a damaged file. Only `real` accepts two
/// types: it converts integers to floating-point numbers.
package struct BufferedRow {
    @usableFromInline let values: UnsafePointer<RowBuffer.Value>
    @usableFromInline let columnCount: Int
    @usableFromInline let bytes: UnsafeRawPointer

    fileprivate init(values: UnsafePointer<RowBuffer.Value>, columnCount: Int, bytes: UnsafeRawPointer) {
        self.values = values
        self.columnCount = columnCount
        self.bytes = bytes
    }

    @inlinable subscript(column: Int) -> RowBuffer.Value {
        precondition(column >= 0 && column < columnCount)
        return values[column]
    }

    @inlinable package func isNull(_ column: Int) -> Bool { self[column].type == .null }

    @inlinable package func integer(_ column: Int) -> Int64? {
        let value = self[column]
        return value.type == .integer ? Int64(bitPattern: value.bits) : nil
    }

    @inlinable package func real(_ column: Int) -> Double? {
        let value = self[column]
        switch value.type {
        case .real: return Double(bitPattern: value.bits)
        case .integer: return Double(Int64(bitPattern: value.bits))
        case .null, .text, .blob: return nil
        }
    }

    @inlinable package func text(_ column: Int) -> String? {
        let value = self[column]
        return value.type == .text ? String(validUTF8: content(value)) : nil
    }

    @inlinable package func withBlob<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        let value = self[column]
        return value.type == .blob ? body(content(value)) : nil
    }

    package func value(_ column: Int) -> SQLValue {
        let value = self[column]
        switch value.type {
        case .integer: return .integer(Int64(bitPattern: value.bits))
        case .real: return .real(Double(bitPattern: value.bits))
        case .text: return .text(String(decoding: content(value), as: UTF8.self))
        case .blob: return .blob(Array(content(value)))
        case .null: return .null
        }
    }

    @inlinable func content(_ value: RowBuffer.Value) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(value.bits), count: Int(value.byteCount))
    }
}
