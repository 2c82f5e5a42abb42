import MartletSchema

/// Checks the synchronization keys of types and properties, and adds them to the model.
extension Resolver {
    mutating func syncModel(of syntax: ObjectSyntax, in scope: ObjectScope) -> SyncModel {
        var rules: [RuleKind: RuleModel] = [:]
        for kind in RuleKind.allCases {
            rules[kind] = syntax.rules[kind].flatMap { resolve($0, in: scope) }
        }
        return SyncModel(mode: syntax.mode, modeSpan: syntax.sync?.span, rules: rules)
    }

    mutating func syncModel(of property: PropertySyntax, in scope: ObjectScope?) -> PropertySyncModel {
        PropertySyncModel(
            isLocal: property.localSpan != nil, merge: property.merge?.value,
            write: scope.flatMap { scope in property.write.flatMap { resolve($0, in: scope) } })
    }

    mutating func refuseSync(_ message: @autoclosure () -> String, at span: SourceSpan) {
        report(.badSync, message(), at: span)
    }

    /// Checks that a type meets the requirements of its synchronization keys. All types must be resolved before the
    /// call.
    mutating func checkSync(of syntax: ObjectSyntax) {
        guard let scope = scopes[syntax.name.value] else { return }
        if syntax.mode == .none {
            for kind in RuleKind.allCases {
                guard let rule = syntax.rules[kind] else { continue }
                refuseSync(
                    "'\(kind.rawValue)' is for synchronized types, and '\(syntax.name.value)' is not synchronized; "
                        + "write 'sync: both', or remove the rule", at: rule.span)
            }
            for property in syntax.properties { checkUnsynchronized(property, of: syntax) }
        } else {
            checkSynchronized(syntax, scope)
        }
        for property in syntax.properties { checkTarget(property, of: syntax, scope) }
    }

    private mutating func checkUnsynchronized(_ property: PropertySyntax, of syntax: ObjectSyntax) {
        let reason =
            syntax.isEmbedded
            ? "is for properties of objects, and an embedded object is synchronized like its owner"
            : "is for synchronized types, and '\(syntax.name.value)' is not synchronized"
        for (key, span) in [
            ("sync", property.localSpan), ("merge", property.merge?.span), ("write", property.write?.span),
        ] {
            guard let span else { continue }
            refuseSync("'\(key)' \(reason); remove it", at: span)
        }
    }

    private mutating func checkSynchronized(_ syntax: ObjectSyntax, _ scope: ObjectScope) {
        let name = syntax.name.value
        if syntax.primaryKey == nil, let span = syntax.sync?.span {
            refuseSync(
                "'\(name)' has no primary key, by which its objects are identified on other machines; "
                    + "write 'primaryKey:' with the property that identifies it", at: span)
        }
        if syntax.mode == .upload {
            for kind in [RuleKind.read, .delete] {
                guard let rule = syntax.rules[kind] else { continue }
                refuseSync(
                    "clients do not receive objects of '\(name)' ('sync: upload'), so '\(kind.rawValue)' would "
                        + "restrict nothing; write 'insert' or 'write'", at: rule.span)
            }
        }
        for property in syntax.properties {
            guard let type = scope.members[property.name.value]?.type else { continue }
            if type.isLinkingObjects {
                checkLinkingObjects(property, of: syntax)
                continue
            }
            if let span = property.localSpan { checkLocal(property, type, of: syntax, at: span) }
            if let merge = property.merge { checkCounter(property, type, of: syntax, at: merge.span) }
            if let write = property.write { checkWrite(property, of: syntax, at: write.span) }
        }
    }

    private mutating func checkLinkingObjects(_ property: PropertySyntax, of syntax: ObjectSyntax) {
        for (key, span) in [
            ("sync", property.localSpan), ("write", property.write?.span), ("merge", property.merge?.span),
        ] {
            guard let span else { continue }
            refuseSync("'\(key)' is for stored properties, and linking objects are computed; remove it", at: span)
        }
        guard syntax.mode == .upload else { return }
        refuseSync(
            "clients do not receive objects of '\(syntax.name.value)' ('sync: upload'), so no other object can link to "
                + "them; remove '\(property.name.value)'", at: property.type?.span ?? property.name.span)
    }

    private mutating func checkLocal(
        _ property: PropertySyntax, _ type: PropertyTypeModel, of syntax: ObjectSyntax, at span: SourceSpan
    ) {
        let name = property.name.value
        if syntax.primaryKey?.value == name {
            refuseSync(
                "'\(name)' is the primary key, by which objects are identified on other machines; remove 'sync'",
                at: span)
        } else if type.isSingle, !type.isOptional, type.value != .scalar(.anyValue), property.defaultValue == nil {
            refuseSync(
                "'\(name)' has 'sync: none', so objects from other machines have no value; write a default, or "
                    + "'\(type.text)?'", at: span)
        }
        for list in syntax.unique where list.contains(where: { $0.value == name }) {
            refuseSync(
                "'\(name)' is in a 'unique' list, but the service does not store '\(name)' ('sync: none') and cannot "
                    + "check the list; remove 'sync', or the list", at: span)
        }
    }

    private mutating func checkCounter(
        _ property: PropertySyntax, _ type: PropertyTypeModel, of syntax: ObjectSyntax, at span: SourceSpan
    ) {
        let name = property.name.value
        let isWide = type.value == .scalar(.int) || type.value == .scalar(.int64)
        if !type.isSingle || !isWide || type.isOptional {
            refuseSync(
                "a counter is 'Int', so that sums of many changes fit, and '\(name)' is '\(type.text)'; write 'Int', or "
                    + "remove 'merge'", at: span)
        } else if syntax.primaryKey?.value == name {
            refuseSync("'\(name)' is the primary key, which never changes; remove 'merge'", at: span)
        } else if syntax.unique.contains(where: { $0.contains { $0.value == name } }) {
            refuseSync(
                "'\(name)' is in a 'unique' list, which a sum of changes can violate; remove 'merge', or the list",
                at: span)
        } else if syntax.mode == .upload {
            refuseSync(
                "clients do not receive objects of '\(syntax.name.value)' ('sync: upload'), so there are no concurrent "
                    + "changes to add; remove 'merge'", at: span)
        } else if property.localSpan != nil {
            refuseSync(
                "'\(name)' has 'sync: none', so there are no changes to add; remove 'merge' or 'sync'", at: span)
        }
    }

    private mutating func checkWrite(_ property: PropertySyntax, of syntax: ObjectSyntax, at span: SourceSpan) {
        let name = property.name.value
        if property.localSpan != nil {
            refuseSync(
                "'\(name)' has 'sync: none', so the service cannot check changes of it; remove 'write'", at: span)
        } else if syntax.primaryKey?.value == name {
            refuseSync("'\(name)' is the primary key, which never changes; write 'insert' at the type", at: span)
        }
    }
}

extension ObjectSyntax {
    var mode: SyncMode { sync?.value ?? .none }
}
