import MartletSQLite
import MartletValues

/// The parts of an SQL query for the elements of collections: the tables to join, the join condition, and the column
/// with the owner of each element.
struct CollectionRelation {
    let tables: String
    var condition: String
    /// SQL for the key of the owner of each element.
    let owner: String
    /// SQL for the number of occurrences of each element. Nil if each row is one occurrence.
    var occurrenceCount: String?

    /// This relation, restricted to the elements of one owner. `key` is SQL for the key of the owner.
    func restricted(toOwner key: String) -> CollectionRelation { and("\(owner) = \(key)") }

    func and(_ condition: String) -> CollectionRelation {
        CollectionRelation(
            tables: tables, condition: "\(self.condition) AND \(condition)", owner: owner,
            occurrenceCount: occurrenceCount)
    }

    /// A relation with one row for each occurrence of an element.
    func repeated(_ alias: String) -> CollectionRelation {
        guard let occurrenceCount else { return self }
        return CollectionRelation(
            tables: "\(tables), martlet_times(\(occurrenceCount)) \(alias)n", condition: condition, owner: owner)
    }

    /// SQL for the number of elements.
    var count: String { occurrenceCount.map { "ifnull(sum(\($0)), 0)" } ?? "count(*)" }

    func select(_ columns: String) -> String { "(SELECT \(columns) FROM \(tables) WHERE \(condition))" }
}

/// How a query treats entries with the value nil in a map of objects.
enum NilEntries {
    /// The query omits these entries, because the path continues to properties of the objects, or because the condition
    /// cannot be true for nil.
    case skipped
    /// Each entry is one element: the key of its object, or NULL if its value is nil.
    case asValues
    /// Each entry is one element: the row of its object. If the value is nil, all columns of this row are NULL.
    case asRows
}

extension QueryCompiler {
    /// The elements of a list, set or map. The table with the alias has a column `k` for the key of a map entry, a
    /// column `v` for the value, and a column `nan`, which is 1 if the value is NaN.
    func values(of table: TableID, _ property: PropertyIndex, _ alias: String) -> CollectionRelation {
        let chunks = schema[table].layout.collection(of: property).chunkTable
        let type = schema[table].type.properties[property]
        let layout = (type.kind == .map ? 1 : 0) + (type.element.isFloating ? 2 : 0)
        return CollectionRelation(
            tables: "\(chunks) \(alias)c, martlet_elements(\(alias)c.elements, \(alias)c.count, \(layout)) \(alias)",
            condition: "1", owner: "\(alias)c.owner")
    }

    /// The rows to which a step leads. `alias` is the alias of their table.
    ///
    /// - Parameter isOwnerKnown: if true, the elements of a collection are read from the chunks of their owner. An
    ///   element that occurs several times is then returned several times. If false, the owners of each element are
    ///   found in the table of targets.
    func elements(_ step: PathStep, _ alias: String, isOwnerKnown: Bool) -> CollectionRelation {
        let target = schema[step.target].layout
        let key = "\(alias).\(target.keyColumn)"
        switch step {
        case .link(let table, let property, _):
            let source = schema[table].layout
            let link = source.column(of: property)?.name ?? ""
            return CollectionRelation(
                tables: "\(source.table) \(alias)x, \(target.table) \(alias)", condition: "\(key) = \(alias)x.\(link)",
                owner: "\(alias)x.\(source.keyColumn)")
        case .collection(let table, let property, _):
            if isOwnerKnown {
                let values = values(of: table, property, alias + "e")
                return CollectionRelation(
                    tables: "\(values.tables), \(target.table) \(alias)", condition: "\(key) = \(alias)e.v",
                    owner: values.owner)
            }
            let targets = schema[table].layout.collection(of: property).targetTable ?? ""
            return CollectionRelation(
                tables: "\(targets) \(alias)x, \(target.table) \(alias)", condition: "\(key) = \(alias)x.target",
                owner: "\(alias)x.owner")
        case .anyLink(let table, let property, _):
            return CollectionRelation(
                tables: "\(AnyLinkIndex.name) \(alias)x, \(target.table) \(alias)",
                condition: "\(alias)x.type = \(table) AND \(alias)x.property = \(property) "
                    + "AND \(alias)x.target_type = \(step.target) AND \(key) = \(alias)x.target",
                owner: "\(alias)x.owner")
        case .linkingObjects(_, _, let property):
            if let link = target.column(of: property) {
                return CollectionRelation(
                    tables: "\(target.table) \(alias)", condition: "\(alias).\(link.name) IS NOT NULL",
                    owner: "\(alias).\(link.name)")
            }
            let targets = target.collection(of: property).targetTable ?? ""
            return CollectionRelation(
                tables: "\(targets) \(alias)x, \(target.table) \(alias)", condition: "\(key) = \(alias)x.owner",
                owner: "\(alias)x.target",
                occurrenceCount: schema[step.target].type.properties[property].kind == .set ? nil : "\(alias)x.count")
        }
    }

