public import Foundation
import MartletEngine
import MartletValues

/// The elements of a collection, grouped into sections by key. Sectioned results are live.
///
/// Sections have the order of their first elements, and elements keep their order within a section.
///
/// ```swift
/// let dogs = realm.objects(Dog.self).sectioned(by: \.size, ascending: false)
/// for section in dogs { print(section.key, section.count) }
/// ```
public struct SectionedResults<Key: Hashable, Element: ObjectBase> {
    let storage: SectionStorage<Key, Element>

    fileprivate init(
        _ results: Results<Element>, storedKey: StoredSectionKey<Key>? = nil, _ key: @escaping (Element) -> Key
    ) {
        storage = SectionStorage(results, key, storedKey)
    }

    init(_ storage: SectionStorage<Key, Element>) { self.storage = storage }

    /// The keys of all sections, in order.
    public var allKeys: [Key] { storage.sections.keys }

    /// The Realm of the elements.
    public var realm: Realm? { storage.results.realm }

    /// True after the Realm was invalidated, or the owner of the elements was deleted.
    public var isInvalidated: Bool { storage.results.isInvalidated }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { storage.results.isFrozen }

    /// The section with the given key; nil if no section has the key.
    public func section(forKey key: Key) -> ResultsSection<Key, Element>? {
        storage.sections.positions[key].map { _ in ResultsSection(key: key, storage: storage) }
    }

    /// An element by its section and its position in the section. Traps if the section or the position is out of range.
    public subscript(section section: Int, item item: Int) -> Element { self[section][item] }

    /// An element by its section and its position in the section, as in a table view. Traps if one of the two
    /// indexes is out of range, or if the index path does not consist of two indexes.
    public subscript(indexPath: IndexPath) -> Element {
        guard indexPath.count == 2 else {
            Misuse.indexPath(indexPath.count)
        }
        return self[indexPath[0]][indexPath[1]]
    }

    /// The section and position of an element; nil if the sections do not contain it.
    public func indexPath(of element: Element) -> IndexPath? {
        for (section, elements) in enumerated() {
            if let item = elements.index(of: element) { return [section, item] }
        }
        return nil
    }
}

extension SectionedResults: RandomAccessCollection {
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { storage.sections.keys.count }

    /// The section at a position. Traps if the position is out of range.
    public subscript(position: Int) -> ResultsSection<Key, Element> {
        let keys = storage.sections.keys
        guard keys.indices.contains(position) else {
            Misuse.indexOutOfRange(position, count: keys.count, "the sections")
        }
        return ResultsSection(key: keys[position], storage: storage)
    }

    /// Iterates over the current sections. The body of the loop may change elements. Each section shows its current
    /// elements.
    public func makeIterator() -> IndexingIterator<[ResultsSection<Key, Element>]> {
        storage.sections.keys.map { ResultsSection(key: $0, storage: storage) }.makeIterator()
    }
}

/// A section: all elements that have the same key. The section is empty if no element has the key any more.
public struct ResultsSection<Key: Hashable, Element: ObjectBase>: Identifiable {
    /// The key that all elements have.
    public let key: Key
    let storage: SectionStorage<Key, Element>

    /// The key.
    public var id: Key { key }

    fileprivate var members: KeySequence { storage.sections[key] ?? [] }
}

extension ResultsSection: RandomAccessCollection {
    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { members.count }

    /// The element at a position in the section. Traps if the position is out of range.
    public subscript(position: Int) -> Element {
        let members = members
        guard (0..<members.count).contains(position) else {
            Misuse.indexOutOfRange(position, count: members.count, "the section")
        }
        return storage.element(members[position])
    }

    /// Iterates over the current elements. The body of the loop may delete or change them.
    public func makeIterator() -> Iterator {
        Iterator(blocks: BlockIterator(storage.results.storage, members))
    }

    /// An iterator that reads rows in blocks.
    public struct Iterator: IteratorProtocol {
        fileprivate var blocks: BlockIterator

