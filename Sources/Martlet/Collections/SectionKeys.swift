import MartletEngine
import MartletValues

/// A section key that depends only on a stored property. The key is computed once for all elements with equal stored
/// values, so most elements need not be read as objects.
struct StoredSectionKey<Key: Hashable> {
    /// The property, which may be at the end of to-one links.
    let path: PropertyPath
    /// Converts a stored value that fits the property. Returns nil if the key must be read from an element.
    let convert: (SQLValue, RealmContext) -> Key?
    /// True if Swift code computes the key. This code may also read other properties.
    let isComputed: Bool

    /// The key is the value of the property.
    init(_ path: PropertyPath, convert: @escaping (SQLValue, RealmContext) -> Key?) {
        self.path = path
        self.convert = convert
        isComputed = false
    }

    /// Swift code computes the key from the property. The code may also read other properties.
    init(computedFrom path: PropertyPath) {
        self.path = path
        convert = { _, _ in nil }
        isComputed = true
    }
}

extension SectionStorage {
    /// Computes the sections from stored values. Nil if this is not possible, or if the key depends on other
    /// properties.
    func sectionsOfStoredKey() -> Sections<Key>? {
        let storage = results.storage
        guard let stored = storedKey, storage.owner?.isInvalidated != true else { return nil }
        if stored.isComputed, !storage.canRecordReads(of: stored.path) { return nil }
        guard let rows = storage.groups(by: stored.path) else { return nil }
        let convertible = stored.isComputed ? nil : storage.convertedElement(of: stored.path)
        // The key of each group is read from one object. With very many groups, reading all objects in the order of the
        // table is faster.
        if convertible == nil, rows.groups.count > max(16, rows.rowCount / 8) { return nil }
        var positions = SectionPositions<Key>()
        var keys: [Key] = []
        var sections: [Int] = []
        sections.reserveCapacity(rows.groups.count)
        for group in rows.groups {
            // A damaged value does not fit the property. The program stops below, when the object with that value is
            // read.
            let isConverted = convertible?.accepts(group.value) == true
            let converted = isConverted ? stored.convert(group.value, storage.context) : nil
            guard let key = converted ?? keyOfElement(group.first, stored) else { return nil }
            let position = positions[key] ?? keys.count
            if position == keys.count {
                positions[key] = position
                keys.append(key)
            }
            sections.append(position)
        }
        let members = rows.members(of: sections, count: keys.count)
        return Sections(keys: keys, members: members.map { KeySequence($0) }, positions: positions)
    }

    // The key of an element. Nil if the computation of the key has read other properties.
    private func keyOfElement(_ member: ObjectKey, _ stored: StoredSectionKey<Key>) -> Key? {
        let element = element(member)
        if !stored.isComputed { return key(element) }
        return results.storage.table.reading(only: stored.path, of: element) { key(element) }
    }

    /// Computes the section key of each element. The objects are read in the order of their object keys, because rows
    /// that are adjacent in the file are read together. Returns nil if the elements are already in this order.
    func sectionsInKeyOrder() -> Sections<Key>? {
        guard !results.storage.plan.isInKeyOrder else { return nil }
        let members = results.storage.keys
        let rows = RowNumbers(members)
        var positions = SectionPositions<Key>()
        var count = 0
        var sectionOfRow: [Int32] = []
        sectionOfRow.reserveCapacity(rows.keys.count)
        var blocks = BlockIterator(results.storage, KeySequence(rows.keys))
        while let next = blocks.next() {
            let key = key(unsafeDowncast(next, to: Element.self))
            let position = positions[key] ?? count
            if position == count {
                positions[key] = position
                count += 1
            }
            sectionOfRow.append(Int32(position))
        }
        // The sections have the order of their first elements in the results, and the keys of these elements.
        var order = [Int](repeating: -1, count: count)
        var found: [[ObjectKey]] = []
        for member in members {
            let section = Int(sectionOfRow[rows.number(of: member)])
            if order[section] < 0 {
                order[section] = found.count
                found.append([])
            }
            found[order[section]].append(member)
        }
        return Sections(found.map { (key(element($0[0])), KeySequence($0)) })
    }
}

