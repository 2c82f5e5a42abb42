import Foundation
import MartletEngine
import MartletSQLite

/// The state of one Realm on one executor: its snapshot, its open write, and its living objects.
///
/// Thread safety: used on its executor only, except for `deinit`. A frozen context is used on any thread: its initial state never
/// changes, and what is added later (collections, keys of results) is guarded by `frozenLock`.
final class RealmContext {
    /// A weak reference to this context. It is not a `weak` one, because every object retains the context.
    let reference = WeakReference()
    let coordinator: StoreCoordinator
    let configuration: Realm.Configuration
    let confinement: Confinement
    private(set) var schema: DatabaseSchema
    /// The epoch of the file to which `tables` belongs.
    private var epoch: Int64
    let access: Access
    private var models: [String: ModelClass]
    private(set) var tables: [TableID: ObjectTable] = [:]
    /// True if a type has `AnyRealmValue` properties, whose values may contain links.
    private(set) var hasAnyProperties = false
    /// Former tables of types that have got a class since. Older objects refer to them.
    private var retired: [ObjectTable] = []
    /// Creates the model of a type for which the program has no class. Set when the Realm is opened.
    var makeFallbackModel: (ObjectTypeSchema) -> ModelClass? = { _ in nil }
    private var tablesByClass: [ObjectIdentifier: ObjectTable] = [:]

    /// The snapshot that the Realm shows; nil after `invalidate()` until the next use.
    @exclusivity(unchecked) private var snapshot: SnapshotHandle?
    @exclusivity(unchecked) var transaction: WriteTransaction?
    /// True while the transaction contains only sealed writes, which become durable together. No write is open then.
    var isBetweenWrites = false
    /// The asynchronous writes; nil until the first one.
    var asyncWrites: AsyncWrites?
    /// Incremented by everything that can change the result of a query. Caches compare it.
    @exclusivity(unchecked) private(set) var changeCount: UInt64 = 1
    var autorefresh = true

    /// Accessors that were assigned to in the open write and not yet written.
    var dirty: [ObjectBase] = []
    /// Lists, sets and maps that were changed in the open write and not yet written.
    var dirtyCollections: [CollectionCore] = []
    /// The accessors and collections that the open transaction has deleted, for a rollback.
    var deleted = DeletedAccessors()
    /// The deletions of the open write that a rule denies, unless the write removes the reason.
    @exclusivity(unchecked) var denials = DeletionDenials()
    /// The number of the open or the last write. Each write of a group has its own number.
    @exclusivity(unchecked) private(set) var writeNumber: UInt32 = 0
    /// The number of the first write of the transaction.
    private(set) var firstWriteNumber: UInt32 = 0
    /// Objects that a rollback is about to make live again, while key-value observers are being notified.
    var objectsBeingRestored: Set<ObjectIdentifier> = []
    /// Objects with key-value observers, which are notified before and after a change of the row.
    var observedObjects: [ObjectIdentifier: WeakObject] = [:]
    /// Collections with key-value observers of `isInvalidated`.
    var observedCollections: [CollectionID: WeakCore] = [:]
    /// The tracked reads of this Realm.
    let reads = ReadTracking()
    /// True if tracked reads wait for a change, or are being notified of one. Stored here so that an assignment needs one load.
    @exclusivity(unchecked) var hasTrackedReads = false
    /// Whether key-value observers are being notified of a change of the version.
    var advancePhase = AdvancePhase.none
    /// The cursors of loops that have not read all their keys.
    var cursors: [WeakCursor] = []
    /// The cores of collections in use, by row and property.
    var collections: [CollectionID: WeakCore] = [:]
    let arena = TextArena()
    /// Objects that are being added as updates, with the keys of their rows. They end the recursion in a cycle of links.
    var updating: [ObjectIdentifier: ObjectKey] = [:]
    var adding = AddingState()
    /// Embedded objects that were created from untyped values and are not yet assigned to their owner.
    var ownerless: Set<ObjectIdentifier> = []
    /// Objects that are being copied by `create`, with their copies.
    var copies: [ObjectIdentifier: ObjectBase] = [:]
    /// For the old objects of a migration, the context of the new ones. Tables and rows have the same ids and keys in both.
    @WeakContext var counterpart: RealmContext? = nil
    /// The error that prevents the open write from being stored. Its commit throws the error.
    var failure: EngineError?
    /// The key of the last object that was added after a failure.
    private var lastPlaceholderKey = ObjectKey.min
    /// The number of calls of `invalidate()`. Results of an earlier generation are invalidated.
    private(set) var generation: UInt64 = 0
    /// Guards the mutable state of a frozen Realm; nil for live ones. Lock order: this lock is acquired before the lock of the
    /// snapshot.
    let frozenLock: NSRecursiveLock?
    /// The context that was frozen last. All frozen objects of one version share one context.
    @WeakContext var lastFrozen: RealmContext? = nil
    /// Callbacks for observation, set by the layer `Observation`.
    var hooks = ContextHooks()
    let scheduler: Scheduler?

