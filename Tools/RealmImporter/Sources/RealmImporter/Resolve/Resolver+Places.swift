import MartletSchema

/// Where a variable of a Realm class goes.
enum StoragePlace: Equatable {
    case stored
    /// `dynamic` alone, which Swift 3 showed to Objective-C.
    case storedByDynamic
    case ignored
    /// Stored if one of these protocols, which are in none of the files, is an `@objc` one that requires it.
    case undecided([String], isValue: Bool)
    /// `@objc(name)` hides it from Realm, which looks for the name in Swift.
    case renamed(String)
    /// A modern class stores what has `@Persisted`.
    case forgotten
    case code
}

extension Resolver {
    /// What the overrides of a class say about its variables.
    struct StorageContext {
        /// `ignoredProperties()`.
        let ignored: Set<String>
        /// `primaryKey()`. Realm refuses a class that does not store it.
        let primaryKey: String?
    }

    /// Realm looks at the attributes of each class by itself.
    func places(
        of type: TypeDeclaration, in context: StorageContext
    ) -> [(property: PropertyDeclaration, place: StoragePlace)] {
        let isModern = type.properties.contains { $0.persistence != nil }
        return type.properties.map { property in
            if property.isStatic || property.isComputed || property.isOverride { return (property, .code) }
            if property.persistence != nil { return (property, .stored) }
            if isModern {
                let isMeant = holdsItself(property, of: type) || property.isDynamic && !property.isConstant
                return (property, isMeant ? .forgotten : .ignored)
            }
            return (property, legacyPlace(of: property, in: type, context))
        }
    }

    private func legacyPlace(
        of property: PropertyDeclaration, in type: TypeDeclaration, _ context: StorageContext
    ) -> StoragePlace {
        let name = property.name.value
        if context.ignored.contains(name) || property.isLazy { return .ignored }
        if holdsItself(property, of: type) { return .stored }
        if property.isConstant { return .ignored }
        if let objcName = property.objcName, objcName != name { return .renamed(objcName) }
        if property.isObjc || context.primaryKey == name { return .stored }
        if let place = inferredPlace(of: property, in: type) { return place }
        return property.isDynamic ? .storedByDynamic : .ignored
    }

    /// The place of a variable that is `@objc` by inference; nil where it is not.
    private func inferredPlace(of property: PropertyDeclaration, in type: TypeDeclaration) -> StoragePlace? {
        guard !property.isNonobjc else { return nil }
        let key = type.name.value
        let requirements = index.objcRequirements(of: key)
        if requirements.names.contains(property.name.value) { return .stored }
        guard !property.isHidden else { return nil }
        let visibility = objcVisibility(of: property, in: type)
        if index.hasObjcMembers(key), visibility != .impossible { return .stored }
        guard !requirements.unknown.isEmpty, visibility != .impossible else { return nil }
        return .undecided(requirements.unknown, isValue: visibility == .possible)
    }

    private enum ObjcVisibility {
        case possible
        case impossible
        /// The type is in none of the files.
        case unknown
    }

    /// Whether Objective-C has the type of a variable, and Realm could store it.
    private func objcVisibility(of property: PropertyDeclaration, in type: TypeDeclaration) -> ObjcVisibility {
        let inferred = property.value.flatMap { inference.type(of: $0, from: type.scope) }
        guard let written = property.type ?? inferred else { return .impossible }
        guard case .type(let resolved) = types.resolve(written, from: type.scope) else {
            return types.isUnknown(written, from: type.scope) ? .unknown : .impossible
        }
        guard resolved.shape == .single else { return .impossible }
        switch resolved.value {
        case .type(let key):
            guard index.role(of: key) == .enumeration else { return .possible }
            let isObjc = index.entries[key]?.declaration.isObjc == true
            return isObjc && !resolved.isOptional ? .possible : .impossible
        case .scalar("AnyRealmValue"): return .impossible
        case .scalar("Bool"), .scalar("Int"), .scalar("Int8"), .scalar("Int16"), .scalar("Int32"), .scalar("Int64"),
            .scalar("Float"), .scalar("Double"):
            return resolved.isOptional ? .impossible : .possible
        case .scalar: return .possible
        }
    }

    /// Collections and boxes of Realm are stored without an attribute.
    func holdsItself(_ property: PropertyDeclaration, of type: TypeDeclaration) -> Bool {
        let boxes: Set<String> = ["List", "MutableSet", "Map", "LinkingObjects", "RealmOptional", "RealmProperty"]
        let written = property.type ?? property.value.flatMap { inference.type(of: $0, from: type.scope) }
        guard let written, case .generic(let name, _) = index.expand(written, from: type.scope).type else {
            return false
        }
        return boxes.contains(name.withoutModule)
    }

    // MARK: Findings

    mutating func reportUndecided(_ name: Spanned<String>, _ protocols: [String], isStored: Bool) {
        let list = protocols.map { "'\($0)'" }.joined(separator: " or ")
        let files = protocols.count == 1 ? "the file that declares it" : "the files that declare them"
        findings.warn(
            "Realm stores '\(name.value)' only if \(list) is an '@objc' protocol that requires it, which none of these "
                + "files says; it is taken as \(isStored ? "stored" : "not stored"), so name \(files) too, or "
                + (isStored ? "remove it from the schema" : "add it to 'properties' in the schema"), at: name.span)
    }

    mutating func reportOverride(_ property: PropertyDeclaration) {
        guard property.isOverride, property.hasObservers else { return }
        findings.warn(
            "the observers of '\(property.name.value)' are left out; observe the object instead, or set in a method",
            at: property.name.span)
    }
}
