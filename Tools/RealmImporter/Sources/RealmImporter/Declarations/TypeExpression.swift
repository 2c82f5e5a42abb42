import MartletSchema

/// A type as the Swift file names it.
indirect enum TypeExpression: Hashable, Sendable {
    /// `Dog`, `Dog.Size`.
    case name(String)
    /// `List<Dog>`, with the name in front of the brackets.
    case generic(String, [TypeExpression])
    /// `Dog?`, `Dog!`, `Optional<Dog>`.
    case optional(TypeExpression)
    /// `[Dog]`.
    case array(TypeExpression)
    /// `Object & Codable`.
    case composition([TypeExpression])
    /// Closures, tuples, `any P` and the rest: nothing that a schema could hold.
    case other(String)

    /// As it would be written.
    var text: String {
        switch self {
        case .name(let name), .other(let name): name
        case .generic(let name, let arguments): "\(name)<\(arguments.map(\.text).joined(separator: ", "))>"
        case .optional(let type): "\(type.text)?"
        case .array(let type): "[\(type.text)]"
        case .composition(let types): types.map(\.text).joined(separator: " & ")
        }
    }

    /// The name in front, without the modules that Realm's and Swift's own types come from.
    var head: String? {
        switch self {
        case .name(let name), .generic(let name, _): name.withoutModule
        default: nil
        }
    }
}

extension TypeExpression {
    /// With the arguments of a generic alias in the place of its parameters.
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

    /// `List` of `RealmSwift.List`.
    var withoutModule: String {
        for module in Self.modules where hasPrefix(module) { return String(dropFirst(module.count)) }
        return self
    }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// `dog` of `Dog`, `url` of `URL`, `urlRequest` of `URLRequest`.
    var lowercasedFirst: String {
        let capitals = prefix { $0.isUppercase }
        guard capitals.count > 1, capitals.count < count else {
            return capitals.lowercased() + dropFirst(capitals.count)
        }
        return capitals.dropLast().lowercased() + dropFirst(capitals.count - 1)
    }
}
