import MartletEngine
import MartletValues

/// A to-many property that contains each value or object at most once, in a stable order.
///
/// Values are compared as in queries, except that all NaNs are the same element. Strings that are canonically
/// equivalent, but consist of different bytes, are different elements. Positive and negative zero are the same element.
/// In a set of `AnyRealmValue`, equal numbers of different types are the same element; the set keeps the number that
/// was inserted first.
public final class MutableSet<Element: RealmCollectionValue & Hashable>: PropertyCollection, NotifyingCollection {
    private var unmanagedElements: [Element] = []
    /// Reports the changes of an unmanaged set to the observers of its owner; nil if the owner has no observers.
    var notifier: CollectionNotifier?
    private var unmanaged: [Element] {
        get { unmanagedElements }
        _modify {
            guard let notifier else {
                yield &unmanagedElements
                return
            }
            var changed = unmanagedElements
            yield &changed
            if changed.count != unmanagedElements.count { notifier.change(nil) { unmanagedElements = changed } }
        }
    }
    // The values by which the unmanaged elements are compared. Empty if the elements are objects.
    private var unmanagedIdentities: Set<StoredValue> = []
    private(set) var core: CollectionCore?

    /// Creates an empty unmanaged set.
    public init() {}

    init(core: CollectionCore) { self.core = core }

    public init(_owner owner: ObjectBase, _ property: Int) {
        if let table = owner._table, let context = owner._context { core = context.core(table, property, owner._key) }
        if let element = KeyPathTracer.element(owner, Element.self) { unmanagedElements = [element] }
    }

    public static func _isValid(_ element: StoredValue) -> Bool { Element._isValid(element) }

    public func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy) {
        let elements = unmanaged
        _attach(owner, property)
        if core != nil { for element in elements { insert(element, policy) } }
    }

    public func _attach(_ owner: ObjectBase, _ property: Int) {
        guard core == nil, let table = owner._table, let context = owner._context else { return }
        core = context.core(table, property, owner._key)
        unmanaged = []
        unmanagedIdentities = []
    }

    @_spi(Generated) public func _assign(_ other: MutableSet<Element>) {
        core?.requireWrite()
        assign(other, .error)
    }

    public func _assignUntyped(_ value: Any?, _ name: String, _ rules: UntypedAssignment) {
        if let other = UntypedValue.instance(value, of: MutableSet<Element>.self), isSame(as: other) {
            return _assign(other)
        }
        let untyped = UntypedElements<Element>(core, name, rules)
        assign(untyped.elements(value), rules.policy)
    }

    public func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy) {
        if let other = other as? MutableSet<Element> { assign(other, policy) }
    }

    private func isSame(as other: MutableSet<Element>) -> Bool {
        other === self || (core != nil && other.core === core)
    }

    private func assign(_ other: MutableSet<Element>, _ policy: Realm.UpdatePolicy) {
        if !isSame(as: other) { assign(Array(other), policy) }
    }

    // With the policy `.modified`, elements that are equal to assigned elements stay in the set and are not written
    // again.
    private func assign(_ elements: [Element], _ policy: Realm.UpdatePolicy) {
        guard let core else { return replaceUnmanaged(elements) }
        guard policy == .modified else {
            return core.asOneAssignment {
                core.removeAll()
                for element in elements { insert(element, policy) }
            }
        }
        let new = elements.map { stored($0, core, policy) }
        core.recordAssignment()
        let remaining = Set(new.map(core.identity))
        for old in core.all().reversed() where !remaining.contains(core.identity(of: old)) {
            // An observer of an earlier removal may have removed the element.
            if let position = core.position(of: old) { core.remove(at: position) }
        }
        for element in new where !core.contains(element) { core.insert(element, at: core.count) }
    }

    // Observers are notified of one assignment.
    private func replaceUnmanaged(_ elements: [Element]) {
        let distinct = MutableSet()
        for element in elements { distinct.insert(element) }
        unmanagedIdentities = distinct.unmanagedIdentities
        guard let notifier else { return unmanagedElements = distinct.unmanagedElements }
        notifier.change(nil) { unmanagedElements = distinct.unmanagedElements }
    }

    private func elementContext(_ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> ElementContext {
        ElementContext(context: core.context, policy: policy, table: core.target)
    }

    private func stored(_ element: Element, _ core: CollectionCore, _ policy: Realm.UpdatePolicy) -> SQLValue {
        core.requireWrite()
        return element._storedElement(elementContext(core, policy)).raw
    }

    private func insert(_ element: Element, _ policy: Realm.UpdatePolicy) {
        if element._isCollection { Misuse.collectionInSet(core?.name) }
        if let core {
            let stored = stored(element, core, policy)
            if !core.contains(stored) { core.insert(stored, at: core.count) }
        } else if let value = element._identity {
            if unmanagedIdentities.insert(value).inserted { unmanaged.append(element) }
        } else if !unmanaged.contains(element) {
            unmanaged.append(element)
        }
    }

    private func position(of element: Element) -> Int? {
        if let core { return sought(element, core).flatMap { core.position(of: $0) } }
        guard let value = element._identity else { return unmanaged.firstIndex(of: element) }
        return unmanagedIdentities.contains(value) ? unmanaged.firstIndex { $0._identity == value } : nil
    }

    // The stored value of an element to search for; nil if the set cannot contain the element.
    private func sought(_ element: Element, _ core: CollectionCore) -> SQLValue? {
        guard let object = element._object else { return element._searchElement(elementContext(core))?.raw }
        guard object._context === core.context, object._state != .invalidated else { return nil }
        return .integer(object._key)
    }

    /// The number of elements.
    public var count: Int { core?.count ?? unmanaged.count }

    /// Whether the set contains the element.
    ///
    /// Complexity: O(log n) for objects. For values, the first searches are O(n), and further searches are O(1) on
    /// average. After another process or thread has changed the set, the first searches are O(n) again.
    public func contains(_ element: Element) -> Bool {
        guard let core else { return position(of: element) != nil }
        return sought(element, core).map { core.contains($0) } ?? false
    }

    /// The position of an element in the order of the set; nil if the set does not contain the element.
    public func index(of element: Element) -> Int? { position(of: element) }

    /// Inserts an element, unless the set already contains it.
    public func insert(_ element: Element) { insert(element, .error) }

    /// Inserts elements, except those that the set already contains.
    public func insert(objectsIn elements: some Sequence<Element>) {
        core?.requireWrite()
        for element in Array(elements) { insert(element, .error) }
    }

    /// Removes an element. Has no effect if the set does not contain the element.
    public func remove(_ element: Element) {
        core?.requireWrite()
        guard let position = position(of: element) else { return }
        if let core { return core.remove(at: position) }
        if let value = unmanaged.remove(at: position)._identity { unmanagedIdentities.remove(value) }
    }

    private func remove(where isRemoved: (Element) -> Bool) {
        let elements = Array(self)
        let positions = elements.indices.filter { isRemoved(elements[$0]) }
        if let core { return core.remove(at: positions) }
        if positions.isEmpty { return }
        unmanagedIdentities.subtract(positions.compactMap { elements[$0]._identity })
        let removed = Set(positions)
        unmanaged = elements.indices.filter { !removed.contains($0) }.map { elements[$0] }
    }

    /// Removes all elements.
    public func removeAll() {
        if let core { return core.removeAll() }
        unmanaged = []
        unmanagedIdentities = []
    }

    /// True after the owner was deleted or the Realm was invalidated.
    public var isInvalidated: Bool { core.map { !$0.isValid } ?? KeyPathTracer.recordInvalidation() }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { core?.context.isFrozen ?? false }

    /// The Realm of the owner; nil for an unmanaged set.
    public var realm: Realm? { core?.context.realm }
}

