/// Writes an object type as the text that `SchemaFactsParser` parses. The catalog of a file stores this text.
package enum SchemaFactsWriter {
    package static func facts(_ type: ObjectTypeSchema) -> String {
        var lines = ["\(type.isEmbedded ? "embedded" : "object") \(type.name)"]
        if let old = type.renamedFrom { lines.append("renamedFrom \(old)") }
        if let key = type.primaryKey { lines.append("primaryKey \(type.properties[key].name)") }
        for unique in type.uniques {
            lines.append("unique " + unique.map { type.properties[$0].name }.joined(separator: " "))
        }
        if type.syncMode != .none { lines.append("sync \(type.syncMode.rawValue)") }
        lines += type.rules.map { "rule \($0.scope.rawValue) \($0.text)" }
        lines += type.properties.map(line)
        for property in type.properties {
            if let rule = property.writeRule { lines.append("rule write.\(property.name) \(rule)") }
        }
        return lines.joined(separator: "\n")
    }

    private static func line(_ property: PropertySchema) -> String {
        var words = ["property", property.name, typeText(property)]
        if property.isIndexed { words.append("index") }
        if property.isFullText { words.append("fullText") }
        if let old = property.renamedFrom { words.append("renamedFrom=\(old)") }
        if property.onDelete != .nullify { words.append("onDelete=\(property.onDelete.rawValue)") }
        if property.deleteRule != .nullify { words.append("deleteRule=\(property.deleteRule.rawValue)") }
        if property.isLocal { words.append("sync=none") }
        if property.isCounter { words.append("merge=add") }
        return words.joined(separator: " ")
    }

    private static func typeText(_ property: PropertySchema) -> String {
        let optional = property.isOptional ? "?" : ""
        let element: String =
            switch property.element {
            case .scalar(let scalar): scalar.rawValue + optional
            case .intEnum: "enum:Int" + optional
            case .stringEnum: "enum:String" + optional
            case .link(let name): "link:\(name)\(optional)"
            case .embedded(let name): "embedded:\(name)\(optional)"
            }
        return switch property.kind {
        case .single: element
        case .list: "List<\(element)>"
        case .set: "Set<\(element)>"
        case .map: "Map<\(element)>"
        case .linkingObjects(let type, let name): "LinkingObjects<\(type).\(name)>"
        }
    }
}
