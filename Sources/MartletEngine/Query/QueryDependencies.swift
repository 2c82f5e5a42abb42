/// The changes that can affect the members of a result, their order, or the change sets of its observers.
package struct QueryDependencies: Sendable {
    /// A path from the rows of the result to other rows, and the properties of these other rows whose changes matter.
    package struct Route: Sendable, Equatable {
        package var steps: [PathStep]
        package var columns: ColumnSet
    }

    /// All links that can be followed from the rows of the result, up to some depth.
    package struct Reach: Sendable, Equatable {
        package let links: [PathStep]
        /// The `AnyRealmValue` properties that are reachable over these links. Their values can be links to objects of
        /// any type.
        package var anyLinkProperties: Set<LinkID> = []
        /// The greatest number of links between a row of the result and an object whose changes matter.
        package let depth: Int
    }

    /// The properties of the result's own type whose changes matter.
    package private(set) var columns = ColumnSet()
    package private(set) var routes: [Route] = []
    /// The links to follow if every change of a linked object matters. Nil if no links are followed in this way.
    package private(set) var reach: Reach?
    /// Like `reach`, but also follows links in `AnyRealmValue` values. Nil if no reachable property is an
    /// `AnyRealmValue`. It replaces `reach` if the file contains links in `AnyRealmValue` values.
    package private(set) var anyReach: Reach?

    package init() {}

    /// The dependencies of the members and the order of a plan.
    package init(_ plan: QueryPlan, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        for condition in plan.conditions { try add(condition, Base([], plan.table), schema) }
        for path in plan.orderingPaths { try add(path, Base([], plan.table), schema) }
        if case .linkingObjects(let link, _) = plan.source { columns.formUnion(ColumnSet(link.property)) }
    }

    /// The dependencies of the key paths of an observer.
    package init(keyPaths: [PropertyPath], table: TableID, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        for path in keyPaths {
            if path.names.last == "*" {
                try addAll(PropertyPath(components: Array(path.components.dropLast())), table, schema)
            } else {
                try add(path, Base([], table), schema)
            }
        }
    }

    /// All changes of objects on the first `depth` levels of links. The rows of the result are the first level.
    package init(depth: Int, table: TableID, _ schema: DatabaseSchema) {
        columns = .all
        guard depth > 1 else { return }
        let plain = Reach(from: table, depth: depth, schema, followsAny: false)
        if !plain.links.isEmpty { reach = plain }
        let any = Reach(from: table, depth: depth, schema, followsAny: true)
        if !any.anyLinkProperties.isEmpty { anyReach = any }
    }

    /// True if the changes touch a type that matters.
    package func touches(_ changes: ChangeSet, table: TableID) -> Bool {
        changes.touches(table: table)
            || routes.contains { route in route.steps.contains { changes.touches(table: $0.target) } }
            || reach.map { $0.links.contains { changes.touches(table: $0.target) } } ?? false
            // `AnyRealmValue` values can link to objects in all tables.
            || anyReach != nil
    }

    /// True if there are no dependencies.
    package var isEmpty: Bool { columns.isEmpty && routes.isEmpty && reach == nil && anyReach == nil }

    private mutating func add(_ steps: [PathStep], _ columns: ColumnSet) {
        guard !steps.isEmpty else {
            self.columns.formUnion(columns)
            return
        }
        if let position = routes.firstIndex(where: { $0.steps == steps }) {
            routes[position].columns.formUnion(columns)
        } else {
            routes.append(Route(steps: steps, columns: columns))
        }
    }

    /// The start of the paths of a condition: the steps from the rows of the result to the objects of the condition.
    private struct Base {
        let steps: [PathStep]
        /// Nil for values, which have no properties.
        let table: TableID?
        /// The bases of the enclosing conditions, with the outermost first.
        let enclosing: [Base]

        init(_ steps: [PathStep], _ table: TableID?, within enclosing: [Base] = []) {
            self.steps = steps
            self.table = table
            self.enclosing = enclosing
        }
    }

    private mutating func add(
        _ path: PropertyPath, _ base: Base, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        guard let table = base.table else { return }
        let resolved = try ResolvedPath(path, from: table, in: schema)
        let steps = base.steps + resolved.steps
        addSteps(steps, schema)
        guard let end = resolved.end else { return }
        let property = schema[end.table].type.properties[end.property]
        if case .linkingObjects? = ResolvedPath.step(property, of: end.table, in: schema),
            let step = ResolvedPath.step(property, of: end.table, in: schema)
        {
            addSteps(steps + [step], schema)
        } else {
            add(steps, ColumnSet(end.property))
        }
    }

    /// Adds all properties of the type at the end of `path`, including its linking objects.
    private mutating func addAll(
        _ path: PropertyPath, _ table: TableID, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        var (steps, level) = ([PathStep](), table)
        if !path.names.isEmpty {
            let resolved = try ResolvedPath(path, from: table, in: schema)
            steps = resolved.steps
            if let end = resolved.end {
                let property = schema[end.table].type.properties[end.property]
                guard let step = ResolvedPath.step(property, of: end.table, in: schema) else { return }
                steps.append(step)
            }
            level = steps.last?.target ?? table
        }
        addSteps(steps, schema)
        add(steps, .all)
        for property in schema[level].type.properties {
            if case .linkingObjects? = ResolvedPath.step(property, of: level, in: schema),
                let inverse = ResolvedPath.step(property, of: level, in: schema)
            {
                addSteps(steps + [inverse], schema)
            }
        }
    }

    // Adds every link of the path, because each link can change. For linking objects through a collection, no column is
    // added, because `ChangeSet.changedTargets` contains the rows to which the collection gained or lost links.
    private mutating func addSteps(_ steps: [PathStep], _ schema: DatabaseSchema) {
        for (offset, step) in steps.enumerated() {
            switch step {
            case .link(_, let property, _), .collection(_, let property, _), .anyLink(_, let property, _):
                add(Array(steps[..<offset]), ColumnSet(property))
            case .linkingObjects(_, let origin, let property):
                let isCollection = schema[origin].type.properties[property].isCollection
                add(Array(steps[...offset]), isCollection ? ColumnSet() : ColumnSet(property))
            }
        }
    }

    private mutating func add(
        _ predicate: Predicate, _ base: Base, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        switch predicate {
        case .constant, .element: break
        case .and(let parts), .or(let parts): for part in parts { try add(part, base, schema) }
        case .not(let part), .someNot(let part): try add(part, base, schema)
        case .comparison(let left, _, let right), .text(let left, _, let right, _):
            try add(left, base, schema)
            try add(right, base, schema)
        case .contained(let operand, _, _): try add(operand, base, schema)
        case .range(let operand, let lower, let upper, _):
            for part in [operand, lower, upper] { try add(part, base, schema) }
        case .isRow(let path, _), .fullText(let path, _): try add(path, base, schema)
        case .exists(let path, let condition): try add(path, condition, base, schema)
        }
    }

    private mutating func add(
        _ operand: Predicate.Operand, _ base: Base, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        switch operand {
        case .value: break
        case .path(let path), .count(let path), .kind(let path), .aggregate(_, let path): try add(path, base, schema)
        case .matching(let path, let condition): try add(path, condition, base, schema)
        case .matchingShared(let condition): try add(condition, base, schema)
        case .outer(let level, let operand):
            guard level >= 1, level <= base.enclosing.count else { return }
            try add(operand, base.enclosing[base.enclosing.count - level], schema)
        case .arithmetic(let left, _, let right):
            try add(left, base, schema)
            try add(right, base, schema)
        }
    }

    // Adds a condition on the elements of a collection. The condition can refer to the owner of the collection.
    private mutating func add(
        _ collection: PropertyPath, _ condition: Predicate, _ base: Base, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        try add(collection, base, schema)
        guard let table = base.table else { return }
        let resolved = try ResolvedPath(collection, from: table, in: schema)
            .enteringCollection(in: schema, componentCount: collection.components.count)
        let target = resolved.end == nil ? resolved.steps.last?.target : nil
        try add(condition, Base(base.steps + resolved.steps, target, within: base.enclosing + [base]), schema)
    }
}