extension MutableSet: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// Iterates over the current elements. The body of the loop may change the set.
    public func makeIterator() -> List<Element>.Iterator {
        core.map { List<Element>.Iterator($0) } ?? List<Element>.Iterator(unmanaged)
    }

    /// The element at a position in the order of the set.
    public subscript(position: Int) -> Element {
        guard let core else {
            if !unmanaged.indices.contains(position) {
                Misuse.indexOutOfRange(position, count: unmanaged.count, "the set")
            }
            return unmanaged[position]
        }
        return Element._element(StoredValue(core.element(at: position)), elementContext(core))
    }
}

extension MutableSet {
    /// True if `other` contains all elements of this set.
    public func isSubset(of other: MutableSet<Element>) -> Bool { allSatisfy { other.contains($0) } }

    /// True if the sets have a common element.
    public func intersects(_ other: MutableSet<Element>) -> Bool { contains { other.contains($0) } }

    /// Inserts the elements of another set.
    public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: other) }

    /// Removes the elements that another set does not contain.
    public func formIntersection(_ other: MutableSet<Element>) {
        remove { !other.contains($0) }
        // Earlier in this write, the deletion of an object may have been denied because this set contained the object.
        // The other set does not contain deleted objects, so the intersection removes the reason for the denial.
        if !isSame(as: other) { core?.recordAssignment() }
    }

    /// Removes the elements of another set.
    public func subtract(_ other: MutableSet<Element>) {
        remove { other.contains($0) }
    }
}

@available(
    *, unavailable,
    message: "a live collection stays on its Realm's thread, queue or actor; pass its values or its owner's primary key"
)
// Unavailable: a collection is confined like the object it belongs to.
extension MutableSet: @unchecked Sendable {}
