import MartletSchema

/// Resolves the paths of rules: own properties, properties of embedded objects, and primary keys of linked objects.
extension Resolver {
    mutating func rulePath(_ names: [Spanned<String>], _ scope: ObjectScope) -> RulePath? {
        guard let first = names.first, let type = member(first, of: scope) else { return nil }
        guard type.isSingle else {
            return refusePath("a rule compares single values, and '\(first.value)' is '\(type.text)'", at: first.span)
        }
        if scope.members[first.value]?.isLocal == true {
            return refusePath(
                "'\(first.value)' has 'sync: none', so the service does not know it; compare another property",
                at: first.span)
        }
        switch type.value {
        case .scalar, .enumeration:
            guard names.count == 1 else { return refuseMember(names[1], of: first, type) }
            return RulePath(property: first.value, kind: .own, value: type.value, isOptional: type.isOptional)
        case .link(let target): return link(names, to: target)
        case .embedded: return embedded(names, type)
        }
    }

    private mutating func link(_ names: [Spanned<String>], to target: String) -> RulePath? {
        guard let scope = scopes[target], let key = scope.syntax.primaryKey,
            let keyType = scope.members[key.value]?.type
        else { return nil }
        let name = names[0].value
        if names.count > 1 {
            recordReference(.property(owner: target, name: key.value), at: names[1].span)
            guard names.count == 2, names[1].value == key.value else {
                let path = "\(name).\(key.value)"
                let span = names[0].span.union(names[names.count - 1].span)
                report(
                    .badRule,
                    "a rule follows a link only to the primary key of its target; write '\(path)', or store the value "
                        + "in this object", at: span, help: "write '\(path)'",
                    fixes: [Fix("write '\(path)'", .suggested, [Edit(span, path)])])
                return nil
            }
        }
        return RulePath(
            property: name, kind: .link(key: names.count == 1 ? nil : key.value), value: keyType.value,
            isOptional: true)
    }

    private mutating func embedded(_ names: [Spanned<String>], _ type: PropertyTypeModel) -> RulePath? {
        var type = type
        for (index, name) in names.enumerated().dropFirst() {
            guard case .embedded(let target) = type.value, let scope = scopes[target] else {
                return refuseMember(name, of: names[index - 1], type)
            }
            guard let next = member(name, of: scope) else { return nil }
            guard next.isSingle else {
                return refusePath("a rule compares single values, and '\(name.value)' is '\(next.text)'", at: name.span)
            }
            type = next
        }
        let last = names[names.count - 1]
        guard type.value.isComparableInside else {
            if names.count == 1 {
                return refusePath("'\(last.value)' is an embedded object; compare one of its properties", at: last.span)
            }
            return refusePath(
                "'\(last.value)' is '\(type.text)', which a rule cannot compare inside an embedded object; "
                    + "compare whole numbers, text, identifiers or enums", at: last.span)
        }
        return RulePath(
            property: names[0].value, kind: .embedded(names.dropFirst().map(\.value)), value: type.value,
            isOptional: true)
    }

    /// The type of a property. A missing property is reported, and the result is nil.
    private mutating func member(_ name: Spanned<String>, of scope: ObjectScope) -> PropertyTypeModel? {
        guard let member = scope.members[name.value] else {
            reportNoMember(name, of: scope) { $0.isSingle }
            return nil
        }
        recordReference(.property(owner: scope.syntax.name.value, name: name.value), at: name.span)
        return member.type
    }

    private mutating func refuseMember(
        _ name: Spanned<String>, of owner: Spanned<String>, _ type: PropertyTypeModel
    ) -> RulePath? {
        refusePath(
            "'\(owner.value)' is '\(type.text)', which has no properties; end the path before this", at: name.span)
    }

    private mutating func refusePath(_ message: String, at span: SourceSpan) -> RulePath? {
        report(.badRule, message, at: span)
        return nil
    }
}

extension ValueTypeModel {
    /// Whether rules can compare values of this type inside embedded objects, which PostgreSQL stores as JSON.
    fileprivate var isComparableInside: Bool {
        switch self {
        case .scalar(let kind):
            kind == .bool || kind.integerBits != nil || kind == .string || kind == .uuid || kind == .objectId
        case .enumeration: true
        case .link, .embedded: false
        }
    }
}
