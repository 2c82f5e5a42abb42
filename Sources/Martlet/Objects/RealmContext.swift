import Foundation
import MartletEngine
import MartletSQLite

/// The state of one Realm on one executor: what it sees, what it has written, and its living objects.
///
/// Ledger: used on its executor only, but for `deinit`. A frozen one is used by any thread: what it has from the start never
/// changes, and what it finds out later (collections, keys of results) is guarded by `frozenLock`.
final class RealmContext {
    /// What refers to it without keeping it: every object retains it.
    let reference = LooseReference()
    let coordinator: StoreCoordinator
    let configuration: Realm.Configuration
    let confinement: Confinement
    private(set) var schema: DatabaseSchema
    /// The epoch of the file whose types `tables` has.
    private var epoch: Int64
    let access: Access
    private var models: [String: ModelClass]
    private(set) var tables: [TableID: ObjectTable] = [:]
    /// True when some type has a property whose values may be links without the schema saying so.
    private(set) var hasAnyProperties = false
    /// Tables of types that have been given a class since, for objects from before.
    private var retired: [ObjectTable] = []
    /// What stands in for the class of a type that the program has none for; set by those who open Realms.
    var standIn: (ObjectTypeSchema) -> ModelClass? = { _ in nil }
    private var tablesByClass: [ObjectIdentifier: ObjectTable] = [:]

    /// What the Realm sees; nil after `invalidate()` until it is next used.
    @exclusivity(unchecked) private var snapshot: SnapshotHandle?
    @exclusivity(unchecked) var transaction: WriteTransaction?
    /// True while the transaction holds writes that have ended and wait to be made durable together: none is open then.
    var isBetweenWrites = false
    /// The asynchronous writes; nil until there was one.
    var asyncWrites: AsyncWrites?
    /// Changes with everything that can change what a query finds: caches compare it.
    @exclusivity(unchecked) private(set) var stamp: UInt64 = 1
    var autorefresh = true

    /// Accessors assigned to in the open write and not yet written.
    var dirty: [ObjectBase] = []
    /// Lists, sets and maps changed in the open write and not yet written.
    var dirtyCollections: [CollectionCore] = []
    /// What the open transaction has deleted, for a rollback.
    var deleted = DeletedAccessors()
    /// Deletions of the open write that a rule denies unless the rest of it removes the reason.
    @exclusivity(unchecked) var denials = DeletionDenials()
    /// The number of the open write, or the last: each of a group has its own.
    @exclusivity(unchecked) private(set) var writeNumber: UInt32 = 0
    /// The number of the first write of the transaction.
    private(set) var firstWriteNumber: UInt32 = 0
    /// Objects that a rollback is about to make live again, while key-value observers are being told.
    var reviving: Set<ObjectIdentifier> = []
    /// Objects with key-value observers: told before and after their rows change.
    var observedObjects: [ObjectIdentifier: WeakObject] = [:]
    /// Collections with such observers of `isInvalidated`.
    var observedCollections: [CollectionID: WeakCore] = [:]
    /// What was read by those who track what they read.
    let reads = ReadTracking()
    /// Whether any of it waits to be announced, or is being announced: here, where an assignment finds it with one load.
    @exclusivity(unchecked) var isNoting = false
    /// Whether key-value observers are being told of a step to another version.
    var movement = Movement.none
    /// Loops that have not read all keys of what they walk.
    var walks: [WeakWalk] = []
    /// The cores of collections in use, by row and property.
    var collections: [CollectionID: WeakCore] = [:]
    let arena = TextArena()
    /// Objects that are being added as updates, with their rows: circles of links end here.
    var updating: [ObjectIdentifier: ObjectKey] = [:]
    var adding = AddingState()
    /// Embedded objects that were just made from untyped values and wait for their owner.
    var unowned: Set<ObjectIdentifier> = []
    /// Objects that are being copied by `create`, with their copies.
    var copies: [ObjectIdentifier: ObjectBase] = [:]
    /// Of the objects before a migration: those it makes of them, under the same numbers and keys.
    @Loose var counterpart: RealmContext? = nil
    /// What kept the open write from being stored: its commit throws it.
    var failure: EngineError?
    /// The key of the last object that was added after `failure`.
    private var lastLostKey = ObjectKey.min
    /// Counts `invalidate()`: results from before are invalidated.
    private(set) var generation: UInt64 = 0
    /// Guards what a frozen Realm finds out; nil for live ones. May be held while the snapshot is read, not the other way
    /// round.
    let frozenLock: NSRecursiveLock?
    /// What was frozen last: all that is frozen of one version shares it.
    @Loose var lastFrozen: RealmContext? = nil
    /// Told about what observers care for; set by the observation room.
    var hooks = ContextHooks()
    let scheduler: Scheduler?

