import Dispatch
import MartletEngine

/// A type whose values are confined to the thread, queue or actor of their Realm: Realms, objects, collections and
/// projections.
///
/// There are two ways to pass a value to another thread. `freeze()` returns an immutable value, which any thread can
/// read. A `ThreadSafeReference` is resolved on the other thread and returns the live value.
public protocol ThreadConfined {
    /// The Realm of the value; nil if the value is unmanaged.
    var realm: Realm? { get }
    /// True after the object or collection was deleted, or the Realm was invalidated.
    var isInvalidated: Bool { get }
    /// True for a frozen value, which never changes and can be read on any thread.
    var isFrozen: Bool { get }
    /// A locator that finds the value in another Realm of the file; nil for an unmanaged value. Traps if the value is
    /// invalidated.
    func _locator() -> _Locator?
}

/// Finds one object, collection or other value in any Realm of its file.
// Sendable: `find` captures only keys and types, and is called on the executor of the Realm that it receives.
public struct _Locator: @unchecked Sendable {
    private let reference: StoreReference
    let configuration: Realm.Configuration
    /// A version that contains the value. A Realm with an older version is refreshed first.
    let version: Version
    /// The row of the object, or of the owner of the collection; nil for other values.
    let row: RowID?
    /// The outcome of the write that added the row. Nil if that write was already durable when the locator was created.
    private let outcome: WriteOutcome?
    /// Identifies the Realm of the value.
    private let source: WeakReference
    /// The classes of the Realm of the value.
    private let models: [String: ModelClass]
    /// The name of the value in messages.
    let name: String
    /// Finds the value in a Realm. Returns nil if the value does not exist there.
    private(set) var find: (RealmContext) -> Any?

    init(_ context: RealmContext, _ name: String, row: RowID? = nil, _ find: @escaping (RealmContext) -> Any?) {
        self.row = row
        reference = StoreReference(context.coordinator)
        configuration = context.configuration
        // An object that the open write has created can be found only after that write is committed.
        version = context.version + (context.hasCreated(row) ? 1 : 0)
        outcome = row.flatMap { context.transaction?.outcome(ofInserting: $0.key, in: $0.table) }
        (source, models) = (context.reference, context.models)
        self.name = name
        self.find = find
    }

    var coordinator: StoreCoordinator { reference.coordinator }

    /// False if the write that added the row was rolled back, or if `context` cannot see that write yet. In these cases
    /// the key belongs to no row or to another row.
    func isVisible(in context: RealmContext) -> Bool {
        guard let outcome, outcome.state != .committed else { return true }
        return outcome.state == .open && context.transaction?.contains(outcome) == true
    }

    /// Adds to `context` all classes of the value's Realm that are missing in `context`. Returns false if `context`
    /// cannot add classes now.
    func addModels(to context: RealmContext) -> Bool {
        if context.reference === source || context.isFrozen { return true }
        return (try? context.add(models)) != nil
    }

    /// A locator that finds the value and converts it.
    func map(_ make: @escaping (Any) -> Any?) -> _Locator {
        var next = self
        next.find = { [find] in find($0).flatMap(make) }
        return next
    }

    /// The Realm of the file on the given actor or, without an actor, on the current thread or queue. If no Realm is
    /// open there, opens one on the actor or the current thread.
    func currentContext(_ isolation: (any Actor)?) throws -> RealmContext {
        if let isolation { return try context(.actor(isolation), Scheduler.mainQueue(isolation)) }
        let open = coordinator.openRealms.compactMap { $0 as? RealmContext }.filter(\.confinement.isCurrent)
        if let nearest = open.max(by: { $0.confinement.specificity < $1.confinement.specificity }) { return nearest }
        return try context(.currentThread())
    }

    private func context(_ confinement: Confinement, _ queue: DispatchQueue? = nil) throws -> RealmContext {
        var configuration = configuration
        configuration.scheduler = nil
        return try Realm.context(configuration, coordinator, confinement, queue)
    }
}

extension ThreadConfined {
    /// Returns an immutable snapshot of the value, which can be read on any thread. All objects and collections that
    /// are reachable from it are frozen, too.
    ///
    /// Inside a write, the snapshot shows the state before the write. If an asynchronous write has changed something,
    /// the snapshot shows the state before all writes that become durable together with this write. If the value is
    /// frozen, returns the value itself.
    ///
    /// To pass a snapshot to another thread, queue or actor with the checks of the compiler, wrap it in `Frozen`.
    ///
    /// The snapshot keeps its version of the file in use. While a version is in use, the log cannot be reset, so it
    /// grows with each later write. `Realm.pinnedVersions` lists the versions in use and their holders.
    ///
    /// Traps if the value is unmanaged or invalidated, or was created in the open write.
    public func freeze(fileID: StaticString = #fileID, line: UInt = #line) -> Self {
        if isFrozen { return self }
        guard let locator = _locator() else { Misuse.unmanagedTransfer("\(Self.self)", "frozen") }
        guard let source = realm?.context else { Misuse.unmanagedTransfer("\(Self.self)", "frozen") }
        guard let frozen = locator.find(source.frozen(fileID, line)) as? Self else {
            Misuse.frozenTooEarly(locator.name)
        }
        return frozen
    }

