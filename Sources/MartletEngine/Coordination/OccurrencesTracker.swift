import MartletSQLite
import MartletValues

/// Computes the changes of a result over the elements of a list or map, or over linking objects. A row is a member of
/// the result once for each of its occurrences in the collection. The members of a result that is not sorted have the
/// order of the collection.
///
/// Each position in the collection is a separate member. The edits of a list contain the positions that changed. So if
/// an object occurs several times, the tracker reports the occurrence that was edited. Like `ResultsTracker`, it
/// usually queries only the affected rows. In addition, each step scans the positions in memory. The whole query runs
/// again if the result has `distinct` or a limit, or if the collection of a sorted result was edited. It also runs
/// again if very many rows are affected, or if the affected rows cannot be determined.
package struct OccurrencesTracker: CollectionTracker {
    package struct State: TrackedState {
        /// The row at each position of the collection; nil for a null link and for a key of a map.
        fileprivate let places: [ObjectKey?]
        /// The positions of the members in the collection, in the order of the result.
        fileprivate let members: KeySequence
        /// The rows of the members, in the order of the result.
        package let keys: KeySequence
        package let isInvalidated: Bool
        package static let invalidated = State([], KeySequence(), isInvalidated: true)

        fileprivate init(_ places: [ObjectKey?], _ members: KeySequence, isInvalidated: Bool = false) {
            self.places = places
            self.members = members
            self.isInvalidated = isInvalidated
            keys = KeySequence(members.map { places[Int($0)] ?? 0 })
        }
    }

    package typealias Change = ResultsTracker.Change

    package let owner: CollectionOwner?
    private let plan: QueryPlan
    private let source: QueryPlan.Source
    /// A tracker for the same query over all rows of the table.
    private let rows: ResultsTracker
    private let elements: ElementsTracker?
    private var schema: DatabaseSchema { rows.schema }

    /// - Parameters:
    ///   - keyPaths: the changes that count as modifications; nil for all changes of an element and of objects up to
    ///     three links away.
    ///   - tracksAll: true to also find changes that the key paths do not name, up to three links away.
    package init(
        _ plan: QueryPlan, from source: QueryPlan.Source, owner: CollectionOwner?, keyPaths: [PropertyPath]?,
        tracksAll: Bool = false, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        self.plan = plan
        self.source = source
        self.owner = owner
        var unbound = plan
        unbound.source = nil
        rows = try ResultsTracker(unbound, keyPaths: keyPaths, tracksAll: tracksAll, schema)
        if case .elements(let id) = source {
            elements = try ElementsTracker(id, keyPaths: nil, schema)
        } else {
            elements = nil
        }
    }

    package func state(_ handle: SnapshotHandle) throws -> State {
        let exists = try owner.map { try handle.hasRow($0.key, schema[$0.table].layout) } ?? true
        return try handle.read { connection in
            let places = try places(connection)
            return State(places, try members(connection), isInvalidated: !exists)
        }
    }

    package func advance(
        _ old: State, _ changes: VersionChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change) {
        guard !old.isInvalidated else { return (old, Change()) }
        guard let changes else {
            let new = try state(handle)
            let all = KeySet(new.keys)
            let positions = CollectionDiff.change(from: old.keys, to: new.keys, modified: all)
            return (new, Change(positions: positions, changed: all, modified: all))
        }
        if let owner, changes.changes.tables[owner.table]?.deleted.contains(owner.key) == true {
            return (.invalidated, Change(positions: CollectionChange(deletions: Array(0..<old.members.count))))
        }
        guard isEdited(changes.changes) || rows.touches(changes.changes) else { return (old, Change()) }
        return try handle.read { try advance(old, changes, $0) }
    }

    package func removedElements(_ change: Change, _ old: State, _ handle: SnapshotHandle) throws -> [RemovedElement] {
        let keys = old.keys.keys(at: change.positions.deletions)
        return try handle.read { connection in
            try schema.removedElements(
                zip(change.positions.deletions, keys).map { ($0, .integer($1)) }, plan.table, connection)
        }
    }

    // MARK: Reading

    private func places(_ connection: Connection) throws -> [ObjectKey?] {
        if let elements {
            return try elements.elements(connection).map { if case .integer(let key) = $0 { key } else { nil } }
        }
        var compiler = QueryCompiler(schema)
        let query = compiler.members(source)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        var keys: [ObjectKey?] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return keys
    }

    private func members(_ connection: Connection) throws -> KeySequence {
        var compiler = QueryCompiler(schema)
        let query = try compiler.positions(plan)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        var members: [ObjectKey] = []
        while try statement.step() { members.append(statement.integer(1)) }
        return KeySequence(members)
    }

    // MARK: Steps

    private func isEdited(_ changes: ChangeSet) -> Bool {
        switch source {
        case .elements(let id): changes.collections[id] != nil
        case .linkingObjects(let link, let target): changes.changedTargets[link]?.contains(target) == true
        }
    }

    private func advance(
        _ old: State, _ changes: VersionChanges, _ connection: Connection
    ) throws -> (state: State, change: Change) {
        let touched = try rows.touchedRows(old.keys, changes, connection)
        var change = touched.change
        let isMaintained =
            touched.affectedThroughLinks != nil && plan.stages.isEmpty && isSmall(touched.all, old.places.count)
        guard isEdited(changes.changes) else {
            if touched.all.isEmpty && touched.affectedThroughLinks != nil { return (old, change) }
            if isMaintained {
                let outcome = try advanceOccurrences(old, touched, connection)
                change.positions = outcome.change
                return (State(old.places, outcome.keys), change)
            }
            let new = State(old.places, try members(connection))
            change.positions = difference(old, new, Array(new.members), change)
            return (new, change)
        }
        let edit = PositionMapping(
            from: old.places, to: try places(connection), replaced: change.replaced, try formerPlaces(old, changes))
        let isFiltered = isMaintained && plan.sort.isEmpty
        let members =
            isFiltered
            ? try filtered(old, edit, touched.all, connection) : try members(connection)
        let new = State(edit.new, members)
        change.positions = difference(old, new, members.map { edit.identity(of: Int($0)) }, change)
        return (new, change)
    }

    /// The difference between the members, each identified by its old position. `distinct` or a limit may now select
    /// other occurrences of an object than before. Then the first occurrence of the object in the new members is
    /// matched with its first occurrence in the old members, the second with the second, and so on.
    private func difference(
        _ old: State, _ new: State, _ identities: [ObjectKey], _ change: Change
    ) -> CollectionChange {
        var identities = identities
        let (before, now) = (KeySet(old.members), KeySet(identities))
        let lost = Set(
            zip(old.members, old.keys).filter { !now.contains($0.0) && !change.replaced.contains($0.1) }.map(\.1))
        let substituted = Set(
            zip(identities, new.keys).filter { lost.contains($0.1) && !before.contains($0.0) }.map(\.1))
        if !substituted.isEmpty {
            var known: [ObjectKey: ArraySlice<ObjectKey>] = [:]
            for (member, key) in zip(old.members, old.keys) where substituted.contains(key) {
                known[key, default: []].append(member)
            }
            // A further occurrence has no old occurrence to match, so it gets a number that identifies no other member.
            let unused = old.places.count + new.places.count
            for (position, key) in new.keys.enumerated() where substituted.contains(key) {
                identities[position] = known[key]?.popFirst() ?? ObjectKey(unused + position)
            }
        }
        let reported = zip(identities, new.keys).filter { change.modified.contains($0.1) }.map(\.0)
        return CollectionDiff.change(from: old.members, to: KeySequence(identities), modified: KeySet(reported))
    }

    // True if the affected rows are few enough to be queried by their keys.
    private func isSmall(_ rows: KeySet, _ placeCount: Int) -> Bool { rows.count <= max(1_000, placeCount / 4) }

    // Called if no position was inserted or removed. Members are then identified by their positions instead of their
    // keys, because an object can occur several times.
    private func advanceOccurrences(
        _ old: State, _ touched: ResultsTracker.TouchedRows, _ connection: Connection
    ) throws -> ResultsMaintainer.Outcome {
        var places: [ObjectKey: [ObjectKey]] = [:]
        for (place, key) in old.places.enumerated() {
            if let key, touched.all.contains(key) { places[key, default: []].append(ObjectKey(place)) }
        }
        let candidates = try rows.candidates(KeySet(places.keys), connection).flatMap { row in
            (places[row.key] ?? []).map { SortKey(values: row.values, key: $0) }
        }
        let maintainer = ResultsMaintainer(
            old: old.members, order: rows.order, touched: KeySet(places.values.joined()),
            reported: KeySet(places.filter { touched.change.modified.contains($0.key) }.values.joined()),
            candidates: candidates)
        return try maintainer.advance { place throws(SQLiteError) in
            let key = old.places[Int(place)] ?? 0
            return SortKey(values: try rows.sortKey(of: key, connection)?.values ?? [], key: place)
        }
    }

    // Queries only the rows that are new in the collection or have changed. Every other row is a member of the result
    // exactly if it was a member before.
    private func filtered(
        _ old: State, _ edit: PositionMapping, _ touched: KeySet, _ connection: Connection
    ) throws -> KeySequence {
        var queried = touched
        #if MARTLET_SEEDED_BUGS
            let inserted = SeededBug.isOn(.insertedUnfiltered) ? [] : edit.inserted
        #else
            let inserted = edit.inserted
        #endif
        queried.formUnion(KeySet(inserted))
        if !isSmall(queried, edit.new.count) { return try members(connection) }
        let found = KeySet(try rows.candidates(queried, connection).map(\.key))
        var wasMember = [Bool](repeating: false, count: old.places.count)
        for place in old.members { wasMember[Int(place)] = true }
        let members = edit.new.indices.filter { place in
            guard let key = edit.new[place] else { return false }
            if queried.contains(key) { return found.contains(key) }
            return edit.former[place].map { wasMember[$0] } ?? false
        }
        return KeySequence(members.map { ObjectKey($0) })
    }

    /// For each position after the edits of a list, the old position of the element; nil for a new element. The result
    /// is nil if no edits of the list are recorded.
    private func formerPlaces(_ old: State, _ changes: VersionChanges) throws -> [Int?]? {
        guard case .elements(let id) = source, let script = changes.changes.collections[id] else { return nil }
        var builder = CollectionChangeBuilder(oldCount: old.places.count)
        builder.apply(script)
        let change = builder.finish()
        var former = [Int?](repeating: nil, count: builder.count)
        var (deletion, insertion, before) = (0, 0, 0)
        for place in former.indices {
            if insertion < change.insertions.count, change.insertions[insertion] == place {
                insertion += 1
                continue
            }
            while deletion < change.deletions.count, change.deletions[deletion] == before {
                (deletion, before) = (deletion + 1, before + 1)
            }
            former[place] = before
            before += 1
        }
        for move in change.moves { former[move.to] = move.from }
        return former
    }
}

