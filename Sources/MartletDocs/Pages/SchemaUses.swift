import MartletSchema

/// An index of the uses of each type.
struct SchemaUses {
    /// A property, label or key path that uses a type.
    struct Use: Hashable {
        /// The qualified name: `Dog.owner`.
        let name: String
        let anchor: String

        init(_ name: String, anchor: String? = nil) {
            self.name = name
            self.anchor = anchor ?? name
        }
    }

    /// The uses of one type, each list in the order of the schema.
    struct Uses {
        var links: [Use] = []
        var embeddings: [Use] = []
        /// The properties of this type, if the type is an enum.
        var enumProperties: [Use] = []
        /// The names of the type's projections.
        var projections: [String] = []
        /// Projection labels and declared key paths that start at another type and contain a property of this type.
        var paths: [Use] = []

        var isEmpty: Bool {
            links.isEmpty && embeddings.isEmpty && enumProperties.isEmpty && projections.isEmpty && paths.isEmpty
        }
    }

    private(set) var uses: [String: Uses] = [:]
    /// The anchors of the page: `Dog`, `Dog.owner`.
    private(set) var anchors: Set<String> = []

    init(_ model: SchemaModel) {
        for declaration in model.files.flatMap(\.declarations) {
            anchors.insert(declaration.name)
            switch declaration {
            case .object(let object): add(object)
            case .enumeration(let model): anchors.formUnion(model.cases.map { "\(model.name).\($0.name)" })
            case .projection(let projection): add(projection)
            }
        }
    }

    /// The anchor of a declared key path. It has a suffix if a property has the same name.
    static func anchor(of entry: DeclaredKeyPathModel, in object: ObjectModel) -> String {
        let isTaken = (object.properties + object.ignored).contains { $0.name == entry.name }
        return "\(object.name).\(entry.name)\(isTaken ? "-path" : "")"
    }

    private mutating func add(_ object: ObjectModel) {
        let names = object.properties.map(\.name) + object.ignored.map(\.name)
        anchors.formUnion(
            names.map { "\(object.name).\($0)" } + object.keyPaths.map { Self.anchor(of: $0, in: object) })
        for property in object.properties + object.ignored {
            let use = Use("\(object.name).\(property.name)")
            let target = property.type.value.name
            switch property.type.value {
            case .scalar: break
            case .enumeration: uses[target, default: Uses()].enumProperties.append(use)
            case .embedded: uses[target, default: Uses()].embeddings.append(use)
            case .link where property.type.isLinkingObjects: break
            case .link: uses[target, default: Uses()].links.append(use)
            }
        }
        for entry in object.keyPaths {
            let use = Use("\(object.name).\(entry.name)", anchor: Self.anchor(of: entry, in: object))
            for path in entry.paths { add(path, use) }
        }
    }

    private mutating func add(_ projection: ProjectionModel) {
        anchors.formUnion(projection.labels.map { "\(projection.name).\($0.name)" })
        uses[projection.root.value, default: Uses()].projections.append(projection.name)
        for label in projection.labels { add(label.path, Use("\(projection.name).\(label.name)")) }
    }

    private mutating func add(_ path: KeyPathModel, _ use: Use) {
        for owner in Set(path.segments.map(\.owner)) where owner != path.root {
            guard uses[owner]?.paths.last != use else { continue }
            uses[owner, default: Uses()].paths.append(use)
        }
    }
}
