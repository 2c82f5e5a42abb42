public import Foundation
import MartletEngine
import MartletValues

/// A type that a collection can contain: an object type or a value type.
public protocol RealmCollectionValue {
    /// The element for a stored value.
    static func _element(_ stored: StoredValue, _ source: ElementSource) -> Self
    /// True if the stored value is valid for an element of this type.
    static func _holds(_ stored: StoredValue) -> Bool
    /// The stored value of the element. Adds unmanaged objects to the Realm.
    func _storedElement(_ source: ElementSource) -> StoredValue
    /// The stored value of an element to search for; nil if the collection cannot contain the element. Does not add
    /// unmanaged objects.
    func _soughtElement(_ source: ElementSource) -> StoredValue?
    /// True if the value is a list or map.
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

/// What the conversion between an element and its stored value needs: the Realm of the collection, and the rules for
/// reading and adding elements.
public struct ElementSource {
    let context: RealmContext
    var isEmbedded = false
    var policy = Realm.UpdatePolicy.error
    /// The table of the element objects; nil if their class determines it.
    var table: ObjectTable?
}

extension RealmCollectionValue {
    public func _soughtElement(_ source: ElementSource) -> StoredValue? { _storedElement(source) }
    public var _isCollection: Bool { false }
    public var _identity: StoredValue? { _comparedElement }
}

extension RealmCollectionValue where Self: PersistableValue {
    public static func _element(_ stored: StoredValue, _ source: ElementSource) -> Self {
        guard let value = _value(stored) else { Misuse.enumWithoutCase(_typeName, "\(stored.raw)") }
        return value
    }
    public static func _holds(_ stored: StoredValue) -> Bool { _value(stored) != nil }
    public func _storedElement(_ source: ElementSource) -> StoredValue { _stored }
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
    public static func _element(_ stored: StoredValue, _ source: ElementSource) -> Wrapped? {
        stored == .null ? nil : Wrapped._element(stored, source)
    }
    public static func _holds(_ stored: StoredValue) -> Bool { stored == .null || Wrapped._holds(stored) }
    public func _storedElement(_ source: ElementSource) -> StoredValue { self?._storedElement(source) ?? .null }
    public var _object: ObjectBase? { self?._object }
    public func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Wrapped? {
        map { $0._replacingObject(replacement) }
    }
    public var _comparedElement: StoredValue? { self.map { $0._comparedElement } ?? .null }
    public var _identity: StoredValue? { self.map { $0._identity } ?? .null }
}

extension ObjectBase: RealmCollectionValue {
    public static func _element(_ stored: StoredValue, _ source: ElementSource) -> Self {
        guard case .integer(let key) = stored.raw else {
            source.context.readFailed(
                EngineError.damaged(
                    "a collection of links contains a value that is not an object key",
                    path: source.context.coordinator.path))
        }
        return managed(key, source)
    }

    private static func managed<T: ObjectBase>(_ key: ObjectKey, _ source: ElementSource) -> T {
        unsafeDowncast((source.table ?? source.context.table(T.self)).object(key), to: T.self)
    }

    public static func _holds(_ stored: StoredValue) -> Bool { true }

    public final func _storedElement(_ source: ElementSource) -> StoredValue {
        StoredValue(
            .integer(
                source.isEmbedded
                    ? source.context.addEmbeddedIfUnmanaged(self, source.policy)
                    : source.context.addIfUnmanaged(self, source.policy)))
    }

    public final var _object: ObjectBase? { self }
    public final func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Self {
        unsafeDowncast(replacement(self), to: Self.self)
    }
    public final var _comparedElement: StoredValue? { nil }
}
