/// All object types of one open file, each with its number in the file's catalog.
package struct DatabaseSchema: Sendable {
    package struct Table: Sendable {
        package let id: TableID
        package let type: ObjectTypeSchema
        package let layout: TableLayout
        /// The link, list, set and map properties of all types whose target is this type.
        package internal(set) var incoming: [Incoming] = []
    }

    /// A property whose target is a given object type.
    package struct Incoming: Sendable, Equatable {
        package let table: TableID
        package let property: PropertyIndex
    }

    package private(set) var tables: [TableID: Table] = [:]
    private var ids: [String: TableID] = [:]

    package init(_ types: [(id: TableID, type: ObjectTypeSchema)]) {
        for (id, type) in types {
            tables[id] = Table(id: id, type: type, layout: TableLayout(type))
            ids[type.name] = id
        }
        for (id, type) in types {
            for property in type.properties where property.kind != .single || property.isLink {
                if case .linkingObjects = property.kind { continue }
                guard let target = property.element.target, let targetID = ids[target] else { continue }
                tables[targetID]?.incoming.append(Incoming(table: id, property: property.index))
            }
        }
    }

    /// True if the schema contains a linking objects property that is the inverse of the given link property.
    package func hasInverse(_ link: LinkID) -> Bool {
        guard let source = tables[link.table], let target = source.type.properties[link.property].element.target,
            let targetID = ids[target], let inverses = tables[targetID]?.type.properties
        else { return false }
        let name = source.type.properties[link.property].name
        return inverses.contains { $0.kind == .linkingObjects(type: source.type.name, property: name) }
    }

    package subscript(id: TableID) -> Table {
        guard let table = tables[id] else { preconditionFailure("no object type has the number \(id) in this file") }
        return table
    }

    package subscript(name: String) -> Table? { ids[name].flatMap { tables[$0] } }
}