/// The rows of a result in the order of their keys.
private struct RowNumbers {
    /// The keys in ascending order, each once.
    private(set) var keys: [ObjectKey]
    /// The positions of keys in `keys`. The index is the difference from the first key. Empty if the keys are far
    /// apart.
    private var numbers: [Int32] = []

    init(_ members: KeySequence) {
        keys = Array(members)
        keys.sort()
        var unique = 0
        for position in keys.indices where position == 0 || keys[position] != keys[unique - 1] {
            keys[unique] = keys[position]
            unique += 1
        }
        keys.removeSubrange(unique...)
        guard let first = keys.first, let last = keys.last else { return }
        let (span, isBeyond) = last.subtractingReportingOverflow(first)
        guard !isBeyond, span < 8 * Int64(keys.count) else { return }
        numbers = [Int32](repeating: -1, count: Int(span) + 1)
        for (number, key) in keys.enumerated() { numbers[Int(key - first)] = Int32(number) }
    }

    func number(of key: ObjectKey) -> Int {
        if !numbers.isEmpty { return Int(numbers[Int(key - keys[0])]) }
        return keys.indices.partitionPoint { keys[$0] >= key }
    }
}

extension ResultsStorage {
    /// The members, grouped by the values of a property. Nil if the members cannot be grouped without reading objects.
    func groups(by path: PropertyPath) -> GroupedRows? {
        context.withFrozenLock {
            if let groups = context.fromColumns({ try $0.groups(plan, by: path, $1) }) { return groups }
            return context.read {
                let rowCount = context.coordinator.columns.rowCount(table.id)
                return try QueryRunner(plan, context.schema, table.rows.compiledQueries, rowCount: rowCount).groups(
                    by: path, $0)
            }
        }
    }

    /// The type of the values at the end of a path, if a section key equals the stored value. Nil for other types:
    /// enums may have unknown values, dates are rounded, and an `AnyRealmValue` may contain an object.
    fileprivate func convertedElement(of path: PropertyPath) -> ElementType? {
        guard let end = try? ResolvedPath(path, from: table.id, in: context.schema).end else { return nil }
        let element = context.schema[end.table].type.properties[end.property].element
        switch element {
        case .scalar(.date), .scalar(.any), .intEnum, .stringEnum, .link, .embedded: return nil
        case .scalar: return element
        }
    }

    /// True if one key is valid for all objects with the same stored value and accessors can record which properties
    /// are read. Floating-point properties are excluded, because 0.0 and -0.0 are equal but may have different keys.
    fileprivate func canRecordReads(of path: PropertyPath) -> Bool {
        !context.isFrozen && path.components.count == 1 && table.reusesAccessors
            && table.type[path.names[0]]?.element.isFloating == false
    }
}

extension ObjectTable {
    /// Calls `body`, which reads an object. Returns nil if `body` reads a property that is not the property of the
    /// path.
    fileprivate func reading<R>(only path: PropertyPath, of object: ObjectBase, _ body: () -> R) -> R? {
        // The last bit of a set of properties represents all properties from index 63 on.
        guard let property = type[path.names[0]]?.index, property < 63, object._dirty == 0 else { return nil }
        context.prepare(object, nil)
        guard object._state == .live else { return nil }
        // Each read of a stale accessor is recorded. The accessor therefore becomes stale, although it has current
        // values.
        object._guard = 0
        object._resetSlowReads()
        object._loaded = .all
        object._state = .stale
        let earlier = readProperties
        readProperties = .none
        let result = body()
        let reads = readProperties
        readProperties = earlier.union(reads)
        // If the code has loaded all properties, the accessor is live again, and its reads were not recorded.
        guard object._state == .stale, object._loaded == .all else { return nil }
        let areAllRecorded = !object._hasManySlowReads
        object._loaded = .none
        object._state = .live
        var expected = LoadedProperties.none
        expected.insert(property)
        return areAllRecorded && reads.subtracting(expected).isEmpty ? result : nil
    }
}
