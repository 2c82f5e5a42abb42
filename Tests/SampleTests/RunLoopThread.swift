import Foundation
import Martlet

/// Runs samples on a thread with a run loop, like the main thread of an app, and sets the file that `Realm()` opens.
enum RunLoopThread {
    /// Sets the file that `Realm()` opens, once in this process.
    private static let file: Void = {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "martlet-samples-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        Realm.Configuration.defaultConfiguration = Realm.Configuration(
            fileURL: folder.appendingPathComponent("default.realm"))
    }()

    /// Runs a sample on a new thread. The default Realm is empty.
    static func run(_ body: @escaping () throws -> Void) throws {
        _ = file
        nonisolated(unsafe) var failure: (any Error)?
        nonisolated(unsafe) let body = body
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // An app runs its code on the main thread inside the run loop.
            RunLoop.current.perform {
                do {
                    let realm = try Realm()
                    try realm.write { realm.deleteAll() }
                    try body()
                } catch {
                    failure = error
                }
                done.signal()
            }
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
        }
        done.wait()
        if let failure { throw failure }
    }

    /// Runs the run loop until `isDone` returns true. Returns false after ten seconds.
    static func wait(until isDone: () -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: 10)
        while !isDone() {
            guard Date() < end else { return false }
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
        }
        return true
    }
}
