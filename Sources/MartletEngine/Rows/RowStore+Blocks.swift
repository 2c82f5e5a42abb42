package import MartletSQLite

// Reading many rows with one statement.
extension RowStore {
    /// Calls `body` with the rows of a range of keys, in ascending order, until `body` returns false.
    package func forEachRow(
        in range: ClosedRange<ObjectKey>, _ connection: Connection,
        _ body: (ObjectKey, RowColumns) throws -> Bool
    ) throws {
        try forEach(in: range, wholeRow, connection) { try body($0.integer(wholeRow.keyPosition), RowColumns($0)) }
    }

    /// Copies the first rows of a range of keys, in ascending order, until the block has `limit` rows or is large.
    package func readRows(
        in range: ClosedRange<ObjectKey>, limit: Int, into block: inout RowBlock, _ connection: Connection
    ) throws {
        try forEach(in: range, block.selection, connection) { statement in
            block.append(statement)
            return block.count < limit && !block.isLarge
        }
    }

    /// Copies the rows with the given keys, which must be in ascending order. One statement reads all rows between the
    /// first and the last key. Stops when the block is large. Skips keys without a row.
    package func readRange(of keys: ArraySlice<ObjectKey>, into block: inout RowBlock, _ connection: Connection) throws
    {
        guard let first = keys.first, let last = keys.last else { return }
        var expected = keys.startIndex
        let keyPosition = block.selection.keyPosition
        try forEach(in: first...last, block.selection, connection) { statement in
            let key = statement.integer(keyPosition)
            while expected < keys.endIndex, keys[expected] < key { expected += 1 }
            guard expected < keys.endIndex else { return false }
            if keys[expected] == key { block.append(statement) }
            return !block.isLarge
        }
    }

    /// Copies the rows with the given keys, one by one. Stops when the block is large. Skips keys without a row.
    // The keys are an array: a generic function would not be specialized for its callers in other modules.
    package func readRows(_ keys: [ObjectKey], into block: inout RowBlock, _ connection: Connection) throws {
        let statement =
            block.selection.isWhole
            ? try selectStatement(connection) : try connection.statement(block.selection.selectByKey)
        for key in keys {
            statement.bind(key, at: 1)
            if try statement.step() {
                block.append(statement)
                statement.reset()
            }
            if block.isLarge { return }
        }
    }

    private func forEach(
        in range: ClosedRange<ObjectKey>, _ selection: RowSelection, _ connection: Connection,
        _ body: (Statement) throws -> Bool
    ) throws {
        let statement = try connection.statement(selection.selectRange)
        statement.bind(range.lowerBound, at: 1)
        statement.bind(range.upperBound, at: 2)
        defer { statement.reset() }
        while try statement.step() {
            if try !body(statement) { return }
        }
    }
}
