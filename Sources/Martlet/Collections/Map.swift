import MartletEngine
import MartletValues

/// A to-many property with string keys. Keys are compared by code point.
public final class Map<Value: RealmCollectionValue>: PropertyCollection, NotifyingCollection {
    private var unmanagedEntries: [StoredValue: Value] = [:]
    /// Reports the changes of an unmanaged map to the observers of its owner; nil if the owner has no observers.
    var notifier: CollectionNotifier?
    private var unmanaged: [StoredValue: Value] {
        get { unmanagedEntries }
        _modify {
            guard let notifier else {
                yield &unmanagedEntries
                return
            }
            var changed = unmanagedEntries
            yield &changed
            if unmanagedEntries.isEmpty && changed.isEmpty { return }
            notifier.change(nil) { unmanagedEntries = changed }
        }
    }
    /// A placeholder that the subscript returns for any key while `KeyPathTracer` follows a key path through this map.
    /// Nil at all other times.
    private var traced: Value?
    // The core stores keys and values alternately.
    private(set) var core: CollectionCore?

    /// An entry of a map.
    public typealias Entry = (key: String, value: Value)

    /// Creates an empty unmanaged map.
    public init() {}

    init(core: CollectionCore) { self.core = core }

    public init(_owner owner: ObjectBase, _ property: Int) {
        if let table = owner._table, let context = owner._context { core = context.core(table, property, owner._key) }
        traced = KeyPathTracer.element(owner, Value.self)
    }

    public static func _isValid(_ element: StoredValue) -> Bool { Value._isValid(element) }

    public func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy) {
        let entries = Array(self)
        _attach(owner, property)
        if core != nil { for (key, value) in entries { set(key, value, policy) } }
    }

    public func _attach(_ owner: ObjectBase, _ property: Int) {
        guard core == nil, let table = owner._table, let context = owner._context else { return }
        core = context.core(table, property, owner._key)
        unmanaged = [:]
    }

    @_spi(Generated) public func _assign(_ other: Map<Value>) {
        core?.requireWrite()
        _assignElements(of: other, .error)
    }

    public func _assignUntyped(_ value: Any?, _ name: String, _ rules: UntypedAssignment) {
        if let other = UntypedValue.instance(value, of: Map<Value>.self), isSame(as: other) { return _assign(other) }
        let untyped = UntypedElements<Value>(core, name, rules)
        var given = untyped.entries(value).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        // The values may be embedded objects of this map. They are copied, because the assignment changes these objects
        // while it reads the values.
        if rules.policy == .modified { given = given.map { ($0.key, EmbeddedCopies.copiedOrSame($0.value)) } }
        guard let core, rules.policy == .modified else {
            return assign(given.map { ($0.key, untyped.element($0.value, .key($0.key))) }, rules.policy)
        }
        // With the policy `.modified`, assigning a dictionary leaves the other entries of this map in place: those
        // whose keys are not in the dictionary. Assigning a map removes them.
        if UntypedValue.instance(value, of: (any UntypedMap).self) != nil { removeOthers(core, given.map(\.key)) }
        for (key, value) in given {
            if core.property.element.isEmbedded, let target = self[key]?._object,
                let value = UntypedValue.unwrapped(value)
            {
                let (input, rules) = untyped.input(value, for: target, .key(key))
                target.assignNested(input, rules)
            } else {
                set(key, untyped.element(value, .key(key)), rules.policy)
            }
        }
    }

    public func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy) {
        guard let other = other as? Map<Value>, !isSame(as: other) else { return }
        assign(Array(other), policy)
    }

    private func isSame(as other: Map<Value>) -> Bool { other === self || (core != nil && other.core === core) }

    private func assign(_ entries: [Entry], _ policy: Realm.UpdatePolicy) {
        guard let core else {
            let contents = Dictionary(entries.map { (StoredValue(.text($0.key)), $0.value) }, uniquingKeysWith: { $1 })
            guard let notifier else { return unmanagedEntries = contents }
            return notifier.change(nil) { unmanagedEntries = contents }
        }
        if policy == .modified {
            removeOthers(core, entries.map(\.key))
            for (key, value) in entries { set(key, value, policy) }
        } else {
            core.asOneAssignment {
                core.removeAll()
                if !core.isValid { return core.context.deleteOwnerless(entries.lazy.compactMap(\.value._object)) }
                for (key, value) in entries { set(key, value, policy) }
            }
        }
    }

    private func removeOthers(_ core: CollectionCore, _ keys: [String]) {
        core.recordAssignment()
        let remaining = Set(keys.map(SQLValue.text))
        let all = core.all()
        removeEntries(core, stride(from: 0, to: all.count, by: 2).filter { !remaining.contains(all[$0]) })
    }

    /// Removes entries. Observers are notified of one change. `positions` are the ascending positions of the keys.
    func removeEntries(_ core: CollectionCore, _ positions: [Int]) {
        if positions.isEmpty { return }
        for position in positions { core.recordAssignment(ofKey: core.element(at: position)) }
        core.asOneAssignment { core.remove(at: positions.flatMap { [$0, $0 + 1] }) }
    }

    private func set(_ key: String, _ value: Value?, _ policy: Realm.UpdatePolicy) {
        guard let core else {
            unmanaged[StoredValue(.text(key))] = value
            return
        }
        core.requireWrite()
        guard let value else {
            if let position = core.position(of: .text(key)) { removeEntries(core, [position]) }
            return
        }
        if policy == .modified, let position = core.position(of: .text(key)), updateInPlace(value, core, position) {
            return
        }
        let stored = value._storedElement(elementContext(core, policy)).raw
        core.recordAssignment(ofKey: .text(key))
        // The position is looked up after the value was stored, because storing a value can call observers that change
        // the map.
        if let position = core.position(of: .text(key)) {
            if policy != .modified || core.element(at: position + 1) != stored {
                core.replace(at: position + 1, with: stored)
            }
        } else {
            core.asOneAssignment {
                core.insert(.text(key), at: core.count)
                core.insert(stored, at: core.count)
            }
        }
    }

    // An existing embedded object keeps its identity and receives the new values.
    private func updateInPlace(_ value: Value, _ core: CollectionCore, _ position: Int) -> Bool {
        guard core.property.element.isEmbedded, let object = value._object, object._state == .unmanaged,
            let target = element(core, position + 1)._object, let table = target._table
        else { return false }
        core.context.updateEmbedded(target._key, from: object, .modified, table)
        return true
    }

    private func elementContext(_ core: CollectionCore, _ policy: Realm.UpdatePolicy = .error) -> ElementContext {
        ElementContext(
            context: core.context, isEmbedded: core.property.element.isEmbedded, policy: policy, table: core.target)
    }

    private func element(_ core: CollectionCore, _ position: Int) -> Value {
        Value._element(StoredValue(core.element(at: position)), elementContext(core))
    }

    private var entries: [Entry] {
        guard let core else {
            return unmanaged.compactMap { key, value in String._value(key).map { ($0, value) } }
                .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        }
        var entries: [Entry] = []
        entries.reserveCapacity(core.count / 2)
        var iterator = makeIterator()
        while let entry = iterator.next() { entries.append(entry) }
        return entries
    }

    /// The number of entries.
    public var count: Int { core.map { $0.count / 2 } ?? unmanaged.count }

    /// True if there are no entries.
    public var isEmpty: Bool { count == 0 }

    /// The keys. `values` contains their values in the same order.
    public var keys: [String] {
        guard let core else { return entries.map(\.key) }
        let all = core.count == 0 ? [] : core.all()
        return stride(from: 0, to: all.count, by: 2).compactMap { position in
            if case .text(let key) = all[position] { key } else { nil }
        }
    }

    /// The values. `keys` contains their keys in the same order.
    public var values: [Value] { entries.map(\.value) }

    /// The value of a key; nil if the map does not contain the key. Assigning nil removes the entry.
    ///
    /// Complexity: O(1) on average. The first accesses are O(n), and so are the first accesses after another process or
    /// thread has changed the map.
    public subscript(key: String) -> Value? {
        get {
            guard let core else { return unmanaged[StoredValue(.text(key))] ?? traced }
            return core.position(of: .text(key)).map { element(core, $0 + 1) }
        }
        set { set(key, newValue, .error) }
    }

    /// Sets the value of a key.
    public func updateValue(_ value: Value, forKey key: String) { set(key, value, .error) }

    /// Sets the values of several keys.
    public func merge(_ entries: [String: Value]) {
        core?.requireWrite()
        for key in entries.keys.sorted() { set(key, entries[key], .error) }
    }

    /// Removes the entry of a key. Has no effect if the map does not contain the key.
    public func removeObject(for key: String) { set(key, nil, .error) }

    /// Removes all entries.
    public func removeAll() {
        if let core { core.removeAll() } else { unmanaged.removeAll() }
    }

    /// True after the owner was deleted or the Realm was invalidated.
    public var isInvalidated: Bool { core.map { !$0.isValid } ?? KeyPathTracer.recordInvalidation() }

    /// True for a frozen collection, which `freeze()` returns.
    public var isFrozen: Bool { core?.context.isFrozen ?? false }

    /// The Realm of the owner; nil for an unmanaged map.
    public var realm: Realm? { core?.context.realm }
}

