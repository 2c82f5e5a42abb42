import MartletSchema

/// Writes the files of a schema. In each section, the types have the order of the Swift file.
struct DraftWriter {
    private let objects: [String: ObjectDraft]
    private let enums: [String: EnumDraft]

    init(_ draft: SchemaDraft) {
        let objects = draft.files.flatMap(\.objects)
        self.objects = Dictionary(objects.map { ($0.key, $0) }) { first, _ in first }
        enums = Dictionary(draft.files.flatMap(\.enums).map { ($0.key, $0) }) { first, _ in first }
    }

    func write(_ file: FileDraft) -> DraftText {
        var text = DraftText()
        section("enums", file.enums, into: &text) { write($0, into: &$1) }
        section("objects", file.objects.filter { !$0.isEmbedded }, into: &text) { write($0, into: &$1) }
        section("embedded", file.objects.filter(\.isEmbedded), into: &text) { write($0, into: &$1) }
        section("projections", file.projections, into: &text) { write($0, into: &$1) }
        return text
    }

    private func section<Item>(
        _ name: String, _ items: [Item], into text: inout DraftText, _ write: (Item, inout DraftText) -> Void
    ) {
        guard !items.isEmpty else { return }
        if !text.text.isEmpty { text.appendLine() }
        text.appendLine("\(name):")
        for (number, item) in items.enumerated() {
            if number > 0 { text.appendLine() }
            write(item, &text)
        }
    }

    private func document(_ lines: [String], _ indent: String, into text: inout DraftText) {
        for line in lines { text.appendLine(line.isEmpty ? "\(indent)##" : "\(indent)## \(line)") }
    }

    private func deprecation(_ head: DeclarationHead) -> String? {
        head.deprecation.map { "deprecated: " + ($0.message.map(YAMLText.sentence) ?? "true") }
    }

    // MARK: Enums

    private func write(_ enumeration: EnumDraft, into text: inout DraftText) {
        document(enumeration.head.documentation, "  ", into: &text)
        let isPlain = enumeration.cases.allSatisfy { $0.raw == $0.name && $0.documentation.isEmpty }
        let isList = !enumeration.isInteger && enumeration.cases.allSatisfy { $0.raw == $0.name }
        let deprecation = deprecation(enumeration.head)
        text.append("  ")
        text.mark(.type(enumeration.key)) { text in
            text.append("\(enumeration.name):")
            if isPlain, isList, deprecation == nil {
                text.append(" ")
                inLine(enumeration, into: &text)
                return
            }
            text.appendLine()
            if !isList { text.appendLine("    raw: \(enumeration.isInteger ? "Int" : "String")") }
            if enumeration.cases.allSatisfy(\.documentation.isEmpty) {
                text.append("    cases: ")
                inLine(enumeration, into: &text)
            } else {
                text.appendLine("    cases:")
                for item in enumeration.cases { lines(of: item, in: enumeration, isList: isList, into: &text) }
            }
            if let deprecation { text.appendLine("    \(deprecation)") }
        }
    }

    private func inLine(_ enumeration: EnumDraft, into text: inout DraftText) {
        let isList = !enumeration.isInteger && enumeration.cases.allSatisfy { $0.raw == $0.name }
        text.append(isList ? "[" : "{")
        for (number, item) in enumeration.cases.enumerated() {
            if number > 0 { text.append(", ") }
            text.mark(.enumCase(owner: enumeration.key, name: item.swiftName)) { text in
                text.append(isList ? item.name : "\(item.name): \(raw(of: item, in: enumeration))")
            }
        }
        text.appendLine(isList ? "]" : "}")
    }

    private func lines(
        of item: EnumDraft.Case, in enumeration: EnumDraft, isList: Bool, into text: inout DraftText
    ) {
        document(item.documentation, "      ", into: &text)
        text.append(isList ? "      - " : "      ")
        text.mark(.enumCase(owner: enumeration.key, name: item.swiftName)) { text in
            text.appendLine(isList ? item.name : "\(item.name): \(raw(of: item, in: enumeration))")
        }
    }

    private func raw(of item: EnumDraft.Case, in enumeration: EnumDraft) -> String {
        enumeration.isInteger ? item.raw : YAMLText.scalar(item.raw)
    }

    // MARK: Objects

