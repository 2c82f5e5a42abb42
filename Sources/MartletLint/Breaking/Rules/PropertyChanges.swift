import MartletSchema

/// Finds properties that were removed, were renamed, or have another type.
struct PropertyChanges: BreakingRule {
    private static let maximumCandidates = 3

    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        schemas.objects.flatMap { pair in
            removed(pair, schemas)
                + pair.properties.flatMap { changes($0.old, $0.new, pair, schemas) } + ignored(pair, schemas)
        }
    }

    // MARK: Removed and ignored properties

    private func removed(_ pair: ObjectPair, _ schemas: SchemaPair) -> [BreakingChange] {
        let gone = pair.removedProperties
        guard !gone.isEmpty else { return [] }
        let added = Dictionary(grouping: pair.addedProperties.filter { $0.renamedFrom == nil }, by: \.type)
        let ignored = Dictionary(pair.new.ignored.map { ($0.name, $0) }) { first, _ in first }
        return gone.map { self.removed($0, pair, ignored[$0.name], added[schemas.current($0.type)] ?? []) }
    }

    /// The breaking change for a removed property.
    ///
    /// - Parameters:
    ///   - ignored: the ignored property with the same name in the new schema; nil if there is none.
    ///   - candidates: the added properties that may be the removed property with another name.
    private func removed(
        _ old: PropertyModel, _ pair: ObjectPair, _ ignored: PropertyModel?, _ candidates: [PropertyModel]
    ) -> BreakingChange {
        let name = "property '\(pair.new.name).\(old.name)'"
        if old.type.isLinkingObjects {
            return BreakingChange(
                .source, "\(name) was removed; declare it again", at: pair.new.nameSpan, label: "no '\(old.name)' here",
                was: old.nameSpan)
        }
        if let ignored {
            return BreakingChange(
                .data, "\(name) is ignored now, and its stored values are lost; move it back to 'properties'",
                at: ignored.nameSpan, was: old.nameSpan)
        }
        let renames = candidates.prefix(Self.maximumCandidates).map { RenameCandidate(old, $0) }
        return BreakingChange(
            .data, "\(name) was removed, and its stored values with it; declare it again", at: pair.new.nameSpan,
            label: "no '\(old.name)' here", was: old.nameSpan, renames: renames)
    }

    private func ignored(_ pair: ObjectPair, _ schemas: SchemaPair) -> [BreakingChange] {
        let current = Dictionary(pair.new.ignored.map { ($0.name, $0) }) { first, _ in first }
        return pair.old.ignored.compactMap { old in
            let name = "property '\(pair.new.name).\(old.name)'"
            let successor = current[old.name] ?? pair.new.property(named: old.name)
            guard let new = successor else {
                return BreakingChange(
                    .source, "\(name) was removed; declare it again", at: pair.new.nameSpan,
                    label: "no '\(old.name)' here", was: old.nameSpan)
            }
            guard schemas.current(old.type) != new.type else { return nil }
            return typeChange(.source, name, old, new)
        }
    }

    // MARK: Changed properties

    private func changes(
        _ old: PropertyModel, _ new: PropertyModel, _ pair: ObjectPair, _ schemas: SchemaPair
    ) -> [BreakingChange] {
        let name = "property '\(pair.new.name).\(new.name)'"
        var changes: [BreakingChange] = []
        if old.name != new.name {
            changes.append(
                BreakingChange(
                    .source, "\(name) was '\(old.name)'; rename it in code that uses it", at: new.nameSpan,
                    was: old.nameSpan))
        }
        let type = schemas.current(old.type)
        // If both types have the same text, the type is unchanged, or only the declaration of the type has changed. For
        // example, an enum has another raw type, or an object type has become embedded. Other rules report changes of
        // declarations.
        guard type.text != new.type.text else { return changes }
        if !old.type.isLinkingObjects {
            if !isStoredAlike(type, new.type) {
                return changes + [typeChange(.data, name, old, new)]
            }
            if type.isOptional, !new.type.isOptional, new.type.value.objectName == nil {
                return changes + [requiredChange(name, old, new)]
            }
            if let lost = lostValues(old.type, new.type, schemas) {
                return changes + [typeChange(.data, name, old, new, because: lost)]
            }
        }
        return changes + [typeChange(.source, name, old, new)]
    }

    /// Whether both types are stored in the same form. The runtime stores enums by their raw values, without their
    /// names.
    private func isStoredAlike(_ old: PropertyTypeModel, _ new: PropertyTypeModel) -> Bool {
        guard old.kind == new.kind else { return false }
        if case .enumeration(_, let before) = old.value, case .enumeration(_, let after) = new.value {
            return before == after
        }
        return old.value == new.value
    }

    private func requiredChange(_ name: String, _ old: PropertyModel, _ new: PropertyModel) -> BreakingChange {
        let what =
            new.type.isSingle
            ? "is required now, but a stored value may be nil" : "may contain nil, which its type forbids"
        return BreakingChange(
            .data, "\(name) \(what); keep '\(old.type.text)'", at: new.typeSpan, was: old.typeSpan)
    }

    /// A clause of the message. It names the first raw value of the old enum that the new enum does not declare. nil if
    /// the new enum declares all raw values of the old enum, or if the types are not two different enums.
    private func lostValues(_ old: PropertyTypeModel, _ new: PropertyTypeModel, _ schemas: SchemaPair) -> String? {
        guard case .enumeration(let before, _) = old.value, case .enumeration(let after, _) = new.value,
            schemas.currentName(before) != after, let former = schemas.old.enumeration(named: before),
            let current = schemas.new.enumeration(named: after)
        else { return nil }
        let known = Set(current.cases.map(\.rawValue))
        guard let lost = former.cases.first(where: { !known.contains($0.rawValue) }) else { return nil }
        return ", which has no \(lost.rawValue.quoted)"
    }

    private func typeChange(
        _ level: BreakingLevel, _ name: String, _ old: PropertyModel, _ new: PropertyModel, because: String = ""
    ) -> BreakingChange {
        let advice = level == .data ? "keep the type, or add a property with another name" : "keep the type"
        return BreakingChange(
            level, "\(name) was '\(old.type.text)' and is '\(new.type.text)'\(because); \(advice)", at: new.typeSpan,
            was: old.typeSpan)
    }
}
