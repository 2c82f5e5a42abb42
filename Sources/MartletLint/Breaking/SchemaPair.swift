import MartletSchema

/// Two versions of a schema, and the correspondence between their declarations.
///
/// A declaration of the old schema corresponds to the declaration of the new schema that has the same name. If there is
/// none, it corresponds to a new declaration that has the old name in `renamedFrom`. The name of this new declaration
/// must not exist in the old schema. Among several such declarations, the first one is used. The runtime must find the
/// same pairs when it opens a file.
struct SchemaPair {
    let old: SchemaModel
    let new: SchemaModel
    /// The object types that exist in both schemas, in the order of the new schema.
    let objects: [ObjectPair]
    /// The enums that exist in both schemas, in the order of the new schema.
    let enums: [(old: EnumModel, new: EnumModel)]
    /// The elements of `objects`, by old name.
    private let pairsByFormerName: [String: ObjectPair]
    /// The new names of the object types that exist in both schemas, by old name.
    private let newObjectNames: [String: String]
    /// The new names of the enums that exist in both schemas, by old name.
    private let newEnumNames: [String: String]

    init(old: SchemaModel, new: SchemaModel) {
        self.old = old
        self.new = new
        let newObjectNames = SchemaPair.successors(
            old.objects.map(\.name), new.objects.map { ($0.name, $0.renamedFrom?.value) })
        let newEnumNames = SchemaPair.successors(
            old.enums.map(\.name), new.enums.map { ($0.name, $0.renamedFrom?.value) })
        let oldObjectNames = Dictionary(newObjectNames.map { ($1, $0) }) { first, _ in first }
        let oldEnumNames = Dictionary(newEnumNames.map { ($1, $0) }) { first, _ in first }
        objects = new.objects.compactMap { object in
            oldObjectNames[object.name].flatMap(old.object(named:)).map { ObjectPair(old: $0, new: object) }
        }
        pairsByFormerName = Dictionary(objects.map { ($0.old.name, $0) }) { first, _ in first }
        enums = new.enums.compactMap { model in
            oldEnumNames[model.name].flatMap(old.enumeration(named:)).map { ($0, model) }
        }
        self.newObjectNames = newObjectNames
        self.newEnumNames = newEnumNames
    }

    /// Maps the old name of each declaration that still exists to its new name.
    static func successors(_ old: [String], _ new: [(name: String, renamedFrom: String?)]) -> [String: String] {
        let oldNames = Set(old)
        let newNames = Set(new.map(\.name))
        var result: [String: String] = [:]
        for name in old where newNames.contains(name) { result[name] = name }
        for (name, former) in new {
            guard let former, !oldNames.contains(name), oldNames.contains(former), result[former] == nil else {
                continue
            }
            result[former] = name
        }
        return result
    }

    var removedObjects: [ObjectModel] { old.objects.filter { newObjectNames[$0.name] == nil } }
    var removedEnums: [EnumModel] { old.enums.filter { newEnumNames[$0.name] == nil } }

    var addedObjects: [ObjectModel] {
        let kept = Set(newObjectNames.values)
        return new.objects.filter { !kept.contains($0.name) }
    }

    var addedEnums: [EnumModel] {
        let kept = Set(newEnumNames.values)
        return new.enums.filter { !kept.contains($0.name) }
    }

    /// The new name of an old type; the old name if the type was removed.
    func currentName(_ name: String) -> String { newObjectNames[name] ?? newEnumNames[name] ?? name }

    /// The pair of an old object type; nil if the type was removed.
    func object(formerly name: String) -> ObjectPair? { pairsByFormerName[name] }

    /// An old type with the names of the new schema.
    func current(_ type: PropertyTypeModel) -> PropertyTypeModel {
        let value: ValueTypeModel =
            switch type.value {
            case .scalar: type.value
            case .enumeration(let name, let raw): .enumeration(currentName(name), raw: raw)
            case .link(let name): .link(currentName(name))
            case .embedded(let name): .embedded(currentName(name))
            }
        guard case .linkingObjects(let owner, let property) = type.kind else {
            return PropertyTypeModel(kind: type.kind, value: value, isOptional: type.isOptional)
        }
        let kind = PropertyTypeModel.Kind.linkingObjects(
            type: currentName(owner), property: object(formerly: owner)?.currentName(property) ?? property)
        return PropertyTypeModel(kind: kind, value: value, isOptional: type.isOptional)
    }

    /// The text of an old key path, with the names of the new schema.
    func currentText(_ path: KeyPathModel) -> String {
        path.segments.map { object(formerly: $0.owner)?.currentName($0.property) ?? $0.property }
            .joined(separator: ".")
    }
}

/// An object type that exists in both schemas.
struct ObjectPair {
    let old: ObjectModel
    let new: ObjectModel
    /// The properties that exist in both schemas, in the order of the new schema. They include linking objects,
    /// although linking objects are not stored.
    let properties: [(old: PropertyModel, new: PropertyModel)]
    /// The new names of these properties, by old name.
    private let successors: [String: String]

    init(old: ObjectModel, new: ObjectModel) {
        self.old = old
        self.new = new
        let stored = Set(old.properties.filter { !$0.type.isLinkingObjects }.map(\.name))
        let successors = SchemaPair.successors(
            old.properties.map(\.name),
            new.properties.map { ($0.name, $0.renamedFrom.map(\.value).flatMap { stored.contains($0) ? $0 : nil }) })
        let former = Dictionary(successors.map { ($1, $0) }) { first, _ in first }
        properties = new.properties.compactMap { property in
            former[property.name].flatMap(old.property(named:)).map { ($0, property) }
        }
        self.successors = successors
    }

    var removedProperties: [PropertyModel] { old.properties.filter { successors[$0.name] == nil } }

    var addedProperties: [PropertyModel] {
        let kept = Set(successors.values)
        return new.properties.filter { !kept.contains($0.name) }
    }

    /// The new name of an old property; the old name if the property was removed.
    func currentName(_ property: String) -> String { successors[property] ?? property }
}
