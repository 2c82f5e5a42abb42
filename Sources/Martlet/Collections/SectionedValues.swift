public import Foundation
import MartletEngine

/// The values of a list, set or map, grouped into sections by key. Sectioned values are live.
///
/// Values are sorted, and sections have the order of their first values.
///
/// ```swift
/// for section in dog.nicknames.sectioned(by: { $0.first }) { print(section.key, section.count) }
/// ```
public struct SectionedValues<Key: Hashable, Element: OrderedValue & RealmCollectionValue> {
    let storage: ValueSectionStorage<Key, Element>

    /// The Realm of the collection; nil if the collection is unmanaged.
    public var realm: Realm? { storage.realm }

    /// True after the Realm was invalidated, or the owner of the values was deleted.
    public var isInvalidated: Bool { storage.isInvalidated }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { storage.isFrozen }

    /// The keys of all sections, in order.
    public var allKeys: [Key] { storage.sections.map(\.key) }

    /// The section with the given key; nil if no section has the key.
    public func section(forKey key: Key) -> ValuesSection<Key, Element>? {
        storage.section(key).map { _ in ValuesSection(key: key, storage: storage) }
    }

    /// A value by its section and its position in the section. Traps if the section or the position is out of range.
    public subscript(section section: Int, item item: Int) -> Element { self[section][item] }

    /// A value by its section and its position in the section, as in a table view. Traps if one of the two indexes is
    /// out of range, or if the index path does not consist of two indexes.
    public subscript(indexPath: IndexPath) -> Element {
        guard indexPath.count == 2 else {
            Misuse.indexPath(indexPath.count)
        }
        return self[indexPath[0]][indexPath[1]]
    }
}

extension SectionedValues: RandomAccessCollection {
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { storage.sections.count }

    /// The section at a position. Traps if the position is out of range.
    public subscript(position: Int) -> ValuesSection<Key, Element> {
        let sections = storage.sections
        guard sections.indices.contains(position) else {
            Misuse.indexOutOfRange(position, count: sections.count, "the sections")
        }
        return ValuesSection(key: sections[position].key, storage: storage)
    }

    /// Iterates over the current sections. The body of the loop may change values. Each section shows its current
    /// values.
    public func makeIterator() -> IndexingIterator<[ValuesSection<Key, Element>]> {
        storage.sections.map { ValuesSection(key: $0.key, storage: storage) }.makeIterator()
    }
}

/// A section: all values that have the same key, in order. The section is empty if no value has the key any more.
public struct ValuesSection<Key: Hashable, Element: OrderedValue & RealmCollectionValue>: Identifiable {
    /// The key that all values have.
    public let key: Key
    let storage: ValueSectionStorage<Key, Element>

    /// The key.
    public var id: Key { key }

    /// The Realm of the collection; nil if the collection is unmanaged.
    public var realm: Realm? { storage.realm }

    /// True after the Realm was invalidated, or the owner of the values was deleted.
    public var isInvalidated: Bool { storage.isInvalidated }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { storage.isFrozen }

    fileprivate var values: [Element] { storage.section(key)?.values ?? [] }
}

extension ValuesSection: RandomAccessCollection {
    public var startIndex: Int { 0 }
    /// The number of values.
    public var endIndex: Int { values.count }

    /// The value at a position in the section. Traps if the position is out of range.
    public subscript(position: Int) -> Element {
        let values = values
        guard values.indices.contains(position) else {
            Misuse.indexOutOfRange(position, count: values.count, "the section")
        }
        return values[position]
    }

    /// Iterates over the current values. The body of the loop may change the collection.
    public func makeIterator() -> IndexingIterator<[Element]> { values.makeIterator() }
}

/// A list, set or map of values that can be sorted.
protocol SortableCollection<Ordered>: ManagedCollection, ThreadConfined {
    associatedtype Ordered: OrderedValue & RealmCollectionValue
    /// The current values, sorted.
    func sorted(ascending: Bool) -> [Ordered]
}

extension List: SortableCollection where Element: OrderedValue {}
extension MutableSet: SortableCollection where Element: OrderedValue {}
extension Map: SortableCollection where Value: OrderedValue {}

