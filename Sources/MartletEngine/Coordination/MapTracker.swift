import MartletSQLite
import MartletValues

/// Computes the changes of one map of one row from version to version, and reports them by key.
package struct MapTracker: CollectionTracker {
    package struct State: TrackedState {
        /// The keys in the order of the map.
        package let keys: [String]
        package let isInvalidated: Bool
        package static let invalidated = State(keys: [], isInvalidated: true)
    }

    /// The changed keys, in the order of their UTF-8 bytes. A key that was removed and set again counts as modified. If
    /// a change set is missing, every key that stayed counts as modified.
    package struct Change: TrackedChange, Equatable {
        package var deletions: [String] = []
        package var insertions: [String] = []
        package var modifications: [String] = []
        package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

        /// - Parameters:
        ///   - removed: keys of the old map whose elements were removed.
        ///   - added: keys of the new map whose elements were inserted.
        ///   - written: other keys whose value was set again, or whose object changed.
        init(removed: [String], added: [String], written: [String]) {
            let (old, new) = (MapKeys(removed), MapKeys(added))
            deletions = MapKeys.sorted(removed.filter { !new.contains($0) })
            insertions = MapKeys.sorted(added.filter { !old.contains($0) })
            modifications = MapKeys.sorted(written + added.filter { old.contains($0) })
        }
    }

    private let elements: ElementsTracker

    /// - Parameter keyPaths: the changes that count as modifications; nil for all changes of an object of the map and
    ///   of objects up to three links away from it.
    package init(_ id: CollectionID, keyPaths: [PropertyPath]?, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        elements = try ElementsTracker(id, keyPaths: keyPaths, schema)
    }

    package var owner: CollectionOwner? { elements.owner }

    package func state(_ handle: SnapshotHandle) throws -> State {
        let isInvalidated = try elements.state(handle).isInvalidated
        let all = try handle.read { try elements.elements($0) }
        return State(
            keys: stride(from: 0, to: all.count, by: 2).map { Self.key(all[$0]) }, isInvalidated: isInvalidated)
    }

    package func advance(
        _ old: State, _ changes: VersionChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change) {
        guard !old.isInvalidated else { return (old, Change(removed: [], added: [], written: [])) }
        guard let changes else {
            let new = try state(handle)
            let (known, kept) = (MapKeys(old.keys), MapKeys(new.keys))
            return (
                new,
                Change(
                    removed: old.keys.filter { !kept.contains($0) }, added: new.keys.filter { !known.contains($0) },
                    written: new.keys.filter { known.contains($0) })
            )
        }
        let before = ElementsTracker.State(count: old.keys.count * 2, isInvalidated: false)
        let (state, change) = try elements.advance(before, changes, handle)
        // Keys are at even positions. They are inserted and removed together with their values.
        let removed = change.deletions.filter { $0.isMultiple(of: 2) }.map { $0 / 2 }
        let added = change.insertions.filter { $0.isMultiple(of: 2) }
        let found = added.isEmpty ? [] : try handle.read { try elements.elements(at: added, $0) }
        var keys = old.keys
        for position in removed.reversed() { keys.remove(at: position) }
        for (position, key) in zip(added, found) { keys.insert(Self.key(key), at: position / 2) }
        #if MARTLET_SEEDED_BUGS
            let known = SeededBug.isOn(.keyOfNewMap) ? keys + old.keys.dropFirst(keys.count) : old.keys
        #else
            let known = old.keys
        #endif
        return (
            State(keys: keys, isInvalidated: state.isInvalidated),
            Change(
                removed: removed.map { old.keys[$0] }, added: found.map(Self.key),
                written: change.modifications.map { known[$0 / 2] })
        )
    }

    package func removedElements(_ change: Change, _ old: State, _ handle: SnapshotHandle) throws -> [RemovedElement] {
        let deleted = MapKeys(change.deletions)
        let positions = old.keys.indices.filter { deleted.contains(old.keys[$0]) }.map { 2 * $0 + 1 }
        let before = ElementsTracker.State(count: old.keys.count * 2, isInvalidated: old.isInvalidated)
        return try elements.removedElements(CollectionChange(deletions: positions), before, handle)
    }

    private static func key(_ stored: SQLValue) -> String {
        if case .text(let key) = stored { key } else { "" }
    }
}

/// A set of map keys. Keys are equal if their UTF-8 bytes are equal: "é" as one scalar and "é" as two scalars are
/// different keys.
private struct MapKeys {
    private let bytes: Set<[UInt8]>

    init(_ keys: [String]) { bytes = Set(keys.map { Array($0.utf8) }) }

    func contains(_ key: String) -> Bool { bytes.contains(Array(key.utf8)) }

    static func sorted(_ keys: [String]) -> [String] {
        keys.sorted { ValueOrder.compare(.text($0), .text($1)) < 0 }
    }
}
