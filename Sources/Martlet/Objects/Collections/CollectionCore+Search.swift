import MartletEngine
import MartletValues

// The first searches for one element do not read all elements into memory. Links are found in the table of targets, and
// other elements in the encoded chunks. After several searches without a change in between, a table of all positions is
// built.
extension CollectionCore {
    /// The first position of an element, or of a key in a map.
    ///
    /// - Complexity: O(1) on average. The first searches, and the first searches after a change that
    ///   may move elements, are O(n).
    func position(of value: SQLValue) -> Int? { context.withFrozenLock { findPosition(of: value) } }

    /// True if a list or set contains an element.
    ///
    /// - Complexity: O(log n) for links; as `position(of:)` for other elements.
    func contains(_ value: SQLValue) -> Bool {
        context.withFrozenLock {
            if case .integer(let target) = value, let isLinked = isLinked(to: target) { return isLinked }
            return findPosition(of: value) != nil
        }
    }

    /// The positions of all links to some objects, in ascending order.
    func positions(of targets: Set<SQLValue>) -> [Int] {
        load()
        // Each search reads the chunks again, so there are at most four searches.
        let searches = targets.count > 4 ? [] : targets.compactMap { EncodedSearch(for: $0, in: property) }
        return attempt {
            try elements?.positions(
                of: targets,
                { ordinal, count in
                    try searches.isEmpty || searches.contains { try search($0, ordinal, count) != .absent }
                }, loadChunk) ?? []
        }
    }

    private func findPosition(of value: SQLValue) -> Int? {
        load()
        if positions == nil {
            if case .integer(let target) = value, isLinked(to: target) == false { return nil }
            searchCount += 1
            let sought = EncodedSearch(for: value, in: property)
            if let sought, searchCount <= maximumIndexSearches, makesIndex {
                return attempt {
                    try elements?.firstPosition(
                        of: value, step: step, inChunks: index?.chunks(of: sought) ?? [],
                        { try search(sought, $0, $1) }, loadChunk)
                }
            }
            // If equal elements may have different bytes, only a comparison with every element or a table of positions
            // finds them.
            let needsPositions = sought == nil && property.kind != .list
            if !needsPositions, searchCount <= context.coordinator.environment.searchesBeforePositions {
                guard let sought else { return firstPosition(ofEqual: value) }
                return attempt {
                    try elements?.firstPosition(
                        of: value, step: step, { try search(sought, $0, $1) }, loadChunk)
                }
            }
            positions = ElementPositions(all(), step: step, identity)
        }
        return positions?[identity(of: value)]
    }

    /// The number of searches with an index before a table of positions is built. A search with an index reads a chunk.
    /// The table makes it ten times as fast, but building the table costs as much as searches for an eighth of the
    /// elements.
    private var maximumIndexSearches: Int { max(64, (elements?.count ?? 0) / step / 8) }

    /// True if there is an index of a large set or map. Creates it if searches repeat.
    private var makesIndex: Bool {
        guard property.kind != .list, elements?.isShort == false else { return false }
        if index != nil { return true }
        guard searchCount > context.coordinator.environment.searchesBeforePositions,
            let encoded = EncodedElements(property)
        else { return false }
        index = attempt {
            try context.handle.read {
                try elements?.makeIndex(encoded, owner: owner, table: layout.chunkTable, $0)
            }
        }
        return index != nil
    }

    /// True if the collection links to an object. Nil if a search of the elements is faster, because the elements are
    /// in memory or there have been many searches.
    private func isLinked(to target: ObjectKey) -> Bool? {
        guard layout.targetTable != nil, positions == nil, !context.access.isOfMigration else { return nil }
        if let elements {
            if elements.isShort || targetSearchCount > elements.count / Self.elementsPerTargetSearch { return nil }
        } else {
            if targetSearchCount >= Self.targetSearchesBeforeLoad { return nil }
            requireValid()
            recordFirstRead()
        }
        targetSearchCount += 1
        let stored = attempt {
            try context.handle.read { try layout.storedCount(of: target, owner: owner, $0) }
        }
        return stored + targetCounts.change(of: target) > 0
    }

    /// A search for a target costs more than a search in the table of positions. The table is built when the searches
    /// have cost about as much as the table costs, which is proportional to the number of elements.
    private static let elementsPerTargetSearch = 16
    private static let targetSearchesBeforeLoad = 4

    private func search(_ sought: EncodedSearch, _ ordinal: Int64, _ count: Int) throws -> EncodedSearch.Outcome {
        try context.handle.read {
            try ChunkedElements.search(
                sought, owner: owner, ordinal: ordinal, count: count, table: layout.chunkTable, $0)
        }
    }

    private func firstPosition(ofEqual value: SQLValue) -> Int? {
        let identity = identity(of: value)
        return all().firstIndex { self.identity(of: $0) == identity }
    }

    private var step: Int { property.kind == .map ? 2 : 1 }

    /// The value by which elements are compared. 0.0 and -0.0 are stored as different values, but are the same element.
    /// In a set of `AnyRealmValue`, equal numbers of different kinds are the same element, too.
    func identity(of value: SQLValue) -> SQLValue {
        if property.isAny { return property.kind == .set ? AnyValue.sortKey(value) : AnyValue.normalized(value) }
        guard property.kind != .map, property.element.isFloating, case .blob = value else { return value }
        return Double._value(StoredValue(value))?._compared.raw ?? value
    }

    /// Called after an element was appended.
    func addPosition(of element: SQLValue, _ position: Int) {
        guard position.isMultiple(of: step) else { return }
        positions?.add(identity(of: element), position)
        if index != nil, let ordinal = elements?.ordinal(at: position) {
            index?.add(ElementIndex.hash(of: element), chunk: ordinal)
        }
    }

    /// Called before elements are removed. The elements of the range are in memory.
    func forgetPositions(of range: Range<Int>) {
        guard index != nil else { return forgetPositions() }
        positions = nil
        searchCount = min(searchCount, context.coordinator.environment.searchesBeforePositions)
        for position in range where position.isMultiple(of: step) {
            guard let ordinal = elements?.ordinal(at: position) else { continue }
            index?.remove(ElementIndex.hash(of: element(at: position)), chunk: ordinal)
        }
    }

    /// Called after a change that may move elements.
    func forgetPositions() {
        positions = nil
        index = nil
        searchCount = 0
        targetSearchCount = 0
    }
}

/// The position of each element of a collection, or of each key of a map. For equal elements, the position of the first
/// one.
struct ElementPositions {
    private var integers: [Int64: Int] = [:]
    private var others: [SQLValue: Int] = [:]

    init(_ elements: [SQLValue], step: Int, _ identity: (SQLValue) -> SQLValue) {
        if case .integer? = elements.first { integers.reserveCapacity(elements.count) }
        for position in stride(from: 0, to: elements.count, by: step) { add(identity(elements[position]), position) }
    }

    subscript(identity: SQLValue) -> Int? {
        if case .integer(let number) = identity { integers[number] } else { others[identity] }
    }

    mutating func add(_ identity: SQLValue, _ position: Int) {
        if case .integer(let number) = identity {
            if let first = integers.updateValue(position, forKey: number) { integers[number] = first }
        } else if let first = others.updateValue(position, forKey: identity) {
            others[identity] = first
        }
    }
}
