/// One key of a sort.
package struct SortTerm: Sendable, Equatable {
    package let path: PropertyPath
    package let ascending: Bool

    package init(_ path: PropertyPath, ascending: Bool) {
        self.path = path
        self.ascending = ascending
    }
}

/// What a result consists of: rows of one type that match, in an order, and what is done with these afterwards.
package struct QueryPlan: Sendable, Equatable {
    /// A step that needs the members before it in their order.
    package enum Stage: Sendable, Equatable {
        case filter(Predicate)
        case sort([SortTerm])
        /// Of members equal in all of these only the first stays.
        case distinct([PropertyPath])
        case limit(Int, offset: Int)
    }

    /// What the members are taken from where that is not the table: each row as often as it occurs there, in that order.
    package enum Source: Sendable, Equatable {
        /// The objects in a list or map.
        case elements(CollectionID)
        /// The rows whose lists or maps link to a row, once for each link, in the order of their keys.
        case origins(LinkID, target: ObjectKey)
    }

    package var table: TableID
    /// Nil for all rows of the table, in the order of their keys.
    package var source: Source?
    package var predicate: Predicate?
    package var sort: [SortTerm] = []
    /// In the order they were asked for.
    package var stages: [Stage] = []

    package init(table: TableID, source: Source? = nil) {
        self.table = table
        self.source = source
    }

    package mutating func add(_ condition: Predicate) {
        guard stages.isEmpty else { return stages.append(.filter(condition)) }
        predicate = predicate.map { .and($0.conjuncts + condition.conjuncts) } ?? condition
    }

    /// The later sort decides first; rows it holds equal stay in the order they had.
    package mutating func add(sort terms: [SortTerm]) {
        guard stages.isEmpty else { return stages.append(.sort(terms)) }
        sort = terms + sort
    }

    package mutating func add(_ stage: Stage) { stages.append(stage) }

    /// True when members are in the order of their keys.
    package var isInKeyOrder: Bool {
        if case .elements = source { return false }
        return sort.isEmpty && !stages.contains { if case .sort = $0 { true } else { false } }
    }

    /// All conditions, wherever they stand.
    var conditions: [Predicate] {
        (predicate.map { [$0] } ?? [])
            + stages.compactMap { if case .filter(let condition) = $0 { condition } else { nil } }
    }

    /// Collections whose elements the members are to be.
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

    /// What decides on places and on which of equal members stay.
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