    /// SQL that is true if `condition` is true for some element of the collection at the end of `path`.
    mutating func someElement(
        of path: PropertyPath, _ scope: QueryScope, _ nilEntries: NilEntries = .skipped,
        _ condition: (inout QueryCompiler, QueryScope) throws -> String
    ) throws -> String {
        // A path through several collections is split after the first collection. The condition on the rest of the path
        // becomes a condition on the elements of the first collection.
        let ends = try collectionEnds(path, scope)
        if let outer = ends.first, ends.count > 1 {
            let rest = PropertyPath(components: Array(path.components[outer...]))
            return try someElement(of: PropertyPath(components: Array(path.components[..<outer])), scope) {
                compiler, element in try compiler.someElement(of: rest, element, nilEntries, condition)
            }
        }
        let (relation, owner, element) = try collection(path, scope, nilEntries, isOwnerKnown: selectsRowsByKey)
        let holds = try condition(&self, element)
        if selectsRowsByKey { return "EXISTS \(relation.restricted(toOwner: owner).and("(\(holds))").select("1"))" }
        return "\(owner) IN \(relation.and("(\(holds))").select(relation.owner))"
    }

    /// The collection at the end of a path, SQL for the key of its owner, and the scope of its elements.
    private mutating func collection(
        _ path: PropertyPath, _ scope: QueryScope, _ nilEntries: NilEntries = .skipped, isOwnerKnown: Bool
    ) throws -> (relation: CollectionRelation, owner: String, element: QueryScope) {
        try countCollection()
        guard case .row(let table, let alias) = scope else { throw QueryFailure.collection(path) }
        let resolved = try ResolvedPath(path, from: table, in: schema)
            .enteringCollection(in: schema, componentCount: path.components.count)
        let inner = self.alias()
        if let end = resolved.end {
            let property = schema[end.table].type.properties[end.property]
            guard property.isCollection else { throw QueryFailure.noCollection(path) }
            let owner = try rowKey(resolved, end.table, alias)
            let element: QueryScope =
                resolved.part == .keys
                ? .value(inner, column: "k", .scalar(.string)) : .value(inner, column: "v", property.element)
            return (values(of: end.table, end.property, inner), owner, element)
        }
        guard let step = resolved.steps.last else { throw QueryFailure.noCollection(path) }
        let owner = try rowKey(resolved, step.source, alias, stepCount: resolved.steps.count - 1)
        if case .collection(let source, let property, let target) = step,
            case let declared = schema[source].type.properties[property], declared.kind == .map
        {
            let values = values(of: source, property, inner)
            switch nilEntries {
            case .skipped: break
            case .asValues: return (values, owner, .value(inner, column: "v", declared.element))
            case .asRows:
                return (
                    rows(of: target, in: self.values(of: source, property, inner + "e"), inner), owner,
                    .row(target, inner)
                )
            }
        }
        return (elements(step, inner, isOwnerKnown: isOwnerKnown), owner, .row(step.target, inner))
    }

    // The rows to which the values of a map refer. A value that refers to no row gets a row of NULLs.
    private func rows(of target: TableID, in values: CollectionRelation, _ alias: String) -> CollectionRelation {
        let layout = schema[target].layout
        return CollectionRelation(
            tables: "\(values.tables) LEFT JOIN \(layout.table) \(alias) ON \(alias).\(layout.keyColumn) = \(alias)e.v",
            condition: values.condition, owner: values.owner)
    }

