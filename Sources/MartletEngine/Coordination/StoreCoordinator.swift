import Foundation
import MartletSQLite

/// What keeps a file open on an executor.
package protocol StoreResident: AnyObject {
    /// The executor, as messages name it.
    var place: String { get }
}

/// One open file: its connections, its writers' queue, its newest commits and whoever wants to hear of them.
///
/// Ledger: `state` under its lock; `checkpointConnection` under the write lock.
// Sendable by the ledger above.
package final class StoreCoordinator: @unchecked Sendable {
    package let options: StoreOptions
    package let environment: Environment
    package var path: String { options.path }

    struct State {
        var idle: [Connection] = []
        /// The version that was read when the file was opened, for the Realm that opened it.
        var opened: (connection: Connection, meta: Catalog.Meta)?
        var log = CommitLog()
        var newestVersion: Version = 0
        var schema = DatabaseSchema([])
        /// What every connection is to show beside a file that may not be changed.
        var overlays: [SchemaOverlay] = []
        /// The newest epoch whose object types have been read.
        var epoch: Int64 = 0
        var schemaVersion: UInt64 = 0
        /// The types that Realms of this process use, as they were declared.
        var declared: [String: ObjectTypeSchema] = [:]
        /// In the order in which they began.
        var listeners: [(owner: ObjectIdentifier, tell: Listener)] = []
        /// Listeners that have observers of objects and collections.
        var observing: Set<ObjectIdentifier> = []
        /// The newest version that listeners were told of.
        var toldVersion: Version = 0
        var monitor: ExternalCommitMonitor?
        /// How many handles there are of each version.
        var pinned: [Version: Int] = [:]
        var handles: [ObjectIdentifier: LooseHandle] = [:]
        /// The version that was last complained about.
        var warnedVersion: Version = 0
        var isCheckpointPending = false
        /// The length of the log at the last checkpoint: the next is due a thousand frames later.
        var checkpointedFrames = 0
        /// The last checkpoint found a long log that it could not copy in full, because somebody reads an older version.
        var isLogHeld = false
        /// The last checkpoint could not cut a long log off, and is tried again.
        var isShorteningRetried = false
        /// The header of the file as this process last found it right.
        var knownHeader: FileHeader?
        /// The log that was last noted in the lock file by this process.
        var notedLog: UInt64?
        /// Why the file cannot be used any more: it was overwritten while it was open.
        var replacement: EngineError?
        /// The log as long as it was when waiting for old snapshots did not help.
        var fullLogFrames = 0
        /// The last copy of a whole log that this process has left the log for.
        var copied: WriteLock.CopyMark?
        /// The Realm open on each executor.
        var residents: [UInt64: LooseReference] = [:]
        /// The frozen Realm of each version.
        var frozen: [Version: LooseReference] = [:]
    }

    /// Told of each commit, with the Realm that made it if it was one of this process.
    package typealias Listener = @Sendable (_ version: Version, _ committer: ObjectIdentifier?) -> Void

    struct LooseHandle {
        private let reference: LooseReference

        init(_ handle: SnapshotHandle) { reference = handle.reference }

        var handle: SnapshotHandle? { reference.object.map { unsafeDowncast($0, to: SnapshotHandle.self) } }
    }

    private let lock = NSLock()
    private var state = State()
    let writeLock: WriteLock
    var checkpointConnection: Connection?
    /// What the table of open files has of it.
    let reference = LooseReference()
    private let processID: Int32
    /// Which file it is, whatever becomes of its path; nil in a file system of a test, and for a side of a migration.
    private let file: StoreFiles.Identity?

    init(_ options: StoreOptions) throws(EngineError) {
        self.options = options
        environment = options.environment
        processID = options.environment.processID()
        let opened = try StoreOpener(options, nil).open()
        writeLock = opened.writeLock
        writeLock.isOfOpenDatabase = options.environment.vfsName == nil
        file = options.environment.vfsName == nil ? StoreFiles.identity(options.path) : nil
        // Opening may have taken long, and 'file' is what the path leads to now.
        if options.environment.vfsName == nil, file == nil || opened.connection.isFileMoved {
            opened.connection.close()
            throw Self.moved(options.path)
        }
        reference.begin(self)
        adopt(opened, options)
        remember(opened.connection)
        emptiesAtExit()
        let frames = opened.connection.logFrames
        if opened.connection.isInTransaction {
            state.opened = (opened.connection, opened.meta)
        } else {
            state.idle = [opened.connection]
        }
        if let isWanted = options.compactsAtLaunch { compactAtLaunch(isWanted) }
        // A migration may have written all of the file anew.
        if isCheckpointDue(frames) { checkpointSoon() }
    }

    /// One side of a migration: it stands for the types of that side, and opens nothing itself.
    init(side options: StoreOptions, _ types: [(id: TableID, type: ObjectTypeSchema)], _ epoch: Int64) {
        var options = options
        options.isReadOnly = true
        options.isTemporary = false
        options.migration = nil
        self.options = options
        environment = options.environment
        processID = options.environment.processID()
        writeLock = WriteLock(path: options.path + LockFile.suffix, environment: options.environment)
        file = nil
        state.schema = DatabaseSchema(types)
        state.epoch = epoch
    }

    deinit {
        reference.end()
        if isInherited { return abandonInherited() }
        environment.yield(.beforeClose)
        if let (connection, _) = state.opened { state.idle.append(connection) }
        if !options.isReadOnly && !options.isTemporary { closeLog(state.idle.popLast()) }
        checkpointConnection?.close()
        for connection in state.idle { connection.close() }
        if options.isTemporary { StoreRegistry.removeTemporary(options, file) }
    }

    // Closing an inherited connection would touch the locks and files of the parent process.
    private func abandonInherited() {
        for connection in state.idle + [checkpointConnection, state.opened?.connection].compactMap({ $0 }) {
            _ = Unmanaged.passRetained(connection)
        }
        writeLock.abandon()
    }

    private func adopt(_ opened: StoreOpener.Opened, _ options: StoreOptions) {
        locked { state in
            if let overlay = opened.overlay { state.overlays.append(overlay) }
            if opened.meta.epoch >= state.epoch {
                state.schema = DatabaseSchema(state.overlays.reduce(opened.types) { $1.types($0) })
                state.epoch = opened.meta.epoch
            }
            state.schemaVersion = max(state.schemaVersion, options.schemaVersion)
            for declaration in options.types { state.declared[declaration.type.name] = declaration.type }
        }
    }

    func locked<R>(_ body: (inout State) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    /// All object types of the file.
    package var schema: DatabaseSchema { locked { $0.schema } }

    /// The object types and the epoch of the file they belong to.
    package var schemaAndEpoch: (DatabaseSchema, Int64) { locked { ($0.schema, $0.epoch) } }

    /// False when options bring types, or a version, that `takeIn` is to bring to the file first.
    func knows(_ other: StoreOptions) -> Bool {
        let (declared, schemaVersion) = locked { ($0.declared, $0.schemaVersion) }
        return other.schemaVersion == schemaVersion && other.types.allSatisfy { declared[$0.type.name] != nil }
    }

    /// Why the file cannot be opened with options that contradict those it is open with; nil when they do not.
    func refusal(of other: StoreOptions) -> EngineError? {
        requireSameProcess()
        guard other.isReadOnly == options.isReadOnly, other.durability == options.durability else {
            return EngineError(
                .incompatibleConfiguration, path: path,
                "the file is open in this process with another configuration; use the same 'readOnly' and 'durability'")
        }
        if isMigrated(by: other) { return alreadyOpen(other) }
        let declared = locked { $0.declared }
        let others = other.types.map(\.type).filter { declared[$0.name] != nil && declared[$0.name] != $0 }.map(\.name)
        if others.isEmpty { return nil }
        return EngineError(
            .incompatibleConfiguration, path: path,
            "the file is open in this process with another declaration of '\(others.joined(separator: "', '"))'; "
                + "release its Realms and objects first")
    }

    /// True for options with a higher schema version than the file is open with.
    private func isMigrated(by other: StoreOptions) -> Bool {
        !other.isReadOnly && other.schemaVersion > locked { $0.schemaVersion }
    }

    /// What a file that is open is refused with when another schema version is asked for.
    private func alreadyOpen(_ other: StoreOptions) -> EngineError {
        let places = residents.compactMap { ($0 as? any StoreResident)?.place }.sorted()
        let keeper =
            places.isEmpty ? "kept open by frozen objects or references" : "on \(places.joined(separator: ", "))"
        return EngineError(
            .alreadyOpen, path: path,
            "the file is open in this process with schema version \(locked { $0.schemaVersion }), \(keeper), and cannot be "
                + "migrated to \(other.schemaVersion); release its Realms and objects first")
    }

    /// Brings the file, and what is known of it, up to options that it knows nothing of. To be called in the file's turn.
    func takeIn(_ other: StoreOptions) throws(EngineError) {
        if options.marksLog {
            try EngineError.naming(path) {
                let connection = try takeConnection()
                defer { give(back: connection) }
                try connection.run("BEGIN")
                _ = try meta(connection)
            }
        }
        let opened = try StoreOpener(other, writeLock).open()
        adopt(opened, other)
        remember(opened.connection)
        give(back: opened.connection)
    }

    // MARK: Connections

    /// - Throws: besides what SQLite says, `.fileNotFound` when the path leads elsewhere by now.
    func takeConnection() throws -> Connection {
        requireSameProcess()
        let overlays = locked { $0.overlays }
        if let idle = locked({ $0.idle.popLast() }) {
            for overlay in overlays { try overlay.apply(to: idle) }
            return idle
        }
        try requireUnmoved()
        var connectionOptions = options.connection
        connectionOptions.createsFile = false
        let connection = try Connection(connectionOptions)
        // What was opened is a file of ours only if nobody has put another in its place meanwhile.
        try requireUnmoved()
        try QueryFunctions.install(on: connection)
        for overlay in overlays { try overlay.apply(to: connection) }
        return connection
    }

    /// Refuses to go on with a path that leads to another file, or to none: what is open stays readable, but what was written
    /// to it would be lost, and a new connection would show another file.
    func requireUnmoved() throws(EngineError) {
        guard let file, StoreFiles.identity(path) != file else { return }
        throw Self.moved(path)
    }

    /// The same for the holder of the write lock, who takes the log of the former file away from the one in its place.
    func requireUnmoved(_ handle: SnapshotHandle?) throws(EngineError) {
        do throws(EngineError) {
            try requireUnmoved()
        } catch {
            guard StoreFiles.exists(path) else { throw error }
            if let handle {
                _ = handle.read { setLogAside($0) }
            } else if let connection = locked({ $0.idle.popLast() }) {
                _ = setLogAside(connection)
                give(back: connection)
            }
            throw error
        }
    }

    private static func moved(_ path: String) -> EngineError {
        EngineError(
            .fileNotFound, path: path,
            "the file was moved, deleted or replaced while it was open; nothing was written; "
                + "let go of its Realms and objects and open it again")
    }

    func give(back connection: Connection) {
        assert(connection.unfinishedStatement == nil, "not reset: \(connection.unfinishedStatement ?? "")")
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        locked { state in if state.idle.count < 4 && !connection.isInTransaction { state.idle.append(connection) } }
    }

    func requireSameProcess() {
        if isInherited { environment.stopForkedChild(path) }
    }

    /// True in a forked child, to which nothing of this belongs.
    var isInherited: Bool { environment.processID() != processID }

    /// The newest version that this process knows to be committed; others may have committed more.
    package var newestKnownVersion: Version { locked { $0.newestVersion } }

    // MARK: Residents

    /// What `register` was given for this executor, if it still lives.
    package func resident(_ executor: UInt64) -> AnyObject? { locked { $0.residents[executor]?.object } }

    /// All that was registered and still lives.
    package var residents: [AnyObject] { locked { $0.residents.values.compactMap(\.object) } }

    /// What was frozen of a version, if it still lives.
    package func frozen(_ version: Version) -> AnyObject? { locked { $0.frozen[version]?.object } }

    package func register(frozen object: LooseReference, _ version: Version) {
        replace(\.frozen, version, object)
    }

    package func register(_ resident: LooseReference, _ executor: UInt64) { replace(\.residents, executor, resident) }

    // What has gone is swept out. Others are held until after the lock: to end one takes it.
    private func replace<Key>(
        _ list: WritableKeyPath<State, [Key: LooseReference]>, _ key: Key, _ object: LooseReference
    ) {
        let held = locked { state in
            let living = state[keyPath: list].compactMapValues(\.object)
            state[keyPath: list] = state[keyPath: list].filter { living[$0.key] != nil }
            state[keyPath: list][key] = object
            return living
        }
        withExtendedLifetime(held) {}
    }
}