    enum Movement {
        case none, announcing, telling
    }

    struct WeakObject {
        weak var object: ObjectBase?
    }

    struct WeakCore {
        private let reference: LooseReference

        init(core: CollectionCore) { reference = core.reference }

        var core: CollectionCore? { reference.object.map { unsafeDowncast($0, to: CollectionCore.self) } }
    }

    struct WeakWalk {
        weak var walk: StartedWalk?
    }

    /// What may be done with what is seen.
    enum Access {
        case readWrite, readOnly
        /// One version, for ever and for every thread.
        case frozen
        /// What was there before a migration; what the migration writes.
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

    /// What `source` shows in a version, for ever.
    init(frozen source: RealmContext, _ handle: SnapshotHandle) {
        coordinator = source.coordinator
        configuration = source.configuration
        models = source.models
        access = .frozen
        confinement = .anywhere
        scheduler = nil
        frozenLock = NSRecursiveLock()
        // As the source knows them: the file may have got other types since.
        (schema, epoch) = (source.schema, source.epoch)
        snapshot = handle
        standIn = source.standIn
        reference.begin(self)
        adoptTypes()
        autorefresh = false
    }

    deinit {
        reference.end()
        hooks.closed()
    }

    // MARK: Types

    // Types that this Realm has known keep their tables: nobody may change them while the file is open.
    private func adoptTypes() {
        for table in schema.tables.values {
            let model = models[table.type.name]
            if let known = tables[table.id], known.model != nil || model == nil && known.type == table.type {
                known.follow(table)
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

    // Another process, or another Realm of this one, has added types to the file.
    private func follow(_ handle: SnapshotHandle) {
        guard handle.epoch != epoch else { return }
        (schema, epoch) = coordinator.schemaAndEpoch
        adoptTypes()
    }

    /// Takes in the classes of a configuration with which the same Realm is opened again.
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

    /// True when accessors of both have the same classes.
    func hasClasses(of other: RealmContext) -> Bool {
        tablesByClass.count == other.tablesByClass.count
            && tablesByClass.keys.allSatisfy { other.tablesByClass[$0] != nil }
    }

    func table(named name: String) -> ObjectTable? { schema[name].flatMap { tables[$0.id] } }

    // MARK: What it sees

    /// The snapshot that reads go to: the pinned one, or the open write's own.
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
            if snapshot != nil { settleWalks() }
            snapshot?.note(live: nil)
            handle?.note(live: confinement)
        }
        snapshot = handle
        if let handle { follow(handle) }
    }

    /// Gives up the snapshot, so that its connection may write. Key-value observers see it until they have been told that
    /// the write starts from a newer version.
    func beginTransaction(holdsLock: Bool, _ willMove: (WriteTransaction) -> Void) throws {
        settleWalks()
        var given = snapshot
        let old = hasKeyValueObservers ? snapshot : nil
        snapshot = nil
        defer { snapshot = transaction == nil ? given : nil }
        let begun = try coordinator.beginWrite(
            replacing: &given, holdsLock: holdsLock, makeRoom: hooks.releaseUnneeded)
        given?.note(live: nil)
        begun.committer = ObjectIdentifier(self)
        transaction = begun
        countWrite()
        firstWriteNumber = writeNumber
        follow(begun.handle)
        guard let old, old.version != begun.baseVersion else { return }
        snapshot = old
        willMove(begun)
    }

    /// A write begins.
    func countWrite() { writeNumber &+= 1 }

    /// A key for an object that will not be stored, as the write has failed: no other object has it.
    func lostKey(_ table: ObjectTable) -> ObjectKey {
        repeat { lastLostKey &+= 1 } while table.identity.object(lastLostKey) != nil
        return lastLostKey
    }

    /// What users are given as the Realm of an object or collection; objects of a migration are in none.
    var realm: Realm? { access.isOfMigration ? nil : Realm(self) }

    func touch() { stamp &+= 1 }

    func endGeneration() {
        generation += 1
        touch()
    }

    /// Reads with the snapshot's connection. A failure of the disk in the middle of a pinned version cannot be thrown from
    /// a property, so it stops the program with what SQLite said.
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

    /// Stops the program over an object that is in another Realm.
    func refuse(foreign object: ObjectBase, isLinked: Bool = true) -> Never {
        if isLinked, object.isFrozen { Misuse.frozenLinked(object._typeName) }
        Misuse.foreignObject(object._typeName, of: object._context?.coordinator.path, in: coordinator.path)
    }

    func readFailed(_ error: any Error) -> Never {
        Misuse.readFailed(EngineError.named(located(error), path: coordinator.path).message, path: coordinator.path)
    }

    // MARK: Accessors

    /// The slow path of a property read: the right executor, and values that are current.
    func prepare(_ object: ObjectBase) {
        // Frozen objects have their values from the start, and nobody may write on them.
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
        noticeTracking()
    }

    /// Reads the row of a stale accessor; false when it is gone.
    func loadIfThere(_ object: ObjectBase, _ table: ObjectTable) -> Bool {
        if table.hasTwins { flushForQuery() }
        let found = read { try decode(object, table, $0) }
        if found { object._state = .live }
        return found
    }

    /// The same where an error can be thrown.
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

    /// True when the row is there; asks the file if the accessor is not sure.
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

    /// The values of an accessor are older than the Realm: they are given up now and read again when needed.
    func markStale(_ object: ObjectBase) {
        guard object._state == .live else { return }
        object._guard = 0
        object._state = .stale
        var empty = RowDecoder.empty
        object._decode(&empty)
    }

    /// The row is gone, or the Realm was invalidated.
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

/// What the observation room wants to be told. Callbacks live low, the API that registers them lives high.
struct ContextHooks {
    /// Before a write begins: deliver what is pending, up to the version the write starts from.
    /// Given the version the Realm showed before.
    var deliverBeforeWrite: (Version?) -> Void = { _ in }
    /// Releases a version that was opened in the background and that no observer needs.
    var releaseUnneeded: () -> Void = {}
    /// Before a commit of this Realm, with the tokens that are not to be told. Not where several writes are made durable
    /// together, as there is no version in between that could be opened; of those only the block of a 'writeAsync' that commits
    /// by itself can be silent, and whoever is silenced is told of it with what was sealed before.
    var willCommit: (Set<ObjectIdentifier>) -> Void = { _ in }
    /// After a commit of this Realm, with the tokens that are not to be told.
    var committed: (Set<ObjectIdentifier>) -> Void = { _ in }
    /// True while there are observers of collections and objects, which a commit could leave out.
    var hasObservers: () -> Bool = { false }
    /// What set the hooks.
    var hub: AnyObject?
    /// The Realm's last reference is gone.
    var closed: () -> Void = {}
    /// After a write of this Realm was taken back.
    var cancelled: () -> Void = {}
    /// True inside a callback: then the Realm neither moves nor lets go of what it shows.
    var isDelivering: () -> Bool = { false }
}