    // MARK: Paths through collections

    /// Splits an operand at the first collection in its path. Returns the path to this collection, and the operand with
    /// the rest of the path. The last collection in the path of `count`, `aggregate` or `matching` is not split off,
    /// because the operand is computed over the elements of that collection. Returns nil if there is no collection to
    /// split off.
    func outerCollection(of scoped: ScopedOperand) throws -> (PropertyPath, Predicate.Operand)? {
        switch scoped.operand {
        case .path(let path): try split(path, scoped.scope, keepingLast: 0).map { ($0, .path($1)) }
        case .kind(let path): try split(path, scoped.scope, keepingLast: 0).map { ($0, .kind($1)) }
        case .count(let path): try split(path, scoped.scope, keepingLast: 1).map { ($0, .count($1)) }
        case .aggregate(let function, let path):
            try split(path, scoped.scope, keepingLast: 1).map { ($0, .aggregate(function, $1)) }
        case .matching(let path, let condition):
            try split(path, scoped.scope, keepingLast: 1).map { ($0, .matching($1, condition)) }
        case .value, .matchingShared, .arithmetic, .outer: nil
        }
    }

    private func split(
        _ path: PropertyPath, _ scope: QueryScope, keepingLast count: Int
    ) throws -> (PropertyPath, PropertyPath)? {
        let ends = try collectionEnds(path, scope)
        guard let end = ends.first, ends.count > count else { return nil }
        return (
            PropertyPath(components: Array(path.components[..<end])),
            PropertyPath(components: Array(path.components[end...]))
        )
    }

    /// For each collection in the path, the number of components up to its elements.
    func collectionEnds(_ path: PropertyPath, _ scope: QueryScope) throws -> [Int] {
        guard case .row(let table, _) = scope else { return [] }
        let resolved = try ResolvedPath(path, from: table, in: schema)
        var ends = resolved.steps.indices.filter(resolved.isToMany).map { resolved.componentEnds[$0] }
        if let end = resolved.end, schema[end.table].type.properties[end.property].kind != .single {
            if case .entry = resolved.part { return ends }
            ends.append(path.components.count)
        }
        return ends
    }

    // MARK: Counts and aggregates

    mutating func count(_ path: PropertyPath, _ scope: QueryScope) throws -> String {
        guard case .row(let table, let alias) = scope else { throw QueryFailure.noCollection(path) }
        let resolved = try ResolvedPath(path, from: table, in: schema)
        if let end = resolved.end, schema[end.table].type.properties[end.property].isCollection {
            if case .entry = resolved.part { throw QueryFailure.noCollection(path) }
            let owner = try rowKey(resolved, end.table, alias)
            let chunks = schema[end.table].layout.collection(of: end.property).chunkTable
            // A map stores its keys and values alternately.
            let half = schema[end.table].type.properties[end.property].kind == .map ? " / 2" : ""
            return "(SELECT ifnull(sum(x.count), 0)\(half) FROM \(chunks) x WHERE x.owner = \(owner))"
        }
        let (relation, owner, _) = try collection(path, scope, isOwnerKnown: true)
        return relation.restricted(toOwner: owner).select(relation.count)
    }

    mutating func countOfMatching(_ path: PropertyPath, _ condition: Predicate, _ scope: QueryScope) throws -> String {
        let (relation, owner, element) = try collection(path, scope, .asRows, isOwnerKnown: true)
        return relation.restricted(toOwner: owner).and("(\(try compile(condition, element, within: scope)))").select(
            relation.count)
    }

