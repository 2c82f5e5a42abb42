/// Reads the compact text that generated classes carry; `Documentation/GeneratedCode.md` has its grammar.
///
/// Generated code and runtime are bound by a compile-time handshake, so text that does not fit is a programmer error.
package enum SchemaFacts {
    /// The object type described by `facts`; nil for projections.
    package static func objectType(_ facts: String) -> ObjectTypeSchema? {
        var type: ObjectTypeSchema?
        var primaryKey: String?
        var uniques: [[String]] = []
        for line in lines(facts) {
            let words = line.split(separator: " ").map(String.init)
            switch (words[0], words.count) {
            case ("object", 2), ("embedded", 2): type = ObjectTypeSchema(name: words[1], isEmbedded: words[0] == "embedded")
            case ("renamedFrom", 2): type?.renamedFrom = words[1]
            case ("primaryKey", 2): primaryKey = words[1]
            case ("unique", 2...): uniques.append(Array(words.dropFirst()))
            case ("property", 3...):
                let index = type?.properties.count ?? 0
                type?.append(property(words, index: index))
            default: return nil
            }
        }
        guard var type else { return nil }
        type.primaryKey = primaryKey.flatMap { type[$0]?.index }
        type.uniques = uniques.map { $0.compactMap { type[$0]?.index } }
        return type
    }

    /// The labels of a projection and the key paths they stand for, in order.
    package static func projection(_ facts: String) -> (name: String, root: String, labels: [(label: String, path: String)])? {
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

    private static func property(_ words: [String], index: PropertyIndex) -> PropertySchema {
        let (kind, element, isOptional) = type(words[2])
        var property = PropertySchema(
            name: words[1], index: index, kind: kind, element: element, isOptional: isOptional)
        for flag in words.dropFirst(3) {
            let parts = flag.split(separator: "=").map(String.init)
            switch (parts[0], parts.count) {
            case ("index", 1): property.isIndexed = true
            case ("fullText", 1): property.isFullText = true
            case ("renamedFrom", 2): property.renamedFrom = parts[1]
            case ("onDelete", 2): property.onDelete = DeletionRule(rawValue: parts[1]) ?? .nullify
            default: preconditionFailure("unknown fact '\(flag)' of property '\(words[1])': generate the model classes again")
            }
        }
        return property
    }

    private static func type(_ text: String) -> (PropertyKind, ElementType, Bool) {
        guard let open = text.firstIndex(of: "<"), text.hasSuffix(">") else {
            let (element, isOptional) = element(text)
            return (.single, element, isOptional)
        }
        let inner = String(text[text.index(after: open)...].dropLast())
        switch text[..<open] {
        case "LinkingObjects":
            let parts = inner.split(separator: ".").map(String.init)
            return (.linkingObjects(type: parts[0], property: parts[1]), .link(parts[0]), false)
        case "List": return (.list, element(inner).0, element(inner).1)
        case "Set": return (.set, element(inner).0, element(inner).1)
        default: return (.map, element(inner).0, element(inner).1)
        }
    }

    private static func element(_ text: String) -> (ElementType, Bool) {
        let isOptional = text.hasSuffix("?")
        let name = isOptional ? String(text.dropLast()) : text
        if name.hasPrefix("link:") { return (.link(String(name.dropFirst(5))), isOptional) }
        if name.hasPrefix("embedded:") { return (.embedded(String(name.dropFirst(9))), isOptional) }
        if name == "enum:Int" { return (.intEnum, isOptional) }
        if name == "enum:String" { return (.stringEnum, isOptional) }
        guard let scalar = ScalarType(rawValue: name) else {
            preconditionFailure("unknown type '\(text)' in generated facts: generate the model classes again")
        }
        return (.scalar(scalar), isOptional)
    }
}
