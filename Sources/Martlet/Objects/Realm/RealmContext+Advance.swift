import MartletEngine

extension RealmContext {
    /// Moves to the newest version and notifies observers. Returns false if there is no newer version, if the Realm is
    /// frozen, or if the Realm is notifying key-value observers.
    func refresh() -> Bool {
        confinement.require("a Realm")
        // While key-value observers are being notified, an earlier move to another version is not complete.
        if keyValue.phase != .none || isFrozen { return false }
        asyncWrites?.commitSealedWrites()
        return hooks.refresh()
    }

    /// Moves to another version. Accessors of changed rows become stale. Accessors of deleted rows are invalidated.
    func advance(to handle: SnapshotHandle) { advance(from: version, to: handle) }

    /// Moves from the version `before` to another version. The version `before` may have been released already.
    func advance(from before: Version, to handle: SnapshotHandle) {
        guard handle.version != before else {
            replaceSnapshot(handle)
            return
        }
        let changes = try? coordinator.changes(after: before, through: handle.version, handle)?.changes
        let notification = notifyWillChange(changes, next: handle)
        replaceSnapshot(handle)
        bumpChangeCount(for: changes)
        apply(changes, inverted: false)
        notifyDidChange(notification)
    }

    /// Moves to the version from which a write transaction begins. The key-value observers in `notification` were
    /// already notified before the change. This method notifies them after the change.
    func advance(to transaction: WriteTransaction, after before: Version, _ notification: KeyValueNotification) {
        let changes = changes(after: before, transaction)
        bumpChangeCount(for: changes)
        apply(changes, inverted: false)
        notifyDidChange(notification)
    }

    /// The changes from `before` to the version from which a write begins; nil if they are not known.
    func changes(after before: Version?, _ transaction: WriteTransaction) -> ChangeSet? {
        before.flatMap {
            try? coordinator.changes(after: $0, through: transaction.baseVersion, transaction.handle)?.changes
        }
    }

    /// Updates the states of accessors after their rows have changed.
    ///
    /// - Parameters:
    ///   - changes: the changes; if they are nil, all accessors become stale.
    ///   - inverted: true if the changes were rolled back, so that inserted rows do not exist any more.
    func apply(_ changes: ChangeSet?, inverted: Bool) {
        guard let changes else {
            for table in tables.values { table.accessors.forEach(markStale) }
            // Two kinds of objects are invalidated now if their rows do not exist any more: observed objects, and
            // objects with an integer primary key, because a new row can get the same key. For other objects, the next
            // use checks whether the row exists.
            for object in keyValue.validObjects() { _ = existsOrInvalidate(object) }
            for table in tables.values where table.integerKey >= 0 {
                table.accessors.forEach { _ = existsOrInvalidate($0) }
            }
            for core in collections.values.compactMap(\.core) {
                core.discardElements()
                if core.table.integerKey >= 0 { core.checkOwner() }
            }
            return
        }
        for (id, change) in changes.tables {
            guard let table = tables[id], table.identity.count > 0 || table.hasFurtherAccessors else { continue }
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
                #if MARTLET_SEEDED_BUGS
                    if SeededBug.isOn(.cancelledElementsKept), inverted { continue }
                #endif
                core.discardElements()
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
}
