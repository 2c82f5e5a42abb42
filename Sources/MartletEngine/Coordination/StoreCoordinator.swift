import Foundation
import MartletSQLite
import Synchronization

/// An object that keeps a file open on an executor.
package protocol OpenRealm: AnyObject {
    /// A description of the executor for messages.
    var executorDescription: String { get }
}

/// An object that works with an open file in the background, such as its synchronization.
package protocol StoreAttachment: AnyObject, Sendable {
    /// Called when the file is closed, on any thread.
    func end()

    /// Waits until the work in progress, which may retain the coordinator, has ended.
    func waitForWork()
}

/// One open file of this process: its connections, its write lock, its newest commits and their listeners.
///
/// Thread safety: `lock` guards `state`. The write lock guards `checkpointConnection`.
// Sendable as described above.
package final class StoreCoordinator: @unchecked Sendable {
    package let options: StoreOptions
    package let environment: Environment
    package var path: String { options.path }

    struct State {
        var idle: [Connection] = []
        /// The version that was read when the file was opened, for the Realm that opened it.
        var initialSnapshot: (connection: Connection, meta: Catalog.Meta)?
        var commitLog = CommitLog()
        var newestVersion: Version = 0
        var schema = DatabaseSchema([])
        /// Temporary tables and views that every connection needs if the file is read-only and lacks types or
        /// properties.
        var overlays: [SchemaOverlay] = []
        /// The newest epoch whose object types have been read.
        var epoch: Int64 = 0
        var schemaVersion: UInt64 = 0
        /// The types that Realms of this process use, as they were declared.
        var declared: [String: ObjectTypeSchema] = [:]
        /// The listeners, in the order in which they were added.
        var listeners: [(owner: ObjectIdentifier, notify: Listener)] = []
        /// Listeners with observers of objects or collections.
        var observingListeners: Set<ObjectIdentifier> = []
        /// The newest version of which listeners were notified.
        var lastNotifiedVersion: Version = 0
        /// The version that this process is committing. Its listeners are notified when the commit has ended.
        var committingVersion: Version?
        var monitor: CommitMonitor?
        /// The number of handles of each version.
        var pinned: [Version: Int] = [:]
        var handles: [ObjectIdentifier: WeakHandle] = [:]
        /// The oldest version in use when `warnOfPins` last wrote a warning.
        var warnedVersion: Version = 0
        var isCheckpointPending = false
        /// The length of the log, in frames, when a checkpoint was last due. The next checkpoint is due when the log
        /// has `checkpointFrames` more frames.
        var checkpointedFrames = 0
        /// True if the last checkpoint found a long log that it could not copy completely because this process reads an
        /// older version.
        var isLogHeldByOldVersion = false
        /// True if the last checkpoint could not truncate a long log, and a retry is scheduled.
        var isShorteningRetryScheduled = false
        /// The header of the file when this process last called `recordHeader`.
        var knownHeader: FileHeader?
        /// The name of the newest log that this process has found in the file or has written to the file.
        var namedLog: UInt64?
        /// Nil until a check finds that the file, its log or the index of its log was replaced or damaged while the
        /// file was open. From then on, every write and every new snapshot throws this error.
        var replacement: EngineError?
        /// The length of the log, in frames, at which a writer waits again after an unsuccessful wait. Zero before the
        /// first unsuccessful wait, and after a writer has restarted a log that was too long.
        var fullLogFrames = 0
        /// The last checkpoint after which this process moved all its handles of the newest version from the log to the
        /// database file.
        var repinnedCheckpoint: WriteLock.CheckpointRecord?
        /// True if a handle could not be moved after a checkpoint. The monitor then tries again after each commit.
        var isRepinDue = false
        /// The open Realm of each executor.
        var openRealms: [UInt64: WeakReference] = [:]
        /// The frozen Realm of each version.
        var frozen: [Version: WeakReference] = [:]
        /// The attachment of the file, such as its synchronization; nil if there is none.
        var attachment: (any StoreAttachment)?
    }

    /// Called with the newest version after a commit. `committer` is the Realm that made the commit; nil if another
    /// process made it.
    package typealias Listener = @Sendable (_ version: Version, _ committer: ObjectIdentifier?) -> Void

    struct WeakHandle {
        private let reference: WeakReference

        init(_ handle: SnapshotHandle) { reference = handle.reference }

        var handle: SnapshotHandle? { reference.object.map { unsafeDowncast($0, to: SnapshotHandle.self) } }
    }

    /// The columns of the file that are kept in memory.
    package let columns: ColumnStore
    private let lock = NSLock()
    private var state = State()
    let writeLock: WriteLock
    var checkpointConnection: Connection?
    /// The weak reference to this coordinator, which is also its entry in the registry.
    package let reference = WeakReference()
    private let processID: Int32
    /// Identifies the file independently of its path. Nil if a test uses its own VFS, and for a coordinator of a
    /// migration.
    let file: FileIdentity?
    /// The path of the file without symbolic links. The log is beside this path. Nil if `file` is nil.
    private let resolvedPath: String?
    /// The number of `StoreReference` objects.
    let referenceCount = Atomic<Int>(0)

    init(_ options: StoreOptions) throws(EngineError) {
        self.options = options
        environment = options.environment
        columns = ColumnStore(path: options.path, options.columns)
        processID = options.environment.processID()
        let opened: StoreOpener.Opened
        (opened, file) = try Self.open(options)
        writeLock = opened.writeLock
        writeLock.isDatabaseOpen = options.environment.vfsName == nil
        resolvedPath = file == nil ? nil : opened.connection.filePath
        reference.begin(self)
        adopt(opened, options)
        recordHeader(opened.connection)
        registerExitHandler()
        let frames = opened.connection.logFrames
        if opened.connection.isInTransaction {
            state.initialSnapshot = (opened.connection, opened.meta)
        } else {
            state.idle = [opened.connection]
        }
        if let isWanted = options.compactsAtLaunch { compactAtLaunch(isWanted) }
        // A migration may have rewritten the whole file.
        if isCheckpointDue(frames) { checkpointSoon() }
    }

    private static func open(
        _ options: StoreOptions
    ) throws(EngineError) -> (opened: StoreOpener.Opened, file: FileIdentity?) {
        for _ in 0..<10 {
            let opener = StoreOpener(options, nil)
            let opened = try opener.open()
            guard options.environment.vfsName == nil else { return (opened, nil) }
            let file = StoreFiles.identity(options.path)
            // After the file was opened, another file may have been moved to the path. `file` then identifies the other
            // file, and the next iteration opens the other file instead.
            if let file, !opened.connection.isFileMoved { return (opened, file) }
            opened.connection.close()
            if opener.progress.hasCalledMigration { break }
        }
        throw movedError(options.path)
    }

    /// Creates the coordinator for the old or the new version in a migration. This coordinator has the object types of
    /// that version, and does not open the file.
    init(migrating options: StoreOptions, _ types: [(id: TableID, type: ObjectTypeSchema)], _ epoch: Int64) {
        var options = options
        options.isReadOnly = true
        options.isTemporary = false
        options.migration = nil
        self.options = options
        environment = options.environment
        columns = ColumnStore(path: options.path, options.columns)
        processID = options.environment.processID()
        writeLock = WriteLock(path: options.path + LockFile.suffix, environment: options.environment)
        file = nil
        resolvedPath = nil
        state.schema = DatabaseSchema(types)
        state.epoch = epoch
    }

    deinit {
        reference.end()
        if isInherited { return abandonInherited() }
        environment.yield(.beforeClose)
        state.attachment?.end()
        // When the last listener was removed, the monitor was already stopped. Only an attachment may still listen.
        state.monitor?.stop()
        if let (connection, _) = state.initialSnapshot { state.idle.append(connection) }
        if !options.isReadOnly && !options.isTemporary { closeLog(state.idle.popLast()) }
        checkpointConnection?.close()
        for connection in state.idle { connection.close() }
        if options.isTemporary { StoreRegistry.removeTemporary(options, file) }
    }

    // Closing an inherited connection would change the locks and files of the parent process.
    private func abandonInherited() {
        for connection in state.idle + [checkpointConnection, state.initialSnapshot?.connection].compactMap({ $0 }) {
            _ = Unmanaged.passRetained(connection)
        }
        writeLock.abandon()
        if let file { StoreRegistry.addInherited(file) }
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

    /// The object types, and the epoch of the file to which these types belong.
    package var schemaAndEpoch: (DatabaseSchema, Int64) { locked { ($0.schema, $0.epoch) } }

    /// True if the file already has the types and the schema version of the options. If false, the caller must first
    /// apply them to the file with `extendSchema`.
    func satisfies(_ other: StoreOptions) -> Bool {
        let (declared, schemaVersion) = locked { ($0.declared, $0.schemaVersion) }
        return other.schemaVersion == schemaVersion && other.types.allSatisfy { declared[$0.type.name] != nil }
    }

    /// The error for options that contradict the options with which the file is open; nil if there is no contradiction.
    func conflict(with other: StoreOptions) -> EngineError? {
        requireSameProcess()
        guard other.isReadOnly == options.isReadOnly, other.durability == options.durability,
            other.sync?.types == options.sync?.types
        else {
            return EngineError(
                .incompatibleConfiguration, path: path,
                "the file is open in this process with another configuration; use the same 'readOnly', 'durability' and "
                    + "synchronized types")
        }
        if requiresMigration(to: other) { return alreadyOpen(other) }
        let declared = locked { $0.declared }
        let others = other.types.map(\.type).filter { declared[$0.name] != nil && declared[$0.name] != $0 }.map(\.name)
        if others.isEmpty { return nil }
        return EngineError(
            .incompatibleConfiguration, path: path,
            "the file is open in this process with another declaration of '\(others.joined(separator: "', '"))'; "
                + "release its Realms and objects first")
    }

    /// True if the options have a higher schema version than the version with which the file is open.
    private func requiresMigration(to other: StoreOptions) -> Bool {
        !other.isReadOnly && other.schemaVersion > locked { $0.schemaVersion }
    }

    /// The error for an open file that is opened with another schema version.
    private func alreadyOpen(_ other: StoreOptions) -> EngineError {
        let holders = openRealms.compactMap { ($0 as? any OpenRealm)?.executorDescription }.sorted()
        let reason =
            holders.isEmpty ? "kept open by frozen objects or references" : "on \(holders.joined(separator: ", "))"
        return EngineError(
            .alreadyOpen, path: path,
            "the file is open in this process with schema version \(locked { $0.schemaVersion }), \(reason), and cannot be "
                + "migrated to \(other.schemaVersion); release its Realms and objects first")
    }

    /// Applies the schema of other options to the file and to this coordinator. The caller holds the opening lock of
    /// the file.
    func extendSchema(with other: StoreOptions) throws(EngineError) {
        if options.recordsLogName {
            try EngineError.wrapping(path) {
                let connection = try takeConnection()
                defer { returnConnection(connection) }
                try connection.run("BEGIN")
                _ = try meta(connection)
            }
        }
        let opened = try StoreOpener(other, writeLock).open()
        adopt(opened, other)
        recordHeader(opened.connection)
        returnConnection(opened.connection)
    }

    // MARK: Connections

    /// Removes an idle connection from the pool, or opens a new one. The caller later passes the connection to
    /// `returnConnection`.
    ///
    /// - Throws: errors of SQLite, and `.fileNotFound` if the path no longer refers to the file that was opened.
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
        // Checks again, because the file may have been replaced before the connection opened it.
        try requireUnmoved()
        try QueryFunctions.install(on: connection)
        for overlay in overlays { try overlay.apply(to: connection) }
        return connection
    }

    /// Throws if the path refers to no file, or to another file than the open file. The open file remains readable, but
    /// writes to it would be lost, and a new connection would read another file. Also throws if the file was moved and
    /// a symbolic link was left in its place. Other programs then look for the log beside the target of the link.
    func requireUnmoved() throws(EngineError) {
        guard let file, let resolvedPath else { return }
        let isThere = StoreFiles.identityWithoutLink(resolvedPath) == file
        if isThere, path == resolvedPath || StoreFiles.identity(path) == file { return }
        throw Self.movedError(path)
    }

    /// Throws if the path refers to no file, or to another file than the open file. In the second case, this method
    /// sets the log of the open file aside. The caller holds the write lock.
    func requireUnmoved(_ handle: SnapshotHandle?) throws(EngineError) {
        do throws(EngineError) {
            try requireUnmoved()
        } catch {
            guard StoreFiles.exists(path) else { throw error }
            if let handle {
                _ = handle.read { setLogAside($0) }
            } else if let connection = locked({ $0.idle.popLast() }) {
                _ = setLogAside(connection)
                returnConnection(connection)
            }
            throw error
        }
    }

    fileprivate static func movedError(_ path: String) -> EngineError {
        EngineError(
            .fileNotFound, path: path,
            "the file was moved, deleted or replaced while it was open; nothing was written; "
                + "release its Realms and objects and open it again")
    }

    func returnConnection(_ connection: Connection) {
        assert(connection.unfinishedStatement == nil, "not reset: \(connection.unfinishedStatement ?? "")")
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        locked { state in if state.idle.count < 4 && !connection.isInTransaction { state.idle.append(connection) } }
    }

    func requireSameProcess() {
        if isInherited { environment.stopForkedChild(path) }
    }

    /// True in a forked child process. The connections and locks of this object belong to its parent.
    var isInherited: Bool { environment.processID() != processID }

    /// The newest committed version that this process knows. Other processes may have committed newer versions.
    package var newestKnownVersion: Version { locked { $0.newestVersion } }

    // MARK: Attachments

    package var currentAttachment: (any StoreAttachment)? { locked { $0.attachment } }

    /// The attachment of this open file. If there is none, this method calls `create` and stores the new attachment. If
    /// two threads do so at the same time, both get the object that was stored first.
    package func attachment<A: StoreAttachment>(_ create: () throws -> A) rethrows -> A {
        if let known = locked({ $0.attachment as? A }) { return known }
        let new = try create()
        return locked { state in
            if let known = state.attachment as? A { return known }
            state.attachment = new
            return new
        }
    }

    // MARK: Open Realms

    /// The open Realm that was registered for this executor, if it is still alive.
    package func openRealm(_ executor: UInt64) -> AnyObject? { locked { $0.openRealms[executor]?.object } }

    /// All open Realms that are still alive.
    package var openRealms: [AnyObject] { locked { $0.openRealms.values.compactMap(\.object) } }

    /// True while a Realm, frozen or not, or a `StoreReference` keeps the file open.
    var isOpenInRealm: Bool {
        referenceCount.load(ordering: .relaxed) > 0
            || locked { state in
                state.openRealms.values.contains { !$0.isEmpty } || state.frozen.values.contains { !$0.isEmpty }
            }
    }

    /// The frozen Realm of a version, if it is still alive.
    package func frozen(_ version: Version) -> AnyObject? { locked { $0.frozen[version]?.object } }

    package func register(frozen object: WeakReference, _ version: Version) {
        _ = replace(\.frozen, version, object) { _ in true }
    }

    /// Registers a Realm for an executor in place of `known`, the result of `openRealm`. Returns false if another
    /// thread has registered a Realm for this executor in the meantime.
    package func register(_ realm: WeakReference, _ executor: UInt64, replacing known: AnyObject?) -> Bool {
        replace(\.openRealms, executor, realm) { $0 === known }
    }

    // Replaces an entry if its current object satisfies `condition`. Also removes entries of deallocated objects. The
    // living objects are released after `locked` returns, because their deinit acquires the lock.
    private func replace<Key>(
        _ list: WritableKeyPath<State, [Key: WeakReference]>, _ key: Key, _ object: WeakReference,
        if condition: (AnyObject?) -> Bool
    ) -> Bool {
        let (isReplaced, held) = locked { state in
            let living = state[keyPath: list].compactMapValues(\.object)
            let isReplaced = condition(living[key])
            state[keyPath: list] = state[keyPath: list].filter { living[$0.key] != nil }
            if isReplaced { state[keyPath: list][key] = object }
            return (isReplaced, living)
        }
        return withExtendedLifetime(held) { isReplaced }
    }
}

extension Connection {
    /// Throws if the path now refers to another file or to none.
    func requireUnmoved() throws(EngineError) {
        if isFileMoved { throw StoreCoordinator.movedError(options.path) }
    }
}
