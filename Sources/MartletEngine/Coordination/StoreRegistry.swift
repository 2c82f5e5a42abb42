import Foundation
import MartletSQLite

/// The open files of this process, one coordinator each, found by device and inode: the only process-global state.
package enum StoreRegistry {
    private final class Entry {
        weak var coordinator: StoreCoordinator?
        init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }
    }

    private struct State {
        var entries: [StoreFiles.Identity: Entry] = [:]
        var names: [String: Entry] = [:]
        /// Paths that are being opened further up on this thread: by a migration that opens its own file.
        var opening: Set<String> = []
    }

    // Recursive: the last reference to a coordinator may be let go of while the lock is held.
    private static let lock = NSRecursiveLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private static var state = State()

    /// The coordinator of the file at `options.path`, opened if nobody has it open.
    package static func coordinator(_ options: StoreOptions) throws(EngineError) -> StoreCoordinator {
        lock.lock()
        defer { lock.unlock() }
        guard state.opening.insert(options.path).inserted else {
            throw EngineError(
                .busy, path: options.path,
                "the file is opened inside its own migration, which holds it; use the objects of the migration")
        }
        defer { state.opening.remove(options.path) }
        if let open = open(options) {
            try open.check(options)
            return open
        }
        // Left by a process that was killed, or about to be deleted by the last user on another thread.
        if options.isTemporary && options.environment.vfsName == nil { StoreFiles.remove(options.path) }
        let coordinator = try StoreCoordinator(options)
        if let id = StoreFiles.identity(options.path) { state.entries[id] = Entry(coordinator) }
        if options.environment.vfsName != nil { state.names[options.path] = Entry(coordinator) }
        state.entries = state.entries.filter { $0.value.coordinator != nil }
        state.names = state.names.filter { $0.value.coordinator != nil }
        return coordinator
    }

    private static func open(_ options: StoreOptions) -> StoreCoordinator? {
        if let id = StoreFiles.identity(options.path), let open = state.entries[id]?.coordinator { return open }
        // A virtual file system of a test has no inodes.
        return options.environment.vfsName == nil ? nil : state.names[options.path]?.coordinator
    }

    /// Compacts a file that nobody in this process has open.
    package static func compact(_ options: StoreOptions) throws(EngineError) {
        _ = isOpen(options.path)
        lock.lock()
        defer { lock.unlock() }
        guard !isHeld(options.path) else {
            throw EngineError(
                .accessDenied, path: options.path,
                "the file is open in this process and cannot be compacted; let go of its Realms and objects first")
        }
        try StoreCoordinator(asFound(options)).compact()
    }

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

    /// True while some Realm of this process has the file open.
    package static func isOpen(_ path: String) -> Bool {
        guard isHeld(path) else { return false }
        // The last to hold it may be a checkpoint in the background, which ends soon.
        StoreCoordinator.waitForCheckpoints()
        return isHeld(path)
    }

    private static func isHeld(_ path: String) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return StoreFiles.identity(path).flatMap { state.entries[$0]?.coordinator } != nil
    }

    /// Deletes a temporary file with its last user, unless another has taken the path since.
    static func removeTemporary(_ path: String, _ identity: StoreFiles.Identity?) {
        lock.lock()
        defer { lock.unlock() }
        if let identity, StoreFiles.identity(path) == identity { StoreFiles.remove(path) }
    }
}
