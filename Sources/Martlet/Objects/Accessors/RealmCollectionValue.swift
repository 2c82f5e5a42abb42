public import Foundation
import MartletEngine
import MartletValues

/// A type that a collection can contain: an object type or a value type.
public protocol RealmCollectionValue {
    /// The element for a stored value.
    static func _element(_ stored: StoredValue, _ elementContext: ElementContext) -> Self
    /// Used for collections with optional elements: the element for a stored value that is not null. Nil for a raw
    /// value that is not a case of the enum.
    static func _optionalElement(_ stored: StoredValue, _ elementContext: ElementContext) -> Self?
    /// True if the stored value is valid for an element of this type.
    static func _isValid(_ stored: StoredValue) -> Bool
    /// The stored value of the element. Adds unmanaged objects to the Realm.
    func _storedElement(_ elementContext: ElementContext) -> StoredValue
    /// The stored value of an element to search for; nil if the collection cannot contain the element. Does not add
    /// unmanaged objects.
    func _searchElement(_ elementContext: ElementContext) -> StoredValue?
    /// True if the element is an `AnyRealmValue` that contains a list or map.
    var _isCollection: Bool { get }
    /// The element if it is an object, otherwise nil.
    var _object: ObjectBase? { get }
    /// The element as queries compare it; nil for objects.
    var _comparedElement: StoredValue? { get }
    /// The value by which a set compares elements; nil for objects.
    var _identity: StoredValue? { get }
    /// The element with each object replaced by another object of the same class.
    func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Self
}

/// The context of a conversion between an element and its stored value: the Realm of the collection, and the rules for
/// reading and adding elements.
public struct ElementContext {
    let context: RealmContext
    var isEmbedded = false
    var policy = Realm.UpdatePolicy.error
    /// The table of the element objects; nil if their class determines it.
    var table: ObjectTable?
}

extension RealmCollectionValue {
    public func _searchElement(_ elementContext: ElementContext) -> StoredValue? { _storedElement(elementContext) }
    public static func _optionalElement(_ stored: StoredValue, _ elementContext: ElementContext) -> Self? {
        _element(stored, elementContext)
    }
    public var _isCollection: Bool { false }
    public var _identity: StoredValue? { _comparedElement }
}

extension RealmCollectionValue where Self: PersistableValue {
    public static func _element(_ stored: StoredValue, _ elementContext: ElementContext) -> Self {
        guard let value = _value(stored) else { Misuse.enumWithoutCase(_typeName, "\(stored.raw)") }
        return value
    }
    public static func _isValid(_ stored: StoredValue) -> Bool { _value(stored) != nil }
    public func _storedElement(_ elementContext: ElementContext) -> StoredValue { _stored }
    public var _object: ObjectBase? { nil }
    public var _comparedElement: StoredValue? { _compared }
    public func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Self { self }
}

extension Bool: RealmCollectionValue {}
extension Int: RealmCollectionValue {}
extension Int8: RealmCollectionValue {}
extension Int16: RealmCollectionValue {}
extension Int32: RealmCollectionValue {}
extension Int64: RealmCollectionValue {}
extension Float: RealmCollectionValue {}
extension Double: RealmCollectionValue {}
extension String: RealmCollectionValue {}
extension Data: RealmCollectionValue {}
extension Date: RealmCollectionValue {}
extension UUID: RealmCollectionValue {}
extension ObjectId: RealmCollectionValue {}
extension Decimal128: RealmCollectionValue {}

extension Optional: RealmCollectionValue where Wrapped: RealmCollectionValue {
    public static func _element(_ stored: StoredValue, _ elementContext: ElementContext) -> Wrapped? {
        stored == .null ? nil : Wrapped._optionalElement(stored, elementContext)
    }
    public static func _isValid(_ stored: StoredValue) -> Bool { stored == .null || Wrapped._isValid(stored) }
    public func _storedElement(_ elementContext: ElementContext) -> StoredValue {
        self?._storedElement(elementContext) ?? .null
    }
    public var _object: ObjectBase? { self?._object }
    public func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Wrapped? {
        map { $0._replacingObject(replacement) }
    }
    public var _comparedElement: StoredValue? { self.map { $0._comparedElement } ?? .null }
    public var _identity: StoredValue? { self.map { $0._identity } ?? .null }
}

extension ObjectBase: RealmCollectionValue {
    public static func _element(_ stored: StoredValue, _ elementContext: ElementContext) -> Self {
        guard case .integer(let key) = stored.raw else {
            elementContext.context.readFailed(
                EngineError.damaged(
                    "a collection of links contains a value that is not an object key",
                    path: elementContext.context.coordinator.path))
        }
        return managed(key, elementContext)
    }

    private static func managed<T: ObjectBase>(_ key: ObjectKey, _ elementContext: ElementContext) -> T {
        unsafeDowncast((elementContext.table ?? elementContext.context.table(T.self)).object(key), to: T.self)
    }

    public static func _isValid(_ stored: StoredValue) -> Bool { true }

    public final func _storedElement(_ elementContext: ElementContext) -> StoredValue {
        StoredValue(
            .integer(
                elementContext.isEmbedded
                    ? elementContext.context.addEmbeddedIfUnmanaged(self, elementContext.policy)
                    : elementContext.context.addIfUnmanaged(self, elementContext.policy)))
    }

    public final var _object: ObjectBase? { self }
    public final func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Self {
        unsafeDowncast(replacement(self), to: Self.self)
    }
    public final var _comparedElement: StoredValue? { nil }
}
