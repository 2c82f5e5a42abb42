import MartletSQLite

/// The keys of all rows of a table at one version, and the values of some columns. A value of this type never changes.
struct TableColumns: Sendable {
    /// The rows in the order of their keys.
    let keys: [KeyBlock]
    /// The values of the columns. Each array has one block for each block of `keys`.
    let columns: [PropertyIndex: [ColumnBlock]]

    /// The number of bytes that the blocks of several versions occupy in memory, oldest version first. Versions share
    /// the blocks that do not change between them.
    static func byteCount<Block>(
        _ versions: [[Block]], id: (Block) -> ObjectIdentifier, bytes: (Block) -> Int
    ) -> Int {
        var sum = versions.last.map { $0.reduce(0) { $0 + bytes($1) } } ?? 0
        for (old, new) in zip(versions, versions.dropFirst()) {
            if old.count == new.count {
                for (old, new) in zip(old, new) where id(old) != id(new) { sum += bytes(old) }
            } else {
                let known = Set(new.map(id))
                for block in old where !known.contains(id(block)) { sum += bytes(block) }
            }
        }
        return sum
    }

    var properties: ColumnSet { ColumnSet(columns.keys) }

    func removing(_ property: PropertyIndex) -> TableColumns? {
        var columns = columns
        columns[property] = nil
        return columns.isEmpty ? nil : TableColumns(keys: keys, columns: columns)
    }

    var rowCount: Int { keys.reduce(0) { $0 + $1.count } }
}

/// Reads columns from a file.
struct ColumnReader {
    let layout: TableLayout
    /// The properties whose columns are read, in ascending order.
    let properties: [(index: PropertyIndex, kind: ColumnKind)]

    init(_ table: DatabaseSchema.Table, _ properties: ColumnSet) {
        layout = table.layout
        self.properties = properties.compactMap { index in
            ColumnKind(table.type.properties[index]).map { (index, $0) }
        }
    }

    private var readsSpecials: Bool { layout.hasSpecials && properties.contains { $0.kind == .real } }

    private var selection: String {
        let names = properties.compactMap { layout.column(of: $0.index)?.name }
        let special = readsSpecials ? [TableLayout.specialColumn] : []
        return "SELECT \(([layout.keyColumn] + names + special).joined(separator: ", ")) FROM \(layout.table)"
    }

    /// Reads all rows. Returns nil if a value does not have the type of its property, or if the columns need more than
    /// `byteLimit` bytes.
    func read(_ connection: Connection, byteLimit: Int) throws -> TableColumns? {
        let statement = try connection.statement("\(selection) ORDER BY \(layout.keyColumn)")
        defer { statement.reset() }
        var table = TableColumnsBuilder(properties)
        let sources = sources
        while try statement.step() {
            guard table.append(statement, sources) else { return nil }
            if table.byteCount > byteLimit { return nil }
        }
        return table.finish()
    }

    /// Reads the rows with the given keys. Returns nil if a value does not have the type of its property, or if a row
    /// is missing.
    func read(_ keys: KeySet, _ connection: Connection) throws -> RowBatch? {
        var rows = RowBatch(buffers: properties.map { _ in ColumnBuffer() })
        let statement = try connection.statement(
            "\(selection) WHERE \(layout.keyColumn) BETWEEN ?1 AND ?2 ORDER BY \(layout.keyColumn)")
        defer { statement.reset() }
        let sources = sources
        for range in keys.ranges {
            statement.bind(range.lowerBound, at: 1)
            statement.bind(range.upperBound, at: 2)
            while try statement.step() {
                for (position, source) in sources.enumerated() {
                    guard rows.buffers[position].append(statement, source) else { return nil }
                }
                rows.keys.append(statement.integer(0))
            }
        }
        return rows.keys.count == keys.count ? rows : nil
    }

    private var sources: [ColumnBuffer.Source] {
        properties.enumerated().map { position, property in
            ColumnBuffer.Source(
                property: property.index, kind: property.kind, position: position + 1,
                special: readsSpecials ? properties.count + 1 : nil)
        }
    }
}

/// Some rows, in the order of their keys, with their values in some columns.
struct RowBatch {
    var keys: [ObjectKey] = []
    var buffers: [ColumnBuffer]
}

/// Packs rows, in the order of their keys, into blocks.
struct TableColumnsBuilder {
    private let properties: [(index: PropertyIndex, kind: ColumnKind)]
    private var keys: [ObjectKey] = []
    private var buffers: [ColumnBuffer]
    private var keyBlocks: [KeyBlock] = []
    private var columnBlocks: [[ColumnBlock]]
    /// The number of bytes of the finished blocks.
    private(set) var byteCount = 0

    init(_ properties: [(index: PropertyIndex, kind: ColumnKind)]) {
        self.properties = properties
        buffers = properties.map { _ in ColumnBuffer() }
        columnBlocks = properties.map { _ in [] }
    }

