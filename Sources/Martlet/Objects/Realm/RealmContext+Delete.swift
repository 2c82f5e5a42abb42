import MartletEngine
import MartletValues

extension RealmContext {
    /// Deletes the row of an object together with the rows that the object owns, and removes all links to the deleted
    /// rows.
    func delete(_ object: ObjectBase) {
        confinement.require(object._described)
        if object._state == .invalidated { Misuse.invalidated(object._typeName, object._keyDescription) }
        if object._state == .unmanaged { Misuse.deletedUnmanaged(object._typeName) }
        guard object._context === self, let table = object._table else { refuse(foreign: object, isLinked: false) }
        guard existsOrInvalidate(object) else { Misuse.invalidated(object._typeName, object._keyDescription) }
        deleteRow(object._key, table)
    }

    /// Deletes objects in the given order. Skips objects that are already deleted, including objects that were deleted
    /// together with an earlier object in `objects`.
    func delete(_ objects: [ObjectBase]) {
        let living = objects.filter { !$0.isInvalidated }
        for object in living {
            if object._state == .unmanaged { Misuse.deletedUnmanaged(object._typeName) }
            if object._context !== self { refuse(foreign: object, isLinked: false) }
        }
        deleteRows(
            living.compactMap { object in object._table.map { RowID(table: $0.id, key: object._key) } })
    }

    func deleteRow(_ key: ObjectKey, _ table: ObjectTable) {
        deleteRows([RowID(table: table.id, key: key)])
    }

    func deleteRows(_ rows: [RowID]) {
        guard let first = rows.first else { return }
        let transaction = requireWrite("a '\(table(first.table).type.name)'")
        let host = DeletionHost(self)
        makingChange {
            recordingFailure {
                var deletion = RowDeletion(host, transaction)
                try deletion.run(rows)
            }
            host.finish()
        }
    }

    /// Deletes all rows, one table at a time. Links to the deleted rows need no separate removal, because no row
    /// remains.
    func deleteAll() {
        _ = requireWrite("the Realm")
        let notification = notifyWillInvalidateAll()
        flushForQuery()
        for table in tables.values.sorted(by: { $0.id < $1.id }) {
            let keys = read { try table.rows.keys($0) }
            if transaction?.keepsOldRows == true { for key in keys { keepOldRow(key, table) } }
            recordingFailure { try handle.read { try table.rows.deleteAll($0) } }
            for key in keys { transaction?.recordDeletion(of: RowID(table: table.id, key: key)) }
            pending.deletionCount += keys.count
            table.accessors.forEach(invalidateDeleted)
        }
        if hasAnyProperties { recordingFailure { try transaction?.withAnyLinks { try $0.removeAll() } } }
        collections.values.compactMap(\.core).forEach(invalidateDeleted)
        collections = [:]
        pending.denials = DeletionDenials()
        bumpChangeCount()
        notification.didChange()
    }

    /// Stores the values of the row in memory if the transaction has not changed the row yet.
    func keepOldRow(_ key: ObjectKey, _ table: ObjectTable) {
        recordingFailure { try transaction?.keepOldRow(key, table.layout, in: table.id) }
    }

    /// Changes a property of a row directly in the file. The accessors of the row then read the row again. If
    /// `isSilent` is true, observers are not notified.
    func change(
        _ property: PropertyIndex, of key: ObjectKey, _ table: ObjectTable, isSilent: Bool = false,
        _ body: () throws -> Void
    ) throws {
        #if MARTLET_SEEDED_BUGS
            if !SeededBug.isOn(.rowNotKept) { keepOldRow(key, table) }
        #else
            keepOldRow(key, table)
        #endif
        var observers: [KeyValueObservers] = []
        if !isSilent {
            table.forEachAccessor(key) { if let rowObservers = $0._observers { observers.append(rowObservers) } }
        }
        observers.forEach {
            $0.recordChange(of: property, in: self)
            $0.willChange(property)
        }
        let isTracked = hasTrackedReads
        if !isSilent, isTracked { reads.willChange(property, of: key, in: table.id) }
        defer {
            observers.forEach { $0.didChange(property) }
            if isTracked { reads.didChange() }
        }
        try flush()
        try body()
        transaction?.recorder.modify(key, property, in: table.id)
        table.forEachAccessor(key, markStale)
    }
}
