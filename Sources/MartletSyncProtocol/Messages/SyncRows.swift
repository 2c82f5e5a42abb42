/// Rows in their encoded form, which needs about a tenth of the memory of `[SyncRow]`. Each row is decoded when the
/// sequence reaches it.
package struct SyncRows: Sendable, Hashable, Sequence, ExpressibleByArrayLiteral {
    /// The addresses of the rows.
    package private(set) var addresses: [ObjectAddress] = []
    /// The encoded values of all rows, one after the other.
    private var values: [UInt8] = []
    /// For each row, the end of its values.
    private var ends: [Int] = []

    package init(_ rows: some Sequence<SyncRow>) { for row in rows { append(row) } }
    package init(arrayLiteral rows: SyncRow...) { self.init(rows) }

    package var count: Int { addresses.count }
    package var isEmpty: Bool { addresses.isEmpty }

    package mutating func append(_ row: SyncRow) {
        var writer = MessageWriter()
        writer.values(row.values)
        append(row.address, writer.bytes[...])
    }

    package mutating func append(_ other: SyncRows) {
        let start = values.count
        addresses += other.addresses
        values += other.values
        ends += other.ends.map { start + $0 }
    }

    /// Appends one row of other rows without decoding it.
    package mutating func append(rowAt index: Int, of other: SyncRows) {
        append(other.addresses[index], other.bytes(index))
    }

    /// Decodes one row.
    package func row(at index: Int) -> SyncRow {
        var reader = MessageReader(stored: Array(bytes(index)))
        return SyncRow(address: addresses[index], values: reader.storedValues())
    }

    private func bytes(_ index: Int) -> ArraySlice<UInt8> {
        values[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }

    /// Calls the closure with each row. The values of a row are in the order of their paths.
    package func forEach(
        _ body: (ObjectAddress, [(path: ValuePath, value: SyncValue)]) throws -> Void
    ) rethrows {
        var reader = MessageReader(stored: values)
        var decoded: [(path: ValuePath, value: SyncValue)] = []
        for address in addresses {
            decoded.removeAll(keepingCapacity: true)
            reader.forEachStoredValue { decoded.append(($0, $1)) }
            try body(address, decoded)
        }
    }

    package struct Iterator: IteratorProtocol {
        fileprivate let addresses: [ObjectAddress]
        fileprivate var reader: MessageReader
        private var position = 0

        fileprivate init(_ rows: SyncRows) {
            addresses = rows.addresses
            reader = MessageReader(stored: rows.values)
        }

        package mutating func next() -> SyncRow? {
            guard position < addresses.count else { return nil }
            defer { position += 1 }
            return SyncRow(address: addresses[position], values: reader.storedValues())
        }
    }

    package func makeIterator() -> Iterator { Iterator(self) }
}

extension MessageWriter {
    mutating func rows(_ rows: SyncRows) {
        count(rows.count)
        rows.write(to: &self)
    }
}

extension MessageReader {
    // Decodes values that were encoded or decoded before, so they are not malformed.
    fileprivate mutating func forEachStoredValue(_ each: (ValuePath, SyncValue) -> Void) {
        do {
            try forEachValue(each)
        } catch {
            preconditionFailure("encoded rows cannot be decoded: \(error)")
        }
    }

    fileprivate mutating func storedValues() -> [ValuePath: SyncValue] {
        var values: [ValuePath: SyncValue] = [:]
        forEachStoredValue { values[$0] = $1 }
        return values
    }

    /// Reads a list of rows. Decodes each row to check it.
    mutating func syncRows() throws(MalformedMessage) -> SyncRows {
        var rows = SyncRows([])
        for _ in 0..<(try count()) {
            let address = try address()
            try rows.append(address, encoded { reader throws(MalformedMessage) in try reader.forEachValue { _, _ in } })
        }
        return rows
    }
}

extension SyncRows {
    fileprivate func write(to writer: inout MessageWriter) {
        for index in addresses.indices {
            writer.address(addresses[index])
            writer.append(bytes(index))
        }
    }

    fileprivate mutating func append(_ address: ObjectAddress, _ encoded: ArraySlice<UInt8>) {
        addresses.append(address)
        values += encoded
        ends.append(values.count)
    }
}
