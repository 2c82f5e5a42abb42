import MartletSchema

/// Reads enums and projections.
extension Resolver {
    mutating func enumeration(_ type: TypeDeclaration) -> EnumDraft? {
        let key = type.name.value
        let reader = EnumReader(index: index)
        let raw = reader.raw(of: key)
        if case .other(let text) = raw {
            let what = text.isEmpty ? "without raw values" : "of '\(text)'"
            findings.warn(
                "the enum '\(key)' \(what) is left out; a schema has enums of 'String' and 'Int'", at: type.name.span)
            return nil
        }
        var cases: [EnumDraft.Case] = []
        for item in reader.cases(of: key) {
            let name = item.declaration.name
            guard let raw = item.raw, !item.declaration.hasAssociatedValues else {
                findings.warn("the case '\(name.value)' is left out: its raw value is not a literal", at: name.span)
                continue
            }
            if item.declaration.head.deprecation != nil {
                findings.note("a schema cannot deprecate single cases; mention it in the documentation", at: name.span)
            }
            cases.append(
                EnumDraft.Case(
                    swiftName: name.value, name: name.value, raw: raw,
                    documentation: item.declaration.head.documentation, span: name.span))
        }
        return EnumDraft(
            key: key, name: names.name(of: key), head: type.head, span: type.name.span, isInteger: raw == .integer,
            cases: cases)
    }

    mutating func projection(_ type: TypeDeclaration, of root: TypeExpression) -> ProjectionDraft? {
        let key = type.name.value
        guard case .type(let rootType) = types.resolve(root, from: type.scope), let rootKey = rootType.typeKey else {
            findings.warn(
                "the projection '\(key)' is left out: '\(root.text)' is not an object of these files; "
                    + "add the file that declares it", at: type.name.span)
            return nil
        }
        var draft = ProjectionDraft(
            key: key, name: names.name(of: key), root: rootKey, head: type.head, span: type.name.span, labels: [])
        for property in type.properties {
            guard let projected = property.projection else { continue }
            guard let segments = projected.segments, !segments.isEmpty else {
                findings.warn(
                    "'\(property.name.value)' is left out: a schema does not support the key path '\(projected.text)'; "
                        + "make it a computed property in an extension", at: projected.span)
                continue
            }
            draft.labels.append(
                ProjectionDraft.Label(
                    swiftName: property.name.value, name: property.name.value, path: segments, head: property.head,
                    span: property.name.span))
        }
        return draft
    }
}