    enum AdvancePhase {
        case none, willChange, didChange
    }

    struct WeakObject {
        weak var object: ObjectBase?
    }

    struct WeakCore {
        private let reference: WeakReference

        init(core: CollectionCore) { reference = core.reference }

        var core: CollectionCore? { reference.object.map { unsafeDowncast($0, to: CollectionCore.self) } }
    }

    struct WeakCursor {
        weak var cursor: LazyCursor?
    }

    /// The kind of access to the file.
    enum Access {
        case readWrite, readOnly
        /// One version, which never changes, on any thread.
        case frozen
        /// The old objects of a migration, and the new objects that it writes.
        case beforeMigration, migration

        var isOfMigration: Bool { self == .beforeMigration || self == .migration }
    }

    init(
        _ coordinator: StoreCoordinator, _ configuration: Realm.Configuration, _ models: [String: ModelClass],
        _ access: Access, _ confinement: Confinement, _ scheduler: Scheduler?
    ) {
        self.coordinator = coordinator
        self.configuration = configuration
        self.models = models
        self.access = access
        self.confinement = confinement
        self.scheduler = scheduler
        frozenLock = nil
        (schema, epoch) = coordinator.schemaAndEpoch
        adoptTypes()
        reference.begin(self)
        reads.context = self
        if configuration.tracksReads { trackReads() }
    }

    /// Creates a frozen context of a version of `source`.
    init(frozen source: RealmContext, _ handle: SnapshotHandle) {
        coordinator = source.coordinator
        configuration = source.configuration
        models = source.models
        access = .frozen
        confinement = .anywhere
        scheduler = nil
        frozenLock = NSRecursiveLock()
        // Copied from the source, because the types of the file may have changed since.
        (schema, epoch) = (source.schema, source.epoch)
        snapshot = handle
        makeFallbackModel = source.makeFallbackModel
        reference.begin(self)
        adoptTypes()
        autorefresh = false
    }

    deinit {
        reference.end()
        hooks.closed()
    }

    // MARK: Types

    // Known types keep their tables, because types cannot be changed while the file is open.
    private func adoptTypes() {
        for table in schema.tables.values {
            let model = models[table.type.name]
            if let known = tables[table.id], known.model != nil || model == nil && known.type == table.type {
                known.update(from: table)
                continue
            }
            if let known = tables[table.id] {
                known.accessors.forEach(invalidate)
                retired.append(known)
            }
            let objectTable = ObjectTable(table, model, self)
            tables[table.id] = objectTable
            if let model { tablesByClass[ObjectIdentifier(model.metatype)] = objectTable }
        }
        hasAnyProperties = tables.values.contains { $0.type.properties.contains(where: \.isAny) }
    }

    // Adopts the new schema if another process, or another Realm of this one, has added types to the file.
    private func adoptSchema(of handle: SnapshotHandle) {
        guard handle.epoch != epoch else { return }
        (schema, epoch) = coordinator.schemaAndEpoch
        adoptTypes()
    }

