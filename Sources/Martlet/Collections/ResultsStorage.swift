import MartletEngine
import MartletValues

/// The part of a result that does not depend on its element type: the query plan, and the keys of the members at one
/// state of the Realm.
final class ResultsStorage {
    let context: RealmContext
    let table: ObjectTable
    let plan: QueryPlan
    /// The name of the subscription to which the result belongs. Nil if the result belongs to no subscription.
    /// `.some(nil)` if the subscription has no name.
    var subscriptionName: String??
    /// The object whose linking objects or elements the result contains; nil for every other result. The result is
    /// empty after the owner was deleted.
    private(set) var owner: ObjectBase?
    /// The generation of the Realm when the result was created or its keys were installed. The generation changes when
    /// the Realm is invalidated, and the result can then no longer be used.
    private var generation: UInt64
    /// The change count of the Realm at the state to which the keys belong.
    private var changeCount: UInt64 = 0
    private var known = KnownMembers()
    /// Identifies the linking objects of an owner; nil for every other result.
    private let linking: LinkingAnswers.ID?
    private var readAhead = ReadAhead()
    /// The number of keys that are read when one of the first or last keys is requested.
    static let firstLimit = 128
    /// The rows and columns on which the members and their order depend.
    private lazy var readDependencies = ReadDependency.dependencies(of: plan, context)
    /// True if the members and their order depend only on rows of the type of the result.
    private lazy var readsOnlyItsType = isIndependentOfOtherTypes()

    init(
        _ context: RealmContext, _ table: ObjectTable, _ plan: QueryPlan, owner: ObjectBase? = nil,
        linking: LinkingAnswers.ID? = nil
    ) {
        self.context = context
        self.table = table
        self.plan = plan
        self.owner = owner
        self.linking = linking
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
        try context.withFrozenLock {
            try context.handle.read { try table.rows.compiledQueries.check(plan, context.schema, $0) }
        }
    }

    /// Traps if the query of the plan cannot be executed. Called before the query runs in the background, where the
    /// error could not be reported.
    func requireExecutable() {
        requireUsable()
        context.withFrozenLock {
            context.read { try table.rows.compiledQueries.check(plan, context.schema, $0) }
        }
    }

    /// Records the read if reads are tracked.
    func recordRead() {
        guard context.reads.isOn, context.reads.isTracking else { return }
        for dependency in readDependencies { context.reads.record(dependency) }
        owner?.recordExistenceRead()
    }

    private func isIndependentOfOtherTypes() -> Bool {
        guard owner == nil, plan.source == nil, plan.collections.isEmpty,
            let dependencies = try? QueryDependencies(plan, context.schema)
        else { return false }
        return dependencies.routes.isEmpty && dependencies.reach == nil && dependencies.anyReach == nil
    }

    // Discards the keys if the state of the Realm has changed.
    private func validate() {
        requireUsable()
        guard changeCount != context.changeCount else { return recordRead() }
        context.trackReadsIfObserved()
        recordRead()
        if changeCount > 0, readsOnlyItsType, context.isUnchanged(table, since: changeCount) {
            changeCount = context.changeCount
            return
        }
        context.flushForQuery()
        changeCount = context.changeCount
        // If the owner was deleted, its key may belong to another object, so its linking objects are not looked up.
        known = KnownMembers()
        if owner?.isInvalidated == true {
            known.allKeys = KeySequence()
        } else if let linking, let members = owner?._table?.linkingAnswers.members(linking, at: changeCount) {
            known = members
        }
    }

    // Called after the members, or some of them, were found.
    private func remember() {
        if let linking { owner?._table?.linkingAnswers.insert(known, linking, at: changeCount) }
    }

    /// Prepares a read, as a read of the keys does: traps if the result cannot be used, writes pending changes to the
    /// file, and records the read.
    func prepare() { context.withFrozenLock { validate() } }

    /// Installs keys that were computed for an observer. They must match the state that the Realm shows now.
    ///
    /// If the Realm was invalidated before, the observed result becomes usable again.
    ///
    /// - Parameter ownerIsDeleted: true if the owner was deleted. The owner's key is then not looked up, because it may
    ///   belong to another object.
    func install(_ keys: KeySequence, ownerIsDeleted: Bool = false) {
        if !ownerIsDeleted, let object = owner, object._state == .invalidated, let table = object._table,
            table.exists(object._key)
        {
            owner = table.object(object._key)
        }
        generation = context.generation
        changeCount = context.changeCount
        known = KnownMembers(allKeys: keys, count: keys.count)
    }

