// What the property-wrapper shape of a model needs of its runtime: enough that sixty classes of it compile and would
// work. It stands in for the libraries that ask their users for `@Persisted var name: String`; the classes compiled
// against it are written by Benchmarks/compiler.py, one line for each property, as people write them.

public import Foundation

/// The root of the classes; properties live in a row of untyped values.
open class WrappedObject {
    fileprivate var row: [AnyKeyPath: Any] = [:]
    fileprivate let isManaged = false

    public required init() {}
}

/// Types that a property can have.
public protocol Persistable {
    static var initial: Self { get }
    static func load(_ object: WrappedObject, _ key: AnyKeyPath) -> Self
    func store(_ object: WrappedObject, _ key: AnyKeyPath)
}

extension Persistable {
    public static func load(_ object: WrappedObject, _ key: AnyKeyPath) -> Self {
        object.row[key] as? Self ?? initial
    }

    public func store(_ object: WrappedObject, _ key: AnyKeyPath) { object.row[key] = self }
}

/// Types that a primary key can have.
public protocol PersistableKey: Persistable {}

extension Int: PersistableKey { public static var initial: Int { 0 } }
extension String: PersistableKey { public static var initial: String { "" } }
extension Bool: Persistable { public static var initial: Bool { false } }
extension Float: Persistable { public static var initial: Float { 0 } }
extension Double: Persistable { public static var initial: Double { 0 } }
extension Date: Persistable { public static var initial: Date { Date(timeIntervalSinceReferenceDate: 0) } }
extension Data: Persistable { public static var initial: Data { Data() } }

extension Optional: Persistable {
    public static var initial: Wrapped? { nil }
}

/// A list of values or objects.
public final class WrappedList<Element>: Persistable, RandomAccessCollection {
    private var elements: [Element] = []

    public init() {}

    public static var initial: WrappedList<Element> { WrappedList() }
    public var startIndex: Int { elements.startIndex }
    public var endIndex: Int { elements.endIndex }
    public subscript(index: Int) -> Element { elements[index] }
}

/// One stored property of a class.
@propertyWrapper
public struct Persisted<Value: Persistable> {
    private var unmanaged: Value
    private let isPrimaryKey: Bool

    public init() {
        unmanaged = Value.initial
        isPrimaryKey = false
    }

    public init(wrappedValue: Value) {
        unmanaged = wrappedValue
        isPrimaryKey = false
    }

    @available(*, unavailable, message: "@Persisted stands in classes alone")
    public var wrappedValue: Value {
        get { unmanaged }
        set { unmanaged = newValue }
    }

    public static subscript<Owner: WrappedObject>(
        _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        get { owner.isManaged ? Value.load(owner, wrapped) : owner[keyPath: storage].unmanaged }
        set {
            if owner.isManaged {
                newValue.store(owner, wrapped)
            } else {
                owner[keyPath: storage].unmanaged = newValue
            }
        }
    }
}

extension Persisted where Value: PersistableKey {
    public init(primaryKey: Bool) {
        unmanaged = Value.initial
        isPrimaryKey = primaryKey
    }
}
