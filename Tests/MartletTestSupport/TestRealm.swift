package import Foundation
package import Martlet
import MartletEngine

/// A new file with a Realm whose scheduler the test runs manually. The file is deleted with this object.
package final class TestRealm {
    package let scheduler = ManualScheduler()
    package let configuration: Realm.Configuration
    package let realm: Realm
    private let folder: URL

    package init(_ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = Realm.Configuration(fileURL: folder.appendingPathComponent("test.realm"))
        configuration.scheduler = scheduler
        configuration.durability = .off
        // A test may hold objects of the Realm longer than this object, so the file is often deleted while it is open.
        // Lines that are logged after the deletion are dropped.
        let (log, path) = (configuration.environment.log, folder.path)
        configuration.environment.log = { line in if FileManager.default.fileExists(atPath: path) { log(line) } }
        adjust(&configuration)
        self.configuration = configuration
        realm = try Realm(configuration: configuration)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    package var url: URL { folder.appendingPathComponent("test.realm") }

    /// Waits until at most one version is pinned, for at most 30 s. Background work may release its versions only after
    /// the hub has become idle.
    package func waitForSinglePin() {
        let deadline = Date(timeIntervalSinceNow: 30)
        while realm.pinnedVersions.count > 1, Date() < deadline { sched_yield() }
    }

    /// Runs `body` with another Realm of the same file on a new thread, and waits until `body` returns. For the Realm
    /// in `realm`, the commits of `body` are commits of another Realm.
    package func onNewThread(_ body: @escaping (Realm) throws -> Void) throws {
        nonisolated(unsafe) var failure: (any Error)?
        nonisolated(unsafe) let body = body
        var threadConfiguration = configuration
        threadConfiguration.scheduler = nil
        let configuration = threadConfiguration
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                try body(Realm(configuration: configuration))
            } catch {
                failure = error
            }
            done.signal()
        }
        done.wait()
        if let failure { throw failure }
    }
}
