import CMartletTestVFS
import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Synchronization

@testable import Martlet

/// A file with three nodes, to be given trouble with.
final class FaultBench {
    let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-fault-\(UUID().uuidString)")
    /// Stands between SQLite and the disk.
    let disk = FaultyDisk()
    private(set) var configuration = Realm.Configuration()
    /// What must live until the cause is taken away.
    var kept: [Any] = []
    private var healthy: Data?

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

    /// Opens the file.
    @discardableResult
    func open(_ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws -> Realm {
        var adjusted = configuration
        adjust(&adjusted)
        return try Realm(configuration: adjusted)
    }

    /// Opens it on the disk that fails on demand.
    @discardableResult
    func openOnFaultyDisk() throws -> Realm { try open { $0.environment.vfsName = disk.name } }

    /// Adds a node, and at the end of the transaction breaks something.
    func write(_ breaking: () -> Void) throws {
        let realm = try openOnFaultyDisk()
        try realm.write {
            realm.add(Node(id: 4))
            breaking()
        }
    }

    func nodes() throws -> [Int] { try open().objects(Node.self).map(\.id) }

    /// Goes on with a compact copy in one file, whose bytes can be spoiled and come back with `heal`.
    func useCopy() throws {
        let copy = folder.appending(path: "copy.realm")
        try open().writeCopy(toFile: copy)
        configuration.fileURL = copy
        healthy = try Data(contentsOf: copy)
    }

    func heal() throws { try healthy?.write(to: url) }

    /// Goes on with a copy that differs in some bytes, until `heal`.
    func spoil(at offset: (Data) -> Int, _ spoilt: [UInt8]) throws {
        try useCopy()
        var bytes = try Data(contentsOf: url)
        let start = offset(bytes)
        bytes.replaceSubrange(start..<start + spoilt.count, with: spoilt)
        try bytes.write(to: url)
    }

    /// Another thread that keeps its write transaction open, until the bench lets go of what is returned.
    func writeElsewhere() -> AnyObject {
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
        return Ending {
            mayEnd.signal()
            began.wait()
        }
    }

    /// The lock of writers, held as another process holds it.
    func lockAsAnotherProcess() -> AnyObject {
        let descriptor = Foundation.open(url.path + ".lock", O_RDWR | O_CREAT, 0o644)
        _ = flock(descriptor, LOCK_EX)
        return Ending { close(descriptor) }
    }
}

/// Does something when it ends.
private final class Ending {
    private let action: () -> Void
    init(_ action: @escaping () -> Void) { self.action = action }
    deinit { action() }
}

/// A disk that fails on demand.
final class FaultyDisk {
    let name: String
    private let vfs: OpaquePointer?
    private static let numbers = Atomic<Int>(0)

    init() {
        name = "martlet-faulty-\(Self.numbers.add(1, ordering: .relaxed).newValue)"
        vfs = cmartlet_hook_vfs_create(name, "unix")
    }

    deinit { _ = vfs.map(cmartlet_hook_vfs_destroy) }

    /// The next call of a kind to a file of a kind fails.
    func fail(_ call: CMartletCall, of role: CMartletRole, result: CInt = 0) {
        let fault = CMartletFault(call: call, role: role, at: 1, persists: false, applied: false, result: result)
        _ = cmartlet_hook_vfs_add_fault(vfs, fault)
    }

    var openFileCount: Int { Int(cmartlet_hook_vfs_open_file_count(vfs)) }
}
