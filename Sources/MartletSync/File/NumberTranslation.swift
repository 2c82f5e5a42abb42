import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Translates the numbers of types and properties after a change of the schema. The outbox, the subscriptions and the
/// unresolved links of a file contain such numbers.
///
/// Types and properties of a synchronized file are never removed or renamed, so every former name still exists. But a
/// type or property may not be synchronized any more.
struct NumberTranslation {
    private struct FormerType {
        let name: String
        let properties: [String]
    }

    /// The synchronized types and the embedded types that they contain, by their former numbers.
    private var former: [FormerType] = []
    /// The embedded types in `former`, by their names.
    private var formerEmbedded: [String: FormerType] = [:]
    private let schema: SyncSchema
    /// Returns the default values of a new embedded object, in the order of its properties.
    private let defaults: (ObjectTypeSchema) -> [SQLValue]

    /// - Parameter numbering: the text that `SyncSchema.numbering` had when the operations were recorded.
    init(from numbering: String, to schema: SyncSchema, defaults: @escaping (ObjectTypeSchema) -> [SQLValue]) {
        (self.schema, self.defaults) = (schema, defaults)
        for line in numbering.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 1 else { continue }
            let type = FormerType(name: words[1], properties: Array(words.dropFirst(2)))
            former.append(type)
            if words[0] == "embedded" { formerEmbedded[type.name] = type }
        }
    }

    /// True if the type was synchronized when the operations were recorded.
    func hadType(_ name: String) -> Bool { former.contains { $0.name == name } }

    /// The error for an operation or condition that contains a type or property that is not synchronized any more.
    struct Missing: Error {
        /// Describes the type or property in messages, for example as "the type 'Dog'".
        let name: String
    }

    func translated(_ operation: SyncOperation) throws(Missing) -> SyncOperation {
        let address = try translated(operation.address)
        switch operation {
        case .create(let former, let values): return .create(address, try translated(values, of: former.type))
        case .update(let former, let values): return .update(address, try translated(values, of: former.type))
        case .delete: return .delete(address)
        case .add(let former, let path, let amount):
            let values = try translated([path: .null], of: former.type)
            return .add(address, values.keys.first ?? path, amount)
        case .insertElement(let former, let path, let position, let value):
            let (path, value) = try translated(path, value, of: former.type)
            return .insertElement(address, path, position, value)
        case .setElement(let former, let path, let position, let value):
            let (path, value) = try translated(path, value, of: former.type)
            return .setElement(address, path, position, value)
        case .removeElement(let former, let path, let position):
            return .removeElement(address, try translated(path, .null, of: former.type).path, position)
        case .insertMember(let former, let path, let value):
            let (path, value) = try translated(path, value, of: former.type)
            return .insertMember(address, path, value)
        case .removeMember(let former, let path, let value):
            let (path, value) = try translated(path, value, of: former.type)
            return .removeMember(address, path, value)
        case .setEntry(let former, let path, let key, let value):
            let (path, value) = try translated(path, value, of: former.type)
            return .setEntry(address, path, key: key, value)
        case .removeEntry(let former, let path, let key):
            return .removeEntry(address, try translated(path, .null, of: former.type).path, key: key)
        }
    }

    /// Translates the path of a collection and one of its elements.
    private func translated(
        _ path: ValuePath, _ value: SyncValue, of type: Int
    ) throws(Missing) -> (path: ValuePath, value: SyncValue) {
        let values = try translated([path: value], of: type)
        guard let (path, value) = values.first.map({ ($0.key, $0.value) }) else {
            throw Missing(name: "the collection \(path.properties)")
        }
        return (path, value)
    }

    /// Translates the links in a value. Links to types that are not synchronized any more become nil.
    func translatedAny(_ value: SyncValue) -> SyncValue {
        switch value {
        case .scalar, .embedded: value
        case .link(let address): (try? translated(address)).map(SyncValue.link) ?? .null
        case .list(let values): .list(values.map(translatedAny))
        case .map(let entries): .map(entries.map { MapEntry(key: $0.key, value: translatedAny($0.value)) })
        }
    }

    private func translated(_ address: ObjectAddress) throws(Missing) -> ObjectAddress {
        guard former.indices.contains(address.type) else { throw Missing(name: "the type \(address.type)") }
        let name = former[address.type].name
        guard let number = schema.number(of: name) else { throw Missing(name: "the type '\(name)'") }
        return ObjectAddress(type: number, key: address.key)
    }

    private func translated(
        _ values: [ValuePath: SyncValue], of type: Int
    ) throws(Missing) -> [ValuePath: SyncValue] {
        guard let number = schema.number(of: former[type].name), let new = schema[number] else {
            throw Missing(name: "the type '\(former[type].name)'")
        }
        var result: [ValuePath: SyncValue] = [:]
        for (path, value) in values {
            let (indices, last) = try translated(path, former[type], new)
            if let last { result[indices] = try translated(value, last) }
        }
        return result
    }

    // Translates a path. Returns the new path and the property at its end.
    private func translated(
        _ path: ValuePath, _ former: FormerType, _ new: ObjectTypeSchema
    ) throws(Missing) -> (path: ValuePath, last: PropertySchema?) {
        var (old, type) = (former, new)
        var indices: [Int] = []
        var last: PropertySchema?
        for index in path.properties {
            if let property = last { (old, type) = try embedded(property) }
            let property = try property(index, old, type)
            indices.append(property.index)
            last = property
        }
        return (ValuePath(indices), last)
    }

    // MARK: Conditions

    /// Translates the condition of a subscription to objects of a type.
    func translated(_ condition: SubscriptionCondition, of name: String) throws(Missing) -> SubscriptionCondition {
        guard let old = former.first(where: { $0.name == name }), let type = schema.agreed.type(named: name) else {
            throw Missing(name: "the type '\(name)'")
        }
        return try translated(condition, old, type)
    }

    private func translated(
        _ condition: SubscriptionCondition, _ old: FormerType, _ type: ObjectTypeSchema
    ) throws(Missing) -> SubscriptionCondition {
        switch condition {
        case .constant: return condition
        case .all(let parts):
            return .and(try parts.map { part throws(Missing) in try translated(part, old, type) })
        case .any(let parts):
            return .or(try parts.map { part throws(Missing) in try translated(part, old, type) })
        case .test(let test, let isNegated):
            let test = try test.mapOperands { operand throws(Missing) in
                ConditionOperand(try translated(operand.path, old, type).path, operand.kind)
            }
            return isNegated ? test.canonical.negated : test.canonical
        }
    }

    private func property(
        _ index: Int, _ old: FormerType, _ type: ObjectTypeSchema
    ) throws(Missing) -> PropertySchema {
        guard old.properties.indices.contains(index), let property = type[old.properties[index]] else {
            throw Missing(name: "the property \(index) of '\(old.name)'")
        }
        return property
    }

    private func embedded(_ property: PropertySchema) throws(Missing) -> (FormerType, ObjectTypeSchema) {
        guard case .embedded(let name) = property.element, let old = formerEmbedded[name],
            let type = schema.embeddedType(name)
        else { throw Missing(name: "the embedded type of '\(property.name)'") }
        return (old, type)
    }

    private func translated(_ value: SyncValue, _ property: PropertySchema) throws(Missing) -> SyncValue {
        switch value {
        case .scalar: return value
        case .link(let address): return .link(try translated(address))
        case .list(let values):
            var result: [SyncValue] = []
            for value in values { result.append(try translated(value, property)) }
            return .list(result)
        case .map(let entries):
            var result: [MapEntry] = []
            for entry in entries {
                result.append(MapEntry(key: entry.key, value: try translated(entry.value, property)))
            }
            return .map(result)
        case .embedded(let values):
            let (old, type) = try embedded(property)
            // Collections have no defaults: they are empty.
            var result = zip(type.properties, defaults(type)).map { property, value -> SyncValue in
                guard property.isCollection else { return .scalar(value) }
                return property.kind == .map ? .map([]) : .list([])
            }
            for (index, value) in values.enumerated() {
                let property = try self.property(index, old, type)
                result[property.index] = try translated(value, property)
            }
            return .embedded(result)
        }
    }
}