    private func write(_ object: ObjectDraft, into text: inout DraftText) {
        document(object.head.documentation, "  ", into: &text)
        text.append("  ")
        text.mark(.type(object.key)) { text in
            text.appendLine("\(object.name):")
            if let deprecation = deprecation(object.head) { text.appendLine("    \(deprecation)") }
            if let primaryKey = object.primaryKey?.value {
                text.mark(.primaryKey(owner: object.key)) { text in
                    text.appendLine("    primaryKey: \(object.property(primaryKey)?.name ?? primaryKey)")
                }
            }
            indexes(of: object, into: &text)
            text.appendLine(object.properties.isEmpty ? "    properties: {}" : "    properties:")
            for property in object.properties {
                write(property, as: .property(owner: object.key, name: property.swiftName), into: &text)
            }
            if !object.ignored.isEmpty { text.appendLine("    ignored:") }
            for property in object.ignored {
                write(property, as: .ignored(owner: object.key, name: property.swiftName), into: &text)
            }
        }
    }

    private func indexes(of object: ObjectDraft, into text: inout DraftText) {
        let indexed = object.properties.filter(\.isIndexed)
        guard !indexed.isEmpty else { return }
        text.append("    index: [")
        for (number, property) in indexed.enumerated() {
            if number > 0 { text.append(", ") }
            text.mark(.index(owner: object.key, name: property.swiftName)) { $0.append(property.name) }
        }
        text.appendLine("]")
    }

    private func write(_ property: PropertyDraft, as item: DraftItem, into text: inout DraftText) {
        document(property.head.documentation, "      ", into: &text)
        text.append("      ")
        text.mark(item) { text in
            let type = value(of: property)
            guard let deprecation = deprecation(property.head) else {
                text.appendLine("\(property.name): \(type)")
                return
            }
            text.appendLine("\(property.name):")
            text.appendLine("        type: \(type)")
            text.appendLine("        \(deprecation)")
        }
    }

    private func value(of property: PropertyDraft) -> String {
        let type = self.text(of: property.type)
        switch property.defaultValue {
        case nil: return YAMLText.value(type)
        case .text(let literal): return YAMLText.value("\(type) = \(literal)")
        case .enumCase(let name):
            let cases = property.type.typeKey.flatMap { enums[$0] }?.cases
            return YAMLText.value("\(type) = \(cases?.first { $0.swiftName == name }?.name ?? name)")
        }
    }

    private func text(of type: PropertyTypeDraft) -> String {
        let name = type.typeKey.map(self.name) ?? type.scalar ?? ""
        let element = type.isOptional ? "\(name)?" : name
        switch type.shape {
        case .single: return element
        case .list: return "List<\(element)>"
        case .set: return "Set<\(element)>"
        case .map: return "Map<\(element)>"
        case .linkingObjects(let property):
            let origin = type.typeKey.flatMap { objects[$0] }?.property(property)
            return "LinkingObjects<\(name).\(origin?.name ?? property)>"
        }
    }

    private func name(of key: String) -> String { objects[key]?.name ?? enums[key]?.name ?? key.filter { $0 != "." } }

    // MARK: Projections

    private func write(_ projection: ProjectionDraft, into text: inout DraftText) {
        document(projection.head.documentation, "  ", into: &text)
        text.append("  ")
        text.mark(.type(projection.key)) { text in
            text.appendLine("\(projection.name):")
            text.appendLine("    of: \(name(of: projection.root))")
            if let deprecation = deprecation(projection.head) { text.appendLine("    \(deprecation)") }
            text.appendLine(projection.labels.isEmpty ? "    properties: {}" : "    properties:")
            for label in projection.labels {
                document(label.head.documentation, "      ", into: &text)
                text.append("      ")
                text.mark(.label(owner: projection.key, name: label.swiftName)) { text in
                    text.appendLine("\(label.name): \(path(label.path, from: projection.root))")
                }
            }
        }
    }

    /// Returns a key path in the syntax of the schema. Swift names are replaced with the names in the schema.
    private func path(_ segments: [String], from root: String) -> String {
        var owner = objects[root]
        return segments.map { segment in
            let property = owner?.property(segment)
            owner = property?.type.typeKey.flatMap { objects[$0] }
            return property?.name ?? segment
        }.joined(separator: ".")
    }
}
