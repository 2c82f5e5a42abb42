import MartletEngine
import MartletValues

/// The values of one row that conditions test.
package struct RowImage: Sendable, Hashable {
    /// The values by their paths. An embedded object is either one value at its path, or several values at the paths of
    /// its properties. A missing value is nil.
    package var values: [ValuePath: SyncValue]
    /// The elements of lists and sets, and the values of maps. A missing collection is empty.
    package var collections: [ValuePath: [SyncValue]]

    package init(_ values: [ValuePath: SyncValue], collections: [ValuePath: [SyncValue]] = [:]) {
        self.values = values
        self.collections = collections
    }

    /// Returns the value at a path, which may lead into an embedded object. Returns nil if the row does not contain the
    /// value.
    func value(at path: ValuePath) -> SyncValue? {
        if let value = values[path] { return value }
        if path.inner.isEmpty { return nil }
        let properties = path.properties
        for count in stride(from: properties.count - 1, to: 0, by: -1) {
            guard let outer = values[ValuePath(Array(properties.prefix(count)))] else { continue }
            return Self.value(outer, properties.dropFirst(count))
        }
        return nil
    }

    private static func value(_ outer: SyncValue, _ properties: ArraySlice<Int>) -> SyncValue? {
        var current = outer
        for property in properties {
            guard case .embedded(let values) = current, values.indices.contains(property) else { return nil }
            current = values[property]
        }
        return current
    }

    /// True if an embedded object exists at a path.
    func hasObject(at path: ValuePath) -> Bool {
        if let value = value(at: path) { return value != .null }
        let count = path.count
        return values.contains { candidate, value in
            value != .null && candidate.count > count
                && candidate.properties.prefix(count).elementsEqual(path.properties)
        }
    }
}

extension SyncValue {
    /// This value in the form in which a program compares it. Every NaN becomes the NaN of `Double`, and negative zero
    /// becomes zero. Links, lists and maps in an `AnyRealmValue` also become NaN, because they equal no scalar.
    func compared(as kind: ConditionKind) -> SQLValue {
        switch self {
        case .null: return .null
        case .link(let target):
            // A link in an `AnyRealmValue` equals no scalar. Other links are compared by primary keys.
            return kind == .any ? .real(.nan) : SyncValue.scalar(target.key).compared(as: kind)
        case .embedded: return .integer(1)
        // Lists and maps equal no scalar.
        case .list, .map: return .real(.nan)
        case .scalar(let value):
            switch kind {
            case .floating, .date:
                guard case .real(let number) = FloatingSpecials.decodedElement(value) else { return value }
                return .real(number == 0 ? 0 : number)
            case .decimal: return value == .blob(DecimalNumber.nan.bytes) ? .real(.nan) : value
            case .any:
                let key = AnyValue.sortKey(value)
                return key == .null || AnyValue.isNaN(sortKey: key) ? .real(.nan) : key
            case .bool, .integer, .text, .data, .uuid, .objectId, .object: return value
            }
        }
    }
}
