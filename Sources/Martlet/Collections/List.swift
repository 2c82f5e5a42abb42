import MartletEngine
import MartletValues

/// An ordered to-many property of objects or values. A list can contain an element several times.
///
/// A list belongs to the object from which it was read. The list of a managed object is live and can be changed only in
/// a write transaction. The list of an unmanaged object is kept in memory, and is stored when the object is added to a
/// Realm.
public final class List<Element: RealmCollectionValue>: PropertyCollection, NotifyingCollection {
    private var unmanagedElements: [Element] = []
    /// Reports the changes of an unmanaged list to the observers of its owner; nil if the owner has no observers.
    var notifier: CollectionNotifier?
    var unmanaged: [Element] {
        get { unmanagedElements }
        _modify {
            guard let notifier else {
                yield &unmanagedElements
                return
            }
            var changed = unmanagedElements
            yield &changed
            if unmanagedElements.isEmpty && changed.isEmpty { return }
            notifier.change(CollectionNotifier.edit(from: unmanagedElements, to: changed)) {
                unmanagedElements = changed
            }
        }
    }
    private(set) var core: CollectionCore?

    /// Changes an unmanaged list; `script` describes the change to its observers.
    func changeUnmanaged(_ script: @autoclosure () -> ListEditScript, _ body: (inout [Element]) -> Void) {
        guard let notifier else { return body(&unmanagedElements) }
        notifier.change(KeyValueEdit(script())) { body(&unmanagedElements) }
    }

    func changeUnmanaged(_ edit: ListEdit, _ body: (inout [Element]) -> Void) {
        changeUnmanaged(ListEditScript([edit]), body)
    }

    /// Creates an empty unmanaged list.
    public init() {}

    init(core: CollectionCore) { self.core = core }

    public init(_owner owner: ObjectBase, _ property: Int) {
        if let table = owner._table, let context = owner._context { core = context.core(table, property, owner._key) }
        if let element = KeyPathTracer.element(owner, Element.self) { unmanagedElements = [element] }
    }

    public static func _isValid(_ element: StoredValue) -> Bool { Element._isValid(element) }

