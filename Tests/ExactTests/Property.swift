/// A property of a class in the model.
struct Property: Sendable {
    enum Kind: Sendable {
        case single
        case many(isMap: Bool)
        /// Linking objects: the name and the class of the property that contains the links.
        case inverse(String, of: String)
    }

    let name: String
    let kind: Kind
    var target: String?
    var isEmbedded = false
    /// Whether the property contains `AnyRealmValue` values.
    var isAny = false
    var isSet = false
    /// The rule for the object with this property when a target is deleted.
    var onDelete = Rule.nullify
    /// The rule for the targets when the object with this property is deleted.
    var deleteRule = Rule.nullify
    var initial = ModelState.Value.none

    enum Rule: String, Sendable { case nullify, cascade, deny }
}

/// The properties of all classes.
struct Classes: Sendable {
    private let all: [String: [Property]]
    private let byName: [String: [String: Property]]
    /// Whether any property has a rule for deletions.
    let hasRules: Bool

    init(_ all: [String: [Property]]) {
        self.all = all
        byName = all.mapValues { properties in
            Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0) })
        }
        hasRules = all.values.joined().contains { $0.onDelete != .nullify || $0.deleteRule != .nullify }
    }

    func of(_ type: String) -> [Property] { all[type] ?? [] }

    func named(_ name: String, of type: String) -> Property? { byName[type]?[name] }

    /// The name of the property of `target` that is the inverse of the property `name` of `type`.
    func inverse(of name: String, _ type: String, in target: String) -> String? {
        of(target).first { if case .inverse(name, type) = $0.kind { true } else { false } }?.name
    }

    /// The generated classes of the conformance schema.
    static let generated = Classes([
        "Node": [
            Property(name: "id", kind: .single), Property(name: "name", kind: .single),
            Property(name: "amount", kind: .single), Property(name: "next", kind: .single, target: "Node"),
            Property(name: "children", kind: .many(isMap: false), target: "Node"),
            Property(name: "peers", kind: .many(isMap: false), target: "Node"),
            Property(name: "named", kind: .many(isMap: true), target: "Node"),
            Property(name: "previous", kind: .inverse("next", of: "Node"), target: "Node"),
            Property(name: "parents", kind: .inverse("children", of: "Node"), target: "Node"),
            Property(name: "peersOf", kind: .inverse("peers", of: "Node"), target: "Node"),
            Property(name: "namedBy", kind: .inverse("named", of: "Node"), target: "Node"),
            Property(name: "part", kind: .single, target: "Part", isEmbedded: true),
            Property(name: "parts", kind: .many(isMap: false), target: "Part", isEmbedded: true),
            Property(name: "partsByName", kind: .many(isMap: true), target: "Part", isEmbedded: true),
        ],
        "Part": [
            Property(name: "name", kind: .single), Property(name: "weight", kind: .single),
            Property(name: "node", kind: .single, target: "Node"),
        ],
        "ScalarLists": [
            Property(name: "ints", kind: .many(isMap: false)),
            Property(name: "nodes", kind: .many(isMap: false), target: "Node"),
            Property(name: "anyValues", kind: .many(isMap: false), isAny: true),
        ],
        "ScalarSets": [
            Property(name: "strings", kind: .many(isMap: false)),
            Property(name: "anyValues", kind: .many(isMap: false), isAny: true, isSet: true),
        ],
        "ScalarMaps": [
            Property(name: "doubles", kind: .many(isMap: true)),
            Property(name: "anyValues", kind: .many(isMap: true), isAny: true),
        ],
        "EnumHolder": [Property(name: "id", kind: .single), Property(name: "state", kind: .single)],
        "Scalars": [
            Property(name: "id", kind: .single), Property(name: "int", kind: .single, initial: .number(0)),
            Property(name: "float", kind: .single), Property(name: "date", kind: .single),
            Property(name: "decimal128", kind: .single, initial: .number(0)),
            Property(name: "anyValue", kind: .single, isAny: true),
        ],
    ])
}