        /// The next element.
        public mutating func next() -> Element? { blocks.next().map { unsafeDowncast($0, to: Element.self) } }
    }

    /// The Realm of the elements.
    public var realm: Realm? { storage.results.realm }

    /// True after the Realm was invalidated, or the owner of the elements was deleted.
    public var isInvalidated: Bool { storage.results.isInvalidated }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { storage.results.isFrozen }

    /// The position of an element in the section; nil if the section does not contain it.
    public func index(of element: Element) -> Int? {
        guard element._context === storage.results.storage.context, !element.isInvalidated else { return nil }
        return members.firstPosition(of: element._key)
    }
}

/// The sections of a result, computed for one state of its Realm.
final class SectionStorage<Key: Hashable, Element: ObjectBase> {
    let results: Results<Element>
    let key: (Element) -> Key
    /// The stored property that determines the key; nil if it is not known.
    private(set) var storedKey: StoredSectionKey<Key>?
    private var changeCount: UInt64 = 0
    private var cachedSections = Sections<Key>()

    init(_ results: Results<Element>, _ key: @escaping (Element) -> Key, _ storedKey: StoredSectionKey<Key>? = nil) {
        self.results = results
        self.key = key
        self.storedKey = storedKey
    }

    /// The current sections. Complexity: O(n) after a change of the Realm and while reads are being tracked, otherwise
    /// O(1). For observed sections, the observer computes the sections before it is notified, so a read inside the
    /// notification is O(1).
    var sections: Sections<Key> { results.storage.context.withFrozenLock(findSections) }

    private func findSections() -> Sections<Key> {
        results.storage.prepare()
        // While reads are tracked, the section keys are computed again, so that reads of the properties that determine
        // the keys are recorded.
        let reads = results.storage.context.reads
        if changeCount == results.storage.context.changeCount, !reads.isOn || !reads.isTracking {
            return cachedSections
        }
        cachedSections = makeSections(isTracking: reads.isOn && reads.isTracking)
        changeCount = results.storage.context.changeCount
        return cachedSections
    }

    private func makeSections(isTracking: Bool) -> Sections<Key> {
        if !isTracking, let sections = sectionsOfStoredKey() ?? sectionsInKeyOrder() { return sections }
        return sectionsOfElements()
    }

    /// Computes the section keys of all elements in their order.
    func sectionsOfElements() -> Sections<Key> {
        var builder = Sections<Key>.Builder()
        for element in results { builder.append(element._key, key(element)) }
        return builder.finish()
    }

    /// Installs sections that were computed for the state that the Realm shows now.
    func install(_ sections: Sections<Key>) {
        cachedSections = sections
        changeCount = results.storage.context.changeCount
    }

    func element(_ key: ObjectKey) -> Element { unsafeDowncast(results.storage.table.object(key), to: Element.self) }
}

// MARK: Other isolations

extension SectionedResults: ThreadConfined {
    public func _locator() -> _Locator? { storage.locator { SectionedResults($0) } }
}

extension ResultsSection: ThreadConfined {
    public func _locator() -> _Locator? {
        let key = key
        return storage.locator { ResultsSection(key: key, storage: $0) }
    }
}

extension SectionStorage {
    fileprivate func locator(_ make: @escaping (SectionStorage) -> Any?) -> _Locator {
        // The closure depends only on the element, so it can be called in any isolation.
        let (key, storedKey) = (key, storedKey)
        return results.storage.locator { storage in
            let sections = SectionStorage(Results<Element>(storage), key, storedKey)
            // The sections of a frozen collection are computed when it is frozen.
            if storage.context.isFrozen { _ = sections.sections }
            return make(sections)
        }
    }
}

// MARK: Creation

