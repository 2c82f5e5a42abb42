// A minimal runtime for models with property wrappers. It represents the libraries whose users write
// `@Persisted var name: String`. Benchmarks/compiler.py writes sixty classes that import this module, and measures the
// time to compile these classes.
//
// The declarations have the same form as in such libraries, because the form determines the work of the compiler. The
// wrapper has initializers for indexes and keys, and a value with several states. Optionals conform conditionally.

public import Foundation

/// A type that a stored property can have.
public protocol Persistable {
    associatedtype Stored
    static var initial: Self { get }
    static func load(_ object: WrappedObject, _ key: Int) -> Self
    func store(_ object: WrappedObject, _ key: Int)
}

/// A type that the elements of a list, or the wrapped value of an optional, can have.
public protocol PersistableValue: Persistable, Hashable {}

/// A stored type that supports an index.
public protocol IndexedStorage {}
/// A stored type that supports a primary key.
public protocol KeyStorage {}

extension Persistable {
    public static func load(_ object: WrappedObject, _ key: Int) -> Self { object.row[key] as? Self ?? initial }
    public func store(_ object: WrappedObject, _ key: Int) { object.row[key] = self }
}

/// The base class of the models.
open class WrappedObject: Hashable {
    fileprivate var row: [Int: Any] = [:]

    public required init() {}

    public static func == (left: WrappedObject, right: WrappedObject) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension WrappedObject: PersistableValue {
    public typealias Stored = WrappedObject
    public static var initial: Self { Self() }
}

extension Int: PersistableValue, IndexedStorage, KeyStorage {
    public typealias Stored = Int
    public static var initial: Int { 0 }
}

extension String: PersistableValue, IndexedStorage, KeyStorage {
    public typealias Stored = String
    public static var initial: String { "" }
}

extension Bool: PersistableValue, IndexedStorage {
    public typealias Stored = Bool
    public static var initial: Bool { false }
}

extension Float: PersistableValue {
    public typealias Stored = Float
    public static var initial: Float { 0 }
}

extension Double: PersistableValue {
    public typealias Stored = Double
    public static var initial: Double { 0 }
}

extension Date: PersistableValue, IndexedStorage {
    public typealias Stored = Date
    public static var initial: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension Data: PersistableValue {
    public typealias Stored = Data
    public static var initial: Data { Data() }
}

extension Optional: Persistable where Wrapped: PersistableValue {
    public typealias Stored = Wrapped.Stored?
    public static var initial: Wrapped? { nil }
}

extension Optional: IndexedStorage where Wrapped: IndexedStorage {}
extension Optional: KeyStorage where Wrapped: KeyStorage {}

/// A list of values or objects.
public final class WrappedList<Element: PersistableValue>: Persistable, RandomAccessCollection {
    public typealias Stored = WrappedList<Element>
    private var elements: [Element] = []

    public init() {}

    public static var initial: WrappedList<Element> { WrappedList() }
    public var startIndex: Int { elements.startIndex }
    public var endIndex: Int { elements.endIndex }
    public subscript(index: Int) -> Element { elements[index] }
    public func append(objectsIn values: some Sequence<Element>) { elements.append(contentsOf: values) }
}

/// A stored property of a class.
@propertyWrapper
public struct Persisted<Value: Persistable> {
    private enum State {
        case unset(isIndexed: Bool, isKey: Bool)
        case unmanaged(Value, isIndexed: Bool, isKey: Bool)
        case observed(Value, key: Int)
        case managed(key: Int)
        case cached(Value, key: Int)
    }

    private var state: State

    public init() { state = .unset(isIndexed: false, isKey: false) }
    public init(wrappedValue: Value) { state = .unmanaged(wrappedValue, isIndexed: false, isKey: false) }

    @available(*, unavailable, message: "@Persisted is available only in classes")
    public var wrappedValue: Value {
        get { Value.initial }
        set {}
    }

    public static subscript<Owner: WrappedObject>(
        _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        get { owner[keyPath: storage].value(of: owner) }
        set { owner[keyPath: storage].assign(newValue, to: owner) }
    }

    private mutating func value(of owner: WrappedObject) -> Value {
        switch state {
        case .unmanaged(let value, _, _), .observed(let value, _), .cached(let value, _): return value
        case .managed(let key): return Value.load(owner, key)
        case .unset(let isIndexed, let isKey):
            let value = Value.initial
            state = .unmanaged(value, isIndexed: isIndexed, isKey: isKey)
            return value
        }
    }

    private mutating func assign(_ value: Value, to owner: WrappedObject) {
        switch state {
        case .managed(let key), .cached(_, let key): value.store(owner, key)
        case .observed(_, let key): state = .observed(value, key: key)
        case .unset(let isIndexed, let isKey), .unmanaged(_, let isIndexed, let isKey):
            state = .unmanaged(value, isIndexed: isIndexed, isKey: isKey)
        }
    }
}

extension Persisted where Value.Stored: IndexedStorage {
    public init(indexed: Bool) { state = .unset(isIndexed: indexed, isKey: false) }
    public init(wrappedValue: Value, indexed: Bool) {
        state = .unmanaged(wrappedValue, isIndexed: indexed, isKey: false)
    }
}

extension Persisted where Value.Stored: KeyStorage {
    public init(primaryKey: Bool) { state = .unset(isIndexed: false, isKey: primaryKey) }
    public init(wrappedValue: Value, primaryKey: Bool) {
        state = .unmanaged(wrappedValue, isIndexed: false, isKey: primaryKey)
    }
}

extension Persisted: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        state = .unmanaged(try Value(from: decoder), isIndexed: false, isKey: false)
    }
}

extension Persisted: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        if case .unmanaged(let value, _, _) = state { try value.encode(to: encoder) }
    }
}
