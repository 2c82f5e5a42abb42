import MartletEngine
import MartletPostgres
import MartletSyncProtocol
import MartletValues

/// Converts collections inside of embedded objects to JSON and back. Lists and sets are arrays, and maps are objects.
///
/// If the JSON of a collection has another kind, the collection is empty. An element that does not fit becomes nil or
/// zero, like a member of an embedded object. A link in a list or set that does not fit is left out, because it can be
/// neither.
extension JSONConversion {
    func collection(_ value: SyncValue, _ property: PropertySchema) throws(UnencodableValue) -> JSONValue {
        switch (property.kind, value) {
        case (.map, .map(let entries)):
            var members: [JSONMember] = []
            for entry in entries {
                members.append(JSONMember(try JSONScalar.storable(entry.key), try element(entry.value, property)))
            }
            return .object(members)
        case (.list, .list(let values)), (.set, .list(let values)):
            var elements: [JSONValue] = []
            for value in values { elements.append(try element(value, property)) }
            return .array(elements)
        default: throw Self.otherKind
        }
    }

    private func element(_ value: SyncValue, _ property: PropertySchema) throws(UnencodableValue) -> JSONValue {
        try json(value, property.element, isOptional: property.accepts(.null))
    }

    func collection(
        _ json: JSONValue, _ property: PropertySchema, _ path: String, _ problems: inout [String]
    ) -> SyncValue {
        func element(_ json: JSONValue) -> SyncValue? {
            let isOptional = property.accepts(.null)
            let found = value(json, property.element, isOptional: isOptional, path, &problems)
            return found == .null && !isOptional ? nil : found
        }
        switch (property.kind, json) {
        case (.map, .object(let members)):
            let entries = members.map { MapEntry(key: $0.name, value: element($0.value) ?? .null) }
            return .map(MapEntry.sorted(entries))
        case (.map, .null): return .map([])
        case (.list, .array(let values)), (.set, .array(let values)): return .list(values.compactMap(element))
        case (.list, .null), (.set, .null): return .list([])
        default:
            problems.append("'\(path)' is \(json.kind), which does not fit its property")
            return property.kind == .map ? .map([]) : .list([])
        }
    }
}
