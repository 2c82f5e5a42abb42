import MartletSchema

/// Turns what the files declare into the schema to be.
struct Resolver {
    let files: [FileDeclarations]
    let index: TypeIndex
    let types: TypeResolver
    let inference: TypeInference
    let defaults: DefaultReader
    let names: TypeNames
    var findings = FindingList()
    /// Classes that others inherit from and that have no table, with these others.
    var mereBases: [String: [String]] = [:]

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
        dropMereBases(from: &draft)
        for type in files.flatMap(\.types) where isFirst(type) { reportAround(type) }
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
                "the generic class '\(key)' is left out; write a class for each type it stands for", at: type.name.span)
        } else if type.properties.contains(where: { $0.persistence != nil }) {
            let base = type.inherited.first.map { "its base class '\($0.value.text)'" } ?? "its base class"
            findings.warn(
                "'\(key)' is left out: \(base) is in none of these files; name the file that declares it, too",
                at: type.name.span)
        }
    }

    // MARK: Base classes

    /// A class that others inherit from, and that nothing else speaks of, needs no table of its own.
    private mutating func dropMereBases(from draft: inout SchemaDraft) {
        var bases: [String: [String]] = [:]
        for object in draft.files.flatMap(\.objects) {
            if let base = index.superclass(of: object.key) { bases[base, default: []].append(object.name) }
        }
        let used = Set(files.flatMap(\.usedNames))
        for position in draft.files.indices {
            let objects = draft.files[position].objects
            draft.files[position].objects = objects.filter { object in
                guard let heirs = bases[object.key] else { return true }
                let isUsed = used.contains(object.key) || isNamed(object.key, in: draft)
                if !isUsed { mereBases[object.key] = heirs }
                let properties = "no class of a schema inherits, so the properties of '\(object.key)' are repeated in "
                let list = heirs.map { "'\($0)'" }.joined(separator: ", ")
                findings.warn(
                    isUsed
                        ? properties + "\(list); write a protocol where code takes all of them"
                        : properties + "\(list), and it has no table itself; write a protocol where code takes all "
                            + "of them", at: object.span)
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
