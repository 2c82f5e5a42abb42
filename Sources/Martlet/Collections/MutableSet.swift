import MartletEngine
import MartletSQLite

/// A to-many property that holds each value or object at most once, in a stable order of its own.
public final class MutableSet<Element: RealmCollectionValue & Hashable>: PropertyCollection, AnnouncingCollection {
    private var plain: [Element] = []
    /// Set when the owner is observed before it is added to a Realm.
    var announcer: CollectionAnnouncer?
    private var unmanaged: [Element] {
        get { plain }
        _modify {
            guard let announcer else {
                yield &plain
                return
            }
            var changed = plain
            yield &changed
            if changed != plain { announcer.change(nil) { plain = changed } }
        }
    }
    private(set) var core: CollectionCore?

    /// An empty unmanaged set.
    public init() {}

    public init(_owner owner: ObjectBase, _ property: Int) {
        if let table = owner._table, let context = owner._context { core = context.core(table, property, owner._key) }
    }

    public func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy) {
        guard core == nil, let table = owner._table, let context = owner._context else { return }
        core = context.core(table, property, owner._key)
        let elements = unmanaged
        unmanaged = []
        for element in elements { insert(element, policy) }
    }

    @_spi(Generated) public func _assign(_ other: MutableSet<Element>) {
        if other === self || (core != nil && other.core === core) { return }
        replaceAll(Array(other), .error)
    }

    public func _assignUntyped(_ value: Any?, _ name: String, _ policy: Realm.UpdatePolicy) {
        replaceAll(UntypedElements<Element>(core?.context).elements(value, name, policy), policy)
    }

    public func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy) {
        guard let other = other as? MutableSet<Element> else { return }
        replaceAll(Array(other), policy)
    }

    // An assignment: observers are told once.
    private func replaceAll(_ elements: [Element], _ policy: Realm.UpdatePolicy) {
        guard let core else {
            var distinct: [Element] = []
            for element in elements where !distinct.contains(element) { distinct.append(element) }
            guard let announcer else { return plain = distinct }
            return announcer.change(nil) { plain = distinct }
        }
        core.asOne {
            core.removeAll()
            for element in elements { insert(element, policy) }
        }
    }

    private func source(_ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> ElementSource {
        ElementSource(context: core.context, policy: policy)
    }

    private func insert(_ element: Element, _ policy: Realm.UpdatePolicy) {
        guard let core else {
            if !unmanaged.contains(element) { unmanaged.append(element) }
            return
        }
        core.requireValid()
        _ = core.context.requireWrite("the set '\(core.name)'")
        let stored = element._storedElement(source(core, policy)).raw
        if !core.all().contains(stored) { core.insert(stored, at: core.count) }
    }

    private func position(of element: Element) -> Int? {
        guard let core else { return unmanaged.firstIndex(of: element) }
        if let object = element._object {
            guard object._context === core.context else { return nil }
            return core.all().firstIndex(of: .integer(object._key))
        }
        return core.all().firstIndex(of: element._storedElement(source(core)).raw)
    }

    /// The number of elements.
    public var count: Int { core?.count ?? unmanaged.count }

    /// True when the element is in the set. Complexity: O(n).
    public func contains(_ element: Element) -> Bool { position(of: element) != nil }

    /// Puts an element in, unless it is there.
    public func insert(_ element: Element) { insert(element, .error) }

    /// Puts elements in, each unless it is there.
    public func insert(objectsIn elements: some Sequence<Element>) {
        for element in elements { insert(element, .error) }
    }

    /// Takes an element out; nothing happens when it is not there.
    public func remove(_ element: Element) {
        guard let position = position(of: element) else { return }
        if let core { core.remove(at: position) } else { unmanaged.remove(at: position) }
    }

    /// Takes all elements out.
    public func removeAll() {
        if let core { core.removeAll() } else { unmanaged.removeAll() }
    }

    /// True once the owner was deleted.
    public var isInvalidated: Bool { core.map { !$0.isValid } ?? false }

    /// The Realm of the owner; nil for an unmanaged set.
    public var realm: Realm? { core.map { Realm($0.context) } }
}

extension MutableSet: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// The element at a position of the set's own order.
    public subscript(position: Int) -> Element {
        guard let core else { return unmanaged[position] }
        return Element._element(StoredValue(core.element(at: position)), source(core))
    }
}
