/// One term of a sort.
package struct SortTerm: Sendable, Hashable {
    package let path: PropertyPath
    package let ascending: Bool

    package init(_ path: PropertyPath, ascending: Bool) {
        self.path = path
        self.ascending = ascending
    }
}

/// The definition of a result: the rows of one type that match the predicate, their order, and the stages that are
/// applied to these rows.
package struct QueryPlan: Sendable, Equatable {
    /// A step that is applied to the ordered members of the previous step.
    package enum Stage: Sendable, Equatable {
        case filter(Predicate)
        case sort([SortTerm])
        /// Of the members that have equal values at all of these paths, keeps only the first.
        case distinct([PropertyPath])
        case limit(Int, offset: Int)
    }

    /// A source of members that replaces the whole table. A row is a member once for each of its occurrences in the
    /// source. The members have the order of the source.
    package enum Source: Sendable, Equatable {
        /// The objects in a list or map.
        case elements(CollectionID)
        /// The rows whose lists or maps link to a target row. Each row occurs once for each of its links to the target.
        /// The rows are in the order of their keys.
        case linkingObjects(LinkID, target: ObjectKey)
    }

    package var table: TableID
    /// The source of the members. If it is nil, the members are all rows of the table, in the order of their keys.
    package var source: Source?
    package var predicate: Predicate?
    package var sort: [SortTerm] = []
    /// The stages, in the order in which they were added.
    package var stages: [Stage] = []

    package init(table: TableID, source: Source? = nil) {
        self.table = table
        self.source = source
    }

    package mutating func add(_ condition: Predicate) {
        guard stages.isEmpty else { return stages.append(.filter(condition)) }
        predicate = predicate.map { .and($0.conjuncts + condition.conjuncts) } ?? condition
    }

    /// Adds a sort, which takes precedence over earlier sorts. Rows that the new sort considers equal keep their
    /// previous order.
    package mutating func add(sort terms: [SortTerm]) {
        guard stages.isEmpty else { return stages.append(.sort(terms)) }
        sort = terms + sort
    }

    package mutating func add(_ stage: Stage) { stages.append(stage) }

    /// True if the members are in the order of their keys.
    package var isInKeyOrder: Bool {
        if case .elements = source { return false }
        return sort.isEmpty && !stages.contains { if case .sort = $0 { true } else { false } }
    }

    /// The conditions of the plan and of its stages.
    var conditions: [Predicate] {
        (predicate.map { [$0] } ?? [])
            + stages.compactMap { if case .filter(let condition) = $0 { condition } else { nil } }
    }

    /// The collections that the plan names: the source, and the collections of its `.element` conditions.
    package var collections: [CollectionID] {
        let filtered = conditions.flatMap { Self.collections($0) }
        if case .elements(let id) = source { return [id] + filtered }
        return filtered
    }

    private static func collections(_ predicate: Predicate) -> [CollectionID] {
        switch predicate {
        case .element(let table, let property, let owner):
            [CollectionID(table: table, property: property, owner: owner)]
        case .and(let parts), .or(let parts): parts.flatMap { collections($0) }
        case .not(let part), .someNot(let part): collections(part)
        default: []
        }
    }

    /// The paths whose values determine the positions of the members, or which members `distinct` keeps.
    var orderingPaths: [PropertyPath] {
        sort.map(\.path)
            + stages.flatMap { stage -> [PropertyPath] in
                switch stage {
                case .sort(let terms): terms.map(\.path)
                case .distinct(let paths): paths
                case .filter, .limit: []
                }
            }
    }
}
