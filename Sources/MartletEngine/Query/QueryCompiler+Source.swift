import MartletSQLite
import MartletValues

// The FROM clause of a plan.
extension QueryCompiler {
    /// The rows of a plan, under the alias `t`.
    struct MemberRows {
        let tables: String
        let key: String
        /// The expression that orders the rows if the plan has no sort.
        let position: String
    }

    mutating func rows(_ plan: QueryPlan) -> MemberRows {
        let layout = schema[plan.table].layout
        let key = "t.\(layout.keyColumn)"
        guard let source = plan.source else {
            return MemberRows(tables: "\(layout.table) t", key: key, position: key)
        }
        return MemberRows(
            tables: "(\(rows(source))) s CROSS JOIN \(layout.table) t ON \(key) = s.v", key: key, position: "s.i")
    }

    /// Selects all keys of a source, in order.
    mutating func members(_ source: QueryPlan.Source) -> Query {
        let rows = rows(source)
        return finish("SELECT v FROM (\(rows)) ORDER BY i")
    }

    // SQL for the keys of a source in the column `v`, and their positions in the column `i`.
    private mutating func rows(_ source: QueryPlan.Source) -> String {
        switch source {
        case .elements(let id):
            let type = schema[id.table].type.properties[id.property]
            let chunks = schema[id.table].layout.collection(of: id.property).chunkTable
            // A map stores its keys and values alternately.
            let position = type.kind == .map ? "2 * e.rowid + 1" : "e.rowid"
            return
                "SELECT e.v AS v, c.start + \(position) AS i FROM (SELECT elements, count, "
                + "sum(count) OVER (ORDER BY ordinal) - count AS start FROM \(chunks) "
                + "WHERE owner = \(bind(.integer(id.owner)))) c "
                + "CROSS JOIN martlet_elements(c.elements, c.count, \(type.kind == .map ? 1 : 0)) e"
        case .linkingObjects(let link, let target):
            let targets = schema[link.table].layout.collection(of: link.property).targetTable ?? ""
            let counted =
                "SELECT owner, count, sum(count) OVER (ORDER BY owner) - count AS start FROM \(targets) "
                + "WHERE target = \(bind(.integer(target)))"
            // Few rows link to the target more than once, so a second SELECT adds their repetitions.
            return
                "SELECT owner AS v, start AS i FROM (\(counted)) "
                + "UNION ALL SELECT c.owner, c.start + e.n + 1 FROM (\(counted)) c "
                + "CROSS JOIN martlet_times(c.count - 1) e WHERE c.count <> 1"
        }
    }

    /// SQL that counts the members of a plan without reading their rows. This is possible if the plan consists of all
    /// linking objects of a row, without a condition. Returns nil for other plans. The SQL computes a negative count if
    /// the file is damaged.
    mutating func countOfLinkingObjects(_ plan: QueryPlan) -> String? {
        guard case .linkingObjects(let link, let target) = plan.source, plan.predicate == nil, plan.stages.isEmpty
        else {
            return nil
        }
        let targets = schema[link.table].layout.collection(of: link.property).targetTable ?? ""
        return "SELECT CASE WHEN min(count) < 1 THEN -1 ELSE ifnull(sum(count), 0) END FROM \(targets) "
            + "WHERE target = \(bind(.integer(target)))"
    }

    // MARK: Aggregates of all members

    /// SQL for an aggregate of all members. A sum of NULL represents NaN. A mean of 'nan' also represents NaN, because
    /// a mean of NULL means that there are no values.
    static func memberAggregate(_ function: Predicate.Aggregate, _ term: QueryTerm, usesWideSum: Bool) -> String {
        guard function.isArithmetic, term.kind == .number else { return aggregate(function, term) }
        if term.isWhole {
            let sum = usesWideSum ? wideSum(term) : "sum(\(term.sql))"
            return function == .sum ? "ifnull(\(sum), 0)" : mean(sum, term)
        }
        if function == .sum { return aggregate(.sum, term) }
        return "ifnull(avg(\(term.sql)), CASE WHEN count(\(term.sql)) > 0 THEN 'nan' END)"
    }

    /// Adds checks for a damaged file to the SQL of an aggregate. The result of a sum or mean of numbers is the text
    /// 'damaged' if a member has a value of another type, which SQLite would convert to a number. The result is also
    /// 'damaged' if a required whole number is missing.
    static func checked(
        _ aggregate: String, _ function: Predicate.Aggregate, _ term: QueryTerm, usesWideSum: Bool, isRequired: Bool
    ) -> String {
        guard function.isArithmetic, term.kind == .number else { return aggregate }
        // In SQLite's order, texts and blobs are greater than all numbers.
        var damageConditions = ["typeof(max(\(term.sql))) IN ('text', 'blob')"]
        if term.isWhole && !usesWideSum { damageConditions.append("typeof(sum(\(term.sql))) = 'real'") }
        if term.isWhole && isRequired { damageConditions.append("count(*) > count(\(term.sql))") }
        return "CASE WHEN \(damageConditions.joined(separator: " OR ")) THEN 'damaged' ELSE \(aggregate) END"
    }

    /// SQL for the mean of whole numbers, computed from their exact sum.
    static func mean(_ sum: String, _ term: QueryTerm) -> String {
        "CAST(\(sum) AS REAL) / nullif(count(\(term.sql)), 0)"
    }

    /// SQL for the least or greatest value among `AnyRealmValue` values.
    static func extremum(_ function: Predicate.Aggregate, _ term: QueryTerm, from members: String) -> String {
        let key = "martlet_sort_key(\(term.sql))"
        return
            "SELECT v FROM (SELECT \(term.sql) AS v, \(key) AS k FROM \(members)) "
            + "WHERE k >= \(SQLText.literal(AnyValue.leastKey)) "
            + "ORDER BY k\(function == .max ? " DESC" : "") LIMIT 1"
    }
}