/// The sections of a collection of values, computed for one state of its Realm. The sections of an unmanaged collection
/// are computed at each access.
final class ValueSectionStorage<Key: Hashable, Element: OrderedValue & RealmCollectionValue> {
    let collection: any SortableCollection<Element>
    let key: (Element) -> Key
    let isAscending: Bool
    private var changeCount: UInt64 = 0
    private var cachedSections: [(key: Key, values: [Element])] = []

    init(_ collection: any SortableCollection<Element>, _ key: @escaping (Element) -> Key, isAscending: Bool) {
        self.collection = collection
        self.key = key
        self.isAscending = isAscending
    }

    var realm: Realm? { collection.realm }
    var isInvalidated: Bool { collection.isInvalidated }
    var isFrozen: Bool { collection.isFrozen }

    /// The current sections. Complexity: O(n log n) after a change of the Realm, while reads are being tracked, and for
    /// an unmanaged collection; otherwise O(1).
    var sections: [(key: Key, values: [Element])] {
        guard let context = collection.core?.context else { return makeSections() }
        return context.withFrozenLock {
            context.confinement.require("a collection")
            if changeCount == context.changeCount, !context.reads.isOn || !context.reads.isTracking {
                return cachedSections
            }
            cachedSections = makeSections()
            changeCount = context.changeCount
            return cachedSections
        }
    }

    func section(_ key: Key) -> (key: Key, values: [Element])? {
        sections.first { SectionPositions.areEqual($0.key, key) }
    }

    private func makeSections() -> [(key: Key, values: [Element])] {
        var positions = SectionPositions<Key>()
        var made: [(key: Key, values: [Element])] = []
        for value in collection.sorted(ascending: isAscending) {
            let key = key(value)
            let position = positions[key] ?? made.count
            if position == made.count {
                positions[key] = position
                made.append((key, []))
            }
            made[position].values.append(value)
        }
        return made
    }
}

// MARK: Other isolations

extension SectionedValues: ThreadConfined {
    public func _locator() -> _Locator? { storage.locator { SectionedValues(storage: $0) } }
}

extension ValuesSection: ThreadConfined {
    public func _locator() -> _Locator? {
        let key = key
        return storage.locator { ValuesSection(key: key, storage: $0) }
    }
}

extension ValueSectionStorage {
    fileprivate func locator(_ make: @escaping (ValueSectionStorage) -> Any?) -> _Locator? {
        // The closure depends only on the value, so it can be called in any isolation.
        let (key, isAscending) = (key, isAscending)
        return collection._locator()?.map { found in
            guard let collection = found as? any SortableCollection<Element> else { return nil }
            let sections = ValueSectionStorage(collection, key, isAscending: isAscending)
            // The sections of a frozen collection are computed when it is frozen.
            if collection.isFrozen { _ = sections.sections }
            return make(sections)
        }
    }
}

// MARK: Creation

extension List where Element: OrderedValue {
    /// The elements, sorted and grouped into sections by a closure. Works on unmanaged lists too.
    ///
    /// - Parameters:
    ///   - key: computes the section key of an element. The result must depend only on the element. After a change of
    ///     the Realm, the closure is called again for all elements.
    ///   - ascending: false to start with the maximum.
    public func sectioned<Key: Hashable>(
        by key: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedValues<Key, Element> {
        SectionedValues(storage: ValueSectionStorage(self, key, isAscending: ascending))
    }
}

extension MutableSet where Element: OrderedValue {
    /// The elements, sorted and grouped into sections by a closure. Works on unmanaged sets too.
    ///
    /// - Parameters:
    ///   - key: computes the section key of an element. The result must depend only on the element. After a change of
    ///     the Realm, the closure is called again for all elements.
    ///   - ascending: false to start with the maximum.
    public func sectioned<Key: Hashable>(
        by key: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedValues<Key, Element> {
        SectionedValues(storage: ValueSectionStorage(self, key, isAscending: ascending))
    }
}

extension Map where Value: OrderedValue {
    /// The values, sorted and grouped into sections by a closure. Works on unmanaged maps too.
    ///
    /// - Parameters:
    ///   - key: computes the section key of a value. The result must depend only on the value. After a change of the
    ///     Realm, the closure is called again for all values.
    ///   - ascending: false to start with the maximum.
    public func sectioned<Key: Hashable>(
        by key: @escaping (Value) -> Key, ascending: Bool = true
    ) -> SectionedValues<Key, Value> {
        SectionedValues(storage: ValueSectionStorage(self, key, isAscending: ascending))
    }
}
