import MartletSchema

/// The names of types in the schema. Types of a schema cannot be nested, so a nested type gets a name without dots.
struct TypeNames {
    private var names: [String: String] = [:]

    init(files: [FileDeclarations], index: TypeIndex) {
        let models = files.flatMap(\.types).filter { type in
            type.kind != .extensionOf && Self.isModel(index.role(of: type.name.value))
        }
        var counts: [String: Int] = [:]
        for model in models { counts[model.lastName.lowercased(), default: 0] += 1 }
        for model in models {
            let outer = model.scope.dropLast().joined(separator: ".")
            let isUnique = counts[model.lastName.lowercased()] == 1
            if outer.isEmpty || isUnique && !Self.isModel(index.role(of: outer)) {
                names[model.name.value] = model.lastName
            } else {
                names[model.name.value] =
                    Self.isModel(index.role(of: outer))
                    ? (names[outer] ?? outer.filter { $0 != "." }) + model.lastName : model.scope.joined()
            }
        }
    }

    func name(of key: String) -> String { names[key] ?? key.filter { $0 != "." } }

    /// Returns whether types with this role are part of the schema.
    static func isModel(_ role: TypeRole) -> Bool {
        switch role {
        case .object, .embedded, .enumeration, .projection: true
        case .asymmetric, .custom, .other: false
        }
    }
}
