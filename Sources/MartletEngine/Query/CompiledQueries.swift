package import MartletSQLite
import MartletValues

/// The compiled SQL of frequent queries of one type. Queries of the same form share the SQL. Without this cache,
/// compiling a query could take longer than running it.
///
/// Thread safety: a `RowStore` owns each instance, and the rules of `RowStore` also apply to the instance.
package final class CompiledQueries {
    private struct Compiled {
        let sql: String
        var statement: Statement?
    }

    private var known: [QueryForm: Compiled] = [:]
    /// The forms that `check` has accepted.
    private var checked: Set<QueryForm> = []
    private static let limit = 256

    func releaseStatements() {
        for form in known.keys { known[form]?.statement = nil }
    }

    /// The statement of a form; nil if the SQL of the form is not stored.
    func statement(_ form: QueryForm, _ connection: Connection) throws -> Statement? {
        guard let compiled = known[form] else { return nil }
        if let statement = compiled.statement, statement.belongs(to: connection) { return statement }
        let statement = try connection.statement(compiled.sql)
        known[form]?.statement = statement
        return statement
    }

    /// Calls `QueryCompiler.check`, except for a form that was already accepted.
    package func check(_ plan: QueryPlan, _ schema: DatabaseSchema, _ connection: Connection) throws {
        let form = QueryForm.of(plan, .keys(limit: nil, isReversed: false, usesIndex: false))?.form
        if let form, checked.contains(form) { return }
        try QueryCompiler.check(plan, schema, connection)
        guard let form else { return }
        if checked.count >= Self.limit { checked = [] }
        checked.insert(form)
    }

    /// Stores the SQL of a form. Does nothing if the arguments of the query differ from the values of the form.
    func insert(_ form: QueryForm, _ values: [SQLValue], _ query: QueryCompiler.Query) {
        guard query.arguments == values else { return }
        if known.count >= Self.limit { known = [:] }
        known[form] = Compiled(sql: query.sql)
    }
}

/// Everything that determines the SQL of a plan. The values of the parameters are not included, because they do not
/// change the SQL. Only plans that compare properties of their rows with values have a form.
struct QueryForm: Hashable {
    enum Selection: Hashable {
        case keys(limit: Int?, isReversed: Bool, usesIndex: Bool)
        case count
        case aggregate(Predicate.Aggregate, PropertyPath, isRequired: Bool, usesWideSum: Bool)
        /// Tests whether the plan has more than this number of members.
        case hasRow(at: Int)
    }

    /// The storage class of a value, on which the SQL of a comparison depends.
    private enum ValueKind: UInt8 {
        case integer, real, text, blob
    }

    private enum Condition: Hashable {
        case comparison(PropertyPath, Predicate.Comparison, ValueKind)
        case range(PropertyPath, ValueKind, ValueKind, includesUpper: Bool)
        /// The path ends at a given row.
        case isRow(PropertyPath)
    }

    private let selection: Selection
    private let conditions: [Condition]
    private let sort: [SortTerm]

    /// The form of a plan, and the values of its parameters. Nil if the plan has no form.
    static func of(_ plan: QueryPlan, _ selection: Selection) -> (form: QueryForm, values: [SQLValue])? {
        guard plan.source == nil, plan.stages.isEmpty else { return nil }
        var conditions: [Condition] = []
        var values: [SQLValue] = []
        for condition in plan.predicate?.conjuncts ?? [] {
            switch condition {
            case .comparison(.path(let path), let comparison, .value(let value)):
                guard path.components.count == 1, let kind = kind(of: value) else { return nil }
                conditions.append(.comparison(path, comparison, kind))
                values.append(value)
            case .range(.path(let path), .value(let lower), .value(let upper), let includesUpper):
                guard path.components.count == 1, let low = kind(of: lower), let high = kind(of: upper) else {
                    return nil
                }
                conditions.append(.range(path, low, high, includesUpper: includesUpper))
                values += [lower, upper]
            case .isRow(let path, let keys):
                guard keys.count == 1 else { return nil }
                conditions.append(.isRow(path))
                values.append(.integer(keys[0]))
            default: return nil
            }
        }
        return (QueryForm(selection: selection, conditions: conditions, sort: plan.sort), values)
    }

    // A comparison with nil or NaN has no parameter.
    private static func kind(of value: SQLValue) -> ValueKind? {
        switch value {
        case .null: nil
        case .integer: .integer
        case .real(let number): number.isNaN ? nil : .real
        case .text: .text
        case .blob: .blob
        }
    }
}
