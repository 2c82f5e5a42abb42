public import Foundation
import MartletEngine

/// The values of a list, set or map in sections: those with equal keys stand in one. Live, as the collection is.
///
/// Values are sorted, sections come in the order of the first value of each.
///
/// ```swift
/// for section in dog.nicknames.sectioned(by: { $0.first }) { print(section.key, section.count) }
/// ```
public struct SectionedValues<Key: Hashable, Element: RealmCollectionValue> {
    fileprivate let storage: ValueSections<Key, Element>

    /// The keys of all sections, in order.
    public var allKeys: [Key] { storage.sections.map(\.key) }

    /// The section with a key; nil when there is none.
    public func section(forKey key: Key) -> ValuesSection<Key, Element>? {
        storage.sections.contains { $0.key == key } ? ValuesSection(key: key, storage: storage) : nil
    }

    /// A value by its section and its position in it. Traps outside.
    public subscript(section section: Int, item item: Int) -> Element { self[section][item] }

    /// A value by its section and its position in it, as tables on a screen name them. Traps outside, and on a path that has
    /// not two positions.
    public subscript(indexPath: IndexPath) -> Element {
        guard indexPath.count == 2 else {
            Misuse.query("an index path with \(indexPath.count) positions was given: a section and an item are needed")
        }
        return self[indexPath[0]][indexPath[1]]
    }
}

extension SectionedValues: RandomAccessCollection {
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { storage.sections.count }

    /// The section at a position. Traps outside.
    public subscript(position: Int) -> ValuesSection<Key, Element> {
        let sections = storage.sections
        guard sections.indices.contains(position) else {
            Misuse.indexOutOfRange(position, count: sections.count, "the sections")
        }
        return ValuesSection(key: sections[position].key, storage: storage)
    }
}

/// One section: the values with one key, in their order. Empty once no value has the key.
public struct ValuesSection<Key: Hashable, Element: RealmCollectionValue>: Identifiable {
    /// What the values have in common.
    public let key: Key
    fileprivate let storage: ValueSections<Key, Element>

    /// The key.
    public var id: Key { key }

    fileprivate var values: [Element] { storage.sections.first { $0.key == key }?.values ?? [] }
}

extension ValuesSection: RandomAccessCollection {
    public var startIndex: Int { 0 }
    /// The number of values.
    public var endIndex: Int { values.count }

    /// The value at a position in the section. Traps outside.
    public subscript(position: Int) -> Element {
        let values = values
        guard values.indices.contains(position) else {
            Misuse.indexOutOfRange(position, count: values.count, "the section")
        }
        return values[position]
    }
}

/// The sections that values were found to make at one state of their Realm; of unmanaged collections always anew.
private final class ValueSections<Key: Hashable, Element: RealmCollectionValue> {
    private let context: RealmContext?
    private let values: () -> [Element]
    private let key: (Element) -> Key
    private var stamp: UInt64 = 0
    private var found: [(key: Key, values: [Element])] = []

    init(_ context: RealmContext?, _ key: @escaping (Element) -> Key, _ values: @escaping () -> [Element]) {
        self.context = context
        self.key = key
        self.values = values
    }

    /// Complexity: O(n log n) after a change of the Realm, otherwise O(1).
    var sections: [(key: Key, values: [Element])] {
        let present = values
        if let context {
            context.confinement.require("a collection")
            if stamp == context.stamp, !context.reads.isOn || !context.reads.isTracking { return found }
        }
        var positions: [Key: Int] = [:]
        var made: [(key: Key, values: [Element])] = []
        for value in present() {
            let key = key(value)
            let position = positions[key] ?? made.count
            if position == made.count {
                positions[key] = position
                made.append((key, []))
            }
            made[position].values.append(value)
        }
        found = made
        if let context { stamp = context.stamp }
        return made
    }
}

// MARK: Making them

extension List where Element: OrderedValue {
    /// The elements, sorted, in sections by what a closure makes of each. Also of unmanaged lists.
    ///
    /// - Parameters:
    ///   - key: asked for all elements again after a change of the Realm. It must depend on the element alone.
    ///   - ascending: false for the greatest first.
    public func sectioned<Key: Hashable>(
        by key: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedValues<Key, Element> {
        SectionedValues(storage: ValueSections(core?.context, key) { self.sorted(ascending: ascending) })
    }
}

extension MutableSet where Element: OrderedValue {
    /// The elements, sorted, in sections by what a closure makes of each. Also of unmanaged sets.
    ///
    /// - Parameters:
    ///   - key: asked for all elements again after a change of the Realm. It must depend on the element alone.
    ///   - ascending: false for the greatest first.
    public func sectioned<Key: Hashable>(
        by key: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedValues<Key, Element> {
        SectionedValues(storage: ValueSections(core?.context, key) { self.sorted(ascending: ascending) })
    }
}

extension Map where Value: OrderedValue {
    /// The values, sorted, in sections by what a closure makes of each. Also of unmanaged maps.
    ///
    /// - Parameters:
    ///   - key: asked for all values again after a change of the Realm. It must depend on the value alone.
    ///   - ascending: false for the greatest first.
    public func sectioned<Key: Hashable>(
        by key: @escaping (Value) -> Key, ascending: Bool = true
    ) -> SectionedValues<Key, Value> {
        SectionedValues(storage: ValueSections(core?.context, key) { self.sorted(ascending: ascending) })
    }
}
