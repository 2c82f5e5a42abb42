import CMartletRuntime
import Foundation
import MartletSQLite
import MartletValues

/// The open files of this process. Each file has one coordinator.
///
/// Locks are ordered. A thread that holds a lock may wait only for locks that come later in this list. The list also
/// names the exceptions.
///
/// 1. The opening lock of a file. A thread holds it while the thread opens, migrates, seeds, compacts or deletes the
///    file. The lock is identified by the path without symbolic links, and by the device and inode of the file. The
///    path is needed because the file may not exist yet. A thread that holds the opening lock of one file may wait for
///    the opening lock of another file, for example if a migration opens a file. A wait that would deadlock throws
///    immediately. If a file is already open with the same types, its coordinator is returned without the opening lock.
/// 2. The write lock of a file, `WriteLock`. Waiting for it ends with an error after a timeout. A thread may open a
///    file inside a write. If this leads to a deadlock that involves both kinds of locks, the timeout ends it.
/// 3. `condition`, which guards `state` and is held only briefly. A thread that holds it does not wait. It also does
///    not release a coordinator, because the deinit of a coordinator acquires `condition`.
package enum StoreRegistry {
    private enum Name: Hashable {
        case path(String)
        case file(FileIdentity)
    }

    private typealias ThreadID = UInt

    private struct State {
        /// In a forked child, the files that its parent had open and whose inherited coordinators were released.
        var inherited: Set<FileIdentity> = []
        var entries: [Name: WeakReference] = [:]
        /// The thread that holds the opening lock of a file.
        var lockingThreads: [Name: ThreadID] = [:]
        /// The opening locks that each thread waits for.
        var waiting: [ThreadID: [Name]] = [:]

        func threads(locking names: [Name]) -> [ThreadID] { names.compactMap { lockingThreads[$0] } }

        /// True if one of `threads` waits, directly or through other threads, for a lock that `thread` holds.
        func isWaiting(_ threads: [ThreadID], for thread: ThreadID) -> Bool {
            threads.contains { other in
                let next = self.threads(locking: waiting[other] ?? [])
                return next.contains(thread) || isWaiting(next, for: thread)
            }
        }
    }

    // Guards `state`, and signals that an opening lock was released.
    private static let condition = NSCondition()
    // Guarded by `condition`.
    nonisolated(unsafe) private static var state = State()

    private static func locked<R>(_ body: (inout State) -> R) -> R {
        condition.lock()
        defer { condition.unlock() }
        return body(&state)
    }

    private static var thisThread: ThreadID { ThreadID(cmartlet_thread()) }

    private static func names(_ options: StoreOptions) -> [Name] {
        // The VFS of a test has no links, and may have no inodes.
        let path = options.environment.vfsName == nil ? StoreFiles.resolved(options.path) : options.path
        return [.path(path)] + identityNames(options)
    }

    private static func identityNames(_ options: StoreOptions) -> [Name] {
        StoreFiles.identity(options.path).map { [.file($0)] } ?? []
    }

    // MARK: Opening locks

    private static func lockForOpening(_ options: StoreOptions) throws(EngineError) -> [Name] {
        let me = thisThread
        condition.lock()
        defer { condition.unlock() }
        while true {
            // The names are computed in each iteration, because the file may have been created or deleted during the
            // wait.
            let names = names(options)
            let holders = state.threads(locking: names)
            if holders.isEmpty {
                for name in names { state.lockingThreads[name] = me }
                return names
            }
            if holders.contains(me) {
                throw EngineError(
                    .busy, path: options.path,
                    "the file is opened or deleted inside its own 'migrationBlock' or 'shouldCompactOnLaunch', during "
                        + "which it cannot be used; a migration accesses the data through its own objects")
            }
            state.waiting[me] = names
            defer { state.waiting[me] = nil }
            if state.isWaiting(holders, for: me) {
                throw EngineError(
                    .busy, path: options.path,
                    "another thread is opening the file, and waits for a file that this thread is opening; do not "
                        + "open two files inside each other's 'migrationBlock' or 'shouldCompactOnLaunch'")
            }
            guard options.environment.hasThreadDriver else {
                condition.wait()
                continue
            }
            condition.unlock()
            defer { condition.lock() }
            options.environment.wait(.openingLock) { locked { $0.threads(locking: Self.names(options)).isEmpty } }
        }
    }

    private static func unlock(_ names: [Name]) {
        locked { state in for name in names { state.lockingThreads[name] = nil } }
        condition.broadcast()
    }

    // MARK: Opening

    /// The coordinator of the file at `options.path`. Opens the file if this process does not have it open.
    ///
    /// - Parameter willExtend: called before types are added to an open file. Adding types acquires the write lock. To
    ///   prevent this, the closure can throw.
    package static func coordinator(
        _ options: StoreOptions, willExtend: (StoreCoordinator) throws -> Void = { _ in }
    ) throws -> StoreCoordinator {
        if let open = openWithoutLock(options), open.conflict(with: options) == nil, !compacts(open, options) {
            guard open.satisfies(options) else {
                try willExtend(open)
                return try coordinatorUnderLock(options)
            }
            open.unpinOpened()
            return open
        }
        return try coordinatorUnderLock(options)
    }

    private static func coordinatorUnderLock(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        let lockedNames = try lockForOpening(options)
        defer { unlock(lockedNames) }
        options.environment.yield(.insideOpeningLock)
        do {
            return try opened(options)
        } catch {
            guard options.replacesFile, error.code == .schemaMismatch, !isHeld(options) else { throw error }
            return try recreated(options)
        }
    }

    // Deletes a file whose types are rejected and creates it again. Another process may do the same at the same time.
    // Therefore this method does not delete a file that was created after the rejection, and opens it instead. If the
    // new copy of the seed file is rejected too, the file is created without the seed file, because every copy would be
    // rejected.
    private static func recreated(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        var options = options
        var (attempts, deletions) = (0, 0)
        while true {
            let rejected = fileID(options)
            attempts += 1
            do throws(EngineError) {
                return try opened(options)
            } catch {
                let mayRetry = deletions < 2 && attempts < 10
                guard error.code == .schemaMismatch, !isHeld(options), mayRetry else { throw error }
            }
            // The file ids of a temporary file are not compared. Each attempt to open the file has created it again,
            // and no other process has it open.
            let isDeleted = try removeFiles(options) { options.isTemporary || fileID(options) == rejected }
            if !isDeleted { continue }
            deletions += 1
            options.seedPath = deletions == 1 ? options.seedPath : nil
        }
    }

    /// The random identity that a database gets when it is created. Nil if the database cannot be read.
    private static func fileID(_ options: StoreOptions) -> SQLValue? {
        var options = withStoredSchema(options)
        options.isReadOnly = true
        guard StoreFiles.exists(options.path), let opened = try? StoreOpener(options, nil).open() else { return nil }
        defer { opened.connection.close() }
        return try? opened.connection.value("SELECT file_id FROM martlet_meta WHERE id = 1")
    }

    // The caller holds the opening lock.
    private static func opened(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        try options.checkCancellation()
        if let open = try openUnderLock(options) { return try extended(open, options) }
        // Deletes a temporary file that a killed process has left, or that another thread has released but not deleted
        // yet.
        if options.isTemporary && options.environment.vfsName == nil { StoreFiles.remove(options.path) }
        let coordinator = try StoreCoordinator(options)
        let known = register(coordinator, options)
        return known === coordinator ? coordinator : try extended(known, options)
    }

    /// The coordinator of the file; nil if this process does not have the file open.
    ///
    /// - Throws: `.alreadyOpen` if the options require a migration of an open file, `.incompatibleConfiguration` if the
    ///   options contradict the options with which the file is open.
    private static func openUnderLock(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator? {
        // This thread does not retain the coordinator while it waits. So when the background work releases the
        // coordinator, the file is closed.
        let mustClose = locked { found($0, options) }.map {
            $0.conflict(with: options) != nil || compacts($0, options)
        }
        if mustClose == true { waitForWork(options) }
        guard let open = locked({ found($0, options) }) else { return nil }
        if let conflict = open.conflict(with: options) { throw conflict }
        return open
    }

    // True if the options compact the file at launch, and only work in the background still keeps the file open.
    private static func compacts(_ open: StoreCoordinator, _ options: StoreOptions) -> Bool {
        options.compactsAtLaunch != nil && !open.isOpenInRealm
    }

    private static func extended(
        _ open: StoreCoordinator, _ options: StoreOptions
    ) throws(EngineError) -> StoreCoordinator {
        if !open.satisfies(options) { try open.extendSchema(with: options) }
        open.unpinOpened()
        return open
    }

    /// Adds a coordinator to the registry.
    ///
    /// Different paths can refer to the same file, for example on a case-insensitive file system. Two threads may then
    /// create the file at the same time. Both use the coordinator that is registered first.
    private static func register(_ coordinator: StoreCoordinator, _ options: StoreOptions) -> StoreCoordinator {
        locked { state in
            // `isEmpty` does not retain the coordinators. If this thread retained a coordinator here, it could become
            // the last owner, and deallocate the coordinator while it holds `condition`.
            state.entries = state.entries.filter { !$0.value.isEmpty }
            let known = found(state, options) ?? coordinator
            for name in coordinatorNames(options) { state.entries[name] = known.reference }
            return known
        }
    }

    // Entries are found by the identity of the file, because a path may later refer to another file. The VFS of a test
    // has no identities, so paths are used.
    private static func coordinatorNames(_ options: StoreOptions) -> [Name] {
        options.environment.vfsName == nil ? identityNames(options) : names(options)
    }

    private static func found(_ state: State, _ options: StoreOptions) -> StoreCoordinator? {
        // Reads each entry only once, because entries are weak, and the last owner may release the coordinator at any
        // time.
        for name in coordinatorNames(options).reversed() {
            if let coordinator = state.entries[name]?.object as? StoreCoordinator { return coordinator }
        }
        return nil
    }

    // Returns nil on a thread that holds the opening lock of the file, for example inside a `migrationBlock`. The
    // caller then requests the opening lock, and this request throws.
    private static func openWithoutLock(_ options: StoreOptions) -> StoreCoordinator? {
        locked { state in
            let isLockedHere =
                !state.lockingThreads.isEmpty && state.threads(locking: names(options)).contains(thisThread)
            return isLockedHere ? nil : found(state, options)
        }
    }

    /// True if a Realm or an object of this process keeps the file open. First waits for work in the background that
    /// may keep the file open.
    package static func isOpen(_ path: String) -> Bool { isOpen(StoreOptions(path: path, types: [])) }

    private static func isOpen(_ options: StoreOptions) -> Bool {
        waitForWork(options)
        return isHeld(options)
    }

    /// Waits for work that can keep a file open slightly longer than its last Realm: a checkpoint, a poll for commits
    /// of other processes, or a step of its synchronization.
    ///
    /// One kind of work can start another. For example, a step of the synchronization commits, and the commit starts a
    /// checkpoint. Therefore this method waits until the file is closed, but at most about ten seconds. It stops
    /// waiting as soon as it finds that a Realm has the file open.
    private static func waitForWork(_ options: StoreOptions) {
        let deadline = ContinuousClock.now + .seconds(10)
        while isHeld(options) {
            StoreCoordinator.waitForCheckpoints(options.environment)
            // The thread driver of a test decides itself when a poll runs.
            if options.environment.hasThreadDriver { return }
            CommitMonitor.waitForPolls()
            // The coordinator is released before this thread waits.
            let attachment = locked({ found($0, options) })?.currentAttachment
            attachment?.waitForWork()
            let isOpenInRealm = locked({ found($0, options) })?.isOpenInRealm ?? false
            if isOpenInRealm || ContinuousClock.now > deadline { return }
            usleep(1_000)
        }
    }

    /// The coordinators of all open files.
    static var openCoordinators: [StoreCoordinator] {
        let found = locked { state in state.entries.values.compactMap { $0.object as? StoreCoordinator } }
        return Array(
            Dictionary(found.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { first, _ in first }).values)
    }

    private static func isHeld(_ options: StoreOptions) -> Bool { locked { found($0, options) } != nil }

    // MARK: Forked children

    /// Called when a forked child releases the coordinator of a file that its parent had open.
    static func addInherited(_ file: FileIdentity) { _ = locked { $0.inherited.insert(file) } }

    /// Stops a forked child that opens a file which its parent had open. The child has a copy of SQLite's state of the
    /// file, but does not have the locks of its parent.
    static func requireNotInherited(_ options: StoreOptions) {
        guard cmartlet_fork_count() > 0, let file = StoreFiles.identity(options.path) else { return }
        let isInherited = locked { $0.inherited.contains(file) }
        if isInherited || locked({ found($0, options) })?.isInherited == true {
            options.environment.stopForkedChild(options.path)
        }
    }

    // MARK: Files that are not open

    /// Compacts a file that this process does not have open.
    package static func compact(_ options: StoreOptions) throws(EngineError) {
        let lockedNames = try lockForOpening(options)
        defer { unlock(lockedNames) }
        try refuseOpen(options, "compacted")
        try StoreCoordinator(withStoredSchema(options)).compact()
    }

    /// Deletes a file that this process does not have open, and the files beside it, after waiting for other writers.
    /// Returns false if the file did not exist.
    package static func remove(_ options: StoreOptions) throws(EngineError) -> Bool {
        // Without this check, the log of a database could be deleted as if it were a database.
        try StoreFiles.checkName(options.path)
        let lockedNames = try lockForOpening(options)
        defer { unlock(lockedNames) }
        try refuseOpen(options, "deleted")
        return StoreFiles.anyExists(options.path) ? try removeFiles(options) : false
    }

    // Deletes the files of a database. First waits for another process that creates the file or writes to it. Returns
    // false if there was no file, or if `isRejected` returns false. The caller holds the opening lock.
    private static func removeFiles(
        _ options: StoreOptions, where isRejected: () -> Bool = { true }
    ) throws(EngineError) -> Bool {
        let lock = WriteLock(
            path: StoreFiles.resolved(options.path) + LockFile.suffix, environment: options.environment)
        try lock.acquire()
        defer { lock.release() }
        guard isRejected() else { return false }
        let existed = StoreFiles.exists(options.path)
        if let remaining = StoreFiles.remove(options.path) { throw remaining }
        return existed
    }

    private static func refuseOpen(_ options: StoreOptions, _ what: String) throws(EngineError) {
        guard isOpen(options) else { return }
        throw EngineError(
            .accessDenied, path: options.path,
            "the file is open in this process and cannot be \(what); release its Realms and objects first")
    }

    /// Called when the last owner of a temporary file releases it. Deletes the file. Does nothing if the path now
    /// refers to another file, or if the file is open again.
    static func removeTemporary(_ options: StoreOptions, _ identity: FileIdentity?) {
        _ = locked { state -> StoreCoordinator? in
            // If another thread holds the opening lock, that thread deletes the file or creates it again.
            let isLockedElsewhere = state.threads(locking: names(options)).contains { $0 != thisThread }
            guard !isLockedElsewhere, let identity, StoreFiles.identity(options.path) == identity else { return nil }
            let other = found(state, options)
            if other == nil { StoreFiles.remove(options.path) }
            return other
        }
    }

    // MARK: Inspecting

    /// Reads the schema version of a file without changing the file.
    package static func schemaVersion(_ options: StoreOptions) throws(EngineError) -> UInt64 {
        var options = withStoredSchema(options)
        options.isReadOnly = true
        let opened = try StoreOpener(options, nil).open()
        defer { opened.connection.close() }
        return UInt64(bitPattern: opened.meta.schemaVersion)
    }

    private static func withStoredSchema(_ options: StoreOptions) -> StoreOptions {
        var options = options
        options.types = []
        options.usesStoredSchema = true
        options.migration = nil
        options.seedPath = nil
        options.compactsAtLaunch = nil
        return options
    }
}
