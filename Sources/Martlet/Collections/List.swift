import MartletEngine
import MartletSQLite

/// An ordered to-many property: objects or values, duplicates allowed.
///
/// Always belongs to the object it was read from. In a Realm it is live and changed inside write transactions only; of an
/// unmanaged object it is a plain array, stored when the object is added.
public final class List<Element: RealmCollectionValue>: PropertyCollection, AnnouncingCollection {
    private var plain: [Element] = []
    /// Set when the owner is observed before it is added to a Realm.
    var announcer: CollectionAnnouncer?
    var unmanaged: [Element] {
        get { plain }
        _modify {
            guard let announcer else {
                yield &plain
                return
            }
            var changed = plain
            yield &changed
            if plain.isEmpty && changed.isEmpty { return }
            announcer.change(CollectionAnnouncer.edit(from: plain, to: changed)) { plain = changed }
        }
    }
    private(set) var core: CollectionCore?

    /// An empty unmanaged list.
    public init() {}

    init(core: CollectionCore) { self.core = core }

    public init(_owner owner: ObjectBase, _ property: Int) {
        if let table = owner._table, let context = owner._context { core = context.core(table, property, owner._key) }
    }

    public func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy) {
        guard core == nil, let table = owner._table, let context = owner._context else { return }
        core = context.core(table, property, owner._key)
        let elements = unmanaged
        unmanaged = []
        for element in elements { append(element, policy) }
    }

    /// Replaces the contents; assigning a list to itself is nothing.
    @_spi(Generated) public func _assign(_ other: List<Element>) {
        if other === self || (core != nil && other.core === core) { return }
        replaceAll(Array(other), .error)
    }

    public func _assignUntyped(_ value: Any?, _ name: String, _ policy: Realm.UpdatePolicy) {
        replaceAll(UntypedElements<Element>(core?.context).elements(value, name, policy), policy)
    }

    public func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy) {
        guard let other = other as? List<Element> else { return }
        replaceAll(Array(other), policy)
    }

    // An assignment: observers are told once.
    private func replaceAll(_ elements: [Element], _ policy: Realm.UpdatePolicy) {
        guard let core else {
            guard let announcer else { return plain = elements }
            return announcer.change(nil) { plain = elements }
        }
        core.asOne {
            core.removeAll()
            for element in elements { append(element, policy) }
        }
    }

    private func source(_ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> ElementSource {
        ElementSource(context: core.context, isEmbedded: core.property.element.isEmbedded, policy: policy)
    }

    private func stored(_ element: Element, _ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> SQLValue {
        core.requireValid()
        _ = core.context.requireWrite("the list '\(core.name)'")
        return element._storedElement(source(core, policy)).raw
    }

    private func append(_ element: Element, _ policy: Realm.UpdatePolicy) {
        guard let core else { return unmanaged.append(element) }
        core.insert(stored(element, core, policy), at: core.count)
    }

    // MARK: Reading

    /// The number of elements. Complexity: O(1) once the list has been used.
    public var count: Int { core?.count ?? unmanaged.count }

    /// The element at a position. Traps outside of the list.
    public subscript(position: Int) -> Element {
        get {
            guard let core else {
                if !unmanaged.indices.contains(position) {
                    Misuse.indexOutOfRange(position, count: unmanaged.count, "the list")
                }
                return unmanaged[position]
            }
            return Element._element(StoredValue(core.element(at: position)), source(core))
        }
        set { replace(index: position, object: newValue) }
    }

    /// True once the owner was deleted.
    public var isInvalidated: Bool { core.map { !$0.isValid } ?? false }

    /// The Realm of the owner; nil for an unmanaged list.
    public var realm: Realm? { core.map { Realm($0.context) } }

    // MARK: Changing

    /// Adds an element at the end, and to the Realm if it is an unmanaged object.
    public func append(_ element: Element) { append(element, .error) }

    /// Adds elements at the end.
    public func append(objectsIn elements: some Sequence<Element>) {
        for element in elements { append(element, .error) }
    }

    /// Puts an element before a position. Complexity: that of a chunk of the list, not of the list.
    public func insert(_ element: Element, at position: Int) {
        guard let core else {
            if position < 0 || position > unmanaged.count {
                Misuse.indexOutOfRange(position, count: unmanaged.count, "the list")
            }
            return unmanaged.insert(element, at: position)
        }
        core.insert(stored(element, core), at: position)
    }

    /// Puts another element in the place of one.
    public func replace(index: Int, object: Element) {
        guard let core else {
            if !unmanaged.indices.contains(index) { Misuse.indexOutOfRange(index, count: unmanaged.count, "the list") }
            unmanaged[index] = object
            return
        }
        core.replace(at: index, with: stored(object, core))
    }

    /// Takes an element out. An embedded object is deleted.
    public func remove(at position: Int) {
        guard let core else {
            if !unmanaged.indices.contains(position) {
                Misuse.indexOutOfRange(position, count: unmanaged.count, "the list")
            }
            unmanaged.remove(at: position)
            return
        }
        core.remove(at: position)
    }

    /// Takes the last element out; nothing happens to an empty list.
    public func removeLast() {
        if count > 0 { remove(at: count - 1) }
    }

    /// Takes the first element out; nothing happens to an empty list.
    public func removeFirst() {
        if count > 0 { remove(at: 0) }
    }

    /// Takes all elements out.
    public func removeAll() {
        guard let core else { return unmanaged.removeAll() }
        core.removeAll()
    }

    /// Moves an element; `to` is its position afterwards.
    public func move(from: Int, to: Int) {
        guard let core else {
            if !unmanaged.indices.contains(from) { Misuse.indexOutOfRange(from, count: unmanaged.count, "the list") }
            if !unmanaged.indices.contains(to) { Misuse.indexOutOfRange(to, count: unmanaged.count, "the list") }
            var moved = unmanaged
            moved.insert(moved.remove(at: from), at: to)
            unmanaged = moved
            return
        }
        core.move(from: from, to: to)
    }

    /// Exchanges two elements.
    public func swapAt(_ first: Int, _ second: Int) {
        guard let core else {
            unmanaged.swapAt(first, second)
            return
        }
        core.swap(first, second)
    }
}

extension List: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
}

