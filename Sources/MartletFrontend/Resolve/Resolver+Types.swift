import MartletSchema

/// Resolves the types of properties, and checks their optionality.
extension Resolver {
    /// Creates the scope of an object: its properties with their resolved types, and the names of its ignored
    /// properties.
    mutating func scope(of syntax: ObjectSyntax) -> ObjectScope {
        var scope = ObjectScope(syntax: syntax)
        var folded: [String: Spanned<String>] = [:]
        // Reserving a capacity of zero would still allocate.
        if !syntax.names.isEmpty {
            folded.reserveCapacity(syntax.properties.count + syntax.ignored.count)
            scope.members.reserveCapacity(syntax.properties.count)
        }
        for name in syntax.names {
            let key = name.value.asciiLowercased
            if let first = folded[key] {
                let isSame = first.value == name.value
                report(
                    .duplicateKey,
                    isSame
                        ? "'\(name.value)' is declared twice; rename or remove one"
                        : "'\(name.value)' differs from '\(first.value)' only in case; rename one",
                    at: name.span, label: "again here",
                    notes: [DiagnosticNote("the other one is here", at: first.span)])
            } else {
                folded[key] = name
            }
        }
        for name in syntax.names where NameRules.reservedPropertyNames.contains(name.value) {
            reportReserved(name, "property", taken: folded)
        }
        for property in syntax.properties where scope.members[property.name.value] == nil {
            let type = property.type.flatMap { resolve($0, of: property) }
            scope.members[property.name.value] = Member(
                nameSpan: property.name.span, type: type, optional: property.type?.optional,
                isLocal: property.localSpan != nil)
            scope.names.append(property.name.value)
        }
        scope.ignored = Set(syntax.ignored.map(\.name.value))
        return scope
    }

    /// - Parameter taken: the other names of the scope, in lower case.
    mutating func reportReserved(_ name: Spanned<String>, _ kind: String, taken: [String: Spanned<String>] = [:]) {
        let candidates =
            (name.value == "description" ? ["details"] : []) + [
                "\(name.value)Value", "own\(name.value.capitalizedFirst)",
            ]
        let free = candidates.first {
            !NameRules.reservedLabelNames.contains($0) && taken[$0.asciiLowercased] == nil
        }
        let help = free.map { "write '\($0)'" }
        report(
            .reservedName,
            "a \(kind) cannot be named '\(name.value)', which is a member of the runtime's classes; "
                + (help ?? "choose another name"),
            at: name.span, label: "taken by the runtime", help: help,
            fixes: free.map { [Fix("write '\($0)'", .suggested, [Edit(name.span, $0)])] } ?? [])
    }

    mutating func resolve(_ type: TypeSyntax, of property: PropertySyntax) -> PropertyTypeModel? {
        guard let value = resolveName(type.name, in: type) else { return nil }
        if let outer = type.outerOptional {
            reportOptional(outer, "a collection is never nil, but can be empty; remove the '?'")
        }
        switch type.shape {
        case .single: return resolveSingle(type, value, of: property)
        case .list, .set, .map: return resolveCollection(type, value)
        case .linkingObjects(let member):
            if let optional = type.optional {
                reportOptional(optional, "linking objects are never optional; remove the '?'")
            }
            guard value.objectName != nil else {
                report(
                    .badLinkingObjects,
                    "linking objects come from objects, and '\(value.name)' is not one; name an object",
                    at: type.name.span)
                return nil
            }
            return PropertyTypeModel(
                kind: .linkingObjects(type: value.name, property: member.value), value: value, isOptional: false)
        }
    }

