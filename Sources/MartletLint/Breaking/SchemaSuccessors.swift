public import MartletSchema

/// The new names of the types and properties of an older schema.
public struct SchemaSuccessors: Sendable {
    /// The new name of each old object type that still exists. The keys are the old names.
    public let types: [String: String]
    /// The new name of each old property that still exists. The keys are the old name of the type and the old name of
    /// the property.
    public let properties: [String: [String: String]]

    /// Pairs the declarations of two schemas by equal names and by `renamedFrom`, as the runtime does.
    public init(from old: SchemaModel, to new: SchemaModel) {
        let pair = SchemaPair(old: old, new: new)
        types = Dictionary(pair.objects.map { ($0.old.name, $0.new.name) }) { first, _ in first }
        properties = Dictionary(
            pair.objects.map { object in
                let names = object.properties.map { ($0.old.name, $0.new.name) }
                return (object.old.name, Dictionary(names) { first, _ in first })
            }
        ) { first, _ in first }
    }
}
