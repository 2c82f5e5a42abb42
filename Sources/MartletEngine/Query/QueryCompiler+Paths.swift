import MartletSQLite

/// An operand with the rows it is about: behind a collection these are its elements.
struct ScopedOperand {
    var operand: Predicate.Operand
    var table: TableID
    var alias: String

    init(_ operand: Predicate.Operand, _ table: TableID, _ alias: String) {
        self.operand = operand
        self.table = table
        self.alias = alias
    }
}

extension QueryCompiler {
    mutating func operand(_ scoped: ScopedOperand) throws -> String {
        switch scoped.operand {
        case .value(let value): return bind(value)
        case .path(let path): return try expression(path, scoped.table, scoped.alias)
        case .count(let path):
            let resolved = try ResolvedPath(path, from: scoped.table, in: schema)
            return try CollectionSQL(schema).count(resolved, try owner(resolved, scoped.alias))
        case .aggregate(let function, let path):
            let resolved = try ResolvedPath(path, from: scoped.table, in: schema)
            return try CollectionSQL(schema).aggregate(function, resolved, scoped.alias)
        }
    }

    /// The value at the end of a path of to-one links; nil links make it NULL.
    mutating func expression(_ path: PropertyPath, _ table: TableID, _ alias: String) throws -> String {
        let resolved = try ResolvedPath(path, from: table, in: schema)
        guard let end = resolved.end else {
            return try follow(resolved.steps[...], alias, schema[table].layout.keyColumn)
        }
        guard let column = schema[end.table].layout.column(of: end.property) else {
            throw QueryFailure(
                "'\(schema[end.table].type.properties[end.property].name)' is a collection: use '.count' or an element path"
            )
        }
        return try follow(resolved.steps[...], alias, column.name)
    }

    /// What a sort term orders by.
    mutating func sortExpression(_ path: PropertyPath, _ table: TableID) throws -> String {
        let resolved = try ResolvedPath(path, from: table, in: schema)
        if let end = resolved.end, schema[end.table].type.properties[end.property].isLink {
            throw QueryFailure("'\(path.text)' is an object, and objects have no order: sort by one of its properties")
        }
        return try expression(path, table, "t")
    }

    /// A column of the row at the end of to-one links.
    mutating func follow(_ steps: ArraySlice<PathStep>, _ alias: String, _ column: String) throws -> String {
        guard let step = steps.first else { return "\(alias).\(column)" }
        guard case .link(let table, let property, let target) = step,
            let link = schema[table].layout.column(of: property)
        else {
            throw QueryFailure("a path through a collection cannot be used here")
        }
        let inner = self.alias()
        let value = try follow(steps.dropFirst(), inner, column)
        let layout = schema[target].layout
        return
            "(SELECT \(value) FROM \(layout.table) \(inner) WHERE \(inner).\(layout.keyColumn) = \(alias).\(link.name))"
    }

    /// The key of the row whose property a path ends in.
    private mutating func owner(_ resolved: ResolvedPath, _ alias: String) throws -> String {
        guard let table = resolved.end?.table else { throw QueryFailure("a path must end in a property here") }
        return try owner(resolved.steps[...], alias, of: table)
    }

    // The link that leads to a row holds its key.
    private mutating func owner(_ steps: ArraySlice<PathStep>, _ alias: String, of table: TableID) throws -> String {
        guard let last = steps.last else { return "\(alias).\(schema[table].layout.keyColumn)" }
        guard case .link(let source, let property, _) = last, let link = schema[source].layout.column(of: property)
        else {
            throw QueryFailure("a path through a collection cannot be used here")
        }
        return try follow(steps.dropLast(), alias, link.name)
    }

    // MARK: Any

    typealias Leaf = (inout QueryCompiler, [ScopedOperand]) throws -> String

    /// Writes a condition whose paths may pass through collections: some element must match.
    mutating func any(
        _ operands: [ScopedOperand], _ comparison: Predicate.Comparison? = nil, _ leaf: Leaf
    ) throws -> String {
        for (position, scoped) in operands.enumerated() {
            guard case .path(let path) = scoped.operand else { continue }
            var resolved = try ResolvedPath(path, from: scoped.table, in: schema)
            if let end = resolved.end, schema[end.table].layout.column(of: end.property) == nil {
                let property = schema[end.table].type.properties[end.property]
                guard let element = ResolvedPath.step(property, of: end.table, in: schema) else {
                    return try anyScalar(resolved, end, position, operands, comparison)
                }
                resolved.steps.append(element)
                resolved.end = nil
            }
            if let offset = resolved.steps.firstIndex(where: { if case .link = $0 { false } else { true } }) {
                let rest = PropertyPath(Array(path.names.dropFirst(offset + 1)))
                return try anyElement(resolved, offset, rest, position, operands, comparison, leaf)
            }
        }
        return try leaf(&self, operands)
    }

    private mutating func anyElement(
        _ resolved: ResolvedPath, _ offset: Int, _ rest: PropertyPath, _ position: Int, _ operands: [ScopedOperand],
        _ comparison: Predicate.Comparison?, _ leaf: Leaf
    ) throws -> String {
        let step = resolved.steps[offset]
        let owner = try owner(resolved.steps[..<offset], operands[position].alias, of: step.source)
        let inner = self.alias()
        var inside = operands
        inside[position] = ScopedOperand(.path(rest), step.target, inner)
        let condition = try any(inside, comparison, leaf)
        return "\(owner) IN (\(CollectionSQL(schema).owners(step, inner)) AND (\(condition)))"
    }

    private mutating func anyScalar(
        _ resolved: ResolvedPath, _ end: (table: TableID, property: PropertyIndex), _ position: Int,
        _ operands: [ScopedOperand], _ comparison: Predicate.Comparison?
    ) throws -> String {
        let owner = try owner(resolved, operands[position].alias)
        guard comparison == .equal, operands.count == 2, case .value(let value) = operands[1 - position].operand else {
            throw QueryFailure("elements of a collection of values can be tested for equality with a value only")
        }
        if case .real(let number) = value, number.isNaN { return "0" }
        let chunks = schema[end.table].layout.collection(of: end.property).chunks
        return
            "\(owner) IN (SELECT c.owner FROM \(chunks) c WHERE martlet_contains(c.elements, c.count, \(bind(value))))"
    }
}
