import MartletEngine

/// A parsed query string whose names are not yet resolved.
struct QuerySyntax {
    var condition: Condition
    var stages: [Stage] = []

    indirect enum Condition {
        case constant(Bool)
        case and([Condition])
        case or([Condition])
        case not(Condition)
        case comparison(Comparison)
        /// An operand that is used as a condition, such as a Boolean property.
        case value(Operand)
    }

    enum Quantifier { case any, all, none }

    struct Comparison {
        var quantifier: Quantifier?
        var left: Operand
        var relation: Relation
        var options: Predicate.TextOptions = []
        var right: Operand
        /// The position of the relation in the text, in UTF-8 bytes.
        var offset: Int
    }

    enum Relation: Equatable {
        case compare(Predicate.Comparison)
        case text(Predicate.TextMatch)
        case isIn, between, fullText
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
        /// The variable of the subquery at which the path starts; nil if the path starts at the queried object.
        var variable: String?
        var components: [(PropertyPath.Component, Int)] = []
        /// The function in the path (count, aggregate or kind), with the number of components before it.
        var function: (Function, position: Int)?
        var offset: Int
    }

    enum Function: Equatable {
        case count
        case aggregate(Predicate.Aggregate)
        /// The kind of an `AnyRealmValue`.
        case kind
    }

    enum Stage {
        case sort([(Path, ascending: Bool)])
        case distinct([Path])
        case limit(Int)
    }
}
