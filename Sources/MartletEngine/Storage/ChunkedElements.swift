package import MartletSQLite
package import MartletValues

/// The elements of one list, set or map of one row. They are stored in chunks of up to 512 elements, so that an
/// insertion rewrites one chunk instead of the whole collection. A chunk is loaded at the first access, and written if
/// it has changed.
package struct ChunkedElements {
    struct Chunk {
        /// The chunks of a collection are in ascending order of their ordinals. Gaps leave room for further chunks.
        var ordinal: Int64
        var count: Int
        /// Nil until the elements are loaded.
        var elements: [SQLValue]?
        var isDirty = false
    }

    /// The maximum number of elements of a chunk. Tests use small limits to create many chunks.
    private let limit: Int
    private(set) var chunks: [Chunk] = []
    /// Ordinals of chunks that no longer exist and must be deleted from the table.
    private var removedOrdinals: [Int64] = []
    package private(set) var count = 0
    /// The position of each chunk's first element.
    private var starts: [Int] = []
    /// The index of the chunk that was used last. Most accesses are close to the previous access.
    private var hint = 0

    package init(limit: Int = 512) { self.limit = limit }

    /// Reads the sizes of the chunks. Their elements are loaded on demand.
    package init(owner: ObjectKey, table: String, _ connection: Connection, limit: Int = 512) throws {
        self.limit = limit
        let statement = try connection.statement(
            "SELECT ordinal, count FROM \(table) WHERE owner = ?1 ORDER BY ordinal")
        statement.bind(owner, at: 1)
        while try statement.step() {
            let size = statement.integer(1)
            guard size > 0, size <= Int64(Int32.max) else {
                statement.reset()
                throw EngineError.damaged(
                    "a collection in \(table), of the row with the key \(owner), has a chunk of \(size) elements",
                    path: connection.options.path)
            }
            chunks.append(Chunk(ordinal: statement.integer(0), count: Int(size)))
            starts.append(count)
            count += Int(size)
        }
    }

    /// The position of the first element of a chunk. Nil if no chunk has this ordinal.
    package func position(ofChunk ordinal: Int64) -> Int? { chunkIndex(of: ordinal).map { starts[$0] } }

    private func chunkIndex(of ordinal: Int64) -> Int? {
        let index = chunks.indices.partitionPoint { chunks[$0].ordinal >= ordinal }
        return index < chunks.count && chunks[index].ordinal == ordinal ? index : nil
    }

    /// The ordinal of the chunk with the element at a position.
    package mutating func ordinal(at position: Int) -> Int64 { chunks[locate(position).chunk].ordinal }

    /// A closure that reads the elements of a chunk from the file.
    package typealias Loader = (_ ordinal: Int64, _ count: Int) throws -> [SQLValue]

    package static func load(
        owner: ObjectKey, ordinal: Int64, count: Int, table: String, _ connection: Connection
    ) throws -> [SQLValue] {
        let statement = try connection.statement("SELECT elements FROM \(table) WHERE owner = ?1 AND ordinal = ?2")
        statement.bind(owner, at: 1)
        statement.bind(ordinal, at: 2)
        guard try statement.step() else {
            throw EngineError.damaged(
                "a collection in \(table), of the row with the key \(owner), lacks a chunk",
                path: connection.options.path)
        }
        defer { statement.reset() }
        guard let elements = statement.withBlob(0, { ElementCodec.decode($0, count: count) }) else {
            throw EngineError.damaged(
                "a collection in \(table), of the row with the key \(owner), cannot be read",
                path: connection.options.path)
        }
        return elements
    }

    /// A closure that searches the encoded elements of a chunk in the file.
    package typealias Searcher = (_ ordinal: Int64, _ count: Int) throws -> EncodedSearch.Outcome

    package static func search(
        _ sought: EncodedSearch, owner: ObjectKey, ordinal: Int64, count: Int, table: String, _ connection: Connection
    ) throws -> EncodedSearch.Outcome {
        try withEncoded(owner: owner, ordinal: ordinal, table: table, connection) {
            sought.search($0, count: count)
        } ?? .undecided
    }

    /// Calls a closure with the encoded elements of a chunk in the file. Returns nil if the file has no such chunk.
    static func withEncoded<R>(
        owner: ObjectKey, ordinal: Int64, table: String, _ connection: Connection,
        _ body: (UnsafeRawBufferPointer) -> R
    ) throws -> R? {
        let statement = try connection.statement("SELECT elements FROM \(table) WHERE owner = ?1 AND ordinal = ?2")
        statement.bind(owner, at: 1)
        statement.bind(ordinal, at: 2)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.withBlob(0, body)
    }

    // MARK: Reading

    package mutating func element(at position: Int, _ load: Loader) throws -> SQLValue {
        let (chunk, offset) = locate(position)
        try loadChunk(chunk, load)
        return chunks[chunk].elements?[offset] ?? .null
    }

    package mutating func all(_ load: Loader) throws -> [SQLValue] {
        var elements: [SQLValue] = []
        elements.reserveCapacity(count)
        for index in chunks.indices {
            try loadChunk(index, load)
            elements += chunks[index].elements ?? []
        }
        return elements
    }

    /// True if all elements are in one chunk, or if there are none.
    package var isShort: Bool { chunks.count < 2 }

    /// The position of the first element that equals a value.
    ///
    /// Chunks that are not loaded are searched without decoding them, unless the collection is short. `step` is 2 for the
    /// keys of a map, and otherwise 1.
    package mutating func firstPosition(
        of value: SQLValue, step: Int, _ search: Searcher, _ load: Loader
    ) throws -> Int? {
        for index in chunks.indices {
            if let position = try position(of: value, step: step, inChunk: index, search, load) { return position }
        }
        return nil
    }

    /// As `firstPosition(of:step:_:_:)`, but searches only some chunks.
    package mutating func firstPosition(
        of value: SQLValue, step: Int, inChunks ordinals: [Int64], _ search: Searcher, _ load: Loader
    ) throws -> Int? {
        for index in ordinals.compactMap(chunkIndex) {
            if let position = try position(of: value, step: step, inChunk: index, search, load) { return position }
        }
        return nil
    }

    private mutating func position(
        of value: SQLValue, step: Int, inChunk index: Int, _ search: Searcher, _ load: Loader
    ) throws -> Int? {
        if chunks[index].elements == nil, !isShort {
            let outcome = try search(chunks[index].ordinal, chunks[index].count)
            if case .found(let offset) = outcome { return starts[index] + offset }
            if outcome == .absent { return nil }
        }
        try loadChunk(index, load)
        return chunks[index].elements.flatMap { Self.offset(of: value, in: $0, step) }.map { starts[index] + $0 }
    }

    /// The positions of all elements that equal one of some values, in ascending order.
    ///
    /// - Parameter mayContain: false if a chunk in the file contains none of the values. It is not called for loaded
    ///   chunks.
    package mutating func positions(
        of values: Set<SQLValue>, _ mayContain: (_ ordinal: Int64, _ count: Int) throws -> Bool, _ load: Loader
    ) throws -> [Int] {
        let only = values.count == 1 ? values.first : nil
        var found: [Int] = []
        for index in chunks.indices {
            let isLoaded = chunks[index].elements != nil || isShort
            if !isLoaded, try !mayContain(chunks[index].ordinal, chunks[index].count) { continue }
            try loadChunk(index, load)
            let elements = chunks[index].elements ?? []
            if let only, Self.offset(of: only, in: elements, 1) == nil { continue }
            for (offset, element) in elements.enumerated() where values.contains(element) {
                found.append(starts[index] + offset)
            }
        }
        return found
    }

    private static func offset(of value: SQLValue, in elements: [SQLValue], _ step: Int) -> Int? {
        if step > 1 { return stride(from: 0, to: elements.count, by: step).first { elements[$0] == value } }
        guard case .integer(let number) = value else { return elements.firstIndex(of: value) }
        return elements.firstIndex { if case .integer(let element) = $0 { element == number } else { false } }
    }

    // MARK: Changing

    package mutating func insert(_ element: SQLValue, at position: Int, _ load: Loader) throws {
        precondition(position >= 0 && position <= count)
        if chunks.isEmpty { addFirstChunk() }
        let (chunk, offset) = position == count ? endLocation() : locate(position)
        try loadChunk(chunk, load)
        chunks[chunk].elements?.insert(element, at: offset)
        adjustCount(of: chunk, by: 1)
        if chunks[chunk].count > limit {
            try divide(chunk, isAtEnd: position == count - 1 && chunk == chunks.count - 1, load)
        }
    }

    package mutating func replace(at position: Int, with element: SQLValue, _ load: Loader) throws -> SQLValue {
        let (chunk, offset) = locate(position)
        try loadChunk(chunk, load)
        let old = chunks[chunk].elements?[offset] ?? .null
        chunks[chunk].elements?[offset] = element
        chunks[chunk].isDirty = true
        return old
    }

    package mutating func remove(at position: Int, _ load: Loader) throws -> SQLValue {
        let (chunk, offset) = locate(position)
        try loadChunk(chunk, load)
        let old = chunks[chunk].elements?.remove(at: offset) ?? .null
        adjustCount(of: chunk, by: -1)
        if chunks[chunk].count == 0 {
            removedOrdinals.append(chunks[chunk].ordinal)
            chunks.remove(at: chunk)
            updateStarts()
        }
        return old
    }

    /// Inserts elements before a position. Complexity: proportional to the number of chunks, with one pass over the new
    /// elements.
    package mutating func insert(contentsOf new: [SQLValue], at position: Int, _ load: Loader) throws {
        precondition(position >= 0 && position <= count)
        if new.isEmpty { return }
        if chunks.isEmpty { addFirstChunk() }
        let isAtEnd = position == count
        let (chunk, offset) = isAtEnd ? endLocation() : locate(position)
        try loadChunk(chunk, load)
        chunks[chunk].elements?.insert(contentsOf: new, at: offset)
        adjustCount(of: chunk, by: new.count)
        if chunks[chunk].count > limit { try divide(chunk, isAtEnd: isAtEnd && chunk == chunks.count - 1, load) }
    }

    /// Removes a range of elements and returns them.
    package mutating func remove(_ range: Range<Int>, _ load: Loader) throws -> [SQLValue] {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        if range.isEmpty { return [] }
        var removed: [SQLValue] = []
        removed.reserveCapacity(range.count)
        var (chunk, offset) = locate(range.lowerBound)
        while removed.count < range.count {
            try loadChunk(chunk, load)
            let end = min(offset + range.count - removed.count, chunks[chunk].count)
            removed += chunks[chunk].elements?[offset..<end] ?? []
            chunks[chunk].elements?.removeSubrange(offset..<end)
            chunks[chunk].count -= end - offset
            chunks[chunk].isDirty = true
            chunk += 1
            offset = 0
        }
        count -= range.count
        removedOrdinals += chunks.filter { $0.count == 0 }.map(\.ordinal)
        chunks.removeAll { $0.count == 0 }
        updateStarts()
        return removed
    }

    package mutating func removeAll() {
        removedOrdinals += chunks.map(\.ordinal)
        chunks = []
        count = 0
        updateStarts()
    }

    // MARK: Writing

    package var isDirty: Bool { !removedOrdinals.isEmpty || chunks.contains(where: \.isDirty) }

    /// Writes the changes since the last call.
    package mutating func write(owner: ObjectKey, table: String, _ connection: Connection) throws {
        if !removedOrdinals.isEmpty {
            let delete = try connection.statement("DELETE FROM \(table) WHERE owner = ?1 AND ordinal = ?2")
            for ordinal in removedOrdinals {
                delete.bind(owner, at: 1)
                delete.bind(ordinal, at: 2)
                try delete.run()
            }
            removedOrdinals = []
        }
        let insert = try connection.statement("INSERT OR REPLACE INTO \(table) VALUES (?1, ?2, ?3, ?4)")
        for index in chunks.indices where chunks[index].isDirty {
            insert.bind(owner, at: 1)
            insert.bind(chunks[index].ordinal, at: 2)
            insert.bind(Int64(chunks[index].count), at: 3)
            ElementCodec.encode(chunks[index].elements ?? []).withUnsafeBytes { insert.bind($0, at: 4) }
            try insert.run()
            chunks[index].isDirty = false
        }
    }

    // MARK: Chunks

    private mutating func loadChunk(_ chunk: Int, _ load: Loader) throws {
        guard chunks[chunk].elements == nil else { return }
        chunks[chunk].elements = try load(chunks[chunk].ordinal, chunks[chunk].count)
    }

    private mutating func locate(_ position: Int) -> (chunk: Int, offset: Int) {
        precondition(position >= 0 && position < count)
        if position < starts[hint] || position >= starts[hint] + chunks[hint].count {
            // The last chunk that begins at or before the position.
            hint = starts.indices.partitionPoint { starts[$0] > position } - 1
        }
        return (hint, position - starts[hint])
    }

    private func endLocation() -> (chunk: Int, offset: Int) {
        (chunks.count - 1, chunks[chunks.count - 1].count)
    }

    private mutating func addFirstChunk() {
        chunks.append(Chunk(ordinal: 1 << 40, count: 0, elements: []))
        updateStarts()
    }

    // Updates the counts and the starts after the number of elements of a chunk has changed.
    private mutating func adjustCount(of chunk: Int, by number: Int) {
        chunks[chunk].count += number
        chunks[chunk].isDirty = true
        count += number
        let firstShifted = chunk + 1
        starts.withUnsafeMutableBufferPointer { starts in
            for later in firstShifted..<max(firstShifted, starts.count) { starts[later] &+= number }
        }
    }

    // Computes the starts after chunks have been added or removed.
    private mutating func updateStarts() {
        hint = 0
        starts.removeAll(keepingCapacity: true)
        var start = 0
        for chunk in chunks {
            starts.append(start)
            start += chunk.count
        }
    }

    // Divides a chunk that is longer than the limit. If elements were appended to the collection, all new chunks except
    // the last are filled up to the limit. If they were inserted elsewhere, the new chunks have about the same size.
    private mutating func divide(_ chunk: Int, isAtEnd: Bool, _ load: Loader) throws {
        guard let elements = chunks[chunk].elements else { return }
        let partCount = (elements.count + limit - 1) / limit
        let size = isAtEnd ? limit : (elements.count + partCount - 1) / partCount
        let first = chunks[chunk].ordinal
        let next = chunk + 1 < chunks.count ? chunks[chunk + 1].ordinal : first + Int64(partCount) << 20
        let distance = (next - first) / Int64(partCount)
        let parts = stride(from: 0, to: elements.count, by: size).enumerated().map { index, start in
            let part = Array(elements[start..<min(start + size, elements.count)])
            return Chunk(
                ordinal: first + Int64(index) * distance, count: part.count, elements: part, isDirty: true)
        }
        chunks.replaceSubrange(chunk...chunk, with: parts)
        updateStarts()
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.noRoomForChunk) { return }
        #endif
        if distance == 0 { try renumber(load) }
    }

    // Assigns new ordinals to all chunks. Called if no ordinal is free between two chunks.
    private mutating func renumber(_ load: Loader) throws {
        for index in chunks.indices { try loadChunk(index, load) }
        removedOrdinals += chunks.map(\.ordinal)
        for index in chunks.indices {
            chunks[index].ordinal = Int64(index + 1) << 32
            chunks[index].isDirty = true
        }
    }
}
