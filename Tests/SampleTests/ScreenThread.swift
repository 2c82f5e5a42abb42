import Foundation
import Martlet

/// A thread with a run loop, as the main thread of an app has one, and a file for `Realm()` to open there.
enum ScreenThread {
    /// What `Realm()` opens: one file for this process.
    private static let file: Void = {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "martlet-samples-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        Realm.Configuration.defaultConfiguration = Realm.Configuration(
            fileURL: folder.appendingPathComponent("default.realm"))
    }()

    /// Runs a sample on a new thread, with a Realm that is empty.
    static func run(_ body: @escaping () throws -> Void) throws {
        _ = file
        nonisolated(unsafe) var failure: (any Error)?
        nonisolated(unsafe) let body = body
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Everything an app does on its main thread, it does inside the run loop.
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

    /// Lets the run loop turn until something has come about; false if it did not within ten seconds.
    static func turn(until isDone: () -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: 10)
        while !isDone() {
            guard Date() < end else { return false }
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
        }
        return true
    }
}
