/// The new names of the types and properties of an older schema.
public struct SchemaNames: Sendable {
    private let types: [String: String]
    private let properties: [String: [String: String]]
    /// Whether types and properties that do not exist any more keep their names.
    private var keepsRemoved = false

    /// - Parameters:
    ///   - types: the new name of each old type that still exists.
    ///   - properties: for each of these types, by its old name: the new name of each old property that still exists.
    public init(types: [String: String], properties: [String: [String: String]]) {
        self.types = types
        self.properties = properties
    }

    /// nil if the type or the collection does not exist any more.
    func current(_ origin: TableModel.Origin) -> TableModel.Origin? {
        guard let type = types[origin.type] else { return keepsRemoved ? origin : nil }
        guard let old = origin.property else { return TableModel.Origin(type: type, property: nil) }
        guard let name = current(old, of: origin.type) else { return nil }
        // A removed collection of a type with another name keeps the name of the type too.
        let isRemoved = properties[origin.type]?[old] == nil
        return isRemoved ? origin : TableModel.Origin(type: type, property: name)
    }

    /// nil if the property does not exist any more.
    func current(_ property: String, of type: String) -> String? {
        properties[type]?[property] ?? (keepsRemoved ? property : nil)
    }

    /// The same names, in which types and properties that do not exist any more keep theirs.
    var keepingRemoved: SchemaNames {
        var names = self
        names.keepsRemoved = true
        return names
    }
}
