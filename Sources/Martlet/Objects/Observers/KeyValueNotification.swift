import MartletEngine
import MartletValues

/// The key-value observers that were notified before a change. They are notified again after the change.
struct KeyValueNotification {
    typealias Entry = (observers: KeyValueObservers, registration: KeyValueObservers.Registration)
    private var propertyEntries: [Entry] = []
    private var invalidationEntries: [Entry] = []
    /// The tracked reads of the Realm. The Observation framework is notified of changes of the values that were read.
    /// It is notified after the key-value observers.
    fileprivate(set) var reads: ReadTracking?

    /// Notifies observers of `isInvalidated` that its value is about to change.
    mutating func willChangeValidity(_ observers: KeyValueObservers?) {
        guard let observers else { return }
        invalidationEntries += observers.notifyWillChange { $0 == KeyValueObservers.invalidation }.map {
            (observers, $0)
        }
    }

    /// Notifies observers that a rollback is about to restore deleted objects. A write may have changed such an object
    /// before it deleted the object. In this case observers are also notified that these changes are about to be
    /// undone.
    mutating func willRestore(_ undone: RealmContext.UndoneDeletions, in context: RealmContext) {
        context.keyValue.restored = Set(undone.objects.map(ObjectIdentifier.init))
        let objects = undone.objects.filter { $0._observers?.isEmpty == false }
            .sorted { ($0._table?.id ?? 0, $0._key) < ($1._table?.id ?? 0, $1._key) }
        for object in objects { willChangeValidity(object._observers) }
        for core in undone.cores { willChangeValidity(core.observers) }
        for object in objects {
            let changedProperties =
                object._observers?.changedProperties(since: context.pending.firstNumber) ?? ColumnSet()
            willChange(object._observers, changedProperties) { _ in nil }
        }
    }

    /// Notifies observers that properties are about to change.
    mutating func willChange(_ observers: KeyValueObservers?, _ columns: ColumnSet, _ edit: (Int) -> KeyValueEdit?) {
        guard let observers else { return }
        propertyEntries += observers.notifyWillChange({ $0 >= 0 && columns.contains($0) }, edit).map { (observers, $0) }
    }

    /// Notifies observers that the changes have happened. Observers of `isInvalidated` are notified last.
    func didChange() {
        for (observers, registration) in propertyEntries + invalidationEntries
        where observers.isRegistered(registration.id) {
            registration.didChange()
        }
        reads?.didChange()
    }
}

extension RealmContext {
    /// True if there are key-value observers or tracked reads. In both cases, a notification is necessary before a
    /// change.
    var hasObserversBeforeChange: Bool { !keyValue.isEmpty || hasTrackedReads }

    /// Notifies observers that the Realm is about to move to another version. Observers of `isInvalidated` are notified
    /// first.
    ///
    /// - Parameters:
    ///   - changes: the changes between the versions; nil if they are not known.
    ///   - inverted: true if the changes are rolled back.
    ///   - next: the new version. If the changes are not known, the current rows are compared with the rows of this
    ///     version.
    ///   - undone: the deletions that a rollback undoes.
    func notifyWillChange(
        _ changes: ChangeSet?, inverted: Bool = false, next: SnapshotHandle? = nil,
        undone: UndoneDeletions = UndoneDeletions()
    ) -> KeyValueNotification {
        var notification = KeyValueNotification()
        guard hasObserversBeforeChange || undone.isObserved else { return notification }
        let outer = keyValue.phase
        keyValue.phase = .willChange
        callsBeforeChange += 1
        defer {
            keyValue.phase = outer
            callsBeforeChange -= 1
        }
        notification.willRestore(undone, in: self)
        var changed: [(object: ObjectBase, columns: ColumnSet)] = []
        for object in keyValue.validObjects() {
            let (columns, isDeleted) = change(of: object, in: changes, inverted: inverted, next: next)
            if isDeleted { notification.willChangeValidity(object._observers) }
            if !isDeleted && !columns.isEmpty { changed.append((object, columns)) }
        }
        for core in keyValue.validCollections() where isOwnerDeleted(core, changes, inverted, next) {
            notification.willChangeValidity(core.observers)
        }
        for (object, columns) in changed {
            notification.willChange(object._observers, columns) { property in
                let id = CollectionID(table: object._table?.id ?? 0, property: property, owner: object._key)
                return changes?.collections[id].map { KeyValueEdit($0, isInverted: inverted) }
            }
        }
        notification.reads = reads
        reads.willChange(changes, isInverted: inverted)
        return notification
    }

