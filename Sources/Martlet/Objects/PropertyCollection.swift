import MartletEngine
import MartletSQLite

/// The list, set or map of a property: what generated code and the runtime need of it, whatever its elements are.
public protocol PropertyCollection: AnyObject {
    /// The collection of a property of `owner`.
    init(_owner owner: ObjectBase, _ property: Int)
    /// True for what is stored of an element.
    static func _holds(_ element: StoredValue) -> Bool
    /// Stores the elements gathered while the owner was unmanaged.
    func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy)
    /// Becomes the collection of a row that has its contents already.
    func _attach(_ owner: ObjectBase, _ property: Int)
    /// Replaces the contents with untyped values; traps on a value that does not fit.
    func _assignUntyped(_ value: Any?, _ name: String, _ rules: UntypedAssignment)
    /// Replaces the contents with those of another collection of the same kind.
    func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy)
}
