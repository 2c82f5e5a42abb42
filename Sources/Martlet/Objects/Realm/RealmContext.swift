import Foundation
import MartletEngine
import MartletValues

/// The state of one Realm on one executor: its snapshot, its open write, and its living objects.
///
/// Thread safety: used on its executor only, except for `deinit`. A frozen context is used on any thread: its initial
/// state never changes, and `frozenLock` guards the state that is added later (collections, keys of results).
final class RealmContext {
    /// The weak reference to this context. Swift's `weak` would slow down every retain of the context, and every object
    /// retains the context.
    let reference = WeakReference()
    let coordinator: StoreCoordinator
    private(set) var configuration: Realm.Configuration
    let confinement: Confinement
    @exclusivity(unchecked) private var types: ModelTables {
        didSet { lastAdded = nil }
    }
    /// The class of the object that was added last, and its table.
    @exclusivity(unchecked) private var lastAdded: (type: ObjectIdentifier, table: ObjectTable)?
    let access: Access
    /// Creates the model of a type for which the program has no class. This closure is set when the Realm is opened.
    var makeFallbackModel: (ObjectTypeSchema) -> ModelClass? = { _ in nil }

    /// The snapshot that the Realm shows. It is nil before the first use, after `invalidate()`, and while a write
    /// transaction is open.
    @exclusivity(unchecked) private var snapshot: SnapshotHandle?
    @exclusivity(unchecked) var transaction: WriteTransaction?
    /// True while the transaction contains only sealed writes and no write is open.
    var hasOnlySealedWrites = false
    /// The asynchronous writes; nil until the program adds the first one.
    var asyncWrites: AsyncWrites?
    /// Incremented by every change that can affect the result of a query. Caches compare it with the count at which
    /// they were filled.
    @exclusivity(unchecked) private(set) var changeCount: UInt64 = 1
    /// The change count after the last change that can affect the results of queries of any type.
    private var generalChangeCount: UInt64 = 1
    var autorefresh = true

    @exclusivity(unchecked) var pending = PendingWrite()
    @exclusivity(unchecked) var additions = Additions()
    @exclusivity(unchecked) var keyValue = KeyValueRegistry()
    /// The tracked reads of this Realm.
    let reads = ReadTracking()
    /// True if there are tracked reads, or while the Observation framework is being notified that a value that was read
    /// changes. Stored here so that an assignment can check it with one load.
    @exclusivity(unchecked) var hasTrackedReads = false
    /// Greater than zero while observers are notified before a change. The calls may be nested.
    @exclusivity(unchecked) var callsBeforeChange = 0
    /// The cursors of loops that have not read all members.
    var cursors: [WeakCursor] = []
    /// The targets of links that the current loop keeps. Reset when the object is deallocated.
    @exclusivity(unchecked) var linkTargets: Unmanaged<LinkTargets>?
    /// The cores of collections in use, by row and property.
    var collections: [CollectionID: CollectionCore.WeakCore] = [:]
    /// In the context of the old objects of a migration: the context of the new objects. Tables and rows have the same
    /// ids and keys in both contexts.
    @WeakContext var newContext: RealmContext? = nil
    /// In the context of the old objects of a migration: returns the name that a property of the new schema has in the
    /// old file.
    var formerName: (_ property: String, _ type: String) -> String = { property, _ in property }
    /// In the context of the old objects of a migration: returns a row that contains itself through embedded objects
    /// and that a copy of the given row would include. Returns nil if there is no such row.
    var selfContainingRow: (RowID) throws -> RowID? = { _ in nil }
    /// The number of calls of `invalidate()`. Results from an earlier generation are invalidated.
    private(set) var generation: UInt64 = 0
    /// Guards the mutable state of a frozen Realm; nil for a live Realm. Lock order: this lock is acquired before the
    /// lock of the snapshot.
    let frozenLock: NSRecursiveLock?
    /// The frozen context of the version that was frozen last. All frozen objects of one version share one context.
    @WeakContext var lastFrozen: RealmContext? = nil
    /// The callbacks for observation. The code in `Sources/Martlet/Observation` sets them.
    var hooks = ContextHooks()
    let scheduler: Scheduler?

    struct WeakCursor {
        weak var cursor: (any MemberCursor)?
    }

    /// The kind of access to the file.
    enum Access {
        case readWrite, readOnly
        /// A frozen Realm, which shows one version and is used on any thread.
        case frozen
        /// The Realms of a migration: the old objects, and the new objects that the migration writes.
        case beforeMigration, migration

