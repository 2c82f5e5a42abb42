import Foundation
import Synchronization

/// The open files of this process, one coordinator each, found by device and inode: the only process-global state.
package enum StoreRegistry {
    struct FileID: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    private final class Entry {
        weak var coordinator: StoreCoordinator?
        init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }
    }

    private struct State {
        var entries: [FileID: Entry] = [:]
        var names: [String: Entry] = [:]
    }

    private static let lock = NSLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private static var state = State()

    /// The coordinator of the file at `options.path`, opened if nobody has it open.
    package static func coordinator(_ options: StoreOptions) throws -> StoreCoordinator {
        lock.lock()
        defer { lock.unlock() }
        if let id = fileID(options.path), let open = state.entries[id]?.coordinator {
            try open.check(options)
            return open
        }
        // A virtual file system of a test has no inodes.
        if options.environment.vfsName != nil, let open = state.names[options.path]?.coordinator {
            try open.check(options)
            return open
        }
        let coordinator = try StoreCoordinator(options)
        if let id = fileID(options.path) { state.entries[id] = Entry(coordinator) }
        if options.environment.vfsName != nil { state.names[options.path] = Entry(coordinator) }
        state.entries = state.entries.filter { $0.value.coordinator != nil }
        return coordinator
    }

    /// True while some Realm of this process has the file open.
    package static func isOpen(_ path: String) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return fileID(path).flatMap { state.entries[$0]?.coordinator } != nil
    }

    private static func fileID(_ path: String) -> FileID? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