    public func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy) {
        guard core == nil, let table = owner._table, let context = owner._context else { return }
        core = context.core(table, property, owner._key)
        let elements = unmanaged
        unmanaged = []
        append(contentsOf: elements, policy)
    }

    public func _attach(_ owner: ObjectBase, _ property: Int) {
        guard core == nil, let table = owner._table, let context = owner._context else { return }
        core = context.core(table, property, owner._key)
        unmanaged = []
    }

    /// Replaces the contents. Assigning a list to itself has no effect.
    @_spi(Generated) public func _assign(_ other: List<Element>) {
        core?.requireWrite()
        if isSame(as: other) { return }
        assign(Array(other), .error)
    }

    public func _assignUntyped(_ value: Any?, _ name: String, _ rules: UntypedAssignment) {
        if let other = UntypedValue.instance(value, of: List<Element>.self), isSame(as: other) { return _assign(other) }
        let untyped = UntypedElements<Element>(core, name, rules)
        guard let core, core.property.element.isEmbedded, rules.policy == .modified else {
            return assign(untyped.elements(value), rules.policy)
        }
        // The values may be embedded objects of this list. They are copied, because the assignment changes these
        // objects while it reads the values.
        let values = untyped.values(value).map(EmbeddedCopies.copiedOrSame)
        updateInPlace(core, Array(values.enumerated())) { given, target in
            let (input, rules) = untyped.input(given.element, for: target, .position(given.offset))
            target.assignNested(input, rules)
        } added: {
            untyped.element($0.element, .position($0.offset))
        }
    }

    public func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy) {
        guard let other = other as? List<Element>, !isSame(as: other) else { return }
        assign(Array(other), policy)
    }

    private func isSame(as other: List<Element>) -> Bool { other === self || (core != nil && other.core === core) }

    private func assign(_ elements: [Element], _ policy: Realm.UpdatePolicy) {
        // Observers are notified of one assignment.
        guard let core else {
            guard let notifier else { return unmanagedElements = elements }
            return notifier.change(nil) { unmanagedElements = elements }
        }
        guard policy == .modified else {
            return core.asOneAssignment {
                core.removeAll()
                // The removal deletes embedded objects. If a link of such an object has 'deleteRule: cascade', the
                // removal may also have deleted the owner of the list.
                if !core.isValid { return core.context.deleteOwnerless(elements.lazy.compactMap(\._object)) }
                append(contentsOf: elements, policy)
            }
        }
        guard core.property.element.isEmbedded else {
            return core.assign(elements.map { stored($0, core, policy) })
        }
        updateInPlace(core, elements) { element, target in
            guard let source = element._object, let table = target._table else { return }
            if source._state != .unmanaged { Misuse.embeddedOwned(source._typeName) }
            core.context.updateEmbedded(target._key, from: source, policy, table)
        } added: {
            $0
        }
    }

    // Existing embedded objects keep their identity and receive the new values.
    private func updateInPlace<Source>(
        _ core: CollectionCore, _ sources: [Source], _ update: (Source, ObjectBase) -> Void, added: (Source) -> Element
    ) {
        let (count, common) = (count, Swift.min(count, sources.count))
        core.makingEdits { requireUnchanged in
            for position in 0..<common {
                let edits = core.editCount
                if let target = self[position]._object { update(sources[position], target) }
                if core.editCount != edits { Misuse.changedDuringChange(title) }
            }
            core.remove(common..<count)
            for source in sources[common...] {
                requireUnchanged()
                append(added(source), .modified)
            }
        }
    }

    func elementContext(_ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> ElementContext {
        ElementContext(
            context: core.context, isEmbedded: core.property.element.isEmbedded, policy: policy, table: core.target)
    }

    private func stored(_ element: Element, _ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> SQLValue {
        core.requireWrite()
        return element._storedElement(elementContext(core, policy)).raw
    }

    private func append(_ element: Element, _ policy: Realm.UpdatePolicy) {
        guard let core else {
            return changeUnmanaged(.insert(at: unmanagedElements.count, count: 1)) { $0.append(element) }
        }
        core.append(stored(element, core, policy))
    }

    private func append(contentsOf elements: [Element], _ policy: Realm.UpdatePolicy) {
        guard let core else {
            if elements.isEmpty { return }
            return changeUnmanaged(.insert(at: unmanagedElements.count, count: elements.count)) {
                $0.append(contentsOf: elements)
            }
        }
        core.insert(contentsOf: stored(elements, core, policy), at: core.count)
    }

    func stored(_ elements: [Element], _ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> [SQLValue] {
        core.requireWrite()
        let elementContext = elementContext(core, policy)
        return elements.map { $0._storedElement(elementContext).raw }
    }

    // MARK: Reading

    /// The number of elements; zero after the owner was deleted. Complexity: O(1) after the first use of the list.
    public var count: Int { core?.count ?? unmanaged.count }

    /// The element at a position. Traps if the position is out of range.
    public subscript(position: Int) -> Element {
        get {
            guard let core else {
                if !unmanaged.indices.contains(position) {
                    Misuse.indexOutOfRange(position, count: unmanaged.count, "the list")
                }
                return unmanaged[position]
            }
            return Element._element(StoredValue(core.element(at: position)), elementContext(core))
        }
        set { replace(index: position, object: newValue) }
    }

    /// True after the owner was deleted or the Realm was invalidated.
    public var isInvalidated: Bool { core.map { !$0.isValid } ?? KeyPathTracer.recordInvalidation() }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { core?.context.isFrozen ?? false }

    /// The Realm of the owner; nil for an unmanaged list.
    public var realm: Realm? { core?.context.realm }

    // MARK: Changing

    /// Appends an element. An unmanaged object is also added to the Realm.
    public func append(_ element: Element) { append(element, .error) }

    /// Appends elements. Observers are notified of one change. Complexity: proportional to the number of appended
    /// elements.
    public func append(objectsIn elements: some Sequence<Element>) { append(contentsOf: Array(elements), .error) }

    /// Inserts an element before a position. Only elements near that position are written to the file again, even in a
    /// long list.
    public func insert(_ element: Element, at position: Int) {
        guard let core else {
            if position < 0 || position > unmanaged.count {
                Misuse.indexOutOfRange(position, count: unmanaged.count, "the list")
            }
            return changeUnmanaged(.insert(at: position, count: 1)) { $0.insert(element, at: position) }
        }
        core.insert(stored(element, core), at: position)
    }

    /// Replaces the element at a position.
    public func replace(index: Int, object: Element) {
        guard let core else {
            if !unmanaged.indices.contains(index) { Misuse.indexOutOfRange(index, count: unmanaged.count, "the list") }
            return changeUnmanaged(.replace(at: index)) { $0[index] = object }
        }
        core.replace(at: index, with: stored(object, core))
    }

    /// Removes the element at a position. If the element is an embedded object, it is deleted.
    public func remove(at position: Int) {
        guard let core else {
            if !unmanaged.indices.contains(position) {
                Misuse.indexOutOfRange(position, count: unmanaged.count, "the list")
            }
            return changeUnmanaged(.remove(at: position, count: 1)) { $0.remove(at: position) }
        }
        core.remove(at: position)
    }

    /// Removes the last element. Traps if the list is empty.
    public func removeLast() {
        if isEmpty { Misuse.removedFromEmptyList(title) }
        remove(at: count - 1)
    }

    /// Removes the first element. Traps if the list is empty.
    public func removeFirst() {
        if isEmpty { Misuse.removedFromEmptyList(title) }
        remove(at: 0)
    }

    /// Removes all elements.
    public func removeAll() {
        guard let core else {
            if unmanagedElements.isEmpty { return }
            return changeUnmanaged(.clear(oldCount: unmanagedElements.count)) { $0.removeAll() }
        }
        core.removeAll()
    }

    /// Moves an element. `to` is its position after the move.
    public func move(from: Int, to: Int) {
        guard let core else {
            if !unmanaged.indices.contains(from) { Misuse.indexOutOfRange(from, count: unmanaged.count, "the list") }
            if !unmanaged.indices.contains(to) { Misuse.indexOutOfRange(to, count: unmanaged.count, "the list") }
            if from == to { return }
            return changeUnmanaged(.move(from: from, to: to)) { $0.insert($0.remove(at: from), at: to) }
        }
        core.move(from: from, to: to)
    }

    /// Exchanges two elements.
    public func swapAt(_ first: Int, _ second: Int) {
        guard let core else {
            for index in [first, second] where !unmanaged.indices.contains(index) {
                Misuse.indexOutOfRange(index, count: unmanaged.count, "the list")
            }
            if first == second { return }
            return changeUnmanaged(.swap(first, second)) { $0.swapAt(first, second) }
        }
        core.swap(first, second)
    }
}

extension List: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
}

extension List: ExpressibleByArrayLiteral {
    /// Creates an unmanaged list of the elements.
    public convenience init(arrayLiteral elements: Element...) {
        self.init()
        append(objectsIn: elements)
    }
}

@available(
    *, unavailable,
    message: "a live collection stays on its Realm's thread, queue or actor; pass its values or its owner's primary key"
)
// Unavailable: a collection is confined like the object it belongs to.
extension List: @unchecked Sendable {}