    /// Runs `body`, which calls observers before a change. The observers may read and run queries. If they change the
    /// Realm, the process traps, because the change that follows was prepared for the state before the calls.
    func callingBeforeChange<R>(_ body: () throws -> R) rethrows -> R {
        callsBeforeChange += 1
        defer { callsBeforeChange -= 1 }
        return try body()
    }

    /// Makes a change that consists of several steps. Observers that are called between the steps cannot end the write.
    func makingChange<R>(_ body: () throws -> R) rethrows -> R {
        keyValue.changesInProgress += 1
        defer { keyValue.changesInProgress -= 1 }
        return try body()
    }

    /// Notifies observers that a row is about to be deleted.
    func notifyWillInvalidate(of key: ObjectKey, _ table: ObjectTable) -> KeyValueNotification {
        var notification = KeyValueNotification()
        guard hasObserversBeforeChange else { return notification }
        callingBeforeChange {
            table.forEachAccessor(key) { notification.willChangeValidity($0._observers) }
            for core in keyValue.validCollections() where core.table === table && core.owner == key {
                notification.willChangeValidity(core.observers)
            }
            notification.reads = reads
            reads.willDelete(key, in: table.id)
        }
        return notification
    }

    /// Notifies observers that all objects and collections are about to be invalidated.
    func notifyWillInvalidateAll() -> KeyValueNotification {
        var notification = KeyValueNotification()
        callingBeforeChange {
            for object in keyValue.validObjects() { notification.willChangeValidity(object._observers) }
            for core in keyValue.validCollections() { notification.willChangeValidity(core.observers) }
            notification.reads = reads
            reads.willChangeAll()
        }
        return notification
    }

    /// Notifies the observers in `notification` that the change has happened.
    func notifyDidChange(_ notification: KeyValueNotification) {
        let outer = keyValue.phase
        keyValue.phase = .didChange
        notification.didChange()
        keyValue.restored = []
        keyValue.phase = outer
    }

    // MARK: Changes of observed objects

    // The properties of an observed object that are about to change, and whether its row is about to be deleted.
    private func change(
        of object: ObjectBase, in changes: ChangeSet?, inverted: Bool, next: SnapshotHandle?
    ) -> (columns: ColumnSet, isDeleted: Bool) {
        guard let table = object._table else { return (ColumnSet(), false) }
        guard let changes else {
            let difference = next.map { compare(object._key, table, $0) } ?? .unknown
            return (difference.properties, difference.isDeleted)
        }
        guard let change = changes.tables[table.id] else { return (ColumnSet(), false) }
        let isDeleted = (inverted ? change.inserted : change.deleted).contains(object._key)
        return (change.columns(modifiedFor: object._key), isDeleted)
    }

    private func isOwnerDeleted(
        _ core: CollectionCore, _ changes: ChangeSet?, _ inverted: Bool, _ next: SnapshotHandle?
    ) -> Bool {
        guard let changes else { return next.map { compare(core.owner, core.table, $0).isDeleted } ?? false }
        guard let change = changes.tables[core.table.id] else { return false }
        return (inverted ? change.inserted : change.deleted).contains(core.owner)
    }

    // MARK: Unknown changes

    /// Compares a row in the current version with the same row in another version.
    private func compare(_ key: ObjectKey, _ table: ObjectTable, _ next: SnapshotHandle) -> RowDifference {
        let state = read { try RowState(key, table.layout, $0) }
        guard let newState = try? next.read({ try RowState(key, table.layout, $0) }) else { return .unknown }
        return RowDifference(state, newState)
    }
}
