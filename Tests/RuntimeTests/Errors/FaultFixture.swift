import CMartletTestVFS
import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Synchronization

@testable import Martlet

/// A file with three nodes, and operations that provoke faults.
final class FaultFixture {
    let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-fault-\(UUID().uuidString)")
    /// A VFS between SQLite and the file system. Its calls fail on demand.
    let vfs = FaultyVFS()
    private(set) var configuration = Realm.Configuration()
    /// Objects that each keep a fault active, such as an open write on another thread, until they are released.
    var retained: [Any] = []
    private var intactData: Data?

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        configuration.fileURL = folder.appending(path: "test.realm")
        configuration.environment.writeTimeoutMilliseconds = 50
        configuration.environment.checkpointFrames = .max
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add((1...3).map { Node(id: $0) }) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var url: URL { configuration.fileURL ?? folder }

    @discardableResult
    func open(_ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws -> Realm {
        var adjusted = configuration
        adjust(&adjusted)
        return try Realm(configuration: adjusted)
    }

    /// Opens the file through `vfs`.
    @discardableResult
    func openOnFaultyVFS() throws -> Realm { try open { $0.environment.vfsName = vfs.name } }

    /// Adds a node in a write through `vfs`. Calls `causeFault` before the commit.
    func write(_ causeFault: () -> Void) throws {
        let realm = try openOnFaultyVFS()
        try realm.write {
            realm.add(Node(id: 4))
            causeFault()
        }
    }

    /// Returns the ids of the stored nodes.
    func nodes() throws -> [Int] { try open().objects(Node.self).map(\.id) }

    /// Makes a compact copy of the file, and makes `url` refer to the copy. A test may damage the copy and call
    /// `restore`.
    func useCopy() throws {
        let copy = folder.appending(path: "copy.realm")
        try open().writeCopy(toFile: copy)
        configuration.fileURL = copy
        intactData = try Data(contentsOf: copy)
    }

    func restore() throws { try intactData?.write(to: url) }

    /// Makes `url` refer to a copy of the file, and overwrites bytes of the copy at an offset.
    func overwriteBytes(at offset: (Data) -> Int, _ replacement: [UInt8]) throws {
        try useCopy()
        var bytes = try Data(contentsOf: url)
        let start = offset(bytes)
        bytes.replaceSubrange(start..<start + replacement.count, with: replacement)
        try bytes.write(to: url)
    }

    /// Begins a write on another thread. The write is cancelled when the returned object is released.
    func writeOnOtherThread() -> AnyObject {
        let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let configuration = configuration
        Thread.detachNewThread {
            let realm = try? Realm(configuration: configuration)
            try? realm?.beginWrite()
            began.signal()
            mayEnd.wait()
            realm?.cancelWrite()
            began.signal()
        }
        began.wait()
        return DeferredAction {
            mayEnd.signal()
            began.wait()
        }
    }

    /// Locks the lock file as another process would. The lock ends when the returned object is released.
    func lockAsAnotherProcess() -> AnyObject {
        let descriptor = Foundation.open(url.path + ".lock", O_RDWR | O_CREAT, 0o644)
        _ = flock(descriptor, LOCK_EX)
        return DeferredAction { close(descriptor) }
    }
}

/// Runs a closure when it is deallocated.
private final class DeferredAction {
    private let action: () -> Void
    init(_ action: @escaping () -> Void) { self.action = action }
    deinit { action() }
}

/// A VFS whose calls fail on demand.
final class FaultyVFS {
    let name: String
    private let vfs: OpaquePointer?
    private static let numbers = Atomic<Int>(0)

    init() {
        name = "martlet-faulty-\(Self.numbers.add(1, ordering: .relaxed).newValue)"
        vfs = cmartlet_hook_vfs_create(name, "unix")
    }

    deinit { _ = vfs.map(cmartlet_hook_vfs_destroy) }

    /// Makes the next `call` on a file with the role `role` fail.
    func fail(_ call: CMartletCall, of role: CMartletRole, result: CInt = 0) {
        let fault = CMartletFault(call: call, role: role, at: 1, persists: false, applied: false, result: result)
        _ = cmartlet_hook_vfs_add_fault(vfs, fault)
    }

    var openFileCount: Int { Int(cmartlet_hook_vfs_open_file_count(vfs)) }
}
