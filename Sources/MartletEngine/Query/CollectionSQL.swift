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
                return
                    "SELECT \(alias).\(column.name) FROM \(layout.table) \(alias) WHERE \(alias).\(column.name) IS NOT NULL"
            }
            let targets = layout.collection(of: property).targets ?? ""
            return "SELECT x.target FROM \(targets) x "
                + "JOIN \(layout.table) \(alias) ON \(alias).\(layout.keyColumn) = x.owner WHERE 1"
        }
    }

    /// The number of elements of the collection that a path ends in; `owner` is the key of the row that has it.
    func count(_ path: ResolvedPath, _ owner: String) throws -> String {
        guard let end = path.end else { throw QueryFailure("'.count' needs a collection") }
        let property = schema[end.table].type.properties[end.property]
        if case .linkingObjects(_, let origin, let source)? = ResolvedPath.step(property, of: end.table, in: schema) {
            let layout = schema[origin].layout
            if let column = layout.column(of: source) {
                return "(SELECT count(*) FROM \(layout.table) x WHERE x.\(column.name) = \(owner))"
            }
            // An object that links several times is one linking object.
            let targets = layout.collection(of: source).targets ?? ""
            return "(SELECT count(*) FROM \(targets) x WHERE x.target = \(owner))"
        }
        let chunks = schema[end.table].layout.collection(of: end.property).chunks
        // Keys and values of maps take turns.
        let half = property.kind == .map ? " / 2" : ""
        return "(SELECT ifnull(sum(x.count), 0)\(half) FROM \(chunks) x WHERE x.owner = \(owner))"
    }

    /// An aggregate over a property of the elements of a collection of the row itself.
    func aggregate(_ function: Predicate.Aggregate, _ path: ResolvedPath, _ alias: String) throws -> String {
        guard path.steps.count == 1, let end = path.end, let column = schema[end.table].layout.column(of: end.property)
        else {
            throw QueryFailure("an aggregate needs a collection of the object itself and a property of its elements")
        }
        let key = "\(alias).\(schema[path.steps[0].source].layout.keyColumn)"
        switch path.steps[0] {
        case .link: throw QueryFailure("an aggregate needs a collection, and this is a single link")
        case .collection(let table, let property, let target):
            let layout = schema[target].layout
            let targets = schema[table].layout.collection(of: property).targets ?? ""
            return "(SELECT \(weighted(function, "e.\(column.name)")) FROM \(targets) x JOIN \(layout.table) e "
                + "ON e.\(layout.keyColumn) = x.target WHERE x.owner = \(key))"
        case .linkingObjects(_, let origin, let property):
            let layout = schema[origin].layout
            guard let link = layout.column(of: property) else {
                throw QueryFailure("an aggregate over linking objects of a list is not supported")
            }
            return
                "(SELECT \(plain(function, "e.\(column.name)")) FROM \(layout.table) e WHERE e.\(link.name) = \(key))"
        }
    }

    // The sum of nothing is zero.
    private func plain(_ function: Predicate.Aggregate, _ value: String) -> String {
        function == .sum ? "ifnull(sum(\(value)), 0)" : "\(function.rawValue)(\(value))"
    }

    // An element that occurs several times counts as often.
    private func weighted(_ function: Predicate.Aggregate, _ value: String) -> String {
        switch function {
        case .min, .max: "\(function.rawValue)(\(value))"
        case .sum: "ifnull(sum(\(value) * x.count), 0)"
        case .average: "1.0 * sum(\(value) * x.count) / sum(CASE WHEN \(value) IS NOT NULL THEN x.count END)"
        }
    }
}
