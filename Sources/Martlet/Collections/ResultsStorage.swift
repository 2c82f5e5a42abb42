import MartletEngine
import MartletValues

/// The untyped part of a result: its plan, and its keys at one state of its Realm.
final class ResultsStorage {
    let context: RealmContext
    let table: ObjectTable
    let plan: QueryPlan
    /// The owner of linking objects or elements. The result is empty after the owner was deleted.
    private(set) var owner: ObjectBase?
    private var generation: UInt64
    private var changeCount: UInt64 = 0
    private var all: KeySequence?
    /// The first keys, if only they were requested.
    private var first: [ObjectKey] = []
    private var counted: Int?
    /// The number of keys that are read if only the first ones are requested.
    private static let firstLimit = 128
    /// The rows and columns on which the members and their order depend.
    private lazy var readPlaces = ReadPlace.places(plan, context)

    init(_ context: RealmContext, _ table: ObjectTable, _ plan: QueryPlan, owner: ObjectBase? = nil) {
        self.context = context
        self.table = table
        self.plan = plan
        self.owner = owner
        generation = context.generation
    }

    /// True after the Realm was invalidated or the owner was deleted.
    var isInvalidated: Bool { generation != context.generation || owner?.isInvalidated == true }

    private func requireUsable() {
        context.confinement.require("a collection of '\(table.type.name)'")
        if generation != context.generation { Misuse.invalidatedResults(table.type.name) }
    }

    /// Throws `QueryFailure` if the query of the plan cannot be executed.
    func check() throws {
        requireUsable()
        try context.handle.read { connection in try QueryCompiler.check(plan, context.schema, connection) }
    }

    /// Traps if the query of the plan cannot be executed. Called before the query runs in the background, where it
    /// could not report the error.
    func requireExecutable() {
        requireUsable()
        context.read { connection in try QueryCompiler.check(plan, context.schema, connection) }
    }

    /// Records the read if reads are tracked.
    func noteRead() {
        guard context.reads.isOn, context.reads.isTracking else { return }
        for place in readPlaces { context.reads.note(place) }
        owner?.noteExistence()
    }

    // Discards the keys if the state of the Realm has changed.
    private func validate() {
        requireUsable()
        guard changeCount != context.changeCount else { return noteRead() }
        context.trackReadsIfObserved()
        noteRead()
        context.flushForQuery()
        changeCount = context.changeCount
        // Another object may have the key of a deleted owner by now.
        all = owner?.isInvalidated == true ? KeySequence() : nil
        first = []
        counted = nil
    }

    /// Installs keys that were computed by an observer for the state that the Realm shows now.
    ///
    /// An observed result remains usable after its Realm was invalidated.
    ///
    /// - Parameter isOver: true if the owner was deleted. Another object may have its key by now.
    func install(_ keys: KeySequence, isOver: Bool = false) {
        if !isOver, let known = owner, known._state == .invalidated, let table = known._table, table.exists(known._key)
        {
            owner = table.object(known._key)
        }
        generation = context.generation
        changeCount = context.changeCount
        all = keys
        first = []
        counted = keys.count
    }

    /// Creates a cursor, which iterates over all objects of a type without reading keys in advance. Nil for other
    /// plans, if the keys are already known, and in a write, where every change would make the cursor read the keys.
    func makeCursor() -> LazyCursor? {
        context.withFrozenLock {
            validate()
            guard all == nil, plan == QueryPlan(table: plan.table), owner == nil, context.transaction == nil else {
                return nil
            }
            // The iteration starts at this version. Reading `handle` opens a snapshot if the Realm has none.
            _ = context.handle
            let cursor = LazyCursor { [self] in keys }
            context.register(cursor)
            return cursor
        }
    }

    /// Whether the known keys are those of the state that the Realm shows now.
    var isCurrent: Bool { generation == context.generation && changeCount == context.changeCount && all != nil }

    /// All keys, in order.
    var keys: KeySequence {
        context.withFrozenLock {
            validate()
            if let all { return all }
            let found = KeySequence(run(limit: nil))
            all = found
            counted = found.count
            return found
        }
    }

    var count: Int { context.withFrozenLock { findCount() } }

    private func findCount() -> Int {
        validate()
        if let count = all?.count ?? counted { return count }
        let count = context.read { try QueryRunner(plan, context.schema).count($0) }
        counted = count
        return count
    }

    /// The key at a position; nil after the end. The first keys are read without the others.
    func key(at position: Int) -> ObjectKey? { context.withFrozenLock { findKey(at: position) } }

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
        context.read { try QueryRunner(plan, context.schema).keys(limit: limit, $0) }
    }

    func aggregate(_ function: Predicate.Aggregate, _ path: PropertyPath) -> SQLValue {
        context.withFrozenLock { validate() }
        if owner?.isInvalidated == true { return .null }
        if context.reads.isOn {
            for place in ReadPlace.places(path, plan.table, context) { context.noteRead(place) }
        }
        let end = aggregated(path)
        let isRequired = end.map { path.components.count == 1 && !$0.property.isOptional } ?? false
        let found = context.read {
            try QueryRunner(plan, context.schema).aggregate(function, path, isRequired: isRequired, $0)
        }
        if let end, found != .null, !end.accepts(found, from: function) {
            context.refuseDamaged(end.property.index, in: end.table)
        }
        return found
    }

    /// The property that is aggregated.
    private struct Aggregated {
        let table: TableID
        let property: PropertySchema

        /// False for a result that only a damaged value can produce.
        func accepts(_ found: SQLValue, from function: Predicate.Aggregate) -> Bool {
            guard function.isArithmetic else { return property.element.accepts(found) }
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
