/// Parses schema facts: the compact text that describes an object type in a generated class (`_facts`) and in the
/// catalog of a file. `Documentation/GeneratedCode.md` has its grammar.
///
/// Generated code compiles only with a version of the runtime that supports it. Malformed facts in a generated class
/// are therefore a programmer error.
package enum SchemaFactsParser {
    /// The object type described by the facts of a generated class. Nil if the class is a projection.
    package static func objectType(_ facts: String) -> ObjectTypeSchema? {
        if let type = storedType(facts) { return type }
        precondition(
            !facts.hasPrefix("object") && !facts.hasPrefix("embedded"),
            "the facts of a generated class cannot be read: generate the model classes again")
        return nil
    }

    /// The object type described by text from a file. The text may be damaged. Returns nil if the text cannot be parsed
    /// completely.
    package static func storedType(_ facts: String) -> ObjectTypeSchema? {
        var type: ObjectTypeSchema?
        var primaryKey: String?
        var uniques: [[String]] = []
        for line in lines(facts) {
            let words = line.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("object", 2), ("embedded", 2):
                guard type == nil else { return nil }
                type = ObjectTypeSchema(name: words[1], isEmbedded: words[0] == "embedded")
            case ("renamedFrom", 2):
                guard type != nil else { return nil }
                type?.renamedFrom = words[1]
            case ("primaryKey", 2): primaryKey = words[1]
            case ("unique", 2...): uniques.append(Array(words.dropFirst()))
            case ("sync", 2):
                guard type != nil, let mode = SyncMode(rawValue: words[1]) else { return nil }
                type?.syncMode = mode
            case ("rule", 3...):
                guard type?.add(rule: words[1], String(line.dropFirst(words[0].count + words[1].count + 2))) == true
                else { return nil }
            case ("property", 3...):
                guard let index = type?.properties.count, let property = property(words, index: index),
                    type?[property.name] == nil
                else { return nil }
                type?.append(property)
            default: return nil
            }
        }
        guard var type else { return nil }
        if let primaryKey {
            guard let index = type[primaryKey]?.index else { return nil }
            type.primaryKey = index
        }
        for unique in uniques {
            let indices = unique.compactMap { type[$0]?.index }
            guard indices.count == unique.count else { return nil }
            type.uniques.append(indices)
        }
        return type
    }

    /// The name, the root type and the labels of a projection. Nil if the facts do not describe a projection. The
    /// labels are in the order of the facts, each with its key path.
    package static func projection(_ facts: String) -> (
        name: String, root: String, labels: [(label: String, path: String)]
    )? {
        var header: (String, String)?
        var labels: [(String, String)] = []
        for line in lines(facts) {
            let words = line.split(separator: " ").map(String.init)
            if words.count == 3 && words[0] == "projection" { header = (words[1], words[2]) }
            if words.count == 3 && words[0] == "label" { labels.append((words[1], words[2])) }
        }
        return header.map { ($0.0, $0.1, labels) }
    }

    private static func lines(_ facts: String) -> [Substring] { facts.split(whereSeparator: \.isNewline) }

    private static func property(_ words: [String], index: PropertyIndex) -> PropertySchema? {
        guard let (kind, element, isOptional) = type(words[2]) else { return nil }
        var property = PropertySchema(
            name: words[1], index: index, kind: kind, element: element, isOptional: isOptional)
        for flag in words.dropFirst(3) {
            let parts = flag.split(separator: "=").map(String.init)
            switch (parts.first, parts.count) {
            case ("index", 1): property.isIndexed = true
            case ("fullText", 1): property.isFullText = true
            case ("renamedFrom", 2): property.renamedFrom = parts[1]
            case ("onDelete", 2):
                guard let rule = DeletionRule(rawValue: parts[1]) else { return nil }
                property.onDelete = rule
            case ("deleteRule", 2):
                guard let rule = DeletionRule(rawValue: parts[1]) else { return nil }
                property.deleteRule = rule
            case ("sync", 2):
                guard parts[1] == SyncMode.none.rawValue else { return nil }
                property.isLocal = true
            case ("merge", 2):
                guard parts[1] == "add" else { return nil }
                property.isCounter = true
            default: return nil
            }
        }
        return property
    }

    private static func type(_ text: String) -> (PropertyKind, ElementType, Bool)? {
        guard let open = text.firstIndex(of: "<"), text.hasSuffix(">") else {
            return element(text).map { (.single, $0, $1) }
        }
        let inner = String(text[text.index(after: open)...].dropLast())
        switch text[..<open] {
        case "LinkingObjects":
            let parts = inner.split(separator: ".").map(String.init)
            guard parts.count == 2 else { return nil }
            return (.linkingObjects(type: parts[0], property: parts[1]), .link(parts[0]), false)
        case "List": return element(inner).map { (.list, $0, $1) }
        case "Set": return element(inner).map { (.set, $0, $1) }
        case "Map": return element(inner).map { (.map, $0, $1) }
        default: return nil
        }
    }

    private static func element(_ text: String) -> (ElementType, Bool)? {
        let isOptional = text.hasSuffix("?")
        let name = isOptional ? String(text.dropLast()) : text
        let element: ElementType? =
            switch name {
            case "enum:Int": .intEnum
            case "enum:String": .stringEnum
            case _ where name.hasPrefix("link:"): .link(String(name.dropFirst(5)))
            case _ where name.hasPrefix("embedded:"): .embedded(String(name.dropFirst(9)))
            default: ScalarType(rawValue: name).map { .scalar($0) }
            }
        guard let element, element.target != "" else { return nil }
        return (element, isOptional)
    }
}