    /// Creates a cursor that iterates over all objects of a type without reading keys in advance. Returns nil for every
    /// other query, and if the keys are already known. Also returns nil inside a write, because every change in the
    /// write would make the cursor read the keys.
    func makeCursor() -> LazyCursor<KeySequence>? {
        context.withFrozenLock {
            validate()
            guard known.allKeys == nil, plan == QueryPlan(table: plan.table), owner == nil,
                context.transaction == nil
            else { return nil }
            // Pins the version that the loop iterates over: reading `handle` opens a snapshot if the Realm has none.
            _ = context.handle
            let cursor = LazyCursor { [self] in keys }
            context.register(cursor)
            return cursor
        }
    }

    /// Begins a loop that may end before it has visited all members. Reads the first keys, and creates a cursor for the
    /// other keys; the cursor is nil if there are none. The cursor reads its keys when the loop needs them, or before
    /// the Realm moves to another state.
    ///
    /// Returns nil if the keys are already known, if reading the first keys costs as much as reading all keys, or
    /// inside a write.
    func makeWindow() -> (first: [ObjectKey], cursor: LazyCursor<KeySequence>?)? {
        context.withFrozenLock {
            validate()
            let isSimple = plan.stages.isEmpty || (plan.isDistinctStream && plan.sort.isEmpty)
            guard known.allKeys == nil, isSimple, plan.source == nil, owner == nil, context.transaction == nil
            else { return nil }
            // If there is a condition, a loop over all members evaluates it twice for the first rows, so fewer keys are
            // read first.
            let limit = plan.predicate == nil && plan.stages.isEmpty ? Self.firstLimit : Self.windowLimit
            _ = context.handle
            let first = known.firstKeys.isEmpty ? run(limit: limit) : known.firstKeys
            if first.count < limit {
                known.allKeys = KeySequence(first)
                known.count = first.count
                return (first, nil)
            }
            let cursor = LazyCursor { [self] in keys }
            context.register(cursor)
            return (first, cursor)
        }
    }

    private static let windowLimit = 32

    /// True if the keys are known for the state that the Realm shows now.
    var isCurrent: Bool {
        generation == context.generation && changeCount == context.changeCount && known.allKeys != nil
    }

    /// All keys, in order.
    var keys: KeySequence {
        context.withFrozenLock {
            validate()
            if let allKeys = known.allKeys { return allKeys }
            let found = KeySequence(run(limit: nil))
            known.allKeys = found
            known.count = found.count
            remember()
            return found
        }
    }

    var count: Int { context.withFrozenLock { findCount() } }

    private func findCount() -> Int {
        validate()
        if let count = known.allKeys?.count ?? known.count { return count }
        // With `distinct`, counting the members costs as much as finding them.
        if plan.isDistinctStream { return keys.count }
        let count =
            context.fromColumns { try $0.count(plan, $1) }
            ?? context.read { try QueryRunner(plan, context.schema, table.rows.compiledQueries).count($0) }
        known.count = count
        remember()
        return count
    }

    /// The key at a position; nil if the position is out of range. If the position is below `firstLimit`, only the
    /// first keys are read.
    func key(at position: Int) -> ObjectKey? { context.withFrozenLock { findKey(at: position) } }

    private func findKey(at position: Int) -> ObjectKey? {
        validate()
        guard position >= 0 else { return nil }
        if let allKeys = known.allKeys { return position < allKeys.count ? allKeys[position] : nil }
        if position == 0, known.firstKeys.isEmpty, findsFirstFast { return findFirstKey() }
        if position < Self.firstLimit {
            if known.firstKeys.isEmpty {
                known.firstKeys = run(limit: Self.firstLimit)
                remember()
            }
            if position < known.firstKeys.count { return known.firstKeys[position] }
            if known.firstKeys.count < Self.firstLimit {
                known.allKeys = KeySequence(known.firstKeys)
                return nil
            }
        }
        if let count = known.count, plan.stages.isEmpty, plan.source == nil {
            guard position < count else { return nil }
            if count - position <= Self.firstLimit {
                readLastKeys()
                let offset = count - 1 - position
                // The count can be too large if another SQLite program has deleted rows (D27).
                if offset < known.lastKeys.count { return known.lastKeys[offset] }
            }
        }
        if let range = consecutiveKeys() {
            return position < range.count ? range.lowerBound + ObjectKey(position) : nil
        }
        let keys = keys
        return position < keys.count ? keys[position] : nil
    }

    // Programs that use `first` or `isEmpty` often need no other member. The first member is read alone only if the
    // query neither searches nor sorts rows, because a later read of other members would repeat that work.
    private var findsFirstFast: Bool {
        guard plan.sort.isEmpty, plan.stages.isEmpty || plan.isDistinctStream else { return false }
        if case .isRow? = plan.predicate { return true }
        return plan.predicate == nil
    }

    private func findFirstKey() -> ObjectKey? {
        if known.firstKey == nil {
            let first = run(limit: 1).first
            known.firstKey = first.map { .key($0) } ?? KnownMembers.FirstKey.none
            remember()
        }
        if case .key(let key)? = known.firstKey { return key }
        return nil
    }

