import MartletEngine
import MartletSQLite

/// The untyped half of a result: its plan, and the keys it was found to have at one state of its Realm.
final class ResultsStorage {
    let context: RealmContext
    let table: ObjectTable
    let plan: QueryPlan
    /// The object whose linking objects these are: with it the collection ends.
    private(set) var owner: ObjectBase?
    private var generation: UInt64
    private var stamp: UInt64 = 0
    private var all: KeySequence?
    /// The first keys, when only they were asked for.
    private var first: [ObjectKey] = []
    private var counted: Int?
    /// The last block of objects handed out by position.
    private static let firstLimit = 128
    /// What the members and their order rest on.
    private lazy var readPlaces = ReadPlace.places(plan, context)

    init(_ context: RealmContext, _ table: ObjectTable, _ plan: QueryPlan, owner: ObjectBase? = nil) {
        self.context = context
        self.table = table
        self.plan = plan
        self.owner = owner
        generation = context.generation
    }

    /// True when the Realm was invalidated, or the object these are linking objects of was deleted.
    var isInvalidated: Bool { generation != context.generation || owner?.isInvalidated == true }

    private func requireUsable() {
        context.confinement.require("a collection of '\(table.type.name)'")
        if generation != context.generation { Misuse.invalidatedResults(table.type.name) }
    }

    /// Throws `QueryFailure` when the plan cannot be carried out.
    func check() throws {
        requireUsable()
        try context.handle.read { connection in try QueryCompiler.check(plan, context.schema, connection) }
    }

    /// Traps when the plan cannot be carried out: in the background there is nobody to tell.
    func requirePossible() {
        requireUsable()
        context.read { connection in try QueryCompiler.check(plan, context.schema, connection) }
    }

    /// Takes note that the members were asked for, by those who track what they read.
    func noteRead() {
        guard context.reads.isOn, context.reads.isTracking else { return }
        for place in readPlaces { context.reads.note(place) }
        owner?.noteExistence()
    }

    // Everything known is dropped when the Realm shows something else.
    private func validate() {
        requireUsable()
        guard stamp != context.stamp else { return noteRead() }
        context.noticeTracking()
        noteRead()
        context.flushForQuery()
        stamp = context.stamp
        // What has the key of an owner that was deleted is another object.
        all = owner?.isInvalidated == true ? KeySequence() : nil
        first = []
        counted = nil
    }

    /// Puts keys in that were computed elsewhere for the state the Realm shows now.
    ///
    /// An observed result goes on living after its Realm was invalidated.
    ///
    /// - Parameter isOver: the owner was deleted; what has its key by now is another object.
    func install(_ keys: KeySequence, isOver: Bool = false) {
        if !isOver, let known = owner, known._state == .invalidated, let table = known._table, table.exists(known._key)
        {
            owner = table.object(known._key)
        }
        generation = context.generation
        stamp = context.stamp
        all = keys
        first = []
        counted = keys.count
    }

    /// Begins a loop over all objects of a type, which needs no keys beforehand; nil for other plans, where they are known
    /// already, and inside of a write, where every change would need them.
    func startWalk() -> StartedWalk? {
        context.guarded {
            validate()
            guard all == nil, plan == QueryPlan(table: plan.table), owner == nil, context.transaction == nil else {
                return nil
            }
            // It begins now, also where the Realm had nothing to show yet.
            _ = context.handle
            let walk = StartedWalk { [self] in keys }
            context.register(walk)
            return walk
        }
    }

    /// True when the keys known are those of the state the Realm shows now.
    var isCurrent: Bool { generation == context.generation && stamp == context.stamp && all != nil }

    /// All keys, in order.
    var keys: KeySequence {
        context.guarded {
            validate()
            if let all { return all }
            let found = KeySequence(run(limit: nil))
            all = found
            counted = found.count
            return found
        }
    }

    var count: Int { context.guarded { findCount() } }

    private func findCount() -> Int {
        validate()
        if let count = all?.count ?? counted { return count }
        let count = context.read { connection in
            var compiler = QueryCompiler(context.schema)
            let query = try compiler.count(plan)
            return Int(try connection.integer(query.sql, query.arguments) ?? 0)
        }
        counted = count
        return count
    }

    /// The key at a position; nil behind the end. The first few are found without the others.
    func key(at position: Int) -> ObjectKey? { context.guarded { findKey(at: position) } }

    private func findKey(at position: Int) -> ObjectKey? {
        validate()
        guard position >= 0 else { return nil }
        if let all { return position < all.count ? all[position] : nil }
        if position < Self.firstLimit {
            if first.isEmpty { first = run(limit: Self.firstLimit) }
            if position < first.count { return first[position] }
            if first.count < Self.firstLimit { return nil }
        }
        let keys = keys
        return position < keys.count ? keys[position] : nil
    }

    private func run(limit: Int?) -> [ObjectKey] {
        context.read { connection in
            var compiler = QueryCompiler(context.schema)
            let query = try compiler.keys(plan, limit: limit)
            let statement = try connection.statement(query.sql)
            statement.bind(query.arguments)
            var keys: [ObjectKey] = []
            while try statement.step() { keys.append(statement.integer(0)) }
            return keys
        }
    }

    func aggregate(_ function: Predicate.Aggregate, _ path: PropertyPath) -> SQLValue {
        context.guarded { validate() }
        if owner?.isInvalidated == true { return .null }
        if context.reads.isOn {
            for place in ReadPlace.places(path, plan.table, context) { context.noteRead(place) }
        }
        let end = aggregated(path)
        let found = context.read { connection in
            func value(inHalves: Bool) throws -> SQLValue {
                var compiler = QueryCompiler(context.schema)
                let query = try compiler.aggregate(
                    function, path, plan, inHalves: inHalves,
                    isRequired: end.map { path.components.count == 1 && !$0.property.isOptional } ?? false)
                let value = try connection.value(query.sql, query.arguments) ?? .null
                // SQLite has no NaN, which is the sum of both infinities.
                if function == .sum && value == .null || function == .average && value == .text("nan") {
                    return .real(.nan)
                }
                return value
            }
            do {
                return try value(inHalves: false)
            } catch let error as SQLiteError where error.message == "integer overflow" {
                // SQLite stops at the first sum on its way that does not fit, also where the last one would.
                return try value(inHalves: true)
            }
        }
        if let end, found != .null, !end.takes(found, from: function) {
            context.refuseDamaged(end.property.index, in: end.table)
        }
        return found
    }

    /// The property that an aggregate is over.
    private struct Aggregated {
        let table: TableID
        let property: PropertySchema

        /// False for what only a damaged value makes.
        func takes(_ found: SQLValue, from function: Predicate.Aggregate) -> Bool {
            guard function.isArithmetic else { return property.element.fits(found) }
            if case .text = found { return false }
            return true
        }
    }

    private func aggregated(_ path: PropertyPath) -> Aggregated? {
        guard let end = try? ResolvedPath(path, from: table.id, in: context.schema).end else { return nil }
        return Aggregated(table: end.table, property: context.schema[end.table].type.properties[end.property])
    }

    func object(at position: Int) -> ObjectBase? { key(at: position).map { table.object($0) } }

    func adding(_ change: (inout QueryPlan) -> Void) -> ResultsStorage {
        var plan = plan
        change(&plan)
        return ResultsStorage(context, table, plan, owner: owner)
    }
}