    /// Returns the live value for this frozen value, on the current thread, queue or actor; nil if it was deleted. If
    /// the value is live, returns the value itself.
    ///
    /// The live Realm is refreshed if it shows an older version than the frozen value.
    ///
    /// Traps if the value is unmanaged or invalidated, or if a Realm must be opened and cannot be opened.
    public func thaw(isolation: isolated (any Actor)? = #isolation) -> Self? {
        guard let locator = _locator() else { Misuse.unmanagedTransfer("\(Self.self)", "thawed") }
        if !isFrozen { return self }
        do {
            return try locator.currentContext(isolation).resolve(locator) as? Self
        } catch {
            Misuse.cannotThaw(locator.name, "\(error)")
        }
    }
}

extension RealmContext {
    /// Finds a value in this Realm. Refreshes the Realm first if its version is older than the value.
    func resolve(_ locator: _Locator) -> Any? {
        confinement.require("a Realm")
        guard locator.isVisible(in: self), locator.addModels(to: self) else { return nil }
        if !isFrozen, !isInWrite, version < locator.version { _ = refresh() }
        if let row = locator.row, isOther(row, in: locator) { return nil }
        return locator.find(self)
    }

    /// True if the key of the locator's row may belong to another row in the version that the Realm shows.
    private func isOther(_ row: RowID, in locator: _Locator) -> Bool {
        // Inside a callback, the Realm cannot advance to the version of the locator. In a write, it shows the newest
        // version.
        guard !isFrozen, !isInWrite, version < locator.version else {
            return wasReplaced(row, since: locator.version)
        }
        guard let table = tables[row.table], table.integerKey >= 0 else { return false }
        let newest = try? coordinator.openSnapshot()
        let changes = newest.flatMap { try? coordinator.changes(after: version, through: locator.version, $0)?.changes }
        guard let changes else { return true }
        guard let rows = changes.tables[row.table] else { return false }
        return rows.inserted.contains(row.key) || rows.deleted.contains(row.key)
    }

    /// True if the open write has created the row. If `row` is nil, true if the open write has changed anything.
    fileprivate func hasCreated(_ row: RowID?) -> Bool {
        guard let transaction, transaction.recorder.hasChanges else { return false }
        return row.map { transaction.recorder.hasInserted($0.key, in: $0.table) } ?? true
    }

    /// True if a row that existed at a version still exists and was not replaced by another row with its key.
    func hasKept(_ row: RowID, since version: Version) -> Bool {
        table(row.table).exists(row.key) && !wasReplaced(row, since: version)
    }

    /// True if the row was deleted after the version `earlier`. Only a row with an integer primary key can get the key
    /// of a deleted row, so rows of other types are not checked. False if the change sets since `earlier` are no longer
    /// stored.
    func wasReplaced(_ row: RowID, since earlier: Version) -> Bool {
        guard let table = tables[row.table], table.integerKey >= 0 else { return false }
        if earlier <= version, pending.deletionCount > 0,
            transaction?.recorder.hasDeleted(row.key, in: row.table) == true
        {
            return true
        }
        guard earlier < version else { return false }
        let changes = try? coordinator.changes(after: earlier, through: version, handle)?.changes
        return changes?.tables[row.table]?.deleted.contains(row.key) == true
    }
}

extension Realm: ThreadConfined {
    /// The Realm itself.
    public var realm: Realm? { self }

    /// Always false, because `invalidate()` invalidates objects and collections, but not the Realm.
    public var isInvalidated: Bool { false }

    public func _locator() -> _Locator? { _Locator(context, "Realm") { Realm($0) } }
}

extension ObjectBase: ThreadConfined {
    public final func _locator() -> _Locator? {
        guard let context = _context, let table = _table else { return nil }
        if context.access.isOfMigration { Misuse.frozenInMigration() }
        context.confinement.require(_described)
        if isInvalidated { Misuse.invalidated(_typeName, _keyDescription) }
        let (id, key) = (table.id, _key)
        return _Locator(context, "a '\(_typeName)' \(_keyDescription)", row: RowID(table: id, key: key)) {
            $0.object(key, id)
        }
    }
}

extension RealmContext {
    /// The object of a row; nil if the row does not exist.
    func object(_ key: ObjectKey, _ id: TableID) -> ObjectBase? {
        guard let table = tables[id], table.model != nil else { return nil }
        if isFrozen { return table.frozenObject(key) }
        let object = table.object(key)
        return existsOrInvalidate(object) ? object : nil
    }
}
