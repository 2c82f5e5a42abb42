import MartletSQLite
import MartletValues

// The members of a plan without a sort are in the order of their keys. SQLite can find them in two ways. It can read
// all rows in the order of the keys until there are enough members. Or it can find the rows that satisfy the conditions
// on indexed properties, and sort their keys. SQLite has no statistics. If a condition is a range of an index, SQLite
// always reads all rows, even if few rows match. If a plan is sorted by an indexed property, SQLite reads all rows in
// the order of that index.
extension QueryRunner {
    /// True if few rows satisfy the conditions on indexed properties. Finding these rows with the index, and sorting
    /// them, is then the faster way.
    ///
    /// - Parameter limit: the number of members that are needed; nil if all are needed.
    func prefersIndex(limit: Int?, _ connection: Connection) throws -> Bool {
        guard plan.source == nil, plan.stages.allSatisfy(\.isLimit) else { return false }
        let type = schema[plan.table].type
        // If the plan is sorted by a property without an index, SQLite itself finds the rows with an index before it
        // sorts them.
        if let first = plan.sort.first, !first.path.isIndexed(type) { return false }
        let conditions = (plan.predicate?.conjuncts ?? []).filter { $0.isRangeOfIndex(type, schema) }
        guard !conditions.isEmpty else { return false }
        // Because of these limits, counting costs at most a few percent of the time to read all rows. If many rows
        // match, and only some members are needed, SQLite soon finds these members. Counting must not take longer than
        // that, so the limit is lower.
        let most = limit == nil ? max(Self.leastCount, (rowCount ?? 0) / 16) : Self.leastCount
        var probe = QueryPlan(table: plan.table)
        probe.predicate = conditions.count == 1 ? conditions[0] : .and(conditions)
        let power = Int.bitWidth - (most - 1).leadingZeroBitCount
        return try QueryRunner(probe, schema, compiled).hasFewer(than: 1 << power, connection)
    }

    private static let leastCount = 512

    private func hasFewer(than count: Int, _ connection: Connection) throws -> Bool {
        let statement = try statement(.hasRow(at: count), connection) { try $0.row(at: count, plan) }
        defer { statement.reset() }
        return try !statement.step()
    }
}

extension QueryPlan.Stage {
    fileprivate var isLimit: Bool { if case .limit = self { true } else { false } }
}

extension Predicate {
    /// True if the rows that satisfy the condition form one or several ranges of an index, and are not in the order of
    /// the keys in this index. Returns false for a condition on one value of an index, because the rows with this value
    /// are in the order of the keys.
    fileprivate func isRangeOfIndex(_ type: ObjectTypeSchema, _ schema: DatabaseSchema) -> Bool {
        switch self {
        case .comparison(.path(let path), let comparison, .value(let value)):
            guard value != .null else { return false }
            if path.components.count > 1 {
                return comparison == .equal && QueryCompiler.isIndexedLink(path, type.name, schema)
            }
            return comparison != .equal && comparison != .notEqual && path.isIndexed(type)
        case .range(.path(let path), .value, .value, _): return path.isIndexed(type)
        case .contained(.path(let path), let values, let options):
            return options.isEmpty && values.count > 1 && path.isIndexed(type)
        case .text(.path(let path), .begins, .value, let options): return options.isEmpty && path.isIndexed(type)
        case .or(let parts):
            return parts.allSatisfy { part in
                if case .comparison(.path(let path), .equal, .value(let value)) = part, value != .null,
                    path.isIndexed(type)
                {
                    return true
                }
                return part.isRangeOfIndex(type, schema)
            }
        default: return false
        }
    }
}

extension PropertyPath {
    /// True if the path is a property with an index that comparisons and sorts use. Returns false for an integer
    /// primary key, because it is the key of the rows.
    func isIndexed(_ type: ObjectTypeSchema) -> Bool {
        guard components.count == 1, case .property(let name) = components[0], let property = type[name],
            property.isColumn, !property.isAny, property.element != .scalar(.decimal128)
        else { return false }
        if property.index == type.primaryKey { return !type.hasIntegerKey }
        return type.isFirstInIndex(property.index)
    }
}
