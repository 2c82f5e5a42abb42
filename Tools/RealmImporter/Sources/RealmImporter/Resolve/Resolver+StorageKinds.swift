import MartletSchema

/// How Realm treats a variable of a class.
enum StorageKind: Equatable {
    case stored
    /// Declared `dynamic` without `@objc`. In Swift 3, `dynamic` alone exposed a variable to Objective-C.
    case storedByDynamic
    case ignored
    /// No file declares these protocols. Realm stores the variable if one of them is an `@objc` protocol that requires
    /// the variable.
    /// `isTypeKnown` is false if no file declares the type of the variable.
    case undecided([String], isTypeKnown: Bool)
    /// `@objc(name)` hides the variable from Realm, which searches for the Swift name.
    case renamed(String)
    /// Declared without `@Persisted` in a class that uses `@Persisted` elsewhere, so Realm does not store the variable.
    case missingAttribute
    /// A static or computed property, which Realm does not store, or an override of a superclass's property.
    case notInObject
}

extension Resolver {
    /// The overrides of a class that affect how its variables are stored.
    struct StorageContext {
        /// The names that `ignoredProperties()` returns.
        let ignored: Set<String>
        /// The name that `primaryKey()` returns. Realm rejects a class that does not store this property.
        let primaryKey: String?
    }

    /// Returns how Realm treats each variable that the class itself declares. Like Realm, this method considers the
    /// attributes of each class separately, without those of its superclasses.
    func storageKinds(
        of type: TypeDeclaration, in context: StorageContext
    ) -> [(property: PropertyDeclaration, kind: StorageKind)] {
        let isModern = type.properties.contains { $0.persistence != nil }
        return type.properties.map { property in
            if property.isStatic || property.isComputed || property.isOverride { return (property, .notInObject) }
            if property.persistence != nil { return (property, .stored) }
            if isModern {
                let isPersistable = isBoxed(property, of: type) || property.isDynamic && !property.isConstant
                return (property, isPersistable ? .missingAttribute : .ignored)
            }
            return (property, legacyKind(of: property, in: type, context))
        }
    }

    private func legacyKind(
        of property: PropertyDeclaration, in type: TypeDeclaration, _ context: StorageContext
    ) -> StorageKind {
        let name = property.name.value
        if context.ignored.contains(name) || property.isLazy { return .ignored }
        if isBoxed(property, of: type) { return .stored }
        if property.isConstant { return .ignored }
        if let objcName = property.objcName, objcName != name { return .renamed(objcName) }
        if property.isObjc || context.primaryKey == name { return .stored }
        if let kind = inferredKind(of: property, in: type) { return kind }
        return property.isDynamic ? .storedByDynamic : .ignored
    }

    /// Returns how Realm treats a variable that is implicitly `@objc`; nil if the variable is not implicitly `@objc`.
    private func inferredKind(of property: PropertyDeclaration, in type: TypeDeclaration) -> StorageKind? {
        guard !property.isNonobjc else { return nil }
        let key = type.name.value
        let requirements = index.objcRequirements(of: key)
        if requirements.names.contains(property.name.value) { return .stored }
        guard !property.isFullyPrivate else { return nil }
        let visibility = objcVisibility(of: property, in: type)
        if index.hasObjcMembers(key), visibility != .impossible { return .stored }
        guard !requirements.unknown.isEmpty, visibility != .impossible else { return nil }
        return .undecided(requirements.unknown, isTypeKnown: visibility == .possible)
    }

    private enum ObjcVisibility {
        case possible
        case impossible
        /// No file declares the type.
        case unknown
    }

    /// Returns whether the type of a variable exists in Objective-C and Realm can store it.
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

    /// Returns whether the type is a collection, `RealmOptional` or `RealmProperty`. Realm stores a variable of such a
    /// type without an attribute.
    func isBoxed(_ property: PropertyDeclaration, of type: TypeDeclaration) -> Bool {
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
        let files =
            protocols.count == 1 ? "the file that declares the protocol" : "the files that declare the protocols"
        findings.warn(
            "Realm stores '\(name.value)' only if \(list), which is not in these files, is an '@objc' protocol that "
                + "requires it; the property is imported as \(isStored ? "stored" : "not stored"), so add \(files), or "
                + (isStored ? "remove the property from the schema" : "add the property to 'properties' in the schema"),
            at: name.span)
    }

    mutating func reportOverride(_ property: PropertyDeclaration) {
        guard property.isOverride, property.hasObservers else { return }
        findings.warn(
            "'willSet' and 'didSet' of '\(property.name.value)' are left out; observe the object instead, "
                + "or write a setter method",
            at: property.name.span)
    }
}