        var isOfMigration: Bool { self == .beforeMigration || self == .migration }
    }

    init(
        _ coordinator: StoreCoordinator, _ configuration: Realm.Configuration, _ models: [String: ModelClass],
        _ access: Access, _ confinement: Confinement, _ scheduler: Scheduler?
    ) {
        self.coordinator = coordinator
        self.configuration = configuration
        self.access = access
        self.confinement = confinement
        self.scheduler = scheduler
        frozenLock = nil
        let (schema, epoch) = coordinator.schemaAndEpoch
        types = ModelTables(models, schema, epoch: epoch)
        types.adopt(schema, epoch: epoch, in: self)
        reference.begin(self)
        reads.context = self
        if configuration.tracksReads { trackReads() }
    }

    /// Creates a frozen context of a version of `source`.
    init(frozen source: RealmContext, _ handle: SnapshotHandle) {
        coordinator = source.coordinator
        configuration = source.configuration
        access = .frozen
        confinement = .anywhere
        scheduler = nil
        frozenLock = NSRecursiveLock()
        // The types are copied from the source, because the types of the file may have changed in the meantime.
        types = ModelTables(source.types.models, source.schema, epoch: source.types.epoch)
        snapshot = handle
        makeFallbackModel = source.makeFallbackModel
        reference.begin(self)
        types.adopt(types.schema, epoch: types.epoch, in: self)
        autorefresh = false
    }

    deinit {
        reference.end()
        hooks.closed()
    }

    // MARK: Types

    var schema: DatabaseSchema { types.schema }

    var tables: [TableID: ObjectTable] { types.all }

    /// True if a type has `AnyRealmValue` properties, whose values may contain links.
    var hasAnyProperties: Bool { types.hasAnyProperties }

    // Adopts the new schema if another process, or another Realm of this process, has added types to the file.
    private func adoptSchema(of handle: SnapshotHandle) {
        if handle.epoch != types.epoch { adoptNewestSchema() }
    }

    private func adoptNewestSchema() {
        let (schema, epoch) = coordinator.schemaAndEpoch
        types.adopt(schema, epoch: epoch, in: self)
        bumpChangeCount()
    }

    /// The classes of the program that this Realm knows, by type name.
    var models: [String: ModelClass] { types.models }

    /// True if the types that the Realm shows include all of `models`.
    func knowsTypes(of models: [String: ModelClass]) -> Bool {
        models.keys.allSatisfy { types.models[$0] != nil || types.schema[$0] != nil }
    }

    /// Adds classes. The newest version of the file must contain their types. If the version that the Realm shows does
    /// not contain the types, the Realm is refreshed.
    ///
    /// - Throws: `.incompatibleConfiguration` if the Realm cannot be refreshed now.
    func add(_ models: [String: ModelClass]) throws {
        if models.keys.allSatisfy({ types.models[$0] != nil }) { return }
        if !knowsTypes(of: models) {
            try requireRefreshable()
            // If new types are the only change of the file, the Realm moves without `refresh()`, because `refresh()`
            // calls observers.
            var hasMoved = false
            while !hasMoved {
                let newest = try translating { try coordinator.openSnapshot() }
                let changes = try? coordinator.changes(after: version, through: newest.version, newest)?.changes
                hasMoved = newest.version == version || changes?.isEmpty == true || !refresh()
                if hasMoved { advance(to: newest) }
            }
            adoptNewestSchema()
        }
        types.add(models)
        // Realms on other executors are opened with this configuration, and need all classes, too.
        configuration.objectTypes = types.models.values.map(\.metatype)
        types.adopt(types.schema, epoch: types.epoch, in: self)
        bumpChangeCount()
    }

    /// Throws if the Realm cannot move to a newer version now, because a write is open or an observer is being called.
    func requireRefreshable() throws {
        asyncWrites?.commitSealedWrites()
        if transaction == nil, !hooks.isDelivering(), keyValue.phase == .none { return }
        throw Realm.Error(
            .incompatibleConfiguration, path: coordinator.path,
            "a Realm that is open here was opened again with additional types, inside a write transaction or an "
                + "observer; it cannot move to a version with these types now; "
                + "open it with all types from the beginning")
    }

    func table(_ type: ObjectBase.Type) -> ObjectTable { types.table(type) }