/// Maps the positions of a collection after an edit to the old positions of the same elements.
private struct PositionMapping {
    /// The row at each position after the edit.
    let new: [ObjectKey?]
    /// The old position of each element; nil for a new element.
    private(set) var former: [Int?]
    private let oldCount: Int

    /// - Parameters:
    ///   - replaced: keys that identify another row than before.
    ///   - known: the old position of each element according to the recorded edits. If it contains no old position for
    ///     an element, the old position is found by the key of the element.
    init(from old: [ObjectKey?], to new: [ObjectKey?], replaced: KeySet, _ known: [Int?]?) {
        self.new = new
        oldCount = old.count
        former = [Int?](repeating: nil, count: new.count)
        var isTaken = [Bool](repeating: false, count: old.count)
        if let known, known.count == new.count {
            for (place, before) in known.enumerated() {
                guard let before, before < old.count, let key = new[place], old[before] == key, !isTaken[before],
                    !replaced.contains(key)
                else { continue }
                former[place] = before
                isTaken[before] = true
            }
        }
        var unmatched: [ObjectKey: [Int]] = [:]
        for before in old.indices.reversed() where !isTaken[before] {
            if let key = old[before], !replaced.contains(key) { unmatched[key, default: []].append(before) }
        }
        if unmatched.isEmpty { return }
        for place in new.indices where former[place] == nil {
            if let key = new[place] { former[place] = unmatched[key]?.popLast() }
        }
    }

    /// The rows of the new elements.
    var inserted: [ObjectKey] { new.indices.compactMap { former[$0] == nil ? new[$0] : nil } }

    /// A number that identifies a member: its old position, or for a new element a number that is no old position.
    func identity(of place: Int) -> ObjectKey { ObjectKey(former[place] ?? oldCount + place) }
}
