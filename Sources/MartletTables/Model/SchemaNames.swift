/// The new names of the types and properties of an older schema.
public struct SchemaNames: Sendable {
    private let types: [String: String]
    private let properties: [String: [String: String]]
    /// Whether removed types and properties keep their old names.
    private var keepsRemoved = false

    /// - Parameters:
    ///   - types: the new name of each old type that still exists. The keys are the old names.
    ///   - properties: the new name of each old property that still exists. The keys are the old name of the type and
    ///     the old name of the property.
    public init(types: [String: String], properties: [String: [String: String]]) {
        self.types = types
        self.properties = properties
    }

    /// The origin of a table with the new names of the type and the collection; nil if one of them was removed.
    func current(_ origin: TableModel.Origin) -> TableModel.Origin? {
        guard let type = types[origin.type] else { return keepsRemoved ? origin : nil }
        guard let old = origin.property else { return TableModel.Origin(type: type, property: nil) }
        guard let name = current(old, of: origin.type) else { return nil }
        // A removed collection keeps the old name of its type too, even if the type was renamed.
        let isRemoved = properties[origin.type]?[old] == nil
        return isRemoved ? origin : TableModel.Origin(type: type, property: name)
    }

    /// The new name of a property; nil if the property was removed.
    func current(_ property: String, of type: String) -> String? {
        properties[type]?[property] ?? (keepsRemoved ? property : nil)
    }

    /// A copy in which removed types and properties keep their old names.
    var keepingRemoved: SchemaNames {
        var names = self
        names.keepsRemoved = true
        return names
    }
}
