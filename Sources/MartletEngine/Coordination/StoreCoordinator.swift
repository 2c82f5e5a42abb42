import Foundation
import MartletSQLite

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
        var log = CommitLog()
        var newestVersion: Version = 0
        var schema = DatabaseSchema([])
        var listeners: [ObjectIdentifier: Listener] = [:]
        var pinned: [Version: Int] = [:]
        /// The length of the log at the last checkpoint: the next is due a thousand frames later.
        var checkpointedFrames = 0
        /// How many observers of rows there are in this process.
        var observers = 0
        /// The Realm open on each executor.
        var residents: [UInt64: Resident] = [:]
    }

    /// Told of each commit of this process, with the Realm that made it.
    package typealias Listener = @Sendable (_ version: Version, _ committer: ObjectIdentifier?) -> Void

    struct Resident {
        weak var object: AnyObject?
    }

    private let lock = NSLock()
    private var state = State()
    let writeLock: WriteLock
    var checkpointConnection: Connection?
    private let processID: Int32

    init(_ options: StoreOptions) throws {
        self.options = options
        environment = options.environment
        processID = options.environment.processID()
        writeLock = WriteLock(path: options.path + ".lock", environment: options.environment)
        do {
            let connection = try StoreOpener(options, writeLock).open()
            state.schema = DatabaseSchema(
                try Catalog.types(connection).compactMap { id, facts in
                    SchemaFacts.objectType(facts).map { (id, $0) }
                })
            state.idle.append(connection)
        } catch let error as SQLiteError {
            throw EngineError(error, path: options.path)
        }
    }

    deinit {
        if !options.isReadOnly && environment.processID() == processID { closeLog(state.idle.popLast()) }
        checkpointConnection?.close()
        for connection in state.idle { connection.close() }
        if options.isTemporary { StoreFiles.remove(path) }
    }

    func locked<R>(_ body: (inout State) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    /// All object types of the file.
    package var schema: DatabaseSchema { locked { $0.schema } }

    /// Refuses options that contradict those the file is open with, and takes in types that are new.
    func check(_ other: StoreOptions) throws {
        guard other.isReadOnly == options.isReadOnly, other.durability == options.durability else {
            throw EngineError(
                .incompatibleConfiguration, path: path,
                "the file is open in this process with another configuration; use the same 'readOnly' and 'durability'")
        }
        let known = schema
        guard !other.types.allSatisfy({ known[$0.type.name]?.type == $0.type }) else { return }
        do {
            let connection = try StoreOpener(other, writeLock).open()
            let types = try Catalog.types(connection)
            locked { state in
                state.schema = DatabaseSchema(types.compactMap { id, facts in SchemaFacts.objectType(facts).map { (id, $0) } })
                state.idle.append(connection)
            }
        } catch let error as SQLiteError {
            throw EngineError(error, path: path)
        }
    }

    // MARK: Connections

    func takeConnection() throws(SQLiteError) -> Connection {
        requireSameProcess()
        if let idle = locked({ $0.idle.popLast() }) { return idle }
        var connectionOptions = options.connection
        connectionOptions.createsFile = false
        let connection = try Connection(connectionOptions)
        try QueryFunctions.install(on: connection)
        return connection
    }

    private func give(back connection: Connection, version: Version) {
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        locked { state in
            if let count = state.pinned[version] { state.pinned[version] = count > 1 ? count - 1 : nil }
            if state.idle.count < 4 { state.idle.append(connection) }
        }
    }

    private func requireSameProcess() {
        precondition(
            environment.processID() == processID,
            "a Realm was used in a forked child process; open it anew there with another connection of its own")
    }

    // MARK: Snapshots

    /// Pins and names what is newest: the version row is the first read of the transaction.
    package func openSnapshot() throws(EngineError) -> SnapshotHandle {
        do {
            let connection = try takeConnection()
            return try pin(connection)
        } catch let error as SQLiteError {
            throw EngineError(error, path: path)
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(.inputOutput, path: path, "\(error)")
        }
    }

    private func pin(_ connection: Connection) throws -> SnapshotHandle {
        if connection.isInTransaction { try connection.run("ROLLBACK") }
        try connection.run("BEGIN")
        let meta = try Catalog.meta(connection)
        environment.yield(.afterPin)
        return try makeHandle(connection, meta)
    }

    private func makeHandle(_ connection: Connection, _ meta: Catalog.Meta) throws(EngineError) -> SnapshotHandle {
        let distinct = locked { state in
            state.pinned[meta.version, default: 0] += 1
            state.newestVersion = max(state.newestVersion, meta.version)
            return state.pinned.count
        }
        let version = meta.version
        if let limit = options.maximumNumberOfActiveVersions, distinct > limit {
            give(back: connection, version: version)
            throw EngineError(
                .tooManyVersions, path: path,
                "\(distinct) versions of the file are in use and the configuration allows \(limit); "
                    + "let go of frozen objects and refresh Realms of other threads")
        }
        return SnapshotHandle(version: version, epoch: meta.epoch, connection: connection) { [self] connection in
            give(back: connection, version: version)
        }
    }

    /// The newest version that this process knows to be committed; others may have committed more.
    package var newestKnownVersion: Version { locked { $0.newestVersion } }

    // MARK: Writing

    /// Waits for the write lock and begins. `handle` is used up when nobody else holds it: its connection then writes, so
    /// that its page cache stays warm.
    package func beginWrite(replacing handle: inout SnapshotHandle?) throws(EngineError) -> WriteTransaction {
        requireSameProcess()
        environment.yield(.beforeBegin)
        try writeLock.acquire()
        do {
            let connection = try writingConnection(&handle)
            try connection.run("BEGIN IMMEDIATE")
            let meta = try Catalog.meta(connection)
            environment.yield(.afterBegin)
            return WriteTransaction(handle: try makeHandle(connection, meta), coordinator: self)
        } catch {
            writeLock.release()
            if handle == nil { handle = try? openSnapshot() }
            if let error = error as? EngineError { throw error }
            if let error = error as? SQLiteError { throw EngineError(error, path: path) }
            throw EngineError(.inputOutput, path: path, "\(error)")
        }
    }

    private func writingConnection(_ handle: inout SnapshotHandle?) throws -> Connection {
        if handle != nil, isKnownUniquelyReferenced(&handle), let version = handle?.version,
            let connection = handle?.surrender()
        {
            handle = nil
            unpin(version)
            try connection.run("ROLLBACK")
            return connection
        }
        return try takeConnection()
    }

    private func unpin(_ version: Version) {
        locked { state in
            if let count = state.pinned[version] { state.pinned[version] = count > 1 ? count - 1 : nil }
        }
    }

    /// Pins the committed version on the writer's own connection, still under the write lock, then tells everybody.
    func finishCommit(
        _ entry: CommitLog.Entry, _ written: SnapshotHandle, _ committer: ObjectIdentifier?
    ) throws(EngineError) -> SnapshotHandle {
        let frames = written.read { $0.logFrames }
        let handle = try reopen(written)
        locked { $0.log.append(entry) }
        writeLock.release()
        environment.yield(.beforeSignal)
        for listener in locked({ Array($0.listeners.values) }) { listener(entry.version, committer) }
        if isCheckpointDue(frames) { checkpointSoon() }
        return handle
    }

    // The log starts again at its beginning once it was copied and nobody reads from it.
    private func isCheckpointDue(_ frames: Int) -> Bool {
        locked { state in
            if frames < state.checkpointedFrames { state.checkpointedFrames = 0 }
            guard frames - state.checkpointedFrames >= environment.checkpointFrames else { return false }
            state.checkpointedFrames = frames
            return true
        }
    }

    func finishCancel(_ written: SnapshotHandle) throws(EngineError) -> SnapshotHandle {
        let handle = try reopen(written)
        writeLock.release()
        return handle
    }

    private func reopen(_ written: SnapshotHandle) throws(EngineError) -> SnapshotHandle {
        do {
            guard let connection = written.surrender() else { return try openSnapshot() }
            unpin(written.version)
            return try pin(connection)
        } catch {
            writeLock.release()
            if let error = error as? EngineError { throw error }
            throw EngineError(.inputOutput, path: path, "\(error)")
        }
    }

    // MARK: Residents

    /// What `register` was given for this executor, if it still lives.
    package func resident(_ executor: UInt64) -> AnyObject? { locked { $0.residents[executor]?.object } }

    package func register(_ resident: AnyObject, _ executor: UInt64) {
        locked { state in
            state.residents = state.residents.filter { $0.value.object != nil }
            state.residents[executor] = Resident(object: resident)
        }
    }

    // MARK: Listening

    /// True while somebody in this process observes rows: writers then keep the rows they change.
    package var hasObservers: Bool { locked { $0.observers > 0 } }

    package func addObservers(_ count: Int) { locked { $0.observers += count } }

    /// Calls `body` after each commit of this process, on the committing thread.
    package func listen(_ owner: AnyObject, _ body: @escaping Listener) {
        locked { $0.listeners[ObjectIdentifier(owner)] = body }
    }

    package func stopListening(_ owner: AnyObject) {
        locked { $0.listeners[ObjectIdentifier(owner)] = nil }
    }

    // MARK: Changes

    /// What changed after one version up to another, with the old rows where they are in memory; nil when it is no longer
    /// known, and a full comparison must find out.
    package func changes(
        after start: Version, through end: Version, _ handle: SnapshotHandle
    ) throws -> (changes: ChangeSet, oldRows: RowImages)? {
        if let entries = locked({ $0.log.entries(after: start, through: end) }) {
            var oldRows = RowImages()
            for entry in entries { oldRows.merge(entry.oldRows) }
            return (ChangeSet.merging(entries.map(\.changes)), oldRows)
        }
        return try handle.read { connection in
            let statement = try connection.statement(
                "SELECT version, changes FROM martlet_changes WHERE version > ?1 AND version <= ?2 ORDER BY version")
            statement.bind(Int64(bitPattern: start), at: 1)
            statement.bind(Int64(bitPattern: end), at: 2)
            var found: [ChangeSet] = []
            var next = start + 1
            while try statement.step() {
                guard Version(bitPattern: statement.integer(0)) == next, !statement.isNull(1),
                    let changes = ChangeSetCodec.decode(statement.blob(1))
                else {
                    statement.reset()
                    return nil
                }
                found.append(changes)
                next += 1
            }
            return next == end + 1 ? (ChangeSet.merging(found), RowImages()) : nil
        }
    }
}
