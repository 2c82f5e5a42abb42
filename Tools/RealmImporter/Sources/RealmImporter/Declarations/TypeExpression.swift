import MartletSchema

/// A type as a Swift file writes it.
indirect enum TypeExpression: Hashable, Sendable {
    /// `Dog`, `Dog.Size`.
    case name(String)
    /// `List<Dog>`: the generic type and its arguments.
    case generic(String, [TypeExpression])
    /// `Dog?`, `Dog!`, `Optional<Dog>`.
    case optional(TypeExpression)
    /// `[Dog]`.
    case array(TypeExpression)
    /// `Object & Codable`.
    case composition([TypeExpression])
    /// Closures, tuples, `any P` and other types that a schema cannot contain.
    case other(String)

    /// The type in Swift syntax.
    var text: String {
        switch self {
        case .name(let name), .other(let name): name
        case .generic(let name, let arguments): "\(name)<\(arguments.map(\.text).joined(separator: ", "))>"
        case .optional(let type): "\(type.text)?"
        case .array(let type): "[\(type.text)]"
        case .composition(let types): types.map(\.text).joined(separator: " & ")
        }
    }

    /// The name of a type or of a generic type, without the prefix of a known module. Nil for the other cases.
    var head: String? {
        switch self {
        case .name(let name), .generic(let name, _): name.withoutModule
        default: nil
        }
    }
}

extension TypeExpression {
    /// Returns the type with the parameters of a generic alias replaced by its arguments.
    func replacing(_ parameters: [String: TypeExpression]) -> TypeExpression {
        switch self {
        case .name(let name): parameters[name] ?? self
        case .generic(let name, let arguments): .generic(name, arguments.map { $0.replacing(parameters) })
        case .optional(let type): .optional(type.replacing(parameters))
        case .array(let type): .array(type.replacing(parameters))
        case .composition(let types): .composition(types.map { $0.replacing(parameters) })
        case .other: self
        }
    }
}

extension String {
    private static let modules = ["RealmSwift.", "Swift.", "Foundation.", "Realm."]

    /// The name without the prefix of a known module: `List` for `RealmSwift.List`.
    var withoutModule: String {
        for module in Self.modules where hasPrefix(module) { return String(dropFirst(module.count)) }
        return self
    }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// `dog` for `Dog`, `url` for `URL`, `urlRequest` for `URLRequest`.
    var lowercasedFirst: String {
        let capitals = prefix { $0.isUppercase }
        guard capitals.count > 1, capitals.count < count else {
            return capitals.lowercased() + dropFirst(capitals.count)
        }
        return capitals.dropLast().lowercased() + dropFirst(capitals.count - 1)
    }
}