    private mutating func resolveSingle(
        _ type: TypeSyntax, _ value: ValueTypeModel, of property: PropertySyntax
    ) -> PropertyTypeModel? {
        switch value {
        case .scalar(.anyValue):
            if let optional = type.optional {
                reportOptional(optional, "'AnyRealmValue' is never optional, but can be 'none'; remove the '?'")
            }
            return PropertyTypeModel(kind: .single, value: value, isOptional: false)
        case .link where type.optional == nil:
            reportNotOptional(type.name, "a link is optional, because its target can be deleted")
        case .embedded where type.optional == nil:
            // If the embedded objects form a cycle, `EmbeddingCheck` replaces this diagnostic.
            reportNotOptional(type.name, "an embedded object is optional")
        case .scalar, .enumeration:
            return PropertyTypeModel(kind: .single, value: value, isOptional: type.optional != nil)
        case .link, .embedded: break
        }
        return PropertyTypeModel(kind: .single, value: value, isOptional: true)
    }

    private mutating func resolveCollection(_ type: TypeSyntax, _ value: ValueTypeModel) -> PropertyTypeModel? {
        let isMap = if case .map = type.shape { true } else { false }
        let isSet = if case .set = type.shape { true } else { false }
        var isOptional = type.optional != nil
        switch value {
        case .embedded(let name) where isSet:
            report(
                .badOptionality, "a set cannot hold embedded objects; write 'List<\(name)>'", at: type.span,
                help: "write 'List<\(name)>'",
                fixes: [Fix("write 'List<\(name)>'", .suggested, [Edit(type.span, "List<\(name)>")])])
        case .link, .embedded:
            if isMap, !isOptional {
                let isEmbedded = if case .embedded = value { true } else { false }
                reportNotOptional(
                    type.name,
                    isEmbedded
                        ? "an embedded object in a map is optional"
                        : "a link out of a map is optional, because its target can be deleted")
                isOptional = true
            } else if !isMap, let optional = type.optional {
                reportOptional(optional, "the objects of a collection are never optional; remove the '?'")
                isOptional = false
            }
        case .scalar(.anyValue):
            if let optional = type.optional {
                reportOptional(optional, "'AnyRealmValue' is never optional, but can be 'none'; remove the '?'")
                isOptional = false
            }
        case .scalar, .enumeration: break
        }
        return PropertyTypeModel(kind: isMap ? .map : isSet ? .set : .list, value: value, isOptional: isOptional)
    }

    /// The type that a name refers to.
    private mutating func resolveName(_ name: Spanned<String>, in type: TypeSyntax) -> ValueTypeModel? {
        if let scalar = ScalarKind(rawValue: name.value) { return .scalar(scalar) }
        if let symbol = symbols[name.value] {
            recordReference(.type(name.value), at: name.span)
            switch symbol.kind {
            case .object: return .link(name.value)
            case .embedded: return .embedded(name.value)
            case .enumeration(let raw): return raw.map { .enumeration(name.value, raw: $0) }
            case .projection:
                report(
                    .unknownType, "'\(name.value)' is a projection, and no property can hold one; name an object",
                    at: name.span, notes: [DiagnosticNote("declared here", at: symbol.name.span)])
                return nil
            }
        }
        if case .linkingObjects = type.shape {
            reportMissing(
                .unknownType, "unknown type '\(name.value.shortened)'", name, among: symbols.objectNames,
                label: "no object with this name")
            return nil
        }
        if let corrected = ForeignTypes.scalar(for: name.value) {
            let isCertain = ForeignTypes.isCertain(name.value)
            let help = isCertain ? "write '\(corrected)'" : "did you mean '\(corrected)'?"
            report(
                .unknownType, "unknown type '\(name.value)'\(isCertain ? "; \(help)" : "")", at: name.span,
                label: "no type with this name", help: help,
                fixes: name.span.end - name.span.start == name.value.utf8.count
                    ? [Fix("write '\(corrected)'", isCertain ? .safe : .suggested, [Edit(name.span, corrected)])] : [])
            return ScalarKind(rawValue: corrected).map { .scalar($0) }
        }
        if let container = ContainerName(name.value) {
            let message =
                switch container.kind {
                case .linkingObjects:
                    "'LinkingObjects' needs a type and its property; write 'LinkingObjects<Dog.owner>'"
                case .optional: "'\(name.value)' is not part of the language; write the type with a '?' after it"
                case .list, .set, .map:
                    "'\(name.value)' needs the type of its elements; write '\(container.spelling)<String>'"
                }
            report(.unknownType, message, at: name.span)
            return nil
        }
        let isSet = if case .set = type.shape { true } else { false }
        reportMissing(
            .unknownType, "unknown type '\(name.value.shortened)'", name, among: symbols.typeNames,
            label: "no type with this name", where: { [symbols] in !isSet || symbols[$0]?.kind.isEmbedded != true })
        return nil
    }

