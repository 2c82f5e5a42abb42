import MartletSchema

/// Finds enums and cases that were removed, were renamed, or have other raw values. This rule also finds new cases and
/// a changed `unknown` case.
struct EnumChanges: BreakingRule {
    func changes(in schemas: SchemaPair) -> [BreakingChange] {
        let stored = storedEnums(schemas)
        return schemas.removedEnums.map { removed($0, schemas) }
            + schemas.enums.flatMap { changes($0.old, $0.new, isStored: stored.contains($0.new.name)) }
    }

    /// The new names of the enums of which older files can contain values. Such an enum is the type of at least one
    /// property in both the old and the new schema.
    private func storedEnums(_ schemas: SchemaPair) -> Set<String> {
        let properties = schemas.objects.flatMap(\.properties)
        return Set(
            properties.compactMap { old, new in
                guard case .enumeration(let before, _) = old.type.value,
                    case .enumeration(let after, _) = new.type.value, schemas.currentName(before) == after
                else { return nil }
                return after
            })
    }

    // The level is `.source` even if files contain values of the enum. Each property of this type was removed or has
    // another type now, and `PropertyChanges` reports the effect on its stored values.
    private func removed(_ old: EnumModel, _ schemas: SchemaPair) -> BreakingChange {
        let shape = old.cases.map(\.rawValue)
        let renames = schemas.addedEnums.filter { $0.cases.map(\.rawValue) == shape && $0.renamedFrom == nil }.prefix(3)
        return BreakingChange(
            .source, "enum '\(old.name)' was removed; declare it again", at: nil, was: old.nameSpan,
            renames: renames.map { RenameCandidate(old, $0) })
    }

    private func changes(_ old: EnumModel, _ new: EnumModel, isStored: Bool) -> [BreakingChange] {
        var changes: [BreakingChange] = []
        if old.name != new.name {
            changes.append(
                BreakingChange(
                    .source, "enum '\(old.name)' is '\(new.name)' now; rename it in code that uses it",
                    at: new.nameSpan, was: old.nameSpan))
        }
        if old.raw != new.raw {
            changes.append(
                BreakingChange(
                    isStored ? .data : .source,
                    "enum '\(new.name)' was stored as '\(old.raw.rawValue)' and is '\(new.raw.rawValue)'; "
                        + "keep the raw type, or add an enum with another name",
                    at: new.nameSpan, was: old.nameSpan))
        }
        changes += caseChanges(old, new, isStored: isStored)
        if let unknown = old.unknown, unknown.value != new.unknown?.value {
            let now =
                new.unknown.map { " and are read as '\($0.value)'" }
                ?? "; now an optional property reads them as nil, and any other read of them stops the program"
            changes.append(
                BreakingChange(
                    isStored && new.unknown == nil ? .data : .query,
                    "unknown values of '\(new.name)' were read as '\(unknown.value)'\(now); "
                        + "keep 'unknown: \(unknown.value)'",
                    at: new.unknown?.span ?? new.nameSpan, was: unknown.span))
        }
        return changes
    }

    private func caseChanges(_ old: EnumModel, _ new: EnumModel, isStored: Bool) -> [BreakingChange] {
        let isRawKept = old.raw == new.raw
        // The new names of the renamed cases. A case counts as renamed if its raw value is unchanged.
        var renamed: Set<String> = []
        var changes: [BreakingChange] = []
        for before in old.cases {
            if let after = new.enumCase(named: before.name) {
                guard isRawKept, before.rawValue != after.rawValue else { continue }
                changes.append(rawValueChange(before, after, in: new, isStored: isStored))
            } else if isRawKept,
                let after = new.cases.first(where: {
                    $0.rawValue == before.rawValue && old.enumCase(named: $0.name) == nil
                })
            {
                renamed.insert(after.name)
                changes.append(
                    BreakingChange(
                        .source,
                        "case '\(new.name).\(before.name)' is '\(after.name)' now; rename it in code that uses it",
                        at: after.nameSpan, was: before.nameSpan))
            } else {
                changes.append(removed(before, in: old, new, isStored: isStored && isRawKept))
            }
        }
        for after in new.cases where old.enumCase(named: after.name) == nil && !renamed.contains(after.name) {
            changes.append(
                BreakingChange(
                    .source,
                    "case '\(new.name).\(after.name)' is new, and a 'switch' without it stops compiling; "
                        + "add it there, or write 'default:'",
                    at: after.nameSpan))
        }
        return changes
    }

    private func rawValueChange(
        _ before: EnumCaseModel, _ after: EnumCaseModel, in new: EnumModel, isStored: Bool
    ) -> BreakingChange {
        BreakingChange(
            isStored ? .data : .query,
            "the raw value of case '\(new.name).\(after.name)' was \(before.rawValue.quoted) and is "
                + "\(after.rawValue.quoted); write '\(after.name): \(before.rawValue.plain)'",
            at: after.nameSpan, was: before.nameSpan)
    }

    private func removed(_ before: EnumCaseModel, in old: EnumModel, _ new: EnumModel, isStored: Bool) -> BreakingChange
    {
        let added = new.cases.filter { old.enumCase(named: $0.name) == nil }
        let advice = added.first.map {
            "if '\($0.name)' is its new name, keep what is stored: write '\($0.name): \(before.rawValue.plain)'"
        }
        return BreakingChange(
            isStored ? .data : .source,
            "case '\(new.name).\(before.name)' was removed\(isStored ? ", and its stored values match no case" : ""); "
                + "declare it again",
            at: new.nameSpan, label: "no '\(before.name)' here", was: before.nameSpan,
            advice: old.raw == new.raw ? advice : nil)
    }
}

extension EnumCaseModel.RawValue {
    /// The raw value in quotes, for messages.
    var quoted: String { "'\(plain)'" }

    /// The raw value without quotes.
    var plain: String {
        switch self {
        case .int(let number): "\(number)"
        case .string(let text): text
        }
    }
}