extension QueryDependencies.Reach {
    /// All links, except linking objects, on the first `depth` levels. The given type is the first level.
    fileprivate init(from table: TableID, depth: Int, _ schema: DatabaseSchema, followsAny: Bool) {
        var links: [PathStep] = []
        var anyLinkProperties: Set<LinkID> = []
        var known: Set<TableID> = [table]
        var frontier = [table]
        for _ in 1..<depth {
            var next: [TableID] = []
            for current in frontier {
                for property in schema[current].type.properties {
                    if followsAny, property.isAny {
                        anyLinkProperties.insert(LinkID(table: current, property: property.index))
                        continue
                    }
                    guard let step = ResolvedPath.step(property, of: current, in: schema) else { continue }
                    if case .linkingObjects = step { continue }
                    links.append(step)
                    if known.insert(step.target).inserted { next.append(step.target) }
                }
            }
            if !anyLinkProperties.isEmpty {
                for other in schema.tables.keys.sorted() where known.insert(other).inserted { next.append(other) }
            }
            frontier = next
        }
        #if MARTLET_SEEDED_BUGS
            let depth = SeededBug.isOn(.depthTooGreat) ? depth + 1 : depth
        #endif
        self.init(links: links, anyLinkProperties: anyLinkProperties, depth: depth - 1)
    }
}
