package import MartletSQLite
package import MartletValues

/// The columns of one stored row, in the order of `TableLayout.rowColumns`. The row is the current row of a statement
/// or a copied row.
///
/// An instance is valid until the statement takes its next step, or the block of copied rows changes. The methods
/// return nil for NULL, for a value of another type, and for text that is not valid UTF-8. Columns have fixed types, so
/// the last two cases occur only in a damaged file.
package struct RowColumns {
    @usableFromInline enum Source {
        // The caller keeps the statement alive.
        case statement(Unmanaged<Statement>)
        case copy(BufferedRow)
    }

    @usableFromInline let source: Source

    init(_ statement: Statement) { source = .statement(.passUnretained(statement)) }

    @usableFromInline init(_ row: BufferedRow) { source = .copy(row) }

    @inlinable package func isNull(_ column: Int) -> Bool {
        switch source {
        case .statement(let statement): statement._withUnsafeGuaranteedRef { $0.isNull(column) }
        case .copy(let row): row.isNull(column)
        }
    }

    @inlinable package func integer(_ column: Int) -> Int64? {
        switch source {
        case .statement(let statement): statement._withUnsafeGuaranteedRef { $0.validInteger(column) }
        case .copy(let row): row.integer(column)
        }
    }

    /// The value as a floating-point number, if it is an integer or a floating-point number.
    @inlinable package func real(_ column: Int) -> Double? {
        switch source {
        case .statement(let statement): statement._withUnsafeGuaranteedRef { $0.validReal(column) }
        case .copy(let row): row.real(column)
        }
    }

    @inlinable package func text(_ column: Int) -> String? {
        switch source {
        case .statement(let statement): statement._withUnsafeGuaranteedRef { $0.validText(column) }
        case .copy(let row): row.text(column)
        }
    }

    @inlinable package func withBlob<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        switch source {
        case .statement(let statement): statement._withUnsafeGuaranteedRef { $0.validBlob(column) }.map(body)
        case .copy(let row): row.withBlob(column, body)
        }
    }

    /// The value of a column of any type. In a text, bytes that are not valid UTF-8 are replaced.
    package func value(_ column: Int) -> SQLValue {
        switch source {
        case .statement(let statement): statement._withUnsafeGuaranteedRef { $0.value(column) }
        case .copy(let row): row.value(column)
        }
    }
}

/// A block of rows that were copied out of a statement. The rows can be decoded after the statement was reused, and
/// while another thread holds the lock of the connection.
package struct RowBlock {
    @usableFromInline var buffer: RowBuffer
    /// The columns of the copied rows.
    package let selection: RowSelection

    package init(_ selection: RowSelection, rowCapacity: Int) {
        self.selection = selection
        buffer = RowBuffer(columnCount: selection.keyPosition + 1, rowCapacity: rowCapacity)
    }

    @inlinable package var count: Int { buffer.count }

    /// True if the block contains at least 1 MiB of texts and blobs. The caller then decodes the rows of the block
    /// before it reads more rows.
    var isLarge: Bool { buffer.isLarge }

    /// Removes all rows. Copies of the block keep their rows.
    package mutating func removeAll(rowCapacity: Int) {
        if !isKnownUniquelyReferenced(&buffer) {
            buffer = RowBuffer(columnCount: selection.keyPosition + 1, rowCapacity: rowCapacity)
        }
        buffer.removeAll()
    }

    func append(_ statement: Statement) { buffer.append(statement) }

    /// The row with the given number. The first row has the number zero.
    @inlinable package func row(_ number: Int) -> RowColumns { RowColumns(buffer.row(number)) }
}
