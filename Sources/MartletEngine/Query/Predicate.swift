package import MartletSQLite

/// A condition on the rows of one object type. Typed queries and query strings both become this tree.
package indirect enum Predicate: Sendable, Equatable {
    case constant(Bool)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
    case comparison(Operand, Comparison, Operand)
    case contained(Operand, [SQLValue])
    case range(Operand, lower: SQLValue, upper: SQLValue, includesUpper: Bool)
    case text(Operand, TextMatch, SQLValue, TextOptions)
    /// The element of the path's collection, or the row itself when the path is empty, is one of these rows.
    case isRow(PropertyPath, [ObjectKey])
    /// The row is an element of a list or set of another row.
    case element(of: TableID, PropertyIndex, owner: ObjectKey)

    package enum Comparison: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    package enum TextMatch: Int64, Sendable {
        case contains, begins, ends, like, equals
    }

    package struct TextOptions: OptionSet, Sendable {
        package let rawValue: Int64
        package init(rawValue: Int64) { self.rawValue = rawValue }
        package static let caseInsensitive = TextOptions(rawValue: 1)
        package static let diacriticInsensitive = TextOptions(rawValue: 2)
    }

    package enum Operand: Sendable, Equatable {
        case value(SQLValue)
        case path(PropertyPath)
        case count(PropertyPath)
        case aggregate(Aggregate, PropertyPath)
    }

    package enum Aggregate: String, Sendable {
        case min, max, sum, average = "avg"
    }
}

/// Names of properties from an object type through its links. A collection on the way means *any* of its elements.
package struct PropertyPath: Sendable, Hashable {
    package var names: [String]

    package init(_ names: [String]) { self.names = names }

    /// The path that a text with points between the names means.
    package init(_ text: String) {
        names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    package static let itself = PropertyPath([String]())

    package func appending(_ name: String) -> PropertyPath { PropertyPath(names + [name]) }

    package var text: String { names.joined(separator: ".") }
}

/// One key of a sort.
package struct SortTerm: Sendable, Equatable {
    package let path: PropertyPath
    package let ascending: Bool

    package init(_ path: PropertyPath, ascending: Bool) {
        self.path = path
        self.ascending = ascending
    }
}

/// What a result consists of: rows of one type that match, in an order.
package struct QueryPlan: Sendable, Equatable {
    package var table: TableID
    package var predicate: Predicate?
    package var sort: [SortTerm] = []

    package init(table: TableID) { self.table = table }

    package mutating func add(_ condition: Predicate) {
        predicate = predicate.map { .and([$0, condition]) } ?? condition
    }

    /// The later sort decides first; rows it holds equal stay in the order they had.
    package mutating func add(sort terms: [SortTerm]) { sort = terms + sort }
}