    /// Adds the classes of another configuration with which the same Realm is opened again.
    func extend(_ configuration: Realm.Configuration) {
        if configuration.tracksReads { trackReads() }
        let added = configuration.models.filter { models[$0.key] == nil }
        guard !added.isEmpty else { return }
        models.merge(added) { known, _ in known }
        if transaction == nil && !hooks.isDelivering(), let newest = try? coordinator.openSnapshot() {
            advance(to: newest)
        }
        (schema, epoch) = coordinator.schemaAndEpoch
        adoptTypes()
    }

    func table(_ type: ObjectBase.Type) -> ObjectTable {
        guard let table = tablesByClass[ObjectIdentifier(type)] else { Misuse.unknownType("\(type)") }
        return table
    }

    func table(_ model: ModelClass) -> ObjectTable {
        guard let table = table(named: model.schema.name) else { Misuse.unknownType(model.schema.name) }
        return table
    }

    func table(_ id: TableID) -> ObjectTable {
        guard let table = tables[id] else { Misuse.unknownType("number \(id)") }
        return table
    }

    /// True if both contexts have the same classes.
    func hasClasses(of other: RealmContext) -> Bool {
        tablesByClass.count == other.tablesByClass.count
            && tablesByClass.keys.allSatisfy { other.tablesByClass[$0] != nil }
    }

    func table(named name: String) -> ObjectTable? { schema[name].flatMap { tables[$0.id] } }

    // MARK: Snapshot

    /// The snapshot for reads: the pinned one, or that of the open write.
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
            if snapshot != nil { loadCursorKeys() }
            snapshot?.recordOwner(live: nil)
            handle?.recordOwner(live: confinement)
        }
        snapshot = handle
        if let handle { adoptSchema(of: handle) }
    }

    /// Begins a write transaction. It replaces the snapshot, so that its connection can be used for the write.
    ///
    /// If the write starts from a newer version, calls `willMove` to notify key-value observers, which still read the old
    /// snapshot then.
    func beginTransaction(holdsLock: Bool, _ willMove: (WriteTransaction) -> Void) throws {
        loadCursorKeys()
        var given = snapshot
        let old = hasKeyValueObservers ? snapshot : nil
        snapshot = nil
        defer { snapshot = transaction == nil ? given : nil }
        let begun = try coordinator.beginWrite(
            replacing: &given, holdsLock: holdsLock, makeRoom: hooks.releaseUnneeded)
        given?.recordOwner(live: nil)
        begun.committer = ObjectIdentifier(self)
        transaction = begun
        countWrite()
        firstWriteNumber = writeNumber
        adoptSchema(of: begun.handle)
        guard let old, old.version != begun.baseVersion else { return }
        snapshot = old
        willMove(begun)
    }

    /// Assigns a number to a write that begins.
    func countWrite() { writeNumber &+= 1 }

    /// A unique key for an object that will not be stored, because the write has failed.
    func placeholderKey(_ table: ObjectTable) -> ObjectKey {
        repeat { lastPlaceholderKey &+= 1 } while table.identity.object(lastPlaceholderKey) != nil
        return lastPlaceholderKey
    }

    /// The public Realm of an object or collection; nil for objects of a migration.
    var realm: Realm? { access.isOfMigration ? nil : Realm(self) }

    func bumpChangeCount() { changeCount &+= 1 }

    func endGeneration() {
        generation += 1
        bumpChangeCount()
    }

    /// Reads with the connection of the snapshot. A property cannot throw, so a disk error stops the program with the message of
    /// SQLite.
    func read<R>(_ body: (Connection) throws -> R) -> R {
        do {
            return try handle.read(body)
        } catch let failure as QueryFailure {
            Misuse.query(failure.message)
        } catch let failure as ResolvedPath.Failure {
            Misuse.query("'\(failure.type)' has no property '\(failure.name)'")
        } catch {
            if let failure = (error as? SQLiteError).flatMap(QueryFailure.init) { Misuse.query(failure.message) }
            readFailed(error)
        }
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
    func prepare(_ object: ObjectBase) {
        // Frozen objects have their values from the beginning. They are shared by threads and must not be changed.
        if access == .frozen { return }
        confinement.require(object._described)
        if object._state == .stale { load(object) }
        object._guard = guardWord
    }

    private func load(_ object: ObjectBase) {
        guard let table = object._table else { return }
        guard loadIfThere(object, table) else {
            refuseMissing(object)
        }
        trackReadsIfObserved()
    }

    /// Reads the row of a stale accessor; false if it does not exist. Stops the program if the file cannot be read.
    func loadIfThere(_ object: ObjectBase, _ table: ObjectTable) -> Bool {
        if table.hasFurtherAccessors { flushForQuery() }
        let found = read { try decode(object, table, $0) }
        if found { object._state = .live }
        return found
    }

    /// Reads the row of a stale accessor; false if it does not exist. Throws if the file cannot be read.
    func loadOrThrow(_ object: ObjectBase, _ table: ObjectTable) throws -> Bool {
        if object._state == .live { return true }
        let found = try handle.read { try decode(object, table, $0) }
        if found { object._state = .live }
        return found
    }

    private func decode(_ object: ObjectBase, _ table: ObjectTable, _ connection: Connection) throws -> Bool {
        let statement = try table.selectStatement(connection)
        statement.bind(object._key, at: 1)
        guard try statement.step() else { return false }
        defer { statement.reset() }
        var decoder = RowDecoder(statement, specialsAt: table.specialsPosition)
        object._decode(&decoder)
        if decoder.damaged >= 0 { throw damage(in: decoder, object._key, table) }
        return true
    }

    /// True if the row exists. Reads the file only if the accessor is stale.
    func exists(_ object: ObjectBase) -> Bool {
        guard object._state == .stale, let table = object._table else { return object._state == .live }
        let found = read { connection in
            try connection.integer(
                "SELECT 1 FROM \(table.layout.table) WHERE \(table.layout.keyColumn) = ?1", [.integer(object._key)])
                == 1
        }
        if !found { invalidate(object) }
        return found
    }

    /// Discards the outdated values of an accessor. They are read again when they are needed.
    func markStale(_ object: ObjectBase) {
        guard object._state == .live else { return }
        object._guard = 0
        object._state = .stale
        var empty = RowDecoder.empty
        object._decode(&empty)
    }

    /// Invalidates an accessor, because its row was deleted or the Realm was invalidated.
    func invalidate(_ object: ObjectBase) {
        guard object._state == .live || object._state == .stale, let table = object._table else { return }
        table.identity.remove(Unmanaged.passUnretained(object).toOpaque(), object._key)
        object._guard = 0
        object._dirty = 0
        object._state = .invalidated
        var empty = RowDecoder.empty
        object._decode(&empty)
    }
}

