import MartletSchema

/// The role of a type in Realm.
enum TypeRole: Equatable {
    case object
    case embedded
    /// An `AsymmetricObject`. Realm only sends it to a server and never reads it, so a local database does not need it.
    case asymmetric
    case projection(root: TypeExpression)
    case enumeration
    /// A `CustomPersistable`, which Realm stores as another type. `persisted` is nil if no declaration names that type.
    case custom(persisted: String?)
    case other
}

/// The types of all files, by their qualified names.
struct TypeIndex {
    struct Entry {
        let declaration: TypeDeclaration
        var extensions: [TypeDeclaration] = []

        /// The declaration and its extensions.
        var parts: [TypeDeclaration] { [declaration] + extensions }
        var inherited: [(type: TypeExpression, scope: [String])] {
            parts.flatMap { part in part.inherited.map { ($0.value, part.scope) } }
        }
    }

    private(set) var entries: [String: Entry] = [:]
    private var aliases: [String: AliasDeclaration] = [:]
    /// The declarations whose name an earlier declaration already has.
    private(set) var repeated: [TypeDeclaration] = []
    private static let maximumDepth = 16

    init(_ files: [FileDeclarations]) {
        for file in files {
            for alias in file.aliases where aliases[alias.name.value] == nil { aliases[alias.name.value] = alias }
            for type in file.types where type.kind != .extensionOf {
                if entries[type.name.value] == nil {
                    entries[type.name.value] = Entry(declaration: type)
                } else {
                    repeated.append(type)
                }
            }
        }
        for type in files.flatMap(\.types) where type.kind == .extensionOf {
            guard case .name(let written) = expand(.name(type.name.value), from: []).type, let key = find(written, [])
            else { continue }
            entries[key]?.extensions.append(type)
        }
    }

    /// Returns the qualified name of a type. The search begins in the innermost scope and continues outwards.
    func find(_ name: String, _ scope: [String]) -> String? {
        candidates(name, scope).first { entries[$0] != nil }
    }

    /// Returns the qualified names that `name` can mean, from the innermost scope outwards. If the first component is
    /// not a known type, the last candidate omits it, because `App` in `App.Dog` may be a module.
    private func candidates(_ name: String, _ scope: [String]) -> [String] {
        let scoped = (0...scope.count).reversed().map { (scope.prefix($0) + [name]).joined(separator: ".") }
        guard let dot = name.firstIndex(of: "."), entries[String(name[..<dot])] == nil, name.withoutModule == name
        else { return scoped }
        return scoped + [String(name[name.index(after: dot)...])]
    }

    /// Resolves type aliases. Returns the type and the scope in which its names are looked up.
    func expand(_ type: TypeExpression, from scope: [String]) -> (type: TypeExpression, scope: [String]) {
        var (type, scope) = (type, scope)
        for _ in 0..<Self.maximumDepth {
            let written: (name: String, arguments: [TypeExpression])
            switch type {
            case .name(let name): written = (name, [])
            case .generic(let name, let arguments): written = (name, arguments)
            default: return (type, scope)
            }
            guard
                let found = candidates(written.name, scope).first(where: { entries[$0] != nil || aliases[$0] != nil }),
                entries[found] == nil, let alias = aliases[found], alias.parameters.count == written.arguments.count
            else { break }
            let arguments = zip(alias.parameters, written.arguments.map { expand($0, from: scope).type })
            type = alias.target.replacing(Dictionary(arguments) { first, _ in first })
            scope = found.split(separator: ".").dropLast().map(String.init)
        }
        return (type, scope)
    }

    /// Returns `A` and `B` for `A & B`, and any other type itself. Type aliases are resolved.
    func parts(
        of type: TypeExpression, from scope: [String], depth: Int = 0
    ) -> [(type: TypeExpression, scope: [String])] {
        let (type, scope) = expand(type, from: scope)
        guard case .composition(let members) = type else { return [(type, scope)] }
        guard depth < Self.maximumDepth else { return [] }
        return members.flatMap { parts(of: $0, from: scope, depth: depth + 1) }
    }

    /// Returns the superclass and the protocols that a type, or one of its extensions, declares.
    func bases(of key: String) -> [(type: TypeExpression, scope: [String])] {
        (entries[key]?.inherited ?? []).flatMap { parts(of: $0.type, from: $0.scope) }
    }

    // MARK: Roles

    func role(of key: String, depth: Int = 0) -> TypeRole {
        guard let entry = entries[key], depth < Self.maximumDepth else { return .other }
        if entry.declaration.kind == .classType {
            for base in bases(of: key) {
                let role = baseRole(of: base.type, from: base.scope, depth: depth)
                if role != .other { return role }
            }
        }
        let protocols = conformances(of: key)
        if !protocols.isDisjoint(with: ["CustomPersistable", "FailableCustomPersistable"]) {
            return .custom(persisted: persistedType(of: entry))
        }
        let isStorable = !protocols.isDisjoint(with: ["PersistableEnum", "RealmEnum"])
        return entry.declaration.kind == .enumeration && isStorable ? .enumeration : .other
    }

    func baseRole(of type: TypeExpression, from scope: [String], depth: Int) -> TypeRole {
        if case .name(let name) = type, let key = find(name, scope) {
            return entries[key]?.declaration.kind == .classType ? role(of: key, depth: depth + 1) : .other
        }
        switch type.head {
        case "Object", "RealmSwiftObject": return .object
        case "EmbeddedObject", "RealmSwiftEmbeddedObject": return .embedded
        case "AsymmetricObject", "RealmSwiftAsymmetricObject": return .asymmetric
        case "Projection":
            if case .generic(_, let arguments) = type, arguments.count == 1 { return .projection(root: arguments[0]) }
            return .other
        default: return .other
        }
    }

    /// Returns the superclass; nil if no file declares it.
    func superclass(of key: String) -> String? {
        guard let entry = entries[key], entry.declaration.kind == .classType else { return nil }
        let scope = entry.declaration.scope
        for (type, scope) in entry.declaration.inherited.flatMap({ parts(of: $0.value, from: scope) }) {
            guard case .name(let name) = type, let found = find(name, scope) else { continue }
            if found != key, entries[found]?.declaration.kind == .classType { return found }
        }
        return nil
    }

    /// Returns the class and its superclasses. The class itself comes last, after its superclass.
    func superclassChain(of key: String) -> [String] {
        var superclassChain = [key]
        while let base = superclass(of: superclassChain[0]), superclassChain.count < Self.maximumDepth,
            !superclassChain.contains(base)
        {
            superclassChain.insert(base, at: 0)
        }
        return superclassChain
    }

    /// Returns the names of the protocols and classes that a type inherits, including the protocols that those refine.
    func conformances(of key: String) -> Set<String> {
        var names: Set<String> = []
        var pending = [key]
        while let next = pending.popLast() {
            for (type, scope) in bases(of: next) {
                guard let head = type.head, names.insert(head).inserted else { continue }
                if let found = find(head, scope), entries[found]?.declaration.kind == .protocolType {
                    pending.append(found)
                }
            }
        }
        return names
    }

    private func persistedType(of entry: Entry) -> String? {
        let aliases = entry.parts.flatMap(\.aliases)
        return aliases.first { $0.name.value.hasSuffix(".PersistedType") }?.target.text
    }
}