extension List: RangeReplaceableCollection {
    /// Replaces a range of elements.
    public func replaceSubrange(_ range: Range<Int>, with elements: some Collection<Element>) {
        for position in range.reversed() { remove(at: position) }
        for (offset, element) in elements.enumerated() { insert(element, at: range.lowerBound + offset) }
    }
}

extension List: ExpressibleByArrayLiteral {
    /// An unmanaged list of these elements.
    public convenience init(arrayLiteral elements: Element...) {
        self.init()
        append(objectsIn: elements)
    }
}

/// Elements of a collection from an untyped value.
struct UntypedElements<Element: RealmCollectionValue> {
    let context: RealmContext?

    init(_ context: RealmContext?) { self.context = context }

    func elements(_ value: Any?, _ name: String, _ policy: Realm.UpdatePolicy) -> [Element] {
        guard let value = UntypedValue.unwrapped(value) else { return [] }
        if let typed = value as? List<Element> { return Array(typed) }
        guard let values = (value as? [Any]) ?? (value as? any Sequence).map({ $0.map { $0 as Any } }) else {
            Misuse.wrongValue(value, property: name, expected: "a sequence of '\(Element.self)'")
        }
        return values.map { element($0, name, policy) }
    }

    func element(_ value: Any, _ name: String, _ policy: Realm.UpdatePolicy) -> Element {
        if let element = value as? Element { return element }
        if let type = Element.self as? ObjectBase.Type {
            let model = ModelClass.of(type)
            let object = context.map { $0.create(model, value, policy, isEmbedded: model.schema.isEmbedded) } ?? model.unmanaged(value)
            if let element = object as? Element { return element }
        }
        Misuse.wrongValue(value, property: name, expected: "elements of type '\(Element.self)'")
    }
}
