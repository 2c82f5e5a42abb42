import MartletSchema

/// Types of a schema as Swift types, written out with their modules, and with the namespace where there is one.
struct SwiftTypes {
    /// The enum that the types of the schema stand in; nil where they stand in the module itself.
    let namespace: String?

    /// A type that the schema declares, as it is called wherever it is spoken of: `Dog`, or `Kennel.Dog`.
    ///
    /// The full name even within the namespace: an extension of one of its types does not look into it.
    func declared(_ name: String) -> String {
        let prefix = namespace.map { SwiftNames.escaped($0) + "." } ?? ""
        return prefix + SwiftNames.escaped(name)
    }

    /// The type of one value, without an optional mark.
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

    /// The type that a property has for those who read it: `Martlet.List<Dog>`.
    func property(_ type: PropertyTypeModel) -> String {
        switch type.kind {
        case .single: element(of: type)
        case .list: "Martlet.List<\(element(of: type))>"
        case .set: "Martlet.MutableSet<\(element(of: type))>"
        case .map: "Martlet.Map<\(element(of: type))>"
        case .linkingObjects: "Martlet.LinkingObjects<\(name(of: type.value))>"
        }
    }

    /// The type of the private stored property.
    func storage(_ type: PropertyTypeModel) -> String {
        guard type.isSingle else { return property(type) + "?" }
        guard let target = type.value.objectName else { return element(of: type) }
        return "Martlet.LinkStorage<\(declared(target))>"
    }

    /// The type of the parameter of a memberwise initialiser.
    func parameter(_ type: PropertyTypeModel) -> String {
        switch type.kind {
        case .single: element(of: type)
        case .map: "[Swift.String: \(element(of: type))]"
        case .list, .set, .linkingObjects: "[\(element(of: type))]"
        }
    }

    /// True for types that Foundation declares.
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
