import MartletEngine

/// A query string as it is written, not yet held against a schema.
struct QuerySyntax {
    var condition: Condition
    var stages: [Stage] = []

    indirect enum Condition {
        case constant(Bool)
        case and([Condition])
        case or([Condition])
        case not(Condition)
        case comparison(Comparison)
        /// A value that is true or false.
        case value(Operand)
    }

    enum Quantifier { case any, all, none }

    struct Comparison {
        var quantifier: Quantifier?
        var left: Operand
        var relation: Relation
        var options: Predicate.TextOptions = []
        var right: Operand
        /// Where the relation stands.
        var offset: Int
    }

    enum Relation: Equatable {
        case compare(Predicate.Comparison)
        case text(Predicate.TextMatch)
        case isIn, between, words
    }

    indirect enum Operand {
        case literal(QueryLiteral, Int)
        case path(Path)
        case list([Operand], Int)
        case subquery(Path, variable: String, Condition, Int)
        case arithmetic(Operand, Predicate.Arithmetic, Operand, Int)

        var offset: Int {
            switch self {
            case .literal(_, let offset), .list(_, let offset), .subquery(_, _, _, let offset): offset
            case .arithmetic(let left, _, _, _): left.offset
            case .path(let path): path.offset
            }
        }
    }

    struct Path {
        /// Set when the path starts from the element of a subquery.
        var variable: String?
        var components: [(PropertyPath.Component, Int)] = []
        /// The number of components before a count or aggregate, and which it is.
        var function: (Function, position: Int)?
        var offset: Int
    }

    enum Function: Equatable {
        case count
        case aggregate(Predicate.Aggregate)
        /// What kind of value a value of any type is.
        case kind
    }

    enum Stage {
        case sort([(Path, ascending: Bool)])
        case distinct([Path])
        case limit(Int)
    }
}
