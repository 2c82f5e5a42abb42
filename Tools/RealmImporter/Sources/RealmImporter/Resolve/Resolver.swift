import MartletSchema

/// Converts the declarations of all Swift files to a draft of the schema.
struct Resolver {
    let files: [FileDeclarations]
    let index: TypeIndex
    let types: TypeResolver
    let inference: TypeInference
    let defaults: DefaultReader
    let names: TypeNames
    var findings = FindingList()
    /// Maps each base class that is omitted, because it needs no table, to the names of its subclasses.
    var omittedBases: [String: [String]] = [:]

    static func resolve(_ files: [FileDeclarations]) -> (draft: SchemaDraft, findings: [Finding]) {
        var resolver = Resolver(files)
        let draft = resolver.resolve()
        return (draft, resolver.findings.findings)
    }

    private init(_ files: [FileDeclarations]) {
        self.files = files
        index = TypeIndex(files)
        types = TypeResolver(index: index)
        inference = TypeInference(index: index)
        defaults = DefaultReader(index: index)
        names = TypeNames(files: files, index: index)
    }

    private mutating func resolve() -> SchemaDraft {
        var draft = SchemaDraft()
        for file in files {
            var fileDraft = FileDraft(source: file.source)
            for type in file.types where isFirst(type) { add(type, to: &fileDraft) }
            draft.files.append(fileDraft)
        }
        omitUnusedBases(from: &draft)
        reportLocalClasses()
        for type in files.flatMap(\.types) where isFirst(type) { reportUnsupported(type) }
        for type in index.repeated where index.role(of: type.name.value) != .other {
            findings.warn(
                "'\(type.name.value)' is declared a second time, and this one is left out; rename one of them",
                at: type.name.span)
        }
        return draft
    }

    private func isFirst(_ type: TypeDeclaration) -> Bool {
        type.kind != .extensionOf && index.entries[type.name.value]?.declaration.name.span == type.name.span
    }

    private mutating func add(_ type: TypeDeclaration, to file: inout FileDraft) {
        let key = type.name.value
        let role = index.role(of: key)
        guard role != .other, !type.isGeneric else {
            reportLeftOut(type, role)
            return
        }
        switch role {
        case .object: file.objects.append(object(type, isEmbedded: false))
        case .embedded: file.objects.append(object(type, isEmbedded: true))
        case .projection(let root): if let draft = projection(type, of: root) { file.projections.append(draft) }
        case .enumeration: if let draft = enumeration(type) { file.enums.append(draft) }
        case .asymmetric:
            findings.warn(
                "'\(key)' is an AsymmetricObject, which is only ever sent to a server, and is left out; "
                    + "make it an Object to store it here", at: type.name.span)
        case .custom, .other: break
        }
    }

    private mutating func reportLeftOut(_ type: TypeDeclaration, _ role: TypeRole) {
        let key = type.name.value
        if role != .other {
            findings.warn(
                "the generic class '\(key)' is left out; write a class for each of its types", at: type.name.span)
        } else if type.kind == .classType, looksLikeModel(type) {
            let base = unresolvedBase(of: key)
            guard base != nil || type.properties.contains(where: { $0.persistence != nil }) else { return }
            let reason =
                switch base {
                case nil: "it inherits from no class of Realm; make it an Object or EmbeddedObject, and import again"
                case .generic(let name, _): "its base class '\(name)' is generic; write out what it inherits"
                case .name(let name) where name.hasPrefix("RLM"):
                    "'\(name)' belongs to Realm for Objective-C; make it an Object or EmbeddedObject, and import again"
                case let base?:
                    "its base class '\(base.text)' is in none of these files; add the file that declares it"
                }
            findings.warn("'\(key)' is left out: \(reason)", at: type.name.span)
        }
    }

    /// Returns whether a class looks like a Realm class, although it has no known base class of Realm.
    private func looksLikeModel(_ type: TypeDeclaration) -> Bool {
        let overrides: Set<String> = ["primaryKey", "indexedProperties", "ignoredProperties"]
        if type.customizations.contains(where: { overrides.contains($0.name.value) }) { return true }
        return type.properties.contains { property in
            let isObjc = property.isObjc || type.hasObjcMembers
            let isDynamic = isObjc && property.isDynamic && !property.isComputed && !property.isOverride
            return property.persistence != nil || !property.isStatic && (isDynamic || isBoxed(property, of: type))
        }
    }

    /// Returns the base class at which the chain of superclasses ends, because no file declares it, or because it is
    /// generic. Returns nil if there is no such class, or if it is a system class.
    private func unresolvedBase(of key: String) -> TypeExpression? {
        guard let root = index.superclassChain(of: key).first, let type = index.entries[root]?.declaration else {
            return nil
        }
        let bases = type.inherited.flatMap { index.parts(of: $0.value, from: type.scope) }
        for (base, scope) in bases {
            guard let head = base.head else { continue }
            if let found = index.find(head, scope) {
                guard index.entries[found]?.declaration.kind == .classType else { continue }
                return base
            }
            let system = ["NS", "UI", "CA", "CL", "MK", "AV", "SK", "SCN", "WK", "XC"]
            let isOfSystem = system.contains {
                head.hasPrefix($0) && head.dropFirst($0.count).first?.isUppercase == true
            }
            return isOfSystem ? nil : base
        }
        return nil
    }

    private mutating func reportLocalClasses() {
        for local in files.flatMap(\.localClasses) {
            let bases = local.inherited.flatMap { index.parts(of: $0, from: []) }
            guard bases.contains(where: { index.baseRole(of: $0.type, from: $0.scope, depth: 0) != .other }) else {
                continue
            }
            findings.warn(
                "'\(local.name.value)' is left out: it is declared in a function; move it out, and import again",
                at: local.name.span)
        }
    }

    // MARK: Base classes

    /// Omits the base classes that only subclasses use. Such a class needs no table.
    private mutating func omitUnusedBases(from draft: inout SchemaDraft) {
        var bases: [String: [String]] = [:]
        for object in draft.files.flatMap(\.objects) {
            if let base = index.superclass(of: object.key) { bases[base, default: []].append(object.name) }
        }
        let used = Set(files.flatMap(\.usedNames))
        for position in draft.files.indices {
            let objects = draft.files[position].objects
            draft.files[position].objects = objects.filter { object in
                guard let subclasses = bases[object.key] else { return true }
                let isUsed = used.contains(object.key) || isNamed(object.key, in: draft)
                if !isUsed { omittedBases[object.key] = subclasses }
                let properties = "a schema has no inheritance, so the properties of '\(object.key)' are repeated in "
                let list = subclasses.map { "'\($0)'" }.joined(separator: ", ")
                findings.warn(
                    isUsed
                        ? properties + "\(list); write a protocol for code that accepts all of them"
                        : properties + "\(list), and it has no table itself; write a protocol for code that accepts "
                            + "all of them", at: object.span)
                return isUsed
            }
        }
    }

    private func isNamed(_ key: String, in draft: SchemaDraft) -> Bool {
        draft.files.contains { file in
            file.projections.contains { $0.root == key }
                || file.objects.contains { object in
                    object.key != key && object.properties.contains { $0.type.typeKey == key }
                }
        }
    }
}
