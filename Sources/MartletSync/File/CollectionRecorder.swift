import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Converts the changes that one transaction made in collections to operations, and assigns positions to new elements
/// of lists.
struct CollectionRecorder {
    let changes: CommittingChanges
    /// The numbers of the client and of the upload. Each new position ends with these two numbers.
    let client: UInt64
    let upload: UInt64

    /// Returns the operations that change the collection from its state before the transaction to its current state.
    ///
    /// - Parameters:
    ///   - isNew: true if the transaction has created the object.
    ///   - written: the keys of embedded objects in which the transaction has written values.
    func operations(
        _ property: PropertySchema, of row: RowID, _ address: ObjectAddress, isNew: Bool, written: Set<ObjectKey>,
        _ values: inout CommittedValues
    ) throws -> [SyncOperation] {
        switch property.kind {
        case .list: try list(property, row, address, isNew, written, &values)
        case .set: try set(property, row, address, isNew, &values)
        default: try map(property, row, address, isNew, written, &values)
        }
    }

    private static func isWritten(_ element: SQLValue, _ written: Set<ObjectKey>) -> Bool {
        if case .integer(let key) = element { written.contains(key) } else { false }
    }

    // MARK: Lists

    private func list(
        _ property: PropertySchema, _ row: RowID, _ address: ObjectAddress, _ isNew: Bool, _ written: Set<ObjectKey>,
        _ values: inout CommittedValues
    ) throws -> [SyncOperation] {
        let elements = try changes.elements(of: row, property.index)
        let known = isNew ? [] : try changes.positions.stored(of: row, property)
        var slots = ListSlots(known.filter(\.isShown).map(\.position))
        if isNew {
            slots.reset(count: elements.count)
        } else {
            let id = CollectionID(table: row.table, property: property.index, owner: row.key)
            let fits = slots.apply(changes.edits(of: id)?.edits ?? []) && slots.slots.count == elements.count
            if !fits { slots.reset(count: elements.count) }
        }
        let new = slots.assignPositions(known: known.map(\.position)) {
            ListPosition.between($0, $1, count: $2, client: client, upload: upload)
        }
        guard new.allSatisfy({ slots.slots[$0].position?.isShortEnough ?? true }) else { throw tooLong(property) }
        try write(slots, known, row, property)
        let path = ValuePath(property.index)
        var operations: [SyncOperation] = slots.removed.map { .removeElement(address, path, $0) }
        let inserted = Set(new)
        for (index, slot) in slots.slots.enumerated() {
            let isChanged = slot.isReplaced || inserted.contains(index) || Self.isWritten(elements[index], written)
            guard isChanged, let position = slot.position else { continue }
            let value = try values.element(elements[index], property)
            operations.append(
                inserted.contains(index)
                    ? .insertElement(address, path, position, value) : .setElement(address, path, position, value))
        }
        return operations
    }

    private func tooLong(_ property: PropertySchema) -> EngineError {
        EngineError(
            .invalidInput, path: changes.path,
            "too many elements were inserted between the same two elements of the list '\(property.name)'; nothing was "
                + "written; assign the whole list once, which gives its elements new positions")
    }

    private func write(
        _ slots: ListSlots, _ known: [StoredPosition], _ row: RowID, _ property: PropertySchema
    ) throws {
        let shown = slots.slots.compactMap { $0.position.map { StoredPosition(position: $0) } }
        let all = (shown + known.filter { !$0.isShown }).sorted { $0.position < $1.position }
        if all != known { try changes.positions.write(all, of: row, property) }
    }

    // MARK: Sets and maps

    private func set(
        _ property: PropertySchema, _ row: RowID, _ address: ObjectAddress, _ isNew: Bool,
        _ values: inout CommittedValues
    ) throws -> [SyncOperation] {
        let old = isNew ? [] : try changes.previousElements(of: row, property.index)
        let new = try changes.elements(of: row, property.index)
        let (before, now, path) = (Set(old), Set(new), ValuePath(property.index))
        var operations: [SyncOperation] = []
        for element in old where !now.contains(element) {
            operations.append(.removeMember(address, path, try values.previousElement(element, property)))
        }
        for element in new where !before.contains(element) || isRecreated(element, property) {
            operations.append(.insertMember(address, path, try values.element(element, property)))
        }
        return operations
    }

    private func map(
        _ property: PropertySchema, _ row: RowID, _ address: ObjectAddress, _ isNew: Bool, _ written: Set<ObjectKey>,
        _ values: inout CommittedValues
    ) throws -> [SyncOperation] {
        let old = isNew ? [] : Self.entries(try changes.previousElements(of: row, property.index))
        let new = Self.entries(try changes.elements(of: row, property.index))
        let (before, now) = (Self.dictionary(old), Self.dictionary(new))
        let path = ValuePath(property.index)
        var operations: [SyncOperation] = []
        for (key, _) in old where now[key] == nil {
            if case .text(let key) = key { operations.append(.removeEntry(address, path, key: key)) }
        }
        for (key, value) in new {
            let isChanged = before[key] != value || isRecreated(value, property) || Self.isWritten(value, written)
            guard isChanged, case .text(let key) = key else { continue }
            operations.append(.setEntry(address, path, key: key, try values.element(value, property)))
        }
        return operations
    }

    private static func entries(_ elements: [SQLValue]) -> [(key: SQLValue, value: SQLValue)] {
        stride(from: 0, to: elements.count - 1, by: 2).map { (elements[$0], elements[$0 + 1]) }
    }

    private static func dictionary(_ entries: [(key: SQLValue, value: SQLValue)]) -> [SQLValue: SQLValue] {
        Dictionary(entries.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    // True if the element is an embedded object that the transaction has created, or a link to an object that the
    // transaction has created. PostgreSQL removes a link when its target is deleted. So if the transaction has deleted
    // the target and created it again, the client must send the link again.
    private func isRecreated(_ element: SQLValue, _ property: PropertySchema) -> Bool {
        guard let target = property.element.target.flatMap({ changes.schema[$0] }), case .integer(let key) = element
        else { return false }
        return changes.isCreated(RowID(table: target.id, key: key))
    }
}
