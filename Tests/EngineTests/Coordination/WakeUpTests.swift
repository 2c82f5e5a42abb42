import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

/// Processes are notified of each other's commits. The intervals of the timers are so long that no timer finds a
/// commit. Only `committedBeforeListening` uses a short interval.
@Suite("notifications between processes")
struct WakeUpTests {
    /// Records the versions of which a process is notified.
    private final class VersionRecorder: Sendable {
        private let versions = Mutex<[Version]>([])
        private let arrived = DispatchSemaphore(value: 0)

        var isEmpty: Bool { versions.withLock { $0.isEmpty } }

        func record(_ version: Version) {
            versions.withLock { $0.append(version) }
            arrived.signal()
        }

        /// Waits until the process has been notified of a version. Returns false if no notification arrives for 20 s.
        func receives(_ version: Version) -> Bool {
            while !versions.withLock({ $0.contains(version) }) {
                guard arrived.wait(timeout: .now() + .seconds(20)) == .success else { return false }
            }
            return true
        }
    }

    private func listener(_ folder: TestFolder) throws -> (VirtualProcess, VersionRecorder) {
        let process = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 60_000
            $0.environment.missedCommitPollMilliseconds = 0
        }
        let recorder = VersionRecorder()
        process.coordinator.listen(recorder) { version, _ in recorder.record(version) }
        LockFileWatcher.waitForScheduled()
        return (process, recorder)
    }

    @Test("a commit of another process notifies listeners without a timer N142 N27")
    func commit() throws {
        let folder = try TestFolder()
        let (process, recorder) = try listener(folder)
        let writer = try VirtualProcess(folder.path())
        for number in 0..<20 {
            try writer.add("\(number)")
            let version = try #require(writer.handle?.version)
            #expect(recorder.receives(version))
        }
        process.coordinator.stopListening(recorder)
    }

    @Test("listeners are notified of a commit whose process was killed before it could send a signal N27")
    func killedBeforeSignal() throws {
        let folder = try TestFolder()
        let (process, recorder) = try listener(folder)
        // Simulates a kill: the commit is stored and the files are closed, but the version is not written to the lock
        // file.
        let connection = try Connection(ConnectionOptions(path: folder.path()))
        let version = try Catalog.meta(connection).version + 1
        try connection.run("UPDATE martlet_meta SET version = ?1", [.integer(Int64(version))])
        connection.close()
        close(open(folder.path("test.realm.lock"), O_RDWR))
        #expect(recorder.receives(version))
        process.coordinator.stopListening(recorder)
    }

    @Test(
        "listeners are notified of commits after the lock file was deleted or replaced D40", arguments: [false, true])
    func lockReplaced(_ isReplaced: Bool) throws {
        let folder = try TestFolder()
        let (process, recorder) = try listener(folder)
        let former = try VirtualProcess(folder.path())
        try former.add("before")
        #expect(recorder.receives(try #require(former.handle?.version)))
        for number in 0..<3 {
            if isReplaced {
                try Data().write(to: URL(fileURLWithPath: folder.path("new")))
                rename(folder.path("new"), folder.path("test.realm.lock"))
            } else {
                unlink(folder.path("test.realm.lock"))
            }
            let writer = try VirtualProcess(folder.path())
            for writer in [writer, former] {
                try writer.add("\(number)")
                #expect(recorder.receives(try #require(writer.handle?.version)))
            }
        }
        process.coordinator.stopListening(recorder)
    }

    @Test("listeners are notified of commits after the queue of file events has overflowed D40 N27")
    func eventsLost() throws {
        let (folder, other) = (try TestFolder(), try TestFolder())
        let (process, recorder) = try listener(folder)
        let (otherProcess, otherRecorder) = try listener(other)
        let canRead = DispatchSemaphore(value: 0)
        LockFileWatcher.queue.async { canRead.wait() }
        // The system does not merge events of alternating files. By default, it stores at most 16,384 events.
        for _ in 0..<10_000 {
            for path in [folder.path("test.realm.lock"), other.path("test.realm.lock")] { close(open(path, O_RDWR)) }
        }
        unlink(folder.path("test.realm.lock"))
        canRead.signal()
        let pairs = [(folder, recorder), (other, otherRecorder)]
        for (folder, recorder) in pairs {
            let writer = try VirtualProcess(folder.path())
            try writer.add("a")
            #expect(recorder.receives(try #require(writer.handle?.version)))
            try writer.add("b")
            #expect(recorder.receives(try #require(writer.handle?.version)))
        }
        process.coordinator.stopListening(recorder)
        otherProcess.coordinator.stopListening(otherRecorder)
    }

    @Test("a listener is notified even if another part of its process has already read the version N27")
    func seenByAnother() throws {
        let folder = try TestFolder()
        let (process, recorder) = try listener(folder)
        let writer = try VirtualProcess(folder.path())
        for number in 0..<50 {
            try writer.write { transaction in
                try transaction.addNote("\(number)")
            }
            try process.refresh()
            let version = try #require(writer.handle?.version)
            #expect(recorder.receives(version))
        }
        process.coordinator.stopListening(recorder)
    }

    @Test("a commit before a listener is registered is found soon after the registration N27")
    func committedBeforeListening() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 5
            $0.environment.missedCommitPollMilliseconds = 0
        }
        let writer = try VirtualProcess(folder.path())
        try writer.add("a")
        let recorder = VersionRecorder()
        process.coordinator.listen(recorder) { version, _ in recorder.record(version) }
        #expect(recorder.receives(try #require(writer.handle?.version)))
        process.coordinator.stopListening(recorder)
    }

    @Test("a listener is notified of a commit that is made before the process watches the lock file N27")
    func committedBeforeWatcherStarts() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 60_000
            $0.environment.missedCommitPollMilliseconds = 0
        }
        let writer = try VirtualProcess(folder.path())
        let recorder = VersionRecorder()
        // The lock file is not watched yet while the queue of the watcher is blocked.
        let isWritten = DispatchSemaphore(value: 0)
        LockFileWatcher.queue.async { isWritten.wait() }
        process.coordinator.listen(recorder) { version, _ in recorder.record(version) }
        try writer.add("a")
        isWritten.signal()
        LockFileWatcher.waitForScheduled()
        #expect(recorder.receives(try #require(writer.handle?.version)))
        process.coordinator.stopListening(recorder)
    }

    @Test("a listener is not notified if it is removed before the process watches the lock file")
    func stoppedBeforeTheWatch() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) { $0.environment.commitPollMilliseconds = 60_000 }
        let writer = try VirtualProcess(folder.path())
        let recorder = VersionRecorder()
        let other = VersionRecorder()
        let isStopped = DispatchSemaphore(value: 0)
        LockFileWatcher.queue.async { isStopped.wait() }
        process.coordinator.listen(recorder) { version, _ in recorder.record(version) }
        process.coordinator.stopListening(recorder)
        isStopped.signal()
        LockFileWatcher.waitForScheduled()
        // Other listeners are not affected.
        process.coordinator.listen(other) { version, _ in other.record(version) }
        LockFileWatcher.waitForScheduled()
        try writer.add("a")
        #expect(other.receives(try #require(writer.handle?.version)))
        #expect(recorder.isEmpty)
        process.coordinator.stopListening(other)
    }

    @Test("a process that only listens creates the lock file, because it watches this file")
    func onlyListening() throws {
        let folder = try TestFolder()
        do { try VirtualProcess(folder.path()).add("a") }
        try FileManager.default.removeItem(atPath: folder.path("test.realm.lock"))
        let (process, recorder) = try listener(folder)
        #expect(StoreFiles.exists(folder.path("test.realm.lock")))
        process.coordinator.stopListening(recorder)
    }

    @Test("a process does not write to the lock file if no other process waits for its commits N27")
    func ownCommits() throws {
        let folder = try TestFolder()
        let (process, recorder) = try listener(folder)
        let lock = folder.path("test.realm.lock")
        func words() -> Data? { FileManager.default.contents(atPath: lock)?.prefix(8) }
        try process.add("a")
        let alone = words()
        for _ in 0..<3 { try process.add("b") }
        #expect(words() == alone)
        let (other, otherRecorder) = try listener(folder)
        try process.add("c")
        #expect(words() != alone)
        let version = try #require(process.handle?.version)
        #expect(recorder.receives(version) && otherRecorder.receives(version))
        other.coordinator.stopListening(otherRecorder)
        let watched = words()
        try process.add("d")
        #expect(words() == watched)
        process.coordinator.stopListening(recorder)
    }

    @Test("a poll that finds a commit of its own process before the commit returns notifies no listener N27")
    func foundWhileCommitting() throws {
        let folder = try TestFolder()
        let polls = Mutex(0)
        let coordinator = Mutex<StoreCoordinator?>(nil)
        let process = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 60_000
            $0.environment.missedCommitPollMilliseconds = 0
            $0.environment.onYield = { point in
                guard case .afterCommit = point, let found = coordinator.withLock({ $0 }) else { return }
                found.pollForCommits()
                polls.withLock { $0 += 1 }
            }
        }
        let recorder = VersionRecorder()
        let notified = Mutex<[Version]>([])
        process.coordinator.listen(recorder) { version, _ in notified.withLock { $0.append(version) } }
        coordinator.withLock { $0 = process.coordinator }
        for number in 0..<5 { try process.add("\(number)") }
        let last = try #require(process.handle?.version)
        #expect(polls.withLock { $0 } == 5)
        #expect(notified.withLock { $0 } == Array(last - 4...last))
        coordinator.withLock { $0 = nil }
        process.coordinator.stopListening(recorder)
    }
}
