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
