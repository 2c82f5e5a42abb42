import CMartletRuntime
import Foundation
import MartletSQLite

/// The open files of this process, one coordinator each: the only process-global state.
///
/// Ledger of locks. Whoever holds one may wait for those below it.
///
/// 1. The turn of a file: one thread at a time opens, migrates, seeds, compacts or deletes it. A turn goes by all that tells
///    the file from others: its path without symbolic links, which it has before it exists, and its device and inode. A
///    thread in a turn may wait for that of another file, as when a migration opens one; a wait that would close a circle is
///    refused at once. Files that are open with the same types are handed out without a turn.
/// 2. The queue of writers of a file, `WriteLock`. Who waits for it gives up after a time. Inside a write other files may be
///    opened: a circle that leads through both kinds of locks ends with that time.
/// 3. `table`, which guards `state`, for the few steps that look at it. Nothing is waited for and no coordinator let go of
///    while it is held, because the end of a coordinator takes it too.
package enum StoreRegistry {
    private enum Name: Hashable {
        case path(String)
        case file(StoreFiles.Identity)
    }

    private typealias ThreadID = UInt

    private struct State {
        var entries: [Name: LooseReference] = [:]
        /// Who is in the turn of a file.
        var turns: [Name: ThreadID] = [:]
        /// What threads wait for the turn of.
        var waiting: [ThreadID: [Name]] = [:]

        func holders(_ names: [Name]) -> [ThreadID] { names.compactMap { turns[$0] } }

        /// True when one of `threads` waits, through whatever others, for the turn of `thread`.
        func wait(_ threads: [ThreadID], for thread: ThreadID) -> Bool {
            threads.contains { other in
                let next = holders(waiting[other] ?? [])
                return next.contains(thread) || wait(next, for: thread)
            }
        }
    }

    // Also signals that a turn has ended.
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
        // A virtual file system of a test has no links, and may have no inodes.
        let path = options.environment.vfsName == nil ? StoreFiles.resolved(options.path) : options.path
        return [.path(path)] + fileName(options)
    }

    private static func fileName(_ options: StoreOptions) -> [Name] {
        StoreFiles.identity(options.path).map { [.file($0)] } ?? []
    }

    // MARK: Turns

    private static func takeTurn(_ options: StoreOptions) throws(EngineError) -> [Name] {
        let me = thisThread
        table.lock()
        defer { table.unlock() }
        while true {
            // Anew each time: the file may have come or gone meanwhile.
            let names = names(options)
            let holders = state.holders(names)
            if holders.isEmpty {
                for name in names { state.turns[name] = me }
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
            options.environment.wait(.turnOfFile) { locked { $0.holders(Self.names(options)).isEmpty } }
        }
    }

    private static func end(_ turn: [Name]) {
        locked { state in for name in turn { state.turns[name] = nil } }
        table.broadcast()
    }

    // MARK: Opening

    /// The coordinator of the file at `options.path`, opened if nobody has it open.
    package static func coordinator(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        if let open = openOutsideTurn(options), open.refusal(of: options) == nil, open.knows(options) {
            open.unpinOpened()
            return open
        }
        let turn = try takeTurn(options)
        defer { end(turn) }
        options.environment.yield(.insideTurn)
        do {
            return try opened(options)
        } catch {
            guard options.replacesFile, error.code == .schemaMismatch, !isHeld(options) else { throw error }
            try removeFiles(options)
            return try opened(options)
        }
    }

    // In the turn of the file.
    private static func opened(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        try options.checkCancellation()
        if let open = try openInTurn(options) { return try extended(open, options) }
        // Left by a process that was killed, or about to be deleted by the last user on another thread.
        if options.isTemporary && options.environment.vfsName == nil { StoreFiles.remove(options.path) }
        let coordinator = try StoreCoordinator(options)
        let known = register(coordinator, options)
        return known === coordinator ? coordinator : try extended(known, options)
    }

    /// - Throws: `.alreadyOpen` when the options ask for a migration of what is open, `.incompatibleConfiguration` when
    ///   they contradict the options it is open with.
    private static func openInTurn(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator? {
        // Not kept here while others are waited for.
        let isRefused = locked { found($0, options) }?.refusal(of: options) != nil
        if isRefused { waitForWork(options.environment) }
        guard let open = locked({ found($0, options) }) else { return nil }
        if let refusal = open.refusal(of: options) { throw refusal }
        return open
    }

    private static func extended(
        _ open: StoreCoordinator, _ options: StoreOptions
    ) throws(EngineError) -> StoreCoordinator {
        if !open.knows(options) { try open.takeIn(options) }
        open.unpinOpened()
        return open
    }

    /// Makes a coordinator known. Where two names of a file that was not there are told apart by the file system alone, as
    /// by the case of letters, two threads may open it at once: then the first to come here is the coordinator for both.
    private static func register(_ coordinator: StoreCoordinator, _ options: StoreOptions) -> StoreCoordinator {
        locked { state in
            // None of them is held for that: its last user expects it to end when he lets go of it.
            state.entries = state.entries.filter { !$0.value.isOver }
            let known = found(state, options) ?? coordinator
            for name in coordinatorNames(options) { state.entries[name] = known.reference }
            return known
        }
    }

    // A path may come to lead to another file, except in the virtual file system of a test.
    private static func coordinatorNames(_ options: StoreOptions) -> [Name] {
        options.environment.vfsName == nil ? fileName(options) : names(options)
    }

    private static func found(_ state: State, _ options: StoreOptions) -> StoreCoordinator? {
        // Each is looked at once: entries are weak, and the last holder may let go at any time.
        for name in coordinatorNames(options).reversed() {
            if let coordinator = state.entries[name]?.object as? StoreCoordinator { return coordinator }
        }
        return nil
    }

    // A migration of an open file is not to find the coordinator that it is about to change.
    private static func openOutsideTurn(_ options: StoreOptions) -> StoreCoordinator? {
        locked { state in
            let isMine = !state.turns.isEmpty && state.holders(names(options)).contains(thisThread)
            return isMine ? nil : found(state, options)
        }
    }

    /// True while some Realm of this process has the file open.
    package static func isOpen(_ path: String) -> Bool { isOpen(StoreOptions(path: path, types: [])) }

    private static func isOpen(_ options: StoreOptions) -> Bool {
        guard isHeld(options) else { return false }
        waitForWork(options.environment)
        return isHeld(options)
    }

    /// Waits for what may hold a file for a moment longer than its last Realm: a checkpoint, or a look for commits of other
    /// processes.
    private static func waitForWork(_ environment: Environment) {
        StoreCoordinator.waitForCheckpoints(environment)
        if !environment.isDriven { ExternalCommitMonitor.waitForLooks() }
    }

    /// All files that are open.
    static var openCoordinators: [StoreCoordinator] {
        let found = locked { state in state.entries.values.compactMap { $0.object as? StoreCoordinator } }
        return Array(
            Dictionary(found.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { first, _ in first }).values)
    }

    private static func isHeld(_ options: StoreOptions) -> Bool { locked { found($0, options) } != nil }

    // MARK: Files that are not open

    /// Compacts a file that nobody in this process has open.
    package static func compact(_ options: StoreOptions) throws(EngineError) {
        let turn = try takeTurn(options)
        defer { end(turn) }
        try refuseOpen(options, "compacted")
        try StoreCoordinator(asFound(options)).compact()
    }

    /// Deletes a file that nobody in this process has open, with all that is beside it, when other processes have stopped
    /// writing. False when there was none.
    package static func remove(_ options: StoreOptions) throws(EngineError) -> Bool {
        let turn = try takeTurn(options)
        defer { end(turn) }
        try refuseOpen(options, "deleted")
        return StoreFiles.isAnyThere(options.path) ? try removeFiles(options) : false
    }

    // In the turn of the file. Another process that is making the file, or writing, ends that first.
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
            "the file is open in this process and cannot be \(what); let go of its Realms and objects first")
    }

    /// Deletes a temporary file with its last user, unless another has taken the path since.
    static func removeTemporary(_ options: StoreOptions, _ identity: StoreFiles.Identity?) {
        _ = locked { state -> StoreCoordinator? in
            // Another thread in the turn of the file deletes it itself, or makes it anew.
            let isTaken = state.holders(names(options)).contains { $0 != thisThread }
            guard !isTaken, let identity, StoreFiles.identity(options.path) == identity else { return nil }
            let other = found(state, options)
            if other == nil { StoreFiles.remove(options.path) }
            return other
        }
    }

    // MARK: Looking

    /// The schema version of a file, which is only looked at.
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
