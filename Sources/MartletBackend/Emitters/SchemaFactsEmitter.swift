import MartletSchema

/// Writes the schema facts of a type: the static string `_facts` that describes the type to the runtime.
struct SchemaFactsEmitter {
    let context: EmitterContext

    func emit(_ lines: [String], into writer: inout SourceWriter) {
        writer.block("\(context.access.hiddenOverride)class var _facts: Swift.StaticString") { writer in
            writer.line("\"\"\"")
            for line in lines { writer.line(SwiftLiteral.escaped(line)) }
            writer.line("\"\"\"")
        }
    }

    static func lines(for object: ObjectModel) -> [String] {
        var lines = ["\(object.isEmbedded ? "embedded" : "object") \(object.name)"]
        if let old = object.renamedFrom { lines.append("renamedFrom \(old.value)") }
        if let key = object.primaryKey { lines.append("primaryKey \(key.value)") }
        for names in object.unique {
            lines.append("unique " + names.map(\.value).joined(separator: " "))
        }
        if object.sync.mode != .none { lines.append("sync \(object.sync.mode.rawValue)") }
        for kind in RuleKind.allCases {
            if let rule = object.sync.rules[kind] { lines.append("rule \(kind.rawValue) \(rule.text)") }
        }
        let writeRules = object.properties.compactMap { property in
            property.sync.write.map { "rule write.\(property.name) \($0.text)" }
        }
        return lines + object.properties.map(line) + writeRules
    }

    static func lines(for projection: ProjectionModel) -> [String] {
        ["projection \(projection.name) \(projection.root.value)"]
            + projection.labels.map { "label \($0.name) \($0.path.text)" }
    }

    private static func line(for property: PropertyModel) -> String {
        var line = "property \(property.name) \(type(property.type))"
        if property.isIndexed { line += " index" }
        if property.isFullText { line += " fullText" }
        if let old = property.renamedFrom { line += " renamedFrom=\(old.value)" }
        if property.onDelete != .nullify { line += " onDelete=\(property.onDelete.rawValue)" }
        if property.deleteRule != .nullify { line += " deleteRule=\(property.deleteRule.rawValue)" }
        if property.sync.isLocal { line += " sync=none" }
        if let merge = property.sync.merge { line += " merge=\(merge.rawValue)" }
        return line
    }

    private static func type(_ type: PropertyTypeModel) -> String {
        let element = value(type.value) + (type.isOptional ? "?" : "")
        return switch type.kind {
        case .single: element
        case .list: "List<\(element)>"
        case .set: "Set<\(element)>"
        case .map: "Map<\(element)>"
        case .linkingObjects(let owner, let property): "LinkingObjects<\(owner).\(property)>"
        }
    }

    private static func value(_ value: ValueTypeModel) -> String {
        switch value {
        case .scalar(let kind): kind.rawValue
        case .enumeration(_, let raw): "enum:\(raw.rawValue)"
        case .link(let name): "link:\(name)"
        case .embedded(let name): "embedded:\(name)"
        }
    }
}
