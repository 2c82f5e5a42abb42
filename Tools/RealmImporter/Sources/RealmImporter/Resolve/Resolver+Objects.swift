import MartletSchema

/// Reads objects and embedded objects, including inherited properties.
extension Resolver {
    mutating func object(_ type: TypeDeclaration, isEmbedded: Bool) -> ObjectDraft {
        let key = type.name.value
        var draft = ObjectDraft(
            key: key, name: names.name(of: key), isEmbedded: isEmbedded, head: type.head, span: type.name.span)
        let superclassChain = index.superclassChain(of: key)
        let customizations = superclassChain.reversed().flatMap { index.entries[$0]?.parts ?? [] }.flatMap(
            \.customizations)
        let context = StorageContext(
            ignored: Set(namesListed(by: "ignoredProperties", in: customizations).map(\.value)),
            primaryKey: customizations.first { $0.name.value == "primaryKey" }?.value?.string)
        let parts = superclassChain.compactMap { index.entries[$0]?.declaration }.map { part in
            (type: part, properties: storageKinds(of: part, in: context))
        }
        let allKinds = parts.flatMap { $0.properties.map(\.kind) }
        // If the class would store nothing, undecided properties are imported as stored.
        let isEmpty = !allKinds.contains(.stored) && !allKinds.contains(.storedByDynamic)
        for part in parts {
            for (property, kind) in part.properties {
                add(property, as: kind, of: part.type, isUndecidedStored: isEmpty, to: &draft)
            }
        }
        addPrimaryKey(customizations, to: &draft)
        addIndexes(customizations, to: &draft)
        reportStoredNames(customizations, type)
        return draft
    }

    private mutating func add(
        _ property: PropertyDeclaration, as kind: StorageKind, of type: TypeDeclaration, isUndecidedStored: Bool,
        to draft: inout ObjectDraft
    ) {
        let name = property.name
        switch kind {
        case .stored: addStored(property, of: type, to: &draft)
        case .storedByDynamic:
            findings.warn(
                "'\(name.value)' is 'dynamic' without '@objc', so Realm stored it only up to Swift 3; it is imported "
                    + "as stored", at: name.span)
            addStored(property, of: type, to: &draft)
        case .ignored: addIgnored(property, of: type, to: &draft)
        case .undecided(let protocols, let isTypeKnown):
            reportUndecided(name, protocols, isStored: isUndecidedStored)
            if isUndecidedStored {
                addStored(property, of: type, to: &draft)
            } else if isTypeKnown {
                addIgnored(property, of: type, to: &draft)
            }
        case .renamed(let objcName):
            findings.warn(
                "'\(name.value)' is called '\(objcName)' in Objective-C, so Realm did not find and store it; "
                    + "add it to 'properties' in the schema if it should be stored", at: name.span)
        case .missingAttribute:
            findings.warn(
                "'\(name.value)' has no '@Persisted' in a class that uses it, so Realm did not store it; "
                    + "add it to the schema if it should be stored", at: name.span)
        case .notInObject: reportOverride(property)
        }
    }

    // MARK: Stored properties

    private mutating func addStored(
        _ property: PropertyDeclaration, of type: TypeDeclaration, to draft: inout ObjectDraft
    ) {
        let name = property.name
        guard let written = writtenType(property, of: type) else { return }
        let origin = property.persistence?.originProperty ?? originProperty(of: property)
        let propertyType: PropertyTypeDraft
        switch types.resolve(written, from: type.scope, originProperty: origin) {
        case .failure(let reason):
            findings.warn("'\(name.value)' of type '\(written.text)' is left out: \(reason)", at: name.span)
            return
        case .type(let resolved): propertyType = optional(resolved, name)
        }
        var stored = PropertyDraft(
            swiftName: name.value, name: name.value, type: propertyType, head: property.head, span: name.span)
        stored.defaultValue = defaultValue(of: property, propertyType, from: type.scope)
        report(property)
        if property.persistence?.isPrimaryKey == true { draft.primaryKey = name }
        if property.persistence?.isIndexed == true { addIndex(to: &stored, isEmbedded: draft.isEmbedded) }
        draft.properties.append(stored)
    }

    private mutating func writtenType(
        _ property: PropertyDeclaration, of type: TypeDeclaration
    ) -> TypeExpression? {
        let inferred = property.value.flatMap { inference.type(of: $0, from: type.scope) }
        if let written = property.type ?? inferred { return written }
        findings.warn(
            property.value.map {
                "'\(property.name.value)' is left out: its type cannot be inferred from '\($0.text)'; "
                    + "write the type in Swift, and import again"
            } ?? "'\(property.name.value)' is left out: it is part of a tuple; declare it by itself, and import again",
            at: property.name.span)
        return nil
    }

    /// Returns `owner` for `LinkingObjects(fromType: Dog.self, property: "owner")`.
    private func originProperty(of property: PropertyDeclaration) -> String? {
        guard case .call(_, _, let arguments) = property.value?.form else { return nil }
        return arguments.first { $0.label == "property" }?.value.string
    }

    private mutating func optional(_ type: PropertyTypeDraft, _ name: Spanned<String>) -> PropertyTypeDraft {
        guard type.shape == .single, !type.isOptional, let key = type.typeKey, index.role(of: key) != .enumeration
        else { return type }
        findings.warn(
            "'\(name.value)' becomes '\(names.name(of: key))?': a link is optional, since its target can be deleted",
            at: name.span)
        var type = type
        type.isOptional = true
        return type
    }