    private mutating func reportOptional(_ span: SourceSpan, _ message: String) {
        report(
            .badOptionality, message, at: span, help: "remove the '?'",
            fixes: [Fix("remove the '?'", .safe, [Edit(span, "")])])
    }

    private mutating func reportNotOptional(_ name: Spanned<String>, _ message: String) {
        report(
            .badOptionality, "\(message); write '\(name.value)?'", at: name.span, help: "write '\(name.value)?'",
            fixes: [Fix("write '\(name.value)?'", .safe, [Edit(name.span.ending, "?")])])
    }

    // MARK: Linking objects

    /// Checks that the linking objects of an object name a property that links to this object. All types must be
    /// resolved before the call.
    mutating func checkLinkingObjects(of syntax: ObjectSyntax) {
        for property in syntax.properties {
            guard let type = property.type, case .linkingObjects(let member) = type.shape,
                let scope = scopes[type.name.value],
                scopes[syntax.name.value]?.members[property.name.value]?.type != nil
            else { continue }
            guard let target = scope.members[member.value] else {
                reportNoMember(member, of: scope, candidates: linkNames(of: scope, to: syntax.name.value))
                continue
            }
            guard let targetType = target.type else { continue }
            recordReference(.property(owner: type.name.value, name: member.value), at: member.span)
            if targetType.isLinkingObjects || targetType.value.objectName != syntax.name.value {
                let names = linkNames(of: scope, to: syntax.name.value)
                let near = Array(names.prefix(3))
                report(
                    .badLinkingObjects,
                    "'\(type.name.value).\(member.value)' is not a link to '\(syntax.name.value)'; name a property that is",
                    at: member.span, label: "this is '\(targetType.text)'",
                    notes: [DiagnosticNote("'\(member.value)' is declared here", at: target.nameSpan)],
                    help: Suggestions.question(near),
                    fixes: near.map { Fix("write '\($0)'", .suggested, [Edit(member.span, $0)]) })
            }
        }
    }

    /// The names of the properties that link an object to another type. They are cached, because thousands of linking
    /// objects can request them.
    private mutating func linkNames(of scope: ObjectScope, to name: String) -> [String] {
        let owner = scope.syntax.name.value
        if linkNames[owner] == nil {
            var names: [String: [String]] = [:]
            for property in scope.names {
                guard let type = scope.members[property]?.type, let target = type.value.objectName,
                    !type.isLinkingObjects
                else { continue }
                names[target, default: []].append(property)
            }
            linkNames[owner] = names
        }
        return linkNames[owner]?[name] ?? []
    }

    /// Reports a property that an object does not have.
    ///
    /// - Parameter isLegal: whether a property of this type is valid at this place. Only such properties are suggested.
    mutating func reportNoMember(
        _ name: Spanned<String>, of scope: ObjectScope, candidates: [String]? = nil,
        where isLegal: (PropertyTypeModel) -> Bool = { _ in true }
    ) {
        let owner = scope.syntax.name
        // The schema parser already reports an object without properties.
        guard !scope.names.isEmpty || !scope.ignored.isEmpty else { return }
        if scope.ignored.contains(name.value) {
            report(
                .unknownName, "'\(name.value)' of '\(owner.value)' is ignored, not stored; name a stored property",
                at: name.span)
            return
        }
        reportMissing(
            .unknownName, "'\(owner.value)' has no property '\(name.value.shortened)'", name,
            among: candidates ?? scope.names, label: "no such property",
            notes: [DiagnosticNote("'\(owner.value)' is declared here", at: owner.span)],
            where: { scope.members[$0]?.type.map(isLegal) ?? true })
    }
}
