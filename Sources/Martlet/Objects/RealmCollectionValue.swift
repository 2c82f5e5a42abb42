public import Foundation
import MartletEngine
import MartletSQLite

/// What collections may hold: objects, and every kind of value.
public protocol RealmCollectionValue {
    /// The element in Swift, from what a collection stores.
    static func _element(_ stored: StoredValue, _ source: ElementSource) -> Self
    /// True for what is stored of an element of this type.
    static func _holds(_ stored: StoredValue) -> Bool
    /// What a collection stores for the element; adds unmanaged objects.
    func _storedElement(_ source: ElementSource) -> StoredValue
    /// What a collection stores for an element that is looked for; nil for what it cannot hold.
    func _soughtElement(_ source: ElementSource) -> StoredValue?
    /// True for a list or map in the place of a single value.
    var _isCollection: Bool { get }
    /// The element when it is an object.
    var _object: ObjectBase? { get }
    /// The element as queries compare it; nil for objects.
    var _comparedElement: StoredValue? { get }
    /// What distinguishes the element from others in a set; nil for objects.
    var _identity: StoredValue? { get }
    /// Another object of the same class in the place of the element, when it is one; otherwise the element itself.
    func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Self
}

/// Where elements of a collection come from and go to.
public struct ElementSource {
    let context: RealmContext
    var isEmbedded = false
    var policy = Realm.UpdatePolicy.error
    /// The table of objects whose class does not tell it.
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
                EngineError.damaged("a link in a collection leads nowhere", path: source.context.coordinator.path))
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
                    ? source.context.adoptEmbedded(self, source.policy) : source.context.adopt(self, source.policy)))
    }

    public final var _object: ObjectBase? { self }
    public final func _replacingObject(_ replacement: (ObjectBase) -> ObjectBase) -> Self {
        unsafeDowncast(replacement(self), to: Self.self)
    }
    public final var _comparedElement: StoredValue? { nil }
}
