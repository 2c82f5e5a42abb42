import MartletEngine
import MartletValues

/// The list, set or map of a property, independent of the type of its elements. Generated code and the runtime use it.
public protocol PropertyCollection: AnyObject {
    /// Creates the collection of a property of `owner`.
    init(_owner owner: ObjectBase, _ property: Int)
    /// True if the stored value is valid for an element of this collection.
    static func _isValid(_ element: StoredValue) -> Bool
    /// Stores the elements that were added while the owner was unmanaged.
    func _manage(_ owner: ObjectBase, _ property: Int, _ policy: Realm.UpdatePolicy)
    /// Binds the collection to a row that already contains its elements.
    func _attach(_ owner: ObjectBase, _ property: Int)
    /// Replaces the contents with untyped values; traps on a value that does not fit.
    func _assignUntyped(_ value: Any?, _ name: String, _ rules: UntypedAssignment)
    /// Replaces the contents with the contents of another collection of the same kind.
    func _assignElements(of other: any PropertyCollection, _ policy: Realm.UpdatePolicy)
}
