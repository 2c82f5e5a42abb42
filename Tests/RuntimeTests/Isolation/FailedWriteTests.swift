import Dispatch
import Foundation
import KennelModels
import MartletSQLite
import MartletTestSupport
import Testing

@testable import Martlet
@testable import MartletEngine

/// Writes that cannot begin or cannot be committed, and asynchronous writes that follow them.
@Suite struct FailedWriteTests {
    @Test("an asynchronous write runs after a synchronous write that could not begin N132 N134")
    func afterFailure() throws {
        let test = try TestRealm { $0.maximumNumberOfActiveVersions = 2 }
        // With these two versions in use, a third version would exceed the limit.
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
        // A background thread begins to wait for the lock.
        test.scheduler.run()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { mayRelease.signal() }
        // This synchronous write also waits for the lock. It cannot begin, because a third version would exceed the
        // limit.
        #expect(throws: Realm.Error.self) { try test.realm.write { test.realm.add(Dog(name: "refused")) } }
        #expect(kept.count == 2)
        kept = []
        test.finishAsyncWrites()
        #expect(isDone && test.names == ["before", "later"])
    }

    /// Returns a Realm that waits at most 20 ms for the write lock. Another thread holds the lock until the test calls
    /// `end`.
    private func realmWithHeldLock() throws -> (test: TestRealm, end: () -> Void) {
        let test = try TestRealm { $0.environment.writeTimeoutMilliseconds = 20 }
        let lock = test.realm.context.coordinator.writeLock
        let (isHeld, mayRelease, isReleased) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            try? lock.acquire()
            isHeld.signal()
            mayRelease.wait()
            lock.release()
            isReleased.signal()
        }
        isHeld.wait()
        return (
            test,
            {
                mayRelease.signal()
                isReleased.wait()
            }
        )
    }

    @Test("if a completion handler leaves a write open, the next queued write does not fail N132 N134")
    func openWriteInCompletion() throws {
        let (test, end) = try realmWithHeldLock()
        var outcomes: [String] = []
        test.realm.writeAsync({ test.realm.add(Dog(name: "refused")) }) { error in
            outcomes.append((error as? Realm.Error)?.code.rawValue ?? "stored")
            end()
            try? test.realm.beginWrite()
            test.realm.add(Dog(name: "open"))
        }
        test.realm.writeAsync({ test.realm.add(Dog(name: "next")) }) { error in
            outcomes.append(error == nil ? "stored" : "failed")
        }
        while outcomes.isEmpty, test.scheduler.waitForWork() { test.scheduler.run() }
        while test.scheduler.run() > 0 {}
        #expect(test.realm.isInWriteTransaction && outcomes == ["busy"])
        if test.realm.isInWriteTransaction { try test.realm.commitWrite() }
        test.finishAsyncWrites()
        #expect(outcomes == ["busy", "stored"] && test.names == ["open", "next"])
    }

    @Test("'beginAsyncWrite' reports a write that cannot begin, and does not call its block N135")
    func refusedBlock() throws {
        let (test, end) = try realmWithHeldLock()
        var outcomes: [String] = []
        test.realm.beginAsyncWrite {
            outcomes.append("block")
        } onError: {
            outcomes.append(($0 as? Realm.Error)?.code.rawValue ?? "\($0)")
            end()
        }
        test.finishAsyncWrites()
        #expect(outcomes == ["busy"])
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "stored"))
            test.realm.commitAsyncWrite()
        } onError: {
            outcomes.append("\($0)")
        }
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "rolled back"))
        } onError: {
            outcomes.append("\($0)")
        }
        test.finishAsyncWrites()
        #expect(outcomes == ["busy"] && test.names == ["stored"])
    }

    @Test("if 'freeze' cannot commit the earlier writes of a group, these writes and the open write fail N125 N132")
    func commitFailsWhileFreezing() throws {
        nonisolated(unsafe) var fails = false
        nonisolated(unsafe) weak var context: RealmContext?
        let test = try TestRealm {
            $0.environment.onYield = { point in
                guard point == .beforeCommit, fails else { return }
                fails = false
                // After this rollback no transaction is open, so the commit fails.
                try? context?.transaction?.handle.read { try $0.run("ROLLBACK") }
            }
        }
        context = test.realm.context
        try test.dogs("first")
        var (outcomes, names): ([String], [String]) = ([], [])
        for number in 1...3 {
            test.realm.writeAsync {
                fails = number == 2
                if number == 2 { names = test.allDogs.freeze().map(\.name) }
                test.realm.add(Dog(name: "\(number)"))
            } onComplete: {
                outcomes.append("\(number): \($0 == nil ? "stored" : "failed")")
            }
        }
        test.finishAsyncWrites()
        #expect(names == ["first"] && test.names == ["first", "3"])
        #expect(outcomes == ["1: failed", "2: failed", "3: stored"])
        try test.dogs("last")
        #expect(try onOtherThread(test) { $0.objects(Dog.self).map(\.name) } == ["first", "3", "last"])
    }
}