/// The callbacks for observation. They are stored in this layer and set by the higher layer `Observation`.
struct ContextHooks {
    /// Called when a write begins: delivers pending notifications up to the version from which the write starts. The parameter
    /// is the version that the Realm showed before.
    var deliverBeforeWrite: (Version?) -> Void = { _ in }
    /// Releases a version that was opened in the background and that no observer needs.
    var releaseUnneeded: () -> Void = {}
    /// Called before a commit of this Realm, with the tokens of the observers that are not notified of it.
    ///
    /// Not called for a group of writes that become durable together, because the versions in between cannot be opened. In a
    /// group, only a `writeAsync` block that commits itself can be silent. Its silenced observers are notified of it together
    /// with the writes that were sealed before.
    var willCommit: (Set<ObjectIdentifier>) -> Void = { _ in }
    /// Called after writes of this Realm were committed together, with the tokens of the observers that are not notified
    /// of the last one, and the number of writes.
    var committed: (Set<ObjectIdentifier>, Int) -> Void = { _, _ in }
    /// True while collections or objects of this Realm are observed.
    var hasObservers: () -> Bool = { false }
    /// The object that has set the hooks, kept alive here.
    var hub: AnyObject?
    /// Called when the context is deallocated.
    var closed: () -> Void = {}
    /// Called after a write of this Realm was rolled back.
    var cancelled: () -> Void = {}
    /// True inside an observer callback, in which the Realm does not change or release its version.
    var isDelivering: () -> Bool = { false }
}
