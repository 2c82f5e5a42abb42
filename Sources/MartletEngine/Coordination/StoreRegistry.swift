import CMartletRuntime
import Foundation
import MartletSQLite

/// The open files of this process, with one coordinator each. It is the only process-global state.
///
/// The order of the locks. A thread that holds one may wait only for those below it.
///
/// 1. The opening lock of a file: one thread at a time opens, migrates, seeds, compacts or deletes the file. It is
///    identified by the path without symbolic links, which exists before the file does, and by the device and inode. A
///    thread that holds the opening lock of one file may wait for that of another one, for example if a migration opens
///    a file. A wait that would deadlock throws at once. A file that is open with the same types is returned without
///    its opening lock.
/// 2. The write lock of a file, `WriteLock`. A thread that waits for it gives up after a timeout. Files may be opened
///    inside a write; a deadlock that involves both kinds of locks ends with that timeout.
/// 3. `table`, which guards `state` and is held only briefly. While a thread holds it, it neither waits nor releases a
///    coordinator, because the deinit of a coordinator takes `table` too.
package enum StoreRegistry {
    private enum Name: Hashable {
        case path(String)
        case file(StoreFiles.Identity)
    }

    private typealias ThreadID = UInt

    private struct State {
        var entries: [Name: WeakReference] = [:]
        /// The thread that holds the opening lock of a file.
        var owners: [Name: ThreadID] = [:]
        /// The opening locks that each thread waits for.
        var waiting: [ThreadID: [Name]] = [:]

        func holders(_ names: [Name]) -> [ThreadID] { names.compactMap { owners[$0] } }

        /// True if one of `threads` waits, directly or through other threads, for a lock that `thread` holds.
        func wait(_ threads: [ThreadID], for thread: ThreadID) -> Bool {
            threads.contains { other in
                let next = holders(waiting[other] ?? [])
                return next.contains(thread) || wait(next, for: thread)
            }
        }
    }

    // Also signals that an opening lock was released.
    private static let table = NSCondition()
    // Guarded by `table`.
    nonisolated(unsafe) private static var state = State()

    private static func locked<R>(_ body: (inout State) -> R) -> R {
        table.lock()
        defer { table.unlock() }
        return body(&state)
    }

    private static var thisThread: ThreadID { ThreadID(cmartlet_thread()) }

    private static func names(_ options: StoreOptions) -> [Name] {
        // The VFS of a test has no links, and may have no inodes.
        let path = options.environment.vfsName == nil ? StoreFiles.resolved(options.path) : options.path
        return [.path(path)] + fileName(options)
    }

    private static func fileName(_ options: StoreOptions) -> [Name] {
        StoreFiles.identity(options.path).map { [.file($0)] } ?? []
    }

    // MARK: Opening locks

    private static func lockForOpening(_ options: StoreOptions) throws(EngineError) -> [Name] {
        let me = thisThread
        table.lock()
        defer { table.unlock() }
        while true {
            // Computed in each iteration: the file may have been created or deleted meanwhile.
            let names = names(options)
            let holders = state.holders(names)
            if holders.isEmpty {
                for name in names { state.owners[name] = me }
                return names
            }
            if holders.contains(me) {
                throw EngineError(
                    .busy, path: options.path,
                    "the file is opened or deleted inside its own migration, which holds it; use the objects of the "
                        + "migration")
            }
            state.waiting[me] = names
            defer { state.waiting[me] = nil }
            if state.wait(holders, for: me) {
                throw EngineError(
                    .busy, path: options.path,
                    "another thread is opening the file, and waits for one that this thread is opening; do not open "
                        + "two files inside each other's migrations")
            }
            guard options.environment.isDriven else {
                table.wait()
                continue
            }
            table.unlock()
            defer { table.lock() }
            options.environment.wait(.openingLock) { locked { $0.holders(Self.names(options)).isEmpty } }
        }
    }

    private static func unlock(_ names: [Name]) {
        locked { state in for name in names { state.owners[name] = nil } }
        table.broadcast()
    }

    // MARK: Opening

    /// The coordinator of the file at `options.path`, which is opened if this process does not have it open.
    package static func coordinator(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        if let open = openWithoutLock(options), open.conflict(with: options) == nil, open.satisfies(options) {
            open.unpinOpened()
            return open
        }
        let lockedNames = try lockForOpening(options)
        defer { unlock(lockedNames) }
        options.environment.yield(.insideOpeningLock)
        do {
            return try opened(options)
        } catch {
            guard options.replacesFile, error.code == .schemaMismatch, !isHeld(options) else { throw error }
            try removeFiles(options)
            return try opened(options)
        }
    }

    // The caller holds the opening lock.
    private static func opened(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        try options.checkCancellation()
        if let open = try openUnderLock(options) { return try extended(open, options) }
        // Left by a process that was killed, or about to be deleted by its last user on another thread.
        if options.isTemporary && options.environment.vfsName == nil { StoreFiles.remove(options.path) }
        let coordinator = try StoreCoordinator(options)
        let known = register(coordinator, options)
        return known === coordinator ? coordinator : try extended(known, options)
    }

    /// - Throws: `.alreadyOpen` if the options require a migration of an open file, `.incompatibleConfiguration` if
    ///   they contradict the options with which the file is open.
    private static func openUnderLock(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator? {
        // The coordinator is not retained while this thread waits.
        let hasConflict = locked { found($0, options) }?.conflict(with: options) != nil
        if hasConflict { waitForWork(options.environment) }
        guard let open = locked({ found($0, options) }) else { return nil }
        if let conflict = open.conflict(with: options) { throw conflict }
        return open
    }

    private static func extended(
        _ open: StoreCoordinator, _ options: StoreOptions
    ) throws(EngineError) -> StoreCoordinator {
        if !open.satisfies(options) { try open.extendSchema(with: options) }
        open.unpinOpened()
        return open
    }

    /// Adds a coordinator to the registry. If two paths differ only for this process, as in the case of letters on a
    /// case-insensitive file system, two threads may create the file at once. Then both use the coordinator that is
    /// registered first.
    private static func register(_ coordinator: StoreCoordinator, _ options: StoreOptions) -> StoreCoordinator {
        locked { state in
            // `isEmpty` does not retain the coordinators: each must end when its last user releases it.
            state.entries = state.entries.filter { !$0.value.isEmpty }
            let known = found(state, options) ?? coordinator
            for name in coordinatorNames(options) { state.entries[name] = known.reference }
            return known
        }
    }

    // Entries are found by the identity of the file, because a path may come to refer to another file. The VFS of a
    // test has no identities, so paths are used.
    private static func coordinatorNames(_ options: StoreOptions) -> [Name] {
        options.environment.vfsName == nil ? fileName(options) : names(options)
    }

    private static func found(_ state: State, _ options: StoreOptions) -> StoreCoordinator? {
        // Each entry is read once: entries are weak, and the last owner may release the coordinator at any time.
        for name in coordinatorNames(options).reversed() {
            if let coordinator = state.entries[name]?.object as? StoreCoordinator { return coordinator }
        }
        return nil
    }

    // A thread that migrates an open file must not find the coordinator that it is about to change.
    private static func openWithoutLock(_ options: StoreOptions) -> StoreCoordinator? {
        locked { state in
            let isLockedHere = !state.owners.isEmpty && state.holders(names(options)).contains(thisThread)
            return isLockedHere ? nil : found(state, options)
        }
    }

    /// True if a Realm of this process has the file open.
    package static func isOpen(_ path: String) -> Bool { isOpen(StoreOptions(path: path, types: [])) }

    private static func isOpen(_ options: StoreOptions) -> Bool {
        guard isHeld(options) else { return false }
        waitForWork(options.environment)
        return isHeld(options)
    }

    /// Waits for work that may hold a file slightly longer than its last Realm: a checkpoint, or a poll for commits of
    /// other processes.
    private static func waitForWork(_ environment: Environment) {
        StoreCoordinator.waitForCheckpoints(environment)
        if !environment.isDriven { CommitMonitor.waitForPolls() }
    }

    /// The coordinators of all open files.
    static var openCoordinators: [StoreCoordinator] {
        let found = locked { state in state.entries.values.compactMap { $0.object as? StoreCoordinator } }
        return Array(
            Dictionary(found.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { first, _ in first }).values)
    }

    private static func isHeld(_ options: StoreOptions) -> Bool { locked { found($0, options) } != nil }

    // MARK: Files that are not open

    /// Compacts a file that this process does not have open.
    package static func compact(_ options: StoreOptions) throws(EngineError) {
        let lockedNames = try lockForOpening(options)
        defer { unlock(lockedNames) }
        try refuseOpen(options, "compacted")
        try StoreCoordinator(asFound(options)).compact()
    }

    /// Deletes a file that this process does not have open, and the files beside it, after waiting for other writers.
    /// Returns false if there was none.
    package static func remove(_ options: StoreOptions) throws(EngineError) -> Bool {
        let lockedNames = try lockForOpening(options)
        defer { unlock(lockedNames) }
        try refuseOpen(options, "deleted")
        return StoreFiles.anyExists(options.path) ? try removeFiles(options) : false
    }

    // The caller holds the opening lock. Waits for another process that creates the file or writes to it.
    @discardableResult
    private static func removeFiles(_ options: StoreOptions) throws(EngineError) -> Bool {
        let lock = WriteLock(
            path: StoreFiles.resolved(options.path) + LockFile.suffix, environment: options.environment)
        try lock.acquire()
        defer { lock.release() }
        return StoreFiles.remove(options.path)
    }

    private static func refuseOpen(_ options: StoreOptions, _ what: String) throws(EngineError) {
        guard isOpen(options) else { return }
        throw EngineError(
            .accessDenied, path: options.path,
            "the file is open in this process and cannot be \(what); release its Realms and objects first")
    }

    /// Deletes a temporary file when its last user releases it, unless the path refers to another file by now.
    static func removeTemporary(_ options: StoreOptions, _ identity: StoreFiles.Identity?) {
        _ = locked { state -> StoreCoordinator? in
            // If another thread holds the opening lock, it deletes the file itself or creates it again.
            let isLockedElsewhere = state.holders(names(options)).contains { $0 != thisThread }
            guard !isLockedElsewhere, let identity, StoreFiles.identity(options.path) == identity else { return nil }
            let other = found(state, options)
            if other == nil { StoreFiles.remove(options.path) }
            return other
        }
    }

    // MARK: Inspecting

    /// Reads the schema version of a file without changing the file.
    package static func schemaVersion(_ options: StoreOptions) throws(EngineError) -> UInt64 {
        var options = asFound(options)
        options.isReadOnly = true
        let opened = try StoreOpener(options, nil).open()
        defer { opened.connection.close() }
        return UInt64(bitPattern: opened.meta.schemaVersion)
    }

    private static func asFound(_ options: StoreOptions) -> StoreOptions {
        var options = options
        options.types = []
        options.leavesSchema = true
        options.migration = nil
        options.seedPath = nil
        options.compactsAtLaunch = nil
        return options
    }
}