extension RealmCollection where Element: ObjectBase {
    /// Groups the elements into sections by the values of a property, in ascending or descending order of these values.
    ///
    /// Elements with equal values keep the order that they have in the collection.
    ///
    /// - Parameters:
    ///   - keyPath: a stored property, or a key path through to-one links such as `\.owner?.lastName`. For a computed
    ///     property, the elements are sorted by the stored property that the computed property reads. Traps if the
    ///     computed property does not read exactly one stored property.
    ///   - ascending: whether the sections start with the minimum.
    public func sectioned<Key: Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        let name = Self.name(of: keyPath)
        let descriptor = SortDescriptor(keyPath: name, ascending: ascending)
        return SectionedResults(
            requireMembers().sorted(by: [descriptor]), storedKey: StoredSectionKey(computedFrom: PropertyPath(name))
        ) { $0[keyPath: keyPath] }
    }

    /// Groups the elements into sections by the values of a property, after sorting them by several properties.
    ///
    /// - Parameters:
    ///   - keyPath: any stored or computed property. The value must depend only on the element. Observers are notified
    ///     of a new key if the element has changed, or an object that is at most three links away from the element.
    ///   - sortDescriptors: the order of the elements. Sections have the order of their first elements.
    ///     The elements of one section need not be adjacent in the sorted order.
    public func sectioned<Key: Hashable>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        let names = KeyPathTracer.path(keyPath)
        return SectionedResults(
            requireMembers().sorted(by: sortDescriptors),
            storedKey: names.map { StoredSectionKey(computedFrom: PropertyPath($0.joined(separator: "."))) }
        ) { $0[keyPath: keyPath] }
    }

    /// Groups the elements into sections by a closure, after sorting them by some properties.
    ///
    /// ```swift
    /// let byName = [SortDescriptor(keyPath: "lastName")]
    /// let contacts = people.sectioned(by: { $0.lastName.prefix(1) }, sortDescriptors: byName)
    /// ```
    ///
    /// - Parameters:
    ///   - key: computes the section key of an element. The result must depend only on the element. The closure is
    ///     called for the elements in any order, and for the first element of a section a second time. After a change
    ///     of the Realm, the closure is called again for all elements. If the sections are observed, the closure is
    ///     called only for new elements, for changed elements, and for elements at most three links away from a changed
    ///     object.
    ///   - sortDescriptors: the order of the elements. Sections have the order of their first elements. If
    ///     the array is empty, the elements keep their order.
    public func sectioned<Key: Hashable>(
        by key: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        let members = requireMembers()
        return SectionedResults(sortDescriptors.isEmpty ? members : members.sorted(by: sortDescriptors), key)
    }

    private static func name<Key>(of keyPath: KeyPath<Element, Key>) -> String {
        guard let names = KeyPathTracer.path(keyPath) else {
            Misuse.sectionedByComputed("\(keyPath)")
        }
        return names.joined(separator: ".")
    }
}

extension RealmCollection where Element: ModelObject {
    /// Groups the elements into sections by the values of a field, in ascending or descending order of these values.
    /// The key is nil if the value is absent or NaN, or if a link on the key path is nil. For an `AnyRealmValue`
    /// property, the key is `AnyRealmValue.none` instead of nil. In a `Decimal128` property, NaN has its own section.
    public func sectioned<F: ValueField<Element>>(
        by field: (Element.RootFields) -> F, ascending: Bool = true
    ) -> SectionedResults<F.Value._NonOptional?, Element> where F.Value: OrderedValue, F.Value._NonOptional: Hashable {
        let keyPath = field(Element.fields).keyPath
        let path = PropertyPath(keyPath)
        let names = path.names
        return SectionedResults(
            requireMembers().sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)]),
            storedKey: StoredSectionKey(path) { stored, context in
                F.Value._NonOptional._value(stored, in: context).map { $0 }
            }
        ) { element in
            let stored = ElementAggregates.value(element, names[...])
            let isNaN = ElementAggregates.isNaN(stored.raw, F.Value.self)
            return F.Value._NonOptional._value(isNaN ? .null : stored.raw, in: element._context)
        }
    }
}
