import MartletSchema

/// Builds the objects and enums of the model, and checks keys, indexes and defaults.
extension Resolver {
    mutating func model(of syntax: ObjectSyntax, in scope: ObjectScope) -> ObjectModel {
        let name = syntax.name.value
        let primaryKey = syntax.primaryKey.flatMap { checkPrimaryKey($0, scope) }
        var indexed: Set<String> = []
        for entry in syntax.indexes {
            if let member = scope.members[entry.value] {
                recordReference(.property(owner: name, name: entry.value), at: entry.span)
                if let type = member.type, Self.isIndexable(type), entry.value != primaryKey?.value {
                    indexed.insert(entry.value)
                }
            } else {
                reportNoMember(entry, of: scope, where: Self.isIndexable)
            }
        }
        for list in syntax.unique { checkUnique(list, scope) }
        var properties: [PropertyModel] = []
        properties.reserveCapacity(syntax.properties.count)
        for property in syntax.properties {
            guard let type = scope.members[property.name.value]?.type else { continue }
            properties.append(
                model(
                    of: property, type, isPrimaryKey: primaryKey?.value == property.name.value,
                    isIndexed: indexed.contains(property.name.value), in: scope))
        }
        for property in syntax.withInvalidNames {
            guard let type = property.type.flatMap({ resolve($0, of: property) }) else { continue }
            _ = model(of: property, type, isPrimaryKey: false, isIndexed: false)
        }
        return ObjectModel(
            name: name, nameSpan: syntax.name.span, documentation: syntax.documentation,
            isEmbedded: syntax.isEmbedded, primaryKey: primaryKey, indexes: syntax.indexes, unique: syntax.unique,
            properties: properties, ignored: syntax.ignored.compactMap { ignoredModel(of: $0) },
            keyPaths: declaredKeyPaths(of: syntax, in: scope), renamedFrom: syntax.renamedFrom,
            deprecation: syntax.deprecation, sync: syncModel(of: syntax, in: scope))
    }

    /// Whether `index:` can list a property of the type. It can list enums, and all scalars except `Data`. It cannot
    /// list collections. It cannot list links either, because links always have an index.
    static func isIndexable(_ type: PropertyTypeModel) -> Bool {
        guard type.isSingle else { return false }
        return switch type.value {
        case .scalar(let kind): kind != .data
        case .enumeration: true
        case .link, .embedded: false
        }
    }

    private mutating func model(
        of property: PropertySyntax, _ type: PropertyTypeModel, isPrimaryKey: Bool, isIndexed: Bool,
        in scope: ObjectScope? = nil
    ) -> PropertyModel {
        checkDeletionRule("onDelete", property.onDelete, of: property, type)
        checkDeletionRule("deleteRule", property.deleteRule, of: property, type)
        let isText = type.isSingle && type.value == .scalar(.string)
        return PropertyModel(
            name: property.name.value, nameSpan: property.name.span, documentation: property.documentation,
            type: type, typeSpan: property.type?.span ?? property.name.span,
            defaultValue: property.defaultValue.flatMap { checkDefault($0, type, of: property) },
            defaultSpan: property.defaultValue?.span, renamedFrom: property.renamedFrom,
            deprecation: property.deprecation, onDelete: property.onDelete?.value ?? .nullify,
            deleteRule: property.deleteRule?.value ?? .nullify, isPrimaryKey: isPrimaryKey, isIndexed: isIndexed,
            isFullText: property.fullTextSpan != nil && isText,
            fullTextSpan: property.fullTextSpan, sync: syncModel(of: property, in: scope))
    }

    private mutating func checkDeletionRule(
        _ key: String, _ rule: Spanned<DeletionRule>?, of property: PropertySyntax, _ type: PropertyTypeModel
    ) {
        guard let rule else { return }
        if case .linkingObjects(let origin, let link) = type.kind, key == "deleteRule" {
            report(
                .unknownKey,
                "'deleteRule' is for links, and '\(property.name.value)' is '\(type.text)'; write "
                    + "'onDelete: \(rule.value.rawValue)' at '\(origin).\(link)', which says what happens to '\(origin)' "
                    + "when a target is deleted", at: rule.span)
        } else if type.value.objectName == nil || type.isLinkingObjects {
            report(
                .unknownKey, "'\(key)' is for links, and '\(property.name.value)' is '\(type.text)'; remove it",
                at: rule.span)
        } else if case .embedded = type.value {
            report(.unknownKey, "embedded objects are deleted with their owner; remove '\(key)'", at: rule.span)
        }
    }

    private mutating func ignoredModel(of property: PropertySyntax) -> PropertyModel? {
        for (key, span) in [
            ("renamedFrom", property.renamedFrom?.span), ("fullText", property.fullTextSpan),
            ("onDelete", property.onDelete?.span), ("deleteRule", property.deleteRule?.span),
            ("sync", property.localSpan), ("merge", property.merge?.span), ("write", property.write?.span),
        ] {
            guard let span else { continue }
            report(
                .unknownKey, "'\(key)' is for stored properties, and '\(property.name.value)' is ignored; remove it",
                at: span)
        }
        guard let syntax = property.type, let type = resolve(syntax, of: property) else { return nil }
        guard type.isSingle else {
            report(
                .badOptionality,
                "an ignored property holds a single value, not '\(type.text)'; store it or leave it out",
                at: syntax.span)
            return nil
        }
        return model(of: property, type, isPrimaryKey: false, isIndexed: false)
    }

    // MARK: Keys