    /// The table to which an object of a class is added. The last table is cached, because successive objects often
    /// have the same class.
    func tableForAdding(_ type: ObjectBase.Type) -> ObjectTable {
        if let lastAdded, lastAdded.type == ObjectIdentifier(type) { return lastAdded.table }
        let table = types.table(type)
        // Several threads may use a frozen Realm.
        if isFrozen { return table }
        lastAdded = (ObjectIdentifier(type), table)
        return table
    }

    func table(_ id: TableID) -> ObjectTable { types.table(id) }

    func table(named name: String) -> ObjectTable? { types.table(named: name) }

    func table(_ model: ModelClass) -> ObjectTable {
        guard let table = table(named: model.schema.name) else { Misuse.unknownType(model.schema.name) }
        return table
    }

    func hasClasses(of other: RealmContext) -> Bool { types.hasClasses(of: other.types) }

    // MARK: Snapshot

    /// The snapshot for reads: the pinned snapshot, or the snapshot of the open write. If neither exists, pins the
    /// newest version.
    var handle: SnapshotHandle {
        if let snapshot { return snapshot }
        if let transaction { return transaction.handle }
        do {
            let opened = try coordinator.openSnapshot()
            replaceSnapshot(opened)
            return opened
        } catch {
            readFailed(error)
        }
    }

    var hasSnapshot: Bool { snapshot != nil }

    var version: Version {
        if snapshot == nil, let transaction { return transaction.baseVersion }
        return handle.version
    }

    func replaceSnapshot(_ handle: SnapshotHandle?) {
        if snapshot !== handle {
            if snapshot != nil { loadCursors() }
            snapshot?.recordOwner(live: nil)
            handle?.recordOwner(live: confinement)
        }
        snapshot = handle
        if let handle { adoptSchema(of: handle) }
    }

    /// Begins a write transaction and releases the snapshot, so that the write can use the connection of the snapshot.
    ///
    /// If the write starts from a newer version, `willMove` is called to notify key-value observers. The Realm still
    /// shows the old snapshot during this call.
    func beginTransaction(holdsLock: Bool, _ willMove: (WriteTransaction) -> Void) throws {
        loadCursors()
        var given = snapshot
        let old = hasObserversBeforeChange ? snapshot : nil
        snapshot = nil
        defer { snapshot = transaction == nil ? given : nil }
        let begun = try coordinator.beginWrite(
            replacing: &given, holdsLock: holdsLock, releaseVersions: hooks.releaseUnneeded)
        given?.recordOwner(live: nil)
        begun.committer = ObjectIdentifier(self)
        if let old, old.version != begun.baseVersion {
            snapshot = old
            willMove(begun)
        }
        transaction = begun
        pending.begin(isFirst: true)
        adoptSchema(of: begun.handle)
    }

    /// The public Realm of an object or collection; nil for objects of a migration.
    var realm: Realm? { access.isOfMigration ? nil : Realm(self) }

    func bumpChangeCount() {
        changeCount &+= 1
        generalChangeCount = changeCount
    }

    /// Called after a change that can affect only queries that read a certain type: rows were inserted, or values of
    /// rows were changed. A deletion can also affect other types, because it removes links.
    func bumpChangeCount(of table: ObjectTable) {
        changeCount &+= 1
        table.changeCount = changeCount
    }

    /// Called after the Realm has moved to another version. The changes are nil if they are not known.
    func bumpChangeCount(for changes: ChangeSet?) {
        guard let changes else { return bumpChangeCount() }
        changeCount &+= 1
        for id in changes.tables.keys { tables[id]?.changeCount = changeCount }
    }

    /// True if nothing has changed since an earlier change count that can affect queries that read only this type.
    func isUnchanged(_ table: ObjectTable, since count: UInt64) -> Bool {
        generalChangeCount <= count && table.changeCount <= count
    }

    func endGeneration() {
        generation += 1
        bumpChangeCount()
    }

    /// Reads with the connection of the snapshot. The getters of properties do not throw, so a disk error stops the
    /// program. The message contains the message of SQLite.
    func read<R>(_ body: (StoreConnection) throws -> R) -> R {
        do {
            return try handle.read(body)
        } catch let failure as ResolvedPath.Failure {
            Misuse.query("'\(failure.type)' has no property '\(failure.name)'")
        } catch {
            if let failure = QueryFailure(error) { Misuse.query(failure.message) }
            readFailed(error)
        }
    }

