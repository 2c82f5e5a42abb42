import MartletEngine
import MartletSQLite

/// The list, set or map of a property: what generated code and the runtime need of it, whatever its elements are.
public protocol PropertyCollection: AnyObject {
    /// The collection of a property of `owner`.
    init(_owner owner: ObjectBase, _ property: Int)
    /// Stores the elements gathered while the owner was unmanaged.
    func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy)
    /// Replaces the contents with untyped values; traps on a value that does not fit.
    func _assignUntyped(_ value: Any?, _ name: String, _ policy: Realm.UpdatePolicy)
    /// Replaces the contents with those of another collection of the same kind.
    func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy)
}

extension ObjectBase {
    @_spi(Generated) public final func _list<E>(_ property: Int, _ storage: inout List<E>?) -> List<E> {
        collection(property, &storage)
    }

    @_spi(Generated) public final func _mutableSet<E>(_ property: Int, _ storage: inout MutableSet<E>?) -> MutableSet<E> {
        collection(property, &storage)
    }

    @_spi(Generated) public final func _map<V>(_ property: Int, _ storage: inout Map<V>?) -> Map<V> {
        collection(property, &storage)
    }

    private func collection<C: PropertyCollection>(_ property: Int, _ storage: inout C?) -> C {
        if let storage { return storage }
        let made = C(_owner: self, property)
        storage = made
        return made
    }
}
