import MartletEngine

extension RealmContext {
    /// Moves to another version: changed accessors become stale, those of deleted rows invalidated.
    func advance(to handle: SnapshotHandle) {
        let before = version
        guard handle.version != before else {
            replaceSnapshot(handle)
            return
        }
        let changes = try? coordinator.changes(after: before, through: handle.version, handle)?.changes
        willChange(changes, inverted: false)
        replaceSnapshot(handle)
        touch()
        apply(changes, inverted: false)
        didChange(changes, inverted: false)
    }

    /// The same for a write transaction that began on a newer version.
    func advance(from before: Version, to after: Version) {
        let changes = try? coordinator.changes(after: before, through: after, handle)?.changes
        willChange(changes, inverted: false)
        touch()
        apply(changes, inverted: false)
        didChange(changes, inverted: false)
    }

    /// Tells accessors what happened to their rows. Without changes all of them may be old.
    /// Inverted, the changes are being taken back: what they inserted is gone.
    func apply(_ changes: ChangeSet?, inverted: Bool) {
        guard let changes else {
            for table in tables.values { table.accessors.forEach(markStale) }
            for core in collections.values { core.core?.forget() }
            return
        }
        for (id, change) in changes.tables {
            guard let table = tables[id], table.identity.count > 0 || table.hasTwins else { continue }
            let gone = inverted ? change.inserted : change.deleted
            visit(table, gone) { invalidate($0) }
            visit(table, change.modifiedKeys) { markStale($0) }
        }
        for (id, weak) in collections {
            guard let core = weak.core else {
                collections[id] = nil
                continue
            }
            let rows = changes.tables[id.table]
            if (inverted ? rows?.inserted : rows?.deleted)?.contains(id.owner) == true {
                core.ownerWasDeleted()
                collections[id] = nil
            } else if changes.collections[id] != nil {
                core.forget()
            }
        }
    }

    private func visit(_ table: ObjectTable, _ keys: KeySet, _ body: (ObjectBase) -> Void) {
        if keys.count > table.identity.count {
            for object in table.accessors where keys.contains(object._key) { body(object) }
        } else {
            for key in keys { table.forEachAccessor(key, body) }
        }
    }

    // MARK: Key-value observers of touched rows

    func willChange(_ changes: ChangeSet?, inverted: Bool) {
        forEachObserved(changes, inverted: inverted) { object, columns, isGone in
            object._observers?.willChange(object, columns: columns, isGone: isGone)
        }
    }

    func didChange(_ changes: ChangeSet?, inverted: Bool) {
        forEachObserved(changes, inverted: inverted) { object, columns, isGone in
            object._observers?.didChange(object, columns: columns, isGone: isGone)
        }
    }

    private func forEachObserved(_ changes: ChangeSet?, inverted: Bool, _ body: (ObjectBase, ColumnSet, Bool) -> Void) {
        guard !observedObjects.isEmpty else { return }
        for object in observedObjects.values.compactMap(\.object) {
            guard let table = object._table else { continue }
            guard let changes else {
                body(object, .all, false)
                continue
            }
            guard let change = changes.tables[table.id] else { continue }
            let isGone = (inverted ? change.inserted : change.deleted).contains(object._key)
            let columns = change.columns(modifiedFor: object._key)
            if isGone || !columns.isEmpty { body(object, columns, isGone) }
        }
    }
}
