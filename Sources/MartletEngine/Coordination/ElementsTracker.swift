import MartletSQLite
import MartletValues

/// Computes the changes of one list, set or map of one row from version to version. The changes are computed from the
/// recorded edits of the collection and the changes of its elements. This tracker treats a map as a list in which each
/// key is followed by its value.
package struct ElementsTracker: CollectionTracker {
    package struct State: TrackedState {
        package let count: Int
        package let isInvalidated: Bool
        /// The elements of a list or set of objects. Nil until the position of an element is needed, and after many
        /// edits.
        fileprivate var keys: KeySequence?
        package static let invalidated = State(count: 0, isInvalidated: true)

        init(count: Int, isInvalidated: Bool) {
            self.count = count
            self.isInvalidated = isInvalidated
        }
    }

    /// The greatest number of elements that are changed in `State.keys`. After more edits, the elements are read again.
    private static let maximumEdits = 256

    package let id: CollectionID
    private let schema: DatabaseSchema
    private let target: TableID?
    /// The changes of an element that count as modifications; nil if the elements are not objects.
    private let reportedChanges: QueryDependencies?
    /// For a collection of `AnyRealmValue`: the changes of a linked object that count as modifications, by the table of
    /// the object.
    private let reportedAnyChanges: [TableID: QueryDependencies]
    private let layout: TableLayout.Collection

    /// - Parameter keyPaths: the changes that count as modifications; nil for all changes of an element and of objects
    ///   up to three links away.
    package init(_ id: CollectionID, keyPaths: [PropertyPath]?, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        self.id = id
        self.schema = schema
        layout = schema[id.table].layout.collection(of: id.property)
        let property = schema[id.table].type.properties[id.property]
        target = property.element.target.flatMap { schema[$0]?.id }
        reportedAnyChanges = try property.isAny ? QueryDependencies.ofAny(observing: keyPaths, schema) : [:]
        guard let target else {
            reportedChanges = nil
            return
        }
        reportedChanges = try QueryDependencies(observing: keyPaths, target, schema)
    }

    package var owner: CollectionOwner? { CollectionOwner(table: id.table, key: id.owner) }

    package func state(_ handle: SnapshotHandle) throws -> State {
        let exists = try handle.hasRow(id.owner, schema[id.table].layout)
        let count = try handle.read {
            try $0.integer(
                "SELECT ifnull(sum(count), 0) FROM \(layout.chunkTable) WHERE owner = ?1", [.integer(id.owner)])
        }
        return State(count: Int(count ?? 0), isInvalidated: !exists)
    }

    package func advance(
        _ old: State, _ changes: VersionChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: CollectionChange) {
        guard !old.isInvalidated else { return (old, CollectionChange()) }
        guard let changes else { return try compare(old, handle) }
        if changes.changes.tables[id.table]?.deleted.contains(id.owner) == true {
            return (.invalidated, CollectionChange(deletions: Array(0..<old.count)))
        }
        let script = changes.changes.collections[id]
        var builder = CollectionChangeBuilder(oldCount: old.count)
        if let script { builder.apply(script) }
        var new = State(count: builder.count, isInvalidated: false)
        let modified = try handle.read { connection in
            new.keys = try script == nil ? old.keys : edited(old.keys, builder.finish(), connection)
            return try modifiedPositions(changes, &new, connection)
        }
        guard script != nil || !modified.isEmpty else { return (new, CollectionChange()) }
        for position in modified { builder.modify(at: position) }
        return (new, builder.finish())
    }

    /// Applies the edits of a collection to its elements. Returns nil if there are many edits.
    private func edited(
        _ keys: KeySequence?, _ edits: CollectionChange, _ connection: Connection
    ) throws -> KeySequence? {
        guard var keys else { return nil }
        let count = edits.deletions.count + edits.insertions.count + edits.modifications.count
        guard count <= Self.maximumEdits else { return nil }
        keys.removeAll(at: edits.deletions)
        guard let inserted = try self.keys(at: edits.insertions, connection) else { return nil }
        keys.insertAll(inserted)
        // At this point, `edits` contains no modified objects, so all of its modifications are overwritten elements.
        guard let overwritten = try self.keys(at: edits.modificationsNew, connection) else { return nil }
        for (position, key) in overwritten {
            keys.remove(at: position)
            keys.insert(key, at: position)
        }
        return keys
    }

    private func keys(
        at positions: [Int], _ connection: Connection
    ) throws -> [(position: Int, key: ObjectKey)]? {
        if positions.isEmpty { return [] }
        let found = try elements(at: positions, connection).map { element -> ObjectKey? in
            if case .integer(let key) = element { key } else { nil }
        }
        return found.contains(nil) ? nil : zip(positions, found.compactMap(\.self)).map { ($0, $1) }
    }

    package func removedElements(
        _ change: CollectionChange, _ old: State, _ handle: SnapshotHandle
    ) throws -> [RemovedElement] {
        try handle.read { connection in
            let found = try elements(at: change.deletions, connection)
            return try schema.removedElements(zip(change.deletions, found).map { ($0, $1) }, target, connection)
        }
    }

    // If the changes are unknown, every position may contain another element than before. Therefore all positions that
    // exist in both versions count as modified.
    private func compare(_ old: State, _ handle: SnapshotHandle) throws -> (state: State, change: CollectionChange) {
        let new = try state(handle)
        let common = Array(0..<min(old.count, new.count))
        let change = CollectionChange(
            deletions: Array(common.count..<old.count), insertions: Array(common.count..<new.count),
            modifications: common,
            modificationsNew: common)
        return (new, change)
    }

    /// The current positions of the values that link to a modified object. Only the changes in `reportedAnyChanges`
    /// count as modifications of an object.
    private func modifiedAnyPositions(_ changes: VersionChanges, _ connection: Connection) throws -> [Int] {
        let touched = reportedAnyChanges.filter { $0.value.touches(changes.changes, table: $0.key) }
        guard !touched.isEmpty, try AnyLinkIndex.exists(connection) else { return [] }
        let holder = AnyLinkIndex.Source(id.table, id.property, id.owner)
        var modified: [TableID: KeySet] = [:]
        for (table, keys) in try AnyLinkIndex(connection).targets(of: holder) {
            guard let reported = touched[table] else { continue }
            let own = changes.changes.tables[table]?.keys(modifiedIn: reported.columns) ?? KeySet()
            let rows = try AffectedRows(schema, changes).affectedRows(reported, of: table, connection)
            let modifiedTargets = rows.map { own.union($0).intersection(keys) } ?? keys
            if !modifiedTargets.isEmpty { modified[table] = modifiedTargets }
        }
        if modified.isEmpty { return [] }
        return try elements(connection).enumerated().compactMap { position, element in
            let links = try schema.links(in: element, of: id, path: connection.options.path)
            return links.keys.contains { modified[$0.table]?.contains($0.key) == true } ? position : nil
        }
    }

    /// The current positions of the modified elements. Only the changes in `reportedChanges` and `reportedAnyChanges`
    /// count as modifications of an element.
    private func modifiedPositions(
        _ changes: VersionChanges, _ new: inout State, _ connection: Connection
    ) throws -> [Int] {
        if !reportedAnyChanges.isEmpty { return try modifiedAnyPositions(changes, connection) }
        guard let target, let reportedChanges, reportedChanges.touches(changes.changes, table: target) else {
            return []
        }
        let own = changes.changes.tables[target]?.keys(modifiedIn: reportedChanges.columns) ?? KeySet()
        let rows = try AffectedRows(schema, changes).affectedRows(reportedChanges, of: target, connection)
        let modified = own.union(rows ?? KeySet())
        if rows != nil {
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.linkedChangesUnreported), try !hasElement(in: own, connection) { return [] }
            #endif
            guard try hasElement(in: modified, connection) else { return [] }
        }
        let keys = try new.keys ?? keySequence(connection)
        guard let keys else {
            return try elements(connection).enumerated().compactMap { position, element in
                guard case .integer(let key) = element, rows == nil || modified.contains(key) else { return nil }
                return position
            }
        }
        new.keys = keys
        // If `rows` is nil, the modified rows cannot be determined, and every element counts as modified.
        return rows == nil ? Array(0..<keys.count) : keys.positions(of: modified, areKeysDistinct: false)
    }

    /// The elements of a list or set of objects. Nil for a map, in which keys and values alternate.
    private func keySequence(_ connection: Connection) throws -> KeySequence? {
        if schema[id.table].type.properties[id.property].kind == .map { return nil }
        let elements = try elements(connection)
        let keys = elements.compactMap { element -> ObjectKey? in
            if case .integer(let key) = element { key } else { nil }
        }
        return keys.count == elements.count ? KeySequence(keys) : nil
    }

    // Returns true if any of the keys is an element. Because of this check, a long list is read only if necessary. If
    // there are more than 256 keys, the method returns true without checking them.
    private func hasElement(in keys: KeySet, _ connection: Connection) throws -> Bool {
        guard !keys.isEmpty, let targets = layout.targetTable else { return false }
        if keys.count > 256 { return true }
        return try keys.contains { key in
            try connection.integer(
                "SELECT 1 FROM \(targets) WHERE target = ?1 AND owner = ?2", [.integer(key), .integer(id.owner)]) == 1
        }
    }

    /// All elements in their order.
    func elements(_ connection: Connection) throws -> [SQLValue] {
        var list = try ChunkedElements(owner: id.owner, table: layout.chunkTable, connection)
        return try list.all { try load($0, $1, connection) }
    }

    /// The elements at the given positions. The method reads only the chunks that contain these elements.
    func elements(at positions: [Int], _ connection: Connection) throws -> [SQLValue] {
        var list = try ChunkedElements(owner: id.owner, table: layout.chunkTable, connection)
        return try positions.map { try list.element(at: $0) { try load($0, $1, connection) } }
    }

    private func load(_ ordinal: Int64, _ count: Int, _ connection: Connection) throws -> [SQLValue] {
        try ChunkedElements.load(owner: id.owner, ordinal: ordinal, count: count, table: layout.chunkTable, connection)
    }
}