    private mutating func defaultValue(
        of property: PropertyDeclaration, _ type: PropertyTypeDraft, from scope: [String]
    ) -> DefaultDraft? {
        guard let value = unboxed(property.value) else {
            return property.persistence == nil ? nil : defaults.implicit(for: type)
        }
        switch defaults.read(value, for: type, from: scope) {
        case .nothing: return nil
        case .value(let draft): return draft
        case .failure(let advice):
            findings.warn(
                "the default '\(value.text)' of '\(property.name.value)' is left out; \(advice)", at: value.span)
            return nil
        }
    }

    /// Returns the argument of `RealmOptional` or `RealmProperty`: 5 for `RealmOptional<Int>(5)`.
    private func unboxed(_ value: ValueExpression?) -> ValueExpression? {
        guard case .call(let path, _, let arguments) = value?.form,
            ["RealmOptional", "RealmProperty"].contains(path.joined())
        else { return value }
        return arguments.first?.value
    }

    private mutating func addIndex(to property: inout PropertyDraft, isEmbedded: Bool) {
        property.isIndexed = !isEmbedded
        guard isEmbedded else { return }
        findings.warn(
            "the index of '\(property.swiftName)' is left out: embedded objects are found through their owners",
            at: property.span)
    }

    private mutating func report(_ property: PropertyDeclaration) {
        let name = property.name
        for label in property.persistence?.unknownLabels ?? [] {
            findings.warn("'\(label)' of '\(name.value)' is left out; a schema does not support it", at: name.span)
        }
        if property.hasObservers {
            findings.warn(
                "'willSet' and 'didSet' of '\(name.value)' are left out; observe the object instead, "
                    + "or write a setter method",
                at: name.span)
        }
        if property.hasPrivateModifier {
            findings.note(
                "the access level of '\(name.value)' is left out: all properties of a generated class are visible",
                at: name.span)
        }
        for attribute in property.head.foreignAttributes {
            findings.warn(
                "'@\(attribute.value)' is left out; replace what it did for '\(name.value)'", at: attribute.span)
        }
    }

    // MARK: Properties that are not stored

    private mutating func addIgnored(
        _ property: PropertyDeclaration, of type: TypeDeclaration, to draft: inout ObjectDraft
    ) {
        let name = property.name
        let written = property.type ?? property.value.flatMap { inference.type(of: $0, from: type.scope) }
        if property.isConstant, property.value != nil {
            findings.note(
                "constant '\(name.value)' stays in Swift; make it a computed property in an extension of "
                    + "'\(draft.name)'", at: name.span)
            return
        }
        guard !property.isWeak, let written, case .type(let resolved) = types.resolve(written, from: type.scope),
            resolved.shape == .single, isValue(resolved), let defaultValue = ignoredDefault(property, resolved, type)
        else {
            findings.warn(
                "'\(name.value)' is not stored and not a plain value; keep it outside the object", at: name.span)
            return
        }
        var ignored = PropertyDraft(
            swiftName: name.value, name: name.value, type: resolved, head: property.head, span: name.span)
        if case .value(let draft) = defaultValue { ignored.defaultValue = draft }
        report(property)
        draft.ignored.append(ignored)
    }

    private func isValue(_ type: PropertyTypeDraft) -> Bool {
        type.typeKey.map { index.role(of: $0) == .enumeration } ?? true
    }

    /// Returns the default of an ignored property; nil if the default is code that a schema cannot contain.
    private func ignoredDefault(
        _ property: PropertyDeclaration, _ resolved: PropertyTypeDraft, _ type: TypeDeclaration
    ) -> DefaultOutcome? {
        guard let value = property.value else { return .nothing }
        let outcome = defaults.read(value, for: resolved, from: type.scope)
        if case .failure = outcome { return nil }
        return outcome
    }

    // MARK: Keys and indexes

    private mutating func addPrimaryKey(_ customizations: [Customization], to draft: inout ObjectDraft) {
        if let override = customizations.first(where: { $0.name.value == "primaryKey" }) {
            if let text = override.value?.string {
                draft.primaryKey = Spanned(text, override.value?.span ?? override.name.span)
            } else if override.value?.isNull != true {
                reportNonLiteral(override)
            }
        }
        guard let primaryKey = draft.primaryKey,
            let position = draft.properties.firstIndex(where: { $0.swiftName == primaryKey.value })
        else { return }
        draft.properties[position].isIndexed = false
        guard draft.properties[position].type.isOptional, draft.properties[position].type.typeKey == nil else { return }
        draft.properties[position].type.isOptional = false
        findings.warn(
            "the primary key '\(primaryKey.value)' is no longer optional: each object has one; "
                + "set it for objects that have none", at: draft.properties[position].span)
    }

    private mutating func addIndexes(_ customizations: [Customization], to draft: inout ObjectDraft) {
        for name in namesListed(by: "indexedProperties", in: customizations) where name.value != draft.primaryKey?.value
        {
            guard let position = draft.properties.firstIndex(where: { $0.swiftName == name.value }) else {
                findings.warn(
                    "the index of '\(name.value)' is left out: there is no such stored property", at: name.span)
                continue
            }
            addIndex(to: &draft.properties[position], isEmbedded: draft.isEmbedded)
        }
    }

    /// Returns the names that a method such as `indexedProperties()` returns.
    private mutating func namesListed(by method: String, in customizations: [Customization]) -> [Spanned<String>] {
        guard let override = customizations.first(where: { $0.name.value == method }) else { return [] }
        guard case .array(let items) = override.value?.form, override.value?.strings != nil else {
            reportNonLiteral(override)
            return []
        }
        return items.compactMap { item in item.string.map { Spanned($0, item.span) } }
    }
}
