import CMartletSQLite
package import MartletValues

/// A prepared statement. It belongs to one connection, and is used only by the thread that uses the connection.
///
/// References to the statement may be released on any thread, even after the connection is closed, because closing the
/// connection finalizes the statement. A finalized statement has no rows, and its method `step` throws.
package final class Statement {
    package let sql: String
    // Nil after the statement was finalized. SQLite then rejects binding and stepping, reads every column as NULL, and
    // ignores reset and finalize.
    @exclusivity(unchecked) private(set) var pointer: OpaquePointer?
    @exclusivity(unchecked) private var connection: OpaquePointer?
    /// The generation of the connection when the statement was prepared.
    private let generation: UInt64
    package let columnCount: Int
    /// The error code for a value that could not be bound. The next `step` throws it and does not run the statement.
    @exclusivity(unchecked) private var bindingCode = SQLITE_OK

    init(connection: OpaquePointer, generation: UInt64, sql: String) throws(SQLiteError) {
        var text = sql
        var prepared: OpaquePointer?
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { chars in
                sqlite3_prepare_v3(
                    connection, chars.baseAddress, Int32(chars.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil
                )
            }
        }
        guard code == SQLITE_OK, let prepared else { throw SQLiteError(connection, code: code, sql: sql) }
        self.sql = sql
        self.connection = connection
        self.generation = generation
        pointer = prepared
        columnCount = Int(sqlite3_column_count(prepared))
    }

    // Does nothing if the connection has already finalized the statement.
    deinit { sqlite3_finalize(pointer) }

    /// Finalizes the statement while references to it remain. Called by its connection.
    func finalize() {
        sqlite3_finalize(pointer)
        pointer = nil
        connection = nil
    }

    /// True if the statement belongs to the given connection and is not finalized.
    package func belongs(to other: Connection) -> Bool { generation == other.generation }

    // MARK: Binding (indices from 1)

    package func bind(_ value: Int64, at index: Int) { sqlite3_bind_int64(pointer, Int32(index), value) }

    package func bind(_ value: Double, at index: Int) { sqlite3_bind_double(pointer, Int32(index), value) }

    package func bindNull(at index: Int) { sqlite3_bind_null(pointer, Int32(index)) }

    package func bind(_ value: String, at index: Int) {
        var text = value
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { chars in
                checkedBind(chars.count) { cmartlet_bind_text_transient(pointer, Int32(index), chars.baseAddress, $0) }
            }
        }
    }

    package func bind(_ bytes: UnsafeRawBufferPointer, at index: Int) {
        checkedBind(bytes.count) { cmartlet_bind_blob_transient(pointer, Int32(index), bytes.baseAddress, $0) }
    }

    /// Binds text whose bytes the caller keeps in place until the statement is reset.
    package func bindStaticText(_ bytes: UnsafeRawPointer, count: Int, at index: Int) {
        checkedBind(count) {
            cmartlet_bind_text_static(pointer, Int32(index), bytes.assumingMemoryBound(to: CChar.self), $0)
        }
    }

    package func bindStaticBlob(_ bytes: UnsafeRawPointer, count: Int, at index: Int) {
        checkedBind(count) { cmartlet_bind_blob_static(pointer, Int32(index), bytes, $0) }
    }

    // Without this check, a value that is too long would silently become NULL.
    @inline(__always)
    private func checkedBind(_ count: Int, _ bind: (Int32) -> Int32) {
        let code = count <= Int(Int32.max) ? bind(Int32(truncatingIfNeeded: count)) : SQLITE_TOOBIG
        if code != SQLITE_OK { bindingCode = code }
    }

    package func bind(_ value: SQLValue, at index: Int) {
        switch value {
        case .null: bindNull(at: index)
        case .integer(let number): bind(number, at: index)
        case .real(let number): bind(number, at: index)
        case .text(let text): bind(text, at: index)
        case .blob(let bytes): bytes.withUnsafeBytes { bind($0, at: index) }
        }
    }

    package func bind(_ values: [SQLValue]) {
        for (offset, value) in values.enumerated() { bind(value, at: offset + 1) }
    }

    // MARK: Running

    /// Advances to the next row. Returns false at the end, after resetting the statement.
    package func step() throws(SQLiteError) -> Bool {
        if bindingCode != SQLITE_OK { throw bindingError() }
        let code = sqlite3_step(pointer)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE {
            sqlite3_reset(pointer)
            return false
        }
        let error = SQLiteError(connection, code: code, sql: sql)
        sqlite3_reset(pointer)
        throw error
    }

    private func bindingError() -> SQLiteError {
        let code = bindingCode
        bindingCode = SQLITE_OK
        sqlite3_reset(pointer)
        return SQLiteError(connection, code: code, sql: sql)
    }

    /// Runs the statement to the end, and resets it.
    package func run() throws(SQLiteError) {
        while try step() {}
    }

    package func reset() { sqlite3_reset(pointer) }

    // MARK: Columns (indices from 0)

    @inline(__always)
    package func column(_ column: Int) -> ColumnValue {
        // The pointer is never null: for a column outside of the row, SQLite returns a value of type NULL.
        ColumnValue(pointer: sqlite3_column_value(pointer, Int32(column)).unsafelyUnwrapped)
    }

    package func isNull(_ column: Int) -> Bool { self.column(column).isNull }

    package func integer(_ column: Int) -> Int64 { self.column(column).integer }

    package func real(_ column: Int) -> Double { self.column(column).real }

    package func text(_ column: Int) -> String { self.column(column).text }

    /// The integer of a column. Nil for values of other types.
    package func validInteger(_ column: Int) -> Int64? {
        let value = self.column(column)
        return value.isInteger ? value.integer : nil
    }

    /// The floating-point number or integer of a column, as a floating-point number. Nil for values of other types.
    package func validReal(_ column: Int) -> Double? { self.column(column).number }

    /// The bytes of a blob. They are valid until the next step. Nil for values of other types.
    package func validBlob(_ column: Int) -> UnsafeRawBufferPointer? { self.column(column).validBlob }

    /// The text of a column. Nil for values of other types and for bytes that are not valid UTF-8.
    package func validText(_ column: Int) -> String? { self.column(column).validText }

    /// Calls `body` with the bytes of a blob. They are valid during the call.
    package func withBlob<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        self.column(column).withBlob(body)
    }

    package func blob(_ column: Int) -> [UInt8] { withBlob(column) { Array($0) } }

    package func value(_ column: Int) -> SQLValue { self.column(column).value }
}