    private mutating func checkPrimaryKey(_ name: Spanned<String>, _ scope: ObjectScope) -> Spanned<String>? {
        guard let member = scope.members[name.value] else {
            reportNoMember(name, of: scope) { $0.isSingle && Self.isKeyType($0.value) }
            return nil
        }
        self.recordReference(.property(owner: scope.syntax.name.value, name: name.value), at: name.span)
        guard let type = member.type else { return name }
        let note = DiagnosticNote("'\(name.value)' is declared here", at: member.nameSpan)
        guard type.isSingle, Self.isKeyType(type.value) else {
            report(
                .badPrimaryKey,
                "'\(type.text)' cannot be a primary key; use a whole number, 'String', 'UUID' or 'ObjectId'",
                at: name.span, label: "this is '\(type.text)'", notes: [note])
            return name
        }
        if let optional = member.optional, type.isOptional {
            report(
                .badOptionality, "a primary key is never optional; remove the '?'", at: optional,
                notes: [DiagnosticNote("the primary key is named here", at: name.span)], help: "remove the '?'",
                fixes: [Fix("remove the '?'", .safe, [Edit(optional, "")])])
        }
        return name
    }

    private static func isKeyType(_ value: ValueTypeModel) -> Bool {
        guard case .scalar(let kind) = value else { return false }
        return kind.integerBits != nil || kind == .string || kind == .uuid || kind == .objectId
    }

    private mutating func checkUnique(_ list: [Spanned<String>], _ scope: ObjectScope) {
        var seen: [String: SourceSpan] = [:]
        for name in list {
            if let first = seen[name.value] {
                report(
                    .duplicateKey, "'\(name.value)' occurs twice in this list; remove one", at: name.span,
                    notes: [DiagnosticNote("it occurs here first", at: first)])
            }
            seen[name.value] = name.span
            guard let member = scope.members[name.value] else {
                reportNoMember(name, of: scope, where: Self.canBeUnique)
                continue
            }
            recordReference(.property(owner: scope.syntax.name.value, name: name.value), at: name.span)
            guard let type = member.type else { continue }
            if !Self.canBeUnique(type) { reportNotUnique(name, type) }
        }
    }

    private static func canBeUnique(_ type: PropertyTypeModel) -> Bool {
        if case .embedded = type.value { return false }
        return type.isSingle
    }

    private mutating func reportNotUnique(_ name: Spanned<String>, _ type: PropertyTypeModel) {
        report(
            .unknownName,
            "'\(name.value)' is '\(type.text)', which cannot be unique; use properties that hold a single value",
            at: name.span)
    }

    // MARK: Enums

    mutating func model(of syntax: EnumSyntax) -> EnumModel? {
        var cases: [EnumCaseModel] = []
        var names: [String: Spanned<String>] = [:]
        var values: [EnumCaseModel.RawValue: SourceSpan] = [:]
        for item in syntax.cases {
            if NameRules.reservedCaseNames.contains(item.name.value) {
                report(
                    .reservedName,
                    "a case cannot be named '\(item.name.value)', which is a member of every enum; choose another name",
                    at: item.name.span, label: "taken by Swift")
            }
            if let first = names[item.name.value] {
                report(
                    .duplicateKey, "case '\(item.name.value)' occurs twice; rename or remove one", at: item.name.span,
                    notes: [DiagnosticNote("it occurs here first", at: first.span)])
                continue
            }
            names[item.name.value] = item.name
            guard let raw = syntax.raw, let value = rawValue(of: item, raw) else { continue }
            let span = item.rawValue?.span ?? item.name.span
            if let first = values[value] {
                report(
                    .duplicateKey, "two cases store the same value; give '\(item.name.value)' another", at: span,
                    notes: [DiagnosticNote("the same value", at: first)])
            }
            values[value] = values[value] ?? span
            cases.append(
                EnumCaseModel(
                    name: item.name.value, nameSpan: item.name.span, documentation: item.documentation, rawValue: value)
            )
        }
        if let unknown = syntax.unknown, names[unknown.value] == nil, !syntax.isIncomplete {
            reportMissing(
                .unknownName, "'\(syntax.name.value)' has no case '\(unknown.value)'", unknown,
                among: syntax.cases.map(\.name.value), label: "no such case")
        }
        if let unknown = syntax.unknown {
            recordReference(.enumCase(owner: syntax.name.value, name: unknown.value), at: unknown.span)
        }
        guard let raw = syntax.raw else { return nil }
        return EnumModel(
            name: syntax.name.value, nameSpan: syntax.name.span, documentation: syntax.documentation, raw: raw,
            cases: cases, unknown: syntax.unknown, renamedFrom: syntax.renamedFrom, deprecation: syntax.deprecation)
    }

    private mutating func rawValue(of item: EnumCaseSyntax, _ raw: EnumRawKind) -> EnumCaseModel.RawValue? {
        guard let scalar = item.rawValue else { return .string(item.name.value) }
        guard raw == .int else { return .string(scalar.text) }
        switch scalar.isPlain ? WholeNumber(scalar.text) : .none {
        case .value(let value): return .int(value)
        case .ambiguous(let number, _):
            report(
                .ambiguousScalar, "'\(scalar.text)' is a number only in some YAML versions; write '\(number)'",
                at: scalar.span,
                help: "write '\(number)'", fixes: [Fix("write '\(number)'", .suggested, [Edit(scalar.span, number)])])
        case .tooLarge:
            report(
                .badDefault,
                "'\(scalar.text.shortened)' does not fit 'Int', which holds \(Int64.min) to \(Int64.max)",
                at: scalar.span)
        case .none:
            report(
                .badDefault,
                "'\(scalar.text.shortened)' is not a whole number, and the enum is stored as 'Int'; write one",
                at: scalar.span)
        }
        return nil
    }
}