extension Map: Sequence {
    /// Iterates over the current entries, in no particular order. The body of the loop may change the map.
    public func makeIterator() -> Iterator {
        guard let core else { return Iterator(plain: entries.makeIterator()) }
        return Iterator(stored: StoredElements(core), elementContext: elementContext(core))
    }

    /// An iterator that reads entries in blocks.
    public struct Iterator: IteratorProtocol {
        /// The entries of an unmanaged map.
        fileprivate var plain: IndexingIterator<[Entry]>?
        /// The keys and values of a managed map.
        fileprivate var stored: StoredElements?
        fileprivate var elementContext: ElementContext?
        /// Reads the objects of the current block of entries; nil if the values are not objects.
        private var objects: BlockIterator?
        private var blockNumber = -1

        fileprivate init(plain: IndexingIterator<[Entry]>) { self.plain = plain }

        fileprivate init(stored: StoredElements, elementContext: ElementContext) {
            self.stored = stored
            self.elementContext = elementContext
        }

        /// The next entry.
        public mutating func next() -> Entry? {
            guard let elementContext else { return plain?.next() }
            while let key = stored?.next() {
                beginBlock(elementContext)
                guard let value = stored?.next() else { return nil }
                // While the object is retained, `_element` finds it by its key.
                let object: ObjectBase? = if case .integer = value { objects?.next() } else { nil }
                guard case .text(let key) = key else { continue }
                return withExtendedLifetime(object) { (key, Value._element(StoredValue(value), elementContext)) }
            }
            return nil
        }

        private mutating func beginBlock(_ elementContext: ElementContext) {
            guard let table = elementContext.table, let number = stored?.blockNumber, number != blockNumber else {
                return
            }
            blockNumber = number
            objects = BlockIterator(stored?.linksInBlock ?? [], table)
        }
    }
}

@available(
    *, unavailable,
    message: "a live collection stays on its Realm's thread, queue or actor; pass its values or its owner's primary key"
)
// Unavailable: a collection is confined like the object it belongs to.
extension Map: @unchecked Sendable {}