    /// Appends the current row of a statement. Returns false if a value does not have the type of its property.
    mutating func append(_ statement: Statement, _ sources: [ColumnBuffer.Source]) -> Bool {
        for (position, source) in sources.enumerated() {
            guard buffers[position].append(statement, source) else { return false }
        }
        endRow(statement.integer(0))
        return true
    }

    mutating func append(_ row: Int, of rows: RowBatch) {
        for position in buffers.indices { buffers[position].append(row, of: rows.buffers[position]) }
        endRow(rows.keys[row])
    }

    mutating func append(_ row: Int, _ key: ObjectKey, of columns: [ColumnBlock]) {
        for position in buffers.indices { buffers[position].append(row, of: columns[position]) }
        endRow(key)
    }

    private mutating func endRow(_ key: ObjectKey) {
        keys.append(key)
        if keys.count == ColumnBlock.capacity { endBlock() }
    }

    /// Appends one unchanged block of the keys and of each column.
    mutating func append(_ table: TableColumns, block: Int) {
        endBlock()
        keyBlocks.append(table.keys[block])
        for (position, property) in properties.enumerated() {
            if let blocks = table.columns[property.index] { columnBlocks[position].append(blocks[block]) }
        }
    }

    mutating func endBlock() {
        guard !keys.isEmpty else { return }
        keyBlocks.append(KeyBlock(keys))
        keys.removeAll(keepingCapacity: true)
        byteCount += keyBlocks[keyBlocks.count - 1].byteCount
        for (position, property) in properties.enumerated() {
            let block = ColumnBlock(buffers[position], property.kind)
            columnBlocks[position].append(block)
            buffers[position].removeAll()
            byteCount += block.byteCount
        }
    }

    mutating func finish() -> TableColumns {
        endBlock()
        return TableColumns(
            keys: keyBlocks,
            columns: Dictionary(uniqueKeysWithValues: zip(properties.map(\.index), columnBlocks)))
    }
}

extension TableColumns {
    /// The columns after rows have changed. Only blocks with changed rows are packed again.
    ///
    /// - Parameters:
    ///   - deleted: the rows to remove. A row that is also in `rows` is replaced.
    ///   - rows: the inserted and modified rows, with the columns of `reader.properties`.
    func applying(deleted: KeySet, rows: RowBatch, _ reader: ColumnReader) -> TableColumns {
        var (nextRow, nextDeleted) = (0, 0)
        let removed = Array(deleted)
        var table = TableColumnsBuilder(reader.properties)
        for block in keys.indices {
            let end = block + 1 < keys.count ? keys[block + 1].first : nil
            func belongs(_ key: ObjectKey) -> Bool { end.map { key < $0 } ?? true }
            let (firstRow, firstDeleted) = (nextRow, nextDeleted)
            while nextRow < rows.keys.count, belongs(rows.keys[nextRow]) { nextRow += 1 }
            while nextDeleted < removed.count, belongs(removed[nextDeleted]) { nextDeleted += 1 }
            if firstRow == nextRow && firstDeleted == nextDeleted {
                table.append(self, block: block)
            } else {
                merge(block, rows, firstRow..<nextRow, Set(removed[firstDeleted..<nextDeleted]), reader, into: &table)
            }
        }
        if keys.isEmpty { merge(nil, rows, rows.keys.indices, [], reader, into: &table) }
        return table.finish()
    }

    private func merge(
        _ block: Int?, _ rows: RowBatch, _ changed: Range<Int>, _ removed: Set<ObjectKey>, _ reader: ColumnReader,
        into table: inout TableColumnsBuilder
    ) {
        table.endBlock()
        let oldKeys = block.map { keys[$0].all } ?? []
        let old = block.map { block in reader.properties.compactMap { columns[$0.index]?[block] } } ?? []
        // A block that becomes too large is split into halves, so that rows can be added to each half.
        let isTooLarge = oldKeys.count + changed.count > ColumnBlock.capacity
        let limit = isTooLarge ? ColumnBlock.capacity / 2 : ColumnBlock.capacity
        var (row, next, written) = (0, changed.lowerBound, 0)
        while row < oldKeys.count || next < changed.upperBound {
            if next < changed.upperBound, row >= oldKeys.count || rows.keys[next] <= oldKeys[row] {
                if row < oldKeys.count, oldKeys[row] == rows.keys[next] { row += 1 }
                table.append(next, of: rows)
                next += 1
            } else {
                row += 1
                if removed.contains(oldKeys[row - 1]) { continue }
                table.append(row - 1, oldKeys[row - 1], of: old)
            }
            written += 1
            if written % limit == 0 { table.endBlock() }
        }
        table.endBlock()
    }
}
