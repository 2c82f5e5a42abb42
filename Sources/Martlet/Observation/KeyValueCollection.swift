import Foundation
import MartletEngine

/// A list, set or map whose element type is known only at run time.
protocol KeyValueCollection: NotifyingCollection {
    /// The number of elements, or of entries of a map.
    var count: Int { get }
    /// The number of stored elements. The keys and the values of a map count separately.
    var elementCount: Int { get }
    /// The current elements as an array; the entries of a map as a dictionary.
    var contents: Any { get }
    /// The current elements, or the values of a map.
    var elementValues: [Any?] { get }
    func element(at position: Int) -> Any?
    var core: CollectionCore? { get }
}

/// A list whose element type is known only at run time.
protocol KeyValueArray: KeyValueCollection {
    func insertUntyped(_ value: Any?, at position: Int, _ name: String)
    func replaceUntyped(at position: Int, with value: Any?, _ name: String)
    func remove(at position: Int)
    func removeAll()
    func move(from: Int, to: Int)
}

extension List: KeyValueArray {
    var elementCount: Int { count }
    var contents: Any { Array(self) }
    var elementValues: [Any?] { map { $0 } }
    func element(at position: Int) -> Any? { UntypedValue.contents(of: UntypedValue.unwrapped(self[position])) }

    private func typed(_ value: Any?, _ name: String, _ position: Int) -> Element {
        UntypedElements<Element>(core, name, .single).element(value, .position(position))
    }

    func insertUntyped(_ value: Any?, at position: Int, _ name: String) {
        insert(typed(value, name, position), at: position)
    }

    func replaceUntyped(at position: Int, with value: Any?, _ name: String) {
        replace(index: position, object: typed(value, name, position))
    }
}

extension MutableSet: KeyValueCollection {
    var elementCount: Int { count }
    var contents: Any { Array(self) }
    var elementValues: [Any?] { map { $0 } }
    func element(at position: Int) -> Any? { UntypedValue.contents(of: UntypedValue.unwrapped(self[position])) }
}

extension Map: KeyValueCollection {
    var elementCount: Int { count * 2 }
    // A map can contain several canonically equivalent keys. The dictionary contains only the first of these keys.
    var contents: Any { Dictionary(keys.compactMap { key in self[key].map { (key, $0) } }) { first, _ in first } }
    var elementValues: [Any?] { keys.map { self[$0] } }
    func element(at position: Int) -> Any? { nil }
}

extension ObjectBase {
    final func untypedCollection(_ property: PropertySchema) -> (any KeyValueCollection)? {
        _load(property.index)
        return RowEncoder.collection(of: self, property.index) as? any KeyValueCollection
    }
}