    // The keys of all objects of a type, if they are consecutive numbers: the number of objects equals the number of
    // integers from the first key to the last key.
    private func consecutiveKeys() -> Range<ObjectKey>? {
        guard known.allKeys == nil, plan == QueryPlan(table: plan.table), owner == nil else { return nil }
        if known.keyRange == nil { known.keyRange = findKeyRange().map { .consecutive($0) } ?? .other }
        if case .consecutive(let range)? = known.keyRange { return range }
        return nil
    }

    private func findKeyRange() -> Range<ObjectKey>? {
        guard let count = context.fromColumns({ try $0.count(plan, $1) }), count > 0,
            let first = findFirstKey(), let last = run(limit: 1, isReversed: true).first, last < .max
        else { return nil }
        let (span, isBeyond) = last.subtractingReportingOverflow(first)
        return !isBeyond && span == count - 1 ? first..<(last + 1) : nil
    }

    /// True if a row is a member.
    func contains(_ key: ObjectKey) -> Bool {
        context.withFrozenLock {
            validate()
            if known.allKeys == nil, plan.stages.isEmpty, plan.source == nil, owner == nil {
                return context.read { try QueryRunner(plan, context.schema).contains(key, $0) }
            }
            return position(of: key) != nil
        }
    }

    /// The first position of a row; nil if it is not a member.
    func position(of key: ObjectKey) -> Int? {
        let range = context.withFrozenLock {
            validate()
            return consecutiveKeys()
        }
        if let range { return range.contains(key) ? Int(key - range.lowerBound) : nil }
        let keys = keys
        if plan.isInKeyOrder { return keys.positionAscending(of: key) }
        return context.withFrozenLock { known.position(of: key, in: keys) }
    }

    /// The last key; nil if there are no members.
    var lastKey: ObjectKey? {
        context.withFrozenLock {
            validate()
            if known.allKeys == nil, known.count == nil, plan.stages.isEmpty, plan.source == nil {
                readLastKeys()
                return known.lastKeys.first
            }
            return findKey(at: findCount() - 1)
        }
    }

    private func readLastKeys() {
        if !known.lastKeys.isEmpty { return }
        known.lastKeys = run(limit: Self.firstLimit, isReversed: true)
        remember()
    }

    private func run(limit: Int?, isReversed: Bool = false) -> [ObjectKey] {
        if !isReversed, let keys = context.fromColumns({ try $0.keys(plan, limit: limit, $1) }) { return keys }
        if plan.isDistinctStream, let keys = context.fromColumns({ try $0.distinctKeys(plan, limit: limit, $1) }) {
            return keys
        }
        return context.read {
            let rowCount = context.coordinator.columns.rowCount(table.id)
            return try QueryRunner(plan, context.schema, table.rows.compiledQueries, rowCount: rowCount).keys(
                limit: limit, isReversed: isReversed, $0)
        }
    }

    func aggregate(_ function: Predicate.Aggregate, _ path: PropertyPath) -> SQLValue {
        context.withFrozenLock { validate() }
        if owner?.isInvalidated == true { return .null }
        if context.reads.isOn {
            for dependency in ReadDependency.dependencies(of: path, plan.table, context) {
                context.recordRead(dependency)
            }
        }
        let end = aggregated(path)
        let isRequired = end.map { path.components.count == 1 && !$0.property.isOptional } ?? false
        let found =
            context.fromColumns { try $0.aggregate(function, path, isRequired: isRequired, plan, $1) }
            ?? context.read {
                try QueryRunner(plan, context.schema, table.rows.compiledQueries).aggregate(
                    function, path, isRequired: isRequired, $0)
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

        /// False for a value that this aggregate can return only if a stored value is damaged.
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

    func object(at position: Int) -> ObjectBase? {
        guard let key = key(at: position) else { return nil }
        if context.isFrozen { return table.object(key) }
        return readAhead.object(key, at: position, table) { self.key(at: $0) }
    }

    /// The number of members, but at most `limit`. If `limit` is small, only the first members are read.
    func prefixCount(_ limit: Int) -> Int {
        precondition(limit >= 0, "'prefix' needs a number of members that is not negative")
        if limit == 0 || limit <= Self.firstLimit && key(at: limit - 1) != nil { return limit }
        return min(limit, count)
    }

    /// Traps if a position is out of range. `name` describes the collection in the message.
    func requireRange(_ positions: Range<Int>, _ name: String) {
        let (start, end) = (positions.lowerBound, positions.upperBound)
        let isSmall = end <= Self.firstLimit && (end == 0 || end > 0 && key(at: end - 1) != nil)
        if start < 0 || !isSmall && end > count { Misuse.indexOutOfRange(end, count: count, name) }
    }

    func adding(_ change: (inout QueryPlan) -> Void) -> ResultsStorage {
        var plan = plan
        change(&plan)
        return ResultsStorage(context, table, plan, owner: owner)
    }
}
