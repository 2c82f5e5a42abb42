import Foundation
import MartletEngine

extension AnyRealmValue {
    /// The kind of a value.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case none, bool, int, float, double, string, data, date, decimal128, objectId, uuid, object, list, map
    }

    /// The kind of this value.
    public var kind: Kind {
        switch self {
        case .none: .none
        case .bool: .bool
        case .int: .int
        case .float: .float
        case .double: .double
        case .string: .string
        case .data: .data
        case .date: .date
        case .decimal128: .decimal128
        case .objectId: .objectId
        case .uuid: .uuid
        case .object: .object
        case .list: .list
        case .map: .map
        }
    }

    /// The object in this value; nil if the value is not an object of the given class.
    public func object<Element: ObjectBase>(_ type: Element.Type) -> Element? {
        if case .object(let object) = self { object as? Element } else { nil }
    }

    /// The number of values in a list or map; zero for other kinds.
    public var count: Int {
        switch self {
        case .list(let values): values.count
        case .map(let entries): entries.count
        default: 0
        }
    }

    /// The value at a position of a list. Traps if the position is out of range.
    ///
    /// If this value is not a list, reading returns `none` and assigning traps.
    public subscript(position: Int) -> AnyRealmValue {
        get {
            guard case .list(let values) = self else { return .none }
            if !values.indices.contains(position) {
                Misuse.indexOutOfRange(position, count: values.count, "the list in an 'AnyRealmValue'")
            }
            return values[position]
        }
        set {
            var values = requireList()
            if !values.indices.contains(position) {
                Misuse.indexOutOfRange(position, count: values.count, "the list in an 'AnyRealmValue'")
            }
            values[position] = newValue
            self = .list(values)
        }
    }

    /// The value for a key of a map; nil if the map does not contain the key. Assigning nil removes the entry.
    ///
    /// If this value is not a map, reading returns nil and assigning traps.
    public subscript(key: String) -> AnyRealmValue? {
        get { if case .map(let entries) = self { entries[key] } else { nil } }
        set {
            var entries = requireMap()
            entries[key] = newValue
            self = .map(entries)
        }
    }

    /// Appends a value to a list. Traps if this value is not a list.
    public mutating func append(_ value: AnyRealmValue) { self = .list(requireList() + [value]) }

    private func requireList() -> [AnyRealmValue] {
        guard case .list(let values) = self else { Misuse.wrongAnyKind(kind.rawValue, "list") }
        return values
    }

    private func requireMap() -> [String: AnyRealmValue] {
        guard case .map(let entries) = self else { Misuse.wrongAnyKind(kind.rawValue, "map") }
        return entries
    }

    /// Converts an untyped value; nil if its type cannot be stored.
    ///
    /// - Parameter object: called with each object in the value; returns the object to store in its place.
    init?(untyped value: Any?, _ object: (ObjectBase) -> ObjectBase) {
        self.init(untyped: value, depth: 0, object)
    }

    private init?(untyped value: Any?, depth: Int, _ object: (ObjectBase) -> ObjectBase) {
        if depth > AnyValue.maximumDepth { Misuse.nestedTooDeep(limit: AnyValue.maximumDepth) }
        guard let value = UntypedValue.unwrapped(value) else {
            self = .none
            return
        }
        switch value {
        case let value as AnyRealmValue:
            value.requireAllowedDepth()
            self = value._replacingObject(object)
        case let value as any PersistableEnum: self.init(untyped: value.rawValue, depth: depth, object)
        case let values as [String: Any]: self.init(values, depth: depth + 1, object)
        case let values as [Any]:
            let elements = values.compactMap { AnyRealmValue(untyped: $0, depth: depth + 1, object) }
            if elements.count != values.count { return nil }
            self = .list(elements)
        // Dictionaries and arrays must be tested before classes: see `UntypedValue.instance`.
        case let value as ObjectBase: self = .object(object(value))
        default: self.init(scalar: value)
        }
    }

    private init?(_ values: [String: Any], depth: Int, _ object: (ObjectBase) -> ObjectBase) {
        var entries: [String: AnyRealmValue] = [:]
        for key in values.keys.sorted() {
            guard let value = AnyRealmValue(untyped: values[key], depth: depth, object) else { return nil }
            entries[key] = value
        }
        self = .map(entries)
    }

    private init?(scalar value: Any) {
        switch value {
        case let value as Bool: self = .bool(value)
        case let value as any FixedWidthInteger:
            guard let number = Int(exactly: value) else { return nil }
            self = .int(number)
        case let value as Float: self = .float(value)
        case let value as Double: self = .double(value)
        case let value as String: self = .string(value)
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as Decimal128: self = .decimal128(value)
        case let value as ObjectId: self = .objectId(value)
        case let value as UUID: self = .uuid(value)
        default: return nil
        }
    }
}

extension AnyRealmValue: CustomStringConvertible {
    /// The kind and the value in one line. Objects are shown with their type only, because links may form a cycle.
    public var description: String {
        switch self {
        case .none: "none"
        case .bool(let value): "bool(\(value))"
        case .int(let value): "int(\(value))"
        case .float(let value): "float(\(value))"
        case .double(let value): "double(\(value))"
        case .string(let value): "string(\(String(reflecting: value)))"
        case .data(let value): "data(\(value))"
        case .date(let value): "date(\(value.safeDescription))"
        case .decimal128(let value): "decimal128(\(value))"
        case .objectId(let value): "objectId(\(value))"
        case .uuid(let value): "uuid(\(value))"
        case .object(let object): "object(\(object._typeName)(…))"
        case .list(let values): "list([\(values.map(\.description).joined(separator: ", "))])"
        case .map(let entries):
            "map([\(Self.sorted(entries).map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", "))])"
        }
    }
}