    /// A result computed from the columns in memory. Nil if the columns are not sufficient. Nil inside a write, because
    /// the columns do not contain its changes. Also nil if reading the file fails: the caller then runs a query, which
    /// reports the error.
    func fromColumns<R>(_ body: (ColumnStore, ColumnSource) throws -> R?) -> R? {
        guard transaction == nil, !access.isOfMigration else { return nil }
        let handle = handle
        let source = ColumnSource(handle, schema) { [coordinator] start in
            try coordinator.changes(after: start, through: handle.version, handle)?.changes
        }
        return (try? body(coordinator.columns, source)) ?? nil
    }

    /// Stops the program because an object belongs to another Realm.
    func refuse(foreign object: ObjectBase, isLinked: Bool = true) -> Never {
        if isLinked, object.isFrozen { Misuse.frozenLinked(object._typeName) }
        Misuse.foreignObject(object._typeName, of: object._context?.coordinator.path, in: coordinator.path)
    }

    func readFailed(_ error: any Error) -> Never {
        Misuse.readFailed(EngineError.wrap(located(error), path: coordinator.path).message, path: coordinator.path)
    }

    // MARK: Accessors

    /// The slow path of a property read: checks the executor and reads the values if they are stale.
    ///
    /// - Parameter property: the property that is read; nil if the values of all properties are needed.
    func prepare(_ object: ObjectBase, _ property: PropertyIndex?) {
        // A frozen object gets its values when it is created. Several threads share the object, so this method must not
        // change it.
        if access == .frozen { return }
        confinement.require(object._described)
        if object._state == .stale {
            let isLoaded = property.map { object._loaded.contains($0) } ?? false
            if isLoaded, !object._hasManySlowReads { return }
            load(object)
        }
        object._guard = guardWord
    }

    private func load(_ object: ObjectBase) {
        guard let table = object._table else { return }
        if object._loaded == .all {
            object._loaded = .none
            object._state = .live
            return
        }
        guard loadIfThere(object, table) else {
            refuseMissing(object)
        }
        trackReadsIfObserved()
    }

    /// Reads the row of a stale accessor; false if the row does not exist. Stops the program if the file cannot be
    /// read.
    func loadIfThere(_ object: ObjectBase, _ table: ObjectTable) -> Bool {
        if table.hasFurtherAccessors { flushForQuery() }
        let found = read { try decode(object, table, $0) }
        if found { object._state = .live }
        return found
    }

    /// Reads the row of a stale accessor; false if the row does not exist. Throws if the file cannot be read.
    func loadOrThrow(_ object: ObjectBase, _ table: ObjectTable) throws -> Bool {
        if object._state == .live { return true }
        let found = try handle.read { try decode(object, table, $0) }
        if found { object._state = .live }
        return found
    }

    // Decodes the values that are not loaded. The caller of a getter may still use the loaded values, so they must not
    // be released here.
    private func decode(_ object: ObjectBase, _ table: ObjectTable, _ connection: StoreConnection) throws -> Bool {
        try table.rows.withRow(object._key, connection) { row in
            var decoder = RowDecoder(row, table.rows.wholeRow, wanted: .all.subtracting(object._loaded))
            object._decode(&decoder)
            if decoder.damagedProperty >= 0 { throw damage(in: decoder, object._key, table) }
            object._loaded = .none
            return true
        } ?? false
    }

    /// True if the row exists. Reads the file only if the accessor is stale, and invalidates the accessor if its row
    /// does not exist.
    func existsOrInvalidate(_ object: ObjectBase) -> Bool {
        guard object._state == .stale, let table = object._table else { return object._state == .live }
        let found = table.exists(object._key)
        if !found { invalidate(object) }
        return found
    }

    /// Discards the outdated values of an accessor. The next access reads the current values.
    func markStale(_ object: ObjectBase) {
        guard object._state == .live || !object._loaded.isEmpty else { return }
        object._guard = 0
        object._state = .stale
        object._loaded = .none
        var empty = RowDecoder.empty
        object._decode(&empty)
    }

    /// Invalidates an accessor, because its row was deleted or the Realm was invalidated.
    func invalidate(_ object: ObjectBase) {
        guard object._state == .live || object._state == .stale, let table = object._table else { return }
        table.identity.remove(Unmanaged.passUnretained(object).toOpaque(), object._key)
        object._guard = 0
        object._dirty = 0
        object._loaded = .none
        object._state = .invalidated
        var empty = RowDecoder.empty
        object._decode(&empty)
    }
}
