import MartletSchema

/// Writes the types of a schema as Swift types, qualified by their modules, and by the namespace if there is one.
struct SwiftTypes {
    /// The enum that contains the generated types; nil if they are declared at the top level of the module.
    let namespace: String?

    /// The qualified name of a declared type: `Dog`, or `Kennel.Dog`.
    ///
    /// The name is qualified even inside the namespace, because name lookup in an extension of a nested type does not
    /// include the enclosing type.
    func declared(_ name: String) -> String {
        let prefix = namespace.map { SwiftNames.escaped($0) + "." } ?? ""
        return prefix + SwiftNames.escaped(name)
    }

    /// The type of one value, without the question mark of an optional.
    func name(of value: ValueTypeModel) -> String {
        switch value {
        case .scalar(let kind): name(of: kind)
        case .enumeration(let name, _), .link(let name), .embedded(let name): declared(name)
        }
    }

    /// The type of one value or element: `Swift.Int?`.
    func element(of type: PropertyTypeModel) -> String {
        name(of: type.value) + (type.isOptional ? "?" : "")
    }

    /// The public type of a property: `Martlet.List<Dog>`.
    func property(_ type: PropertyTypeModel) -> String {
        switch type.kind {
        case .single: element(of: type)
        case .list: "Martlet.List<\(element(of: type))>"
        case .set: "Martlet.MutableSet<\(element(of: type))>"
        case .map: "Martlet.Map<\(element(of: type))>"
        case .linkingObjects: "Martlet.LinkingObjects<\(name(of: type.value))>"
        }
    }

    /// The type of the private stored property in which the class stores the property.
    func storage(_ type: PropertyTypeModel) -> String {
        guard type.isSingle else { return property(type) + "?" }
        return switch type.value {
        case .link(let target), .embedded(let target): "Martlet.LinkStorage<\(declared(target))>"
        case .scalar(.anyValue): "Martlet.AnyStorage"
        default: element(of: type)
        }
    }

    /// Converts an expression of the property's type to the type of its private stored property.
    static func stored(_ value: String, as type: PropertyTypeModel) -> String {
        switch type.value {
        case .link, .embedded: "Martlet.LinkStorage(\(value))"
        case .scalar(.anyValue): "Martlet.AnyStorage(\(value))"
        default: value
        }
    }

    /// The type of the property's parameter in a memberwise initializer.
    func parameter(_ type: PropertyTypeModel) -> String {
        switch type.kind {
        case .single: element(of: type)
        case .map: "[Swift.String: \(element(of: type))]"
        case .list, .set, .linkingObjects: "[\(element(of: type))]"
        }
    }

    /// Whether Foundation declares the type of the property's values.
    static func needsFoundation(_ type: PropertyTypeModel) -> Bool {
        switch type.value {
        case .scalar(.data), .scalar(.date), .scalar(.uuid): true
        default: false
        }
    }

    private func name(of kind: ScalarKind) -> String {
        switch kind {
        case .data, .date, .uuid: "Foundation.\(kind.rawValue)"
        case .objectId, .decimal128, .anyValue: "Martlet.\(kind.rawValue)"
        default: "Swift.\(kind.rawValue)"
        }
    }
}
