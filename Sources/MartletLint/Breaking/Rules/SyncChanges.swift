import MartletSchema

/// Finds changes of the synchronization mode, of local properties, of counters and of rules.
struct SyncChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.flatMap { pair in
            let rules = CurrentRules(schemas: schemas, pair: pair)
            return modeChanges(pair) + typeRuleChanges(pair, rules)
                + pair.properties.flatMap { propertyChanges($0.old, $0.new, pair, rules) }
        }
    }

    // MARK: Types

    private func modeChanges(_ pair: ObjectPair) -> [BreakingChange] {
        let (old, new) = (pair.old.sync.mode, pair.new.sync.mode)
        guard old != new else { return [] }
        let name = "type '\(pair.new.name)'"
        let was = "'sync: \(old.rawValue)'"
        let span = pair.new.sync.modeSpan ?? pair.new.nameSpan
        let (level, effect): (BreakingLevel, String) =
            switch (old, new) {
            case (_, .none):
                (
                    .data,
                    "is not synchronized any more, so objects of other machines do not arrive and the service has no table"
                )
            case (.both, _): (.data, "is now 'sync: upload', so objects of other machines do not arrive")
            case (.none, _):
                (.query, "is synchronized now, and the service does not know the objects that files have already")
            case (.upload, _): (.query, "is now received, too, so objects of other machines appear")
            }
        return [
            BreakingChange(
                level, "\(name) \(effect); keep \(was)", at: span, was: pair.old.sync.modeSpan ?? pair.old.nameSpan)
        ]
    }

    private func typeRuleChanges(_ pair: ObjectPair, _ rules: CurrentRules) -> [BreakingChange] {
        guard pair.old.sync.mode != .none, pair.new.sync.mode != .none else { return [] }
        return RuleKind.allCases.compactMap { kind in
            let effect =
                kind == .read
                ? "users see other objects" : "the service accepts other changes, and reverts those that it refuses"
            return change(
                pair.old.sync.rules[kind], pair.new.sync.rules[kind], "'\(kind.rawValue)' of '\(pair.new.name)'",
                effect,
                at: pair.new.nameSpan, rules)
        }
    }

    private func change(
        _ old: RuleModel?, _ new: RuleModel?, _ name: String, _ effect: String, at place: SourceSpan,
        _ rules: CurrentRules
    ) -> BreakingChange? {
        let before = old.map(rules.text)
        guard before != new?.text else { return nil }
        let what =
            switch (before, new?.text) {
            case (nil, let text?): "is new: '\(text)'"
            case (let text?, nil): "was removed; it was '\(text)'"
            case (let before, let text): "was '\(before ?? "")' and is '\(text ?? "")'"
            }
        return BreakingChange(
            .query, "\(name) \(what), so \(effect); keep it, if this is not intended", at: new?.span ?? place,
            was: old?.span)
    }

    // MARK: Properties

    private func propertyChanges(
        _ old: PropertyModel, _ new: PropertyModel, _ pair: ObjectPair, _ rules: CurrentRules
    ) -> [BreakingChange] {
        guard pair.old.sync.mode != .none, pair.new.sync.mode != .none else { return [] }
        let name = "'\(pair.new.name).\(new.name)'"
        var changes: [BreakingChange] = []
        if old.sync.isLocal != new.sync.isLocal {
            changes.append(
                new.sync.isLocal
                    ? BreakingChange(
                        .data,
                        "\(name) is not synchronized any more, so values of other machines do not arrive and the service "
                            + "has no column; remove 'sync: none'", at: new.nameSpan, was: old.nameSpan)
                    : BreakingChange(
                        .query,
                        "\(name) is synchronized now, and the service does not know the values that files have already; "
                            + "keep 'sync: none'", at: new.nameSpan, was: old.nameSpan))
        }
        if old.sync.merge != new.sync.merge {
            let effect =
                new.sync.merge == nil
                ? "is no longer a counter, so the last of concurrent changes wins; keep 'merge: add'"
                : "is a counter now, so concurrent changes are added; remove 'merge: add'"
            changes.append(BreakingChange(.query, "\(name) \(effect)", at: new.nameSpan, was: old.nameSpan))
        }
        let rule = change(
            old.sync.write, new.sync.write, "'write' of \(name)",
            "the service accepts other changes, and reverts those that it refuses", at: new.nameSpan, rules)
        return changes + [rule].compactMap(\.self)
    }
}

/// Converts rules of an old type to texts that contain the names of the new schema.
private struct CurrentRules {
    let schemas: SchemaPair
    let pair: ObjectPair

    func text(_ rule: RuleModel) -> String { rule.condition.mapPaths(current).text }

    private func current(_ path: RulePath) -> RulePath {
        let type = pair.old.property(named: path.property)?.type.value.objectName
        let kind: RulePath.Kind =
            switch path.kind {
            case .own: .own
            case .link(let key): .link(key: key.map { currentName($0, of: type) })
            case .embedded(let members): .embedded(currentNames(members, of: type))
            }
        return RulePath(
            property: pair.currentName(path.property), kind: kind, value: path.value, isOptional: path.isOptional)
    }

    private func currentName(_ property: String, of type: String?) -> String {
        type.flatMap { schemas.object(formerly: $0) }?.currentName(property) ?? property
    }

    private func currentNames(_ members: [String], of type: String?) -> [String] {
        var owner = type
        return members.map { name in
            defer {
                owner = owner.flatMap { schemas.old.object(named: $0)?.property(named: name)?.type.value.objectName }
            }
            return currentName(name, of: owner)
        }
    }
}

extension RuleCondition {
    fileprivate func mapPaths(_ change: (RulePath) -> RulePath) -> RuleCondition {
        func operand(_ operand: RuleOperand) -> RuleOperand { operand.path.map { .property(change($0)) } ?? operand }
        return switch self {
        case .constant: self
        case .and(let parts): .and(parts.map { $0.mapPaths(change) })
        case .or(let parts): .or(parts.map { $0.mapPaths(change) })
        case .not(let part): .not(part.mapPaths(change))
        case .comparison(let left, let relation, let right): .comparison(operand(left), relation, operand(right))
        case .oneOf(let left, let values): .oneOf(operand(left), values.map(operand))
        case .contained(let left, let claim): .contained(operand(left), claim)
        }
    }
}
