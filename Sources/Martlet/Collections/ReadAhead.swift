import MartletEngine

/// Reads rows in advance while a program reads the members of a result at consecutive positions, forwards or backwards.
/// One statement then reads many rows.
struct ReadAhead {
    private var lastPosition = -2
    /// 1 or -1 if the last two positions were consecutive; otherwise 0.
    private var direction = 0
    /// The number of consecutive positions that were read.
    private var runLength = 0
    /// Copied rows of the members at the next positions. There is no copied row for a member that was deleted, or that
    /// has an accessor with current values.
    private var rows: RowBlock?
    private var rowPosition = 0
    /// True if the rows were read in the reverse order of the positions.
    private var isReversed = false
    /// The change count of the Realm when the rows were copied.
    private var changeCount: UInt64 = 0

    private static let leastRun = 4
    private static let blockSize = 32

    /// The accessor of the member at a position.
    ///
    /// - Parameter keyAt: returns the key at a position; nil if the position is out of range.
    mutating func object(
        _ key: ObjectKey, at position: Int, _ table: ObjectTable, keyAt: (Int) -> ObjectKey?
    ) -> ObjectBase {
        let step = position - lastPosition
        lastPosition = position
        if step == direction, step != 0 {
            runLength += 1
        } else {
            (direction, runLength, rows) = (abs(step) == 1 ? step : 0, 0, nil)
        }
        let context = table.context
        let isRun = runLength >= Self.leastRun && !context.isFrozen && context.transaction == nil
        guard isRun else { return table.object(key) }
        if let known = table.identity.object(key) { return known }
        if !hasRow(key, context) {
            readRows(from: position, table, keyAt)
            guard hasRow(key, context) else {
                runLength = 0
                return table.object(key)
            }
        }
        guard let row = rows.map({ row(rowPosition, of: $0) }) else { return table.object(key) }
        rowPosition += 1
        let object = table.makeAccessor(key)
        table.identity.insert(object, key)
        context.fill(object, row, table)
        return object
    }

    // Moves to the copied row of a member. Returns false if there is none.
    private mutating func hasRow(_ key: ObjectKey, _ context: RealmContext) -> Bool {
        guard let rows, changeCount == context.changeCount else { return false }
        while rowPosition < rows.count {
            if row(rowPosition, of: rows).integer(rows.selection.keyPosition) == key { return true }
            rowPosition += 1
        }
        return false
    }

    private func row(_ position: Int, of rows: RowBlock) -> RowColumns {
        rows.row(isReversed ? rows.count - 1 - position : position)
    }

    private mutating func readRows(from position: Int, _ table: ObjectTable, _ keyAt: (Int) -> ObjectKey?) {
        var keys: [ObjectKey] = []
        for step in 0..<Self.blockSize {
            guard position + step * direction >= 0, let key = keyAt(position + step * direction) else { break }
            keys.append(key)
        }
        var block = rows ?? RowBlock(table.rows.wholeRow, rowCapacity: Self.blockSize)
        block.removeAll(rowCapacity: Self.blockSize)
        (changeCount, rowPosition, isReversed) = (table.context.changeCount, 0, false)
        var ascending = keys
        if direction < 0 { ascending.reverse() }
        if table.canReadRange(of: ascending[...]) {
            isReversed = direction < 0
            table.context.read { try table.rows.readRange(of: ascending[...], into: &block, $0) }
        } else {
            table.context.read { try table.rows.readRows(keys, into: &block, $0) }
        }
        rows = block
    }
}
