import MartletSchema

/// Resolves key paths segment by segment, and the projections that use them.
extension Resolver {
    mutating func resolve(_ path: KeyPathSyntax, root: String, in rootScope: ObjectScope) -> KeyPathModel? {
        var scope = rootScope
        var segments: [KeyPathSegmentModel] = []
        var collection: Int?
        var isOptional = false
        for (index, name) in path.segments.enumerated() {
            guard let member = scope.members[name.value] else {
                let isLast = index == path.segments.count - 1
                reportNoMember(name, of: scope) { isLast || $0.value.objectName != nil && $0.kind != .map }
                return nil
            }
            guard let type = member.type else { return nil }
            let owner = scope.syntax.name.value
            recordReference(.property(owner: owner, name: name.value), at: name.span)
            segments.append(KeyPathSegmentModel(owner: owner, property: name.value, type: type, span: name.span))
            if index == path.segments.count - 1 { break }
            guard let next = type.value.objectName.flatMap({ scopes[$0] }) else {
                report(
                    .unknownName,
                    "'\(name.value)' is '\(type.text)', which has no properties; end the key path before this segment",
                    at: path.segments[index + 1].span, label: "not a property",
                    notes: [DiagnosticNote("'\(name.value)' is declared here", at: member.nameSpan)])
                return nil
            }
            if type.kind == .map {
                report(
                    .unknownName, "'\(name.value)' is a map, and a key path cannot go through one; end it here",
                    at: name.span,
                    notes: [DiagnosticNote("'\(name.value)' is declared here", at: member.nameSpan)])
                return nil
            }
            if type.isSingle {
                isOptional = true
            } else {
                collection = collection ?? index
                isOptional = false
            }
            scope = next
        }
        guard let last = segments.last else { return nil }
        return KeyPathModel(
            root: root, segments: segments, type: last.type,
            isOptional: isOptional || last.type.isSingle && last.type.isOptional, collectionSegment: collection,
            isWritable: isWritable(segments, through: collection), span: path.span)
    }

    /// Whether the value at the path can be set. The last property must not be the primary key or linking objects, and
    /// no collection may precede this property. If the path has several segments, the last property must also be single
    /// and optional.
    private func isWritable(_ segments: [KeyPathSegmentModel], through collection: Int?) -> Bool {
        guard let last = segments.last, collection == nil, !last.type.isLinkingObjects,
            scopes[last.owner]?.syntax.primaryKey?.value != last.property
        else { return false }
        return segments.count == 1 || last.type.isSingle && last.type.isOptional
    }

    mutating func declaredKeyPaths(of syntax: ObjectSyntax, in scope: ObjectScope) -> [DeclaredKeyPathModel] {
        var result: [DeclaredKeyPathModel] = []
        for entry in syntax.keyPaths {
            if NameRules.reservedKeyPathNames.contains(entry.name.value) { reportReserved(entry.name, "key path") }
            let paths = entry.paths.compactMap { resolve($0, root: syntax.name.value, in: scope) }
            result.append(
                DeclaredKeyPathModel(
                    name: entry.name.value, nameSpan: entry.name.span, documentation: entry.documentation,
                    isList: entry.isList, paths: paths))
        }
        return result
    }

    mutating func model(of syntax: ProjectionSyntax) -> ProjectionModel? {
        guard let root = syntax.root else { return nil }
        guard let scope = scopes[root.value] else {
            if let symbol = symbols[root.value] {
                report(
                    .unknownType,
                    "'\(root.value)' is \(NameRules.article(symbol.kind.word)), but a projection needs an object type",
                    at: root.span, notes: [DiagnosticNote("declared here", at: symbol.name.span)])
            } else {
                reportMissing(
                    .unknownType, "unknown type '\(root.value.shortened)'", root, among: symbols.objectNames,
                    label: "no object with this name")
            }
            return nil
        }
        recordReference(.type(root.value), at: root.span)
        var labels: [ProjectionLabelModel] = []
        for label in syntax.labels {
            if NameRules.reservedLabelNames.contains(label.name.value) { reportReserved(label.name, "label") }
            guard let path = resolve(label.path, root: root.value, in: scope), isProjectable(path) else { continue }
            labels.append(
                ProjectionLabelModel(
                    name: label.name.value, nameSpan: label.name.span, documentation: label.documentation, path: path))
        }
        return ProjectionModel(
            name: syntax.name.value, nameSpan: syntax.name.span, documentation: syntax.documentation, root: root,
            labels: labels, deprecation: syntax.deprecation)
    }

    /// Whether a projection can use the path. A path through two collections cannot be projected, because a projected
    /// collection has one value per element.
    private mutating func isProjectable(_ path: KeyPathModel) -> Bool {
        guard let first = path.collectionSegment,
            let second = path.segments[(first + 1)...].first(where: { !$0.type.isSingle })
        else { return true }
        report(
            .unknownName,
            "a projection goes through one collection, and '\(second.property)' would be the second; end the path before it",
            at: second.span, notes: [DiagnosticNote("the first collection", at: path.segments[first].span)])
        return false
    }
}