    mutating func aggregate(
        _ function: Predicate.Aggregate, _ path: PropertyPath, _ scope: QueryScope
    ) throws -> QueryTerm {
        guard let end = try collectionEnds(path, scope).first else {
            throw QueryFailure("'\(path.text)' has no \(function.rawValue): it does not pass through a collection")
        }
        let prefix = PropertyPath(components: Array(path.components[..<end]))
        let (relation, owner, element) = try collection(prefix, scope, isOwnerKnown: true)
        let value = try term(.path(PropertyPath(components: Array(path.components[end...]))), element)
        let isArithmetic = function.isArithmetic
        guard isArithmetic ? value.kind == .number || value.kind == .decimal : value.kind != .any && value.kind != .row
        else {
            throw QueryFailure("'\(path.text)' has no \(isArithmetic ? "sum or average" : "order")")
        }
        let elements = isArithmetic ? relation.repeated(alias()) : relation
        let result =
            switch function {
            case .sum where value.isWhole: Self.wideSum(value)
            case .average where value.isWhole: Self.mean(Self.wideSum(value), value)
            default: Self.aggregate(function, value)
            }
        let owned = elements.restricted(toOwner: owner)
        var aggregate = QueryTerm(owned.select(result), value.kind)
        if isArithmetic && value.kind == .number && !value.isWhole {
            aggregate.nanCondition = owned.select("count(\(value.sql)) > 0 AND sum(\(value.sql)) IS NULL")
        }
        return aggregate
    }

    /// SQL for an aggregate. The sum of no values is zero. The sum of positive and negative infinity is NULL, which
    /// represents NaN. `min` and `max` ignore decimals that are NaN.
    static func aggregate(_ function: Predicate.Aggregate, _ value: QueryTerm) -> String {
        guard value.kind == .decimal else {
            let aggregate = "\(function.rawValue)(\(value.sql))"
            return function == .sum ? "CASE count(\(value.sql)) WHEN 0 THEN 0 ELSE \(aggregate) END" : aggregate
        }
        if function.isArithmetic { return "martlet_decimal_\(function.rawValue)(\(value.sql))" }
        return "\(function.rawValue)(nullif(\(value.sql), \(DecimalNumber.nanLiteral)))"
    }

    /// SQL for the sum of whole numbers. SQLite's own `sum` fails if an intermediate sum exceeds 64 bits. Therefore
    /// this SQL adds the upper and the lower 32 bits of the numbers separately.
    static func wideSum(_ value: QueryTerm) -> String {
        "martlet_whole(sum(\(value.sql) >> 32), sum(\(value.sql) & 4294967295))"
    }

    // MARK: Other conditions

    /// SQL that is true if the row of `scope` is an element of the given collection.
    mutating func element(
        of table: TableID, _ property: PropertyIndex, _ owner: ObjectKey, _ scope: QueryScope
    ) throws -> String {
        guard case .row(let own, let alias) = scope,
            let targets = schema[table].layout.collection(of: property).targetTable
        else { throw QueryFailure("a collection of values has no rows") }
        let key = "\(alias).\(schema[own].layout.keyColumn)"
        if selectsRowsByKey {
            return "EXISTS (SELECT 1 FROM \(targets) x WHERE x.target = \(key) AND x.owner = \(bind(.integer(owner))))"
        }
        let inner = self.alias()
        return
            "\(key) IN \(values(of: table, property, inner).restricted(toOwner: bind(.integer(owner))).select("\(inner).v"))"
    }

    /// Returns the collection of a condition, and the condition rewritten for the elements of this collection. Throws
    /// if the paths of the condition pass through no collection, or through different collections. A path that passes
    /// through no collection still starts at the owner of the collection.
    func sharedCollection(_ condition: Predicate, _ scope: QueryScope) throws -> (PropertyPath, Predicate) {
        var shared: PropertyPath?
        func inside(_ path: PropertyPath, keepingLast count: Int) throws -> PropertyPath? {
            let ends = try collectionEnds(path, scope)
            guard let end = ends.first, ends.count > count else { return nil }
            let prefix = PropertyPath(components: Array(path.components[..<end]))
            if let first = shared, first != prefix {
                throw QueryFailure(
                    "a counted condition must use one collection, and this one uses '\(first.text)' and "
                        + "'\(prefix.text)'")
            }
            shared = prefix
            return PropertyPath(components: Array(path.components[end...]))
        }
        let inner = try condition.mapPaths(inside(_:keepingLast:))
        guard let shared else { throw QueryFailure("a counted condition must use a collection") }
        return (shared, inner)
    }
}

extension QueryFailure {
    static func collection(_ path: PropertyPath) -> QueryFailure {
        QueryFailure("'\(path.text)' is a collection: use '.count', or a path to a property of its elements")
    }

    static func noCollection(_ path: PropertyPath) -> QueryFailure {
        QueryFailure("'\(path.text)' is not a collection")
    }
}
