package import MartletValues

/// Tracks the values of one list, set or map of one row for observers that sort these values. The tracker computes only
/// the values at each version. The observer sorts them and computes the difference.
package struct ValuesTracker: CollectionTracker {
    package struct State: TrackedState {
        /// The values in the order of the collection. The keys of a map are not included.
        package let values: [SQLValue]
        package let isInvalidated: Bool
        package static let invalidated = State(values: [], isInvalidated: true)
    }

    package struct Change: TrackedChange {
        package let isEmpty: Bool
    }

    private let elements: ElementsTracker
    private let isMap: Bool

    package init(_ id: CollectionID, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        elements = try ElementsTracker(id, keyPaths: nil, schema)
        isMap = schema[id.table].type.properties[id.property].kind == .map
    }

    package var owner: CollectionOwner? { elements.owner }

    package func state(_ handle: SnapshotHandle) throws -> State {
        if try elements.state(handle).isInvalidated { return .invalidated }
        let all = try handle.read { try elements.elements($0) }
        return State(values: isMap ? stride(from: 1, to: all.count, by: 2).map { all[$0] } : all, isInvalidated: false)
    }

    package func advance(
        _ old: State, _ changes: VersionChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change) {
        let id = elements.id
        if old.isInvalidated { return (old, Change(isEmpty: true)) }
        if let changes {
            if changes.changes.tables[id.table]?.deleted.contains(id.owner) == true {
                return (.invalidated, Change(isEmpty: old.values.isEmpty))
            }
            guard changes.changes.collections[id] != nil else { return (old, Change(isEmpty: true)) }
        }
        let new = try state(handle)
        return (new, Change(isEmpty: new.values == old.values))
    }

    package func removedElements(
        _ change: Change, _ old: State, _ handle: SnapshotHandle
    ) throws -> [RemovedElement] { [] }
}
