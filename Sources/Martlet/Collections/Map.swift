import MartletEngine
import MartletSQLite

/// A to-many property by string keys.
public final class Map<Value: RealmCollectionValue>: PropertyCollection, AnnouncingCollection {
    private var plain: [String: Value] = [:]
    /// Set when the owner is observed before it is added to a Realm.
    var announcer: CollectionAnnouncer?
    private var unmanaged: [String: Value] {
        get { plain }
        _modify {
            guard let announcer else {
                yield &plain
                return
            }
            var changed = plain
            yield &changed
            if plain.isEmpty && changed.isEmpty { return }
            announcer.change(nil) { plain = changed }
        }
    }
    // Keys and values take turns in the core.
    private(set) var core: CollectionCore?

    /// An empty unmanaged map.
    public init() {}

    public init(_owner owner: ObjectBase, _ property: Int) {
        if let table = owner._table, let context = owner._context { core = context.core(table, property, owner._key) }
    }

    public func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy) {
        guard core == nil, let table = owner._table, let context = owner._context else { return }
        core = context.core(table, property, owner._key)
        let entries = unmanaged
        unmanaged = [:]
        for key in entries.keys.sorted() { set(key, entries[key], policy) }
    }

    @_spi(Generated) public func _assign(_ other: Map<Value>) {
        if other === self || (core != nil && other.core === core) { return }
        replaceAll(other.dictionary, .error)
    }

    public func _assignUntyped(_ value: Any?, _ name: String, _ policy: Realm.UpdatePolicy) {
        let given: [String: Any]
        if let map = value as? Map<Value> {
            given = map.dictionary.mapValues { $0 as Any }
        } else if let dictionary = value as? [String: Any] {
            given = dictionary
        } else if value == nil {
            given = [:]
        } else {
            Misuse.wrongValue(value, property: name, expected: "a dictionary with string keys")
        }
        let elements = UntypedElements<Value>(core?.context)
        replaceAll(given.mapValues { elements.element($0, name, policy) }, policy)
    }

    public func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy) {
        guard let other = other as? Map<Value> else { return }
        replaceAll(other.dictionary, policy)
    }

    // An assignment: observers are told once.
    private func replaceAll(_ entries: [String: Value], _ policy: Realm.UpdatePolicy) {
        guard let core else {
            guard let announcer else { return plain = entries }
            return announcer.change(nil) { plain = entries }
        }
        core.asOne {
            core.removeAll()
            for key in entries.keys.sorted() { set(key, entries[key], policy) }
        }
    }

    private func position(of key: String, _ core: CollectionCore) -> Int? {
        let all = core.all()
        return stride(from: 0, to: all.count, by: 2).first { all[$0] == .text(key) }
    }

    private func set(_ key: String, _ value: Value?, _ policy: Realm.UpdatePolicy) {
        guard let core else {
            unmanaged[key] = value
            return
        }
        core.requireValid()
        _ = core.context.requireWrite("the map '\(core.name)'")
        let position = position(of: key, core)
        guard let value else {
            if let position {
                core.asOne {
                    core.remove(at: position + 1)
                    core.remove(at: position)
                }
            }
            return
        }
        let source = ElementSource(context: core.context, isEmbedded: core.property.element.isEmbedded, policy: policy)
        let stored = value._storedElement(source).raw
        if let position {
            core.replace(at: position + 1, with: stored)
        } else {
            core.asOne {
                core.insert(.text(key), at: core.count)
                core.insert(stored, at: core.count)
            }
        }
    }

    /// The contents as a dictionary.
    var dictionary: [String: Value] {
        guard let core else { return unmanaged }
        let all = core.all()
        let source = ElementSource(context: core.context)
        var entries: [String: Value] = [:]
        for position in stride(from: 0, to: all.count, by: 2) {
            if case .text(let key) = all[position] { entries[key] = Value._element(StoredValue(all[position + 1]), source) }
        }
        return entries
    }

    /// The number of entries.
    public var count: Int { core.map { $0.count / 2 } ?? unmanaged.count }

    /// True without entries.
    public var isEmpty: Bool { count == 0 }

    /// The keys, in no particular order.
    public var keys: [String] { Array(dictionary.keys) }

    /// The values, in no particular order.
    public var values: [Value] { Array(dictionary.values) }

    /// The value of a key; nil when there is none. Assigning nil removes the entry.
    public subscript(key: String) -> Value? {
        get {
            guard let core else { return unmanaged[key] }
            guard let position = position(of: key, core) else { return nil }
            return Value._element(StoredValue(core.element(at: position + 1)), ElementSource(context: core.context))
        }
        set { set(key, newValue, .error) }
    }

    /// Sets the value of a key.
    public func updateValue(_ value: Value, forKey key: String) { set(key, value, .error) }

    /// Sets the values of many keys.
    public func merge(_ entries: [String: Value]) {
        for key in entries.keys.sorted() { set(key, entries[key], .error) }
    }

    /// Removes the entry of a key; nothing happens when there is none.
    public func removeObject(for key: String) { set(key, nil, .error) }

    /// Removes all entries.
    public func removeAll() {
        if let core { core.removeAll() } else { unmanaged.removeAll() }
    }

    /// True once the owner was deleted.
    public var isInvalidated: Bool { core.map { !$0.isValid } ?? false }
}

extension Map: Sequence {
    /// Keys with their values, in no particular order.
    public func makeIterator() -> Dictionary<String, Value>.Iterator { dictionary.makeIterator() }
}
