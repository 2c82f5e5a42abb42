/// The SQL that leads from rows to the rows of their collections and back.
struct CollectionSQL {
    let schema: DatabaseSchema

    init(_ schema: DatabaseSchema) { self.schema = schema }

    /// `SELECT owner … WHERE …` over all elements, each under `alias`; a condition on the element is to follow with AND.
    func owners(_ step: PathStep, _ alias: String) -> String {
        switch step {
        case .link(let table, let property, let target):
            let column = schema[table].layout.column(of: property)?.name ?? ""
            let layout = schema[target].layout
            return "SELECT x.\(schema[table].layout.keyColumn) FROM \(schema[table].layout.table) x "
                + "JOIN \(layout.table) \(alias) ON \(alias).\(layout.keyColumn) = x.\(column) WHERE 1"
        case .collection(let table, let property, let target):
            let layout = schema[target].layout
            let targets = schema[table].layout.collection(of: property).targets ?? ""
            return "SELECT x.owner FROM \(targets) x "
                + "JOIN \(layout.table) \(alias) ON \(alias).\(layout.keyColumn) = x.target WHERE 1"
        case .linkingObjects(_, let origin, let property):
            let layout = schema[origin].layout
            if let column = layout.column(of: property) {
                return "SELECT \(alias).\(column.name) FROM \(layout.table) \(alias) WHERE \(alias).\(column.name) IS NOT NULL"
            }
            let targets = layout.collection(of: property).targets ?? ""
            return "SELECT x.target FROM \(targets) x "
                + "JOIN \(layout.table) \(alias) ON \(alias).\(layout.keyColumn) = x.owner WHERE 1"
        }
    }

    /// The number of elements of the collection at the end of a path of to-one links.
    func count(_ path: ResolvedPath, _ alias: String) throws -> String {
        guard path.steps.isEmpty, let end = path.end else {
            throw QueryFailure("'.count' behind a link is not supported: query the linked type instead")
        }
        let key = "\(alias).\(schema[end.table].layout.keyColumn)"
        let property = schema[end.table].type.properties[end.property]
        if case .linkingObjects = property.kind,
            case .linkingObjects(_, let origin, let source)? = ResolvedPath.step(property, of: end.table, in: schema)
        {
            let layout = schema[origin].layout
            if let column = layout.column(of: source) {
                return "(SELECT count(*) FROM \(layout.table) x WHERE x.\(column.name) = \(key))"
            }
            let targets = layout.collection(of: source).targets ?? ""
            return "(SELECT ifnull(sum(x.count), 0) FROM \(targets) x WHERE x.target = \(key))"
        }
        let chunks = schema[end.table].layout.collection(of: end.property).chunks
        return "(SELECT ifnull(sum(x.count), 0) FROM \(chunks) x WHERE x.owner = \(key))"
    }

    /// An aggregate over a property of the elements of a collection of the row itself.
    func aggregate(_ function: Predicate.Aggregate, _ path: ResolvedPath, _ alias: String) throws -> String {
        guard path.steps.count == 1, let end = path.end, let column = schema[end.table].layout.column(of: end.property) else {
            throw QueryFailure("an aggregate needs a collection of the object itself and a property of its elements")
        }
        let key = "\(alias).\(schema[path.steps[0].source].layout.keyColumn)"
        switch path.steps[0] {
        case .link: throw QueryFailure("an aggregate needs a collection, and this is a single link")
        case .collection(let table, let property, let target):
            let layout = schema[target].layout
            let targets = schema[table].layout.collection(of: property).targets ?? ""
            return "(SELECT \(function.rawValue)(e.\(column.name)) FROM \(targets) x JOIN \(layout.table) e "
                + "ON e.\(layout.keyColumn) = x.target WHERE x.owner = \(key))"
        case .linkingObjects(_, let origin, let property):
            let layout = schema[origin].layout
            guard let link = layout.column(of: property) else {
                throw QueryFailure("an aggregate over linking objects of a list is not supported")
            }
            return "(SELECT \(function.rawValue)(e.\(column.name)) FROM \(layout.table) e WHERE e.\(link.name) = \(key))"
        }
    }
}
