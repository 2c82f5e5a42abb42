import Foundation
import MartletEngine

extension ObjectBase {
    /// The value at a dotted key path. The path may lead through links, and end in `@count` of a collection or in
    /// `isInvalidated`. Returns nil if a link on the path is nil. If the path leads through a collection,
    /// returns an array of the values of its elements.
    ///
    /// Traps if a component of the path names a property that does not exist.
    public final func value(forKeyPath keyPath: String) -> Any? {
        var value: Any? = self
        for name in keyPath.split(separator: ".", omittingEmptySubsequences: false) {
            value = KeyValueCoding.value(of: value, String(name), keyPath)
        }
        return value
    }

    /// A list property, given by name, as a collection with elements of type `Any?`. Traps if the property is not a
    /// list.
    ///
    /// ```swift
    /// try realm.write { dog.mutableArrayValue(forKey: "siblings").append(puppy) }
    /// ```
    ///
    /// The result is the live list, not a copy. Changes take effect immediately, and observers are notified.
    public final func mutableArrayValue(forKey name: String) -> KeyValueMutableArray {
        let property = property(named: name)
        guard let list = untypedCollection(property) as? any KeyValueArray else {
            Misuse.noArray("\(_typeName).\(name)")
        }
        return KeyValueMutableArray(list, "\(_typeName).\(name)")
    }
}

/// Evaluates one component of a key path.
private enum KeyValueCoding {
    static func value(of value: Any?, _ name: String, _ path: String) -> Any? {
        switch value {
        case nil: return nil
        case let object as ObjectBase:
            if name == KeyValueObservers.invalidationName { return object.isInvalidated }
            return object.value(forKey: name)
        case let collection as any KeyValueCollection:
            if name == KeyValuePath.count { return collection.count }
            return valuesOfEach(collection.elementValues, name, path)
        case let objects as any UntypedLinkingObjects:
            return name == KeyValuePath.count ? objects.count : valuesOfEach(objects.elements, name, path)
        case let array as [Any]:
            return name == KeyValuePath.count ? array.count : valuesOfEach(array, name, path)
        default: Misuse.unknownKeyPath(path, component: name, type: "\(type(of: value))")
        }
    }

    private static func valuesOfEach(_ elements: [Any?], _ name: String, _ path: String) -> [Any?] {
        elements.map { Self.value(of: $0.flatMap { UntypedValue.unwrapped($0) }, name, path) }
    }
}

/// The list with elements of type `Any?` that `mutableArrayValue(forKey:)` returns.
///
/// The list is live. If its owner is managed, the list can be changed only in a write transaction.
public struct KeyValueMutableArray: RandomAccessCollection {
    private let list: any KeyValueArray
    private let name: String

    init(_ list: any KeyValueArray, _ name: String) {
        self.list = list
        self.name = name
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { list.count }

    /// The element at a position, or nil if the list contains nil there. Assigning traps if the value has the wrong
    /// type.
    public subscript(position: Int) -> Any? {
        get { list.element(at: position) }
        nonmutating set { list.replaceUntyped(at: position, with: newValue, name) }
    }

    /// Appends an element.
    public func append(_ value: Any?) { list.insertUntyped(value, at: list.count, name) }

    /// Inserts an element before a position.
    public func insert(_ value: Any?, at position: Int) { list.insertUntyped(value, at: position, name) }

    /// Removes the element at a position.
    public func remove(at position: Int) { list.remove(at: position) }

    /// Removes all elements.
    public func removeAll() { list.removeAll() }

    /// Moves an element. `to` is its position after the move.
    public func move(from: Int, to: Int) { list.move(from: from, to: to) }
}
