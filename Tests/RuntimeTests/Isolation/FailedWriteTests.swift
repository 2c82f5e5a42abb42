import Dispatch
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet
@testable import MartletEngine

/// Asynchronous writes that wait for the write lock while a synchronous write fails.
@Suite struct FailedWriteTests {
    @Test("an asynchronous write runs after a synchronous write that could not begin N132 N134")
    func afterFailure() throws {
        let test = try TestRealm { $0.maximumNumberOfActiveVersions = 2 }
        // Another version would be too many.
        var kept = [test.realm.context.handle]
        try test.realm.write { test.realm.add(Dog(name: "before")) }
        kept.append(test.realm.context.handle)
        let lock = test.realm.context.coordinator.writeLock
        let (isHeld, mayRelease) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            try? lock.acquire()
            isHeld.signal()
            mayRelease.wait()
            lock.release()
        }
        isHeld.wait()
        var isDone = false
        test.realm.writeAsync({ test.realm.add(Dog(name: "later")) }, onComplete: { isDone = $0 == nil })
        // The background begins to wait for the lock.
        test.scheduler.run()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { mayRelease.signal() }
        // It gives up the lock for this write.
        #expect(throws: Realm.Error.self) { try test.realm.write { test.realm.add(Dog(name: "refused")) } }
        #expect(kept.count == 2)
        kept = []
        test.finishAsyncWrites()
        #expect(isDone && test.names == ["before", "later"])
    }
}
