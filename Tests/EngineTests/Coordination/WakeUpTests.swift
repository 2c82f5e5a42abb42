import Foundation
import MartletSQLite
import Synchronization
import Testing

@testable import MartletEngine

/// How processes hear of each other's commits. Nobody looks by the clock here: what the system does not tell is not heard.
@Suite("wake-ups")
struct WakeUpTests {
    /// Hears what a process is told.
    private final class Ear: Sendable {
        private let versions = Mutex<[Version]>([])
        private let news = DispatchSemaphore(value: 0)

        var isDeaf: Bool { versions.withLock { $0.isEmpty } }

        func hear(_ version: Version) {
            versions.withLock { $0.append(version) }
            news.signal()
        }

        /// Waits until a version was heard of, for a time that is long for any machine.
        func hears(_ version: Version) -> Bool {
            while !versions.withLock({ $0.contains(version) }) {
                guard news.wait(timeout: .now() + .seconds(20)) == .success else { return false }
            }
            return true
        }
    }

    private func listener(_ folder: TestFolder) throws -> (VirtualProcess, Ear) {
        let process = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 60_000
            $0.environment.missedCommitPollMilliseconds = 0
        }
        let ear = Ear()
        process.coordinator.listen(ear) { version, _ in ear.hear(version) }
        LockFileWatcher.waitForScheduled()
        return (process, ear)
    }

    @Test("N142 N27 a commit of another process wakes those who listen, and no clock is needed")
    func commit() throws {
        let folder = try TestFolder()
        let (process, ear) = try listener(folder)
        let writer = try VirtualProcess(folder.path())
        for number in 0..<20 {
            try writer.add("\(number)")
            let version = try #require(writer.handle?.version)
            #expect(ear.hears(version))
        }
        process.coordinator.stopListening(ear)
    }

    @Test("N27 a writer that is gone before it could tell anybody is heard of all the same")
    func goneBeforeTelling() throws {
        let folder = try TestFolder()
        let (process, ear) = try listener(folder)
        // As if it had been killed: committed, nothing noted, and its files are closed.
        let connection = try Connection(ConnectionOptions(path: folder.path()))
        let version = try Catalog.meta(connection).version + 1
        try connection.run("UPDATE martlet_meta SET version = ?1", [.integer(Int64(version))])
        connection.close()
        close(open(folder.path("test.realm.lock"), O_RDWR))
        #expect(ear.hears(version))
        process.coordinator.stopListening(ear)
    }

    @Test("D40 commits are heard of after the lock file was deleted or replaced", arguments: [false, true])
    func lockReplaced(_ isReplaced: Bool) throws {
        let folder = try TestFolder()
        let (process, ear) = try listener(folder)
        let former = try VirtualProcess(folder.path())
        try former.add("before")
        #expect(ear.hears(try #require(former.handle?.version)))
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
                #expect(ear.hears(try #require(writer.handle?.version)))
            }
        }
        process.coordinator.stopListening(ear)
    }

    @Test("N27 who listens is told although somebody else of the process has seen the version before")
    func seenByAnother() throws {
        let folder = try TestFolder()
        let (process, ear) = try listener(folder)
        let writer = try VirtualProcess(folder.path())
        for number in 0..<50 {
            try writer.write { transaction in
                try transaction.addNote("\(number)")
            }
            try process.refresh()
            let version = try #require(writer.handle?.version)
            #expect(ear.hears(version))
        }
        process.coordinator.stopListening(ear)
    }

    @Test("N27 what was committed while nobody watched is found soon after")
    func beforeWatching() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 5
            $0.environment.missedCommitPollMilliseconds = 0
        }
        let writer = try VirtualProcess(folder.path())
        try writer.add("a")
        let ear = Ear()
        process.coordinator.listen(ear) { version, _ in ear.hear(version) }
        #expect(ear.hears(try #require(writer.handle?.version)))
        process.coordinator.stopListening(ear)
    }

    @Test("N27 what was committed between the beginning of listening and the watch is found when the watch begins")
    func beforeTheWatch() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 60_000
            $0.environment.missedCommitPollMilliseconds = 0
        }
        let writer = try VirtualProcess(folder.path())
        let ear = Ear()
        // Nothing begins while the queue is taken.
        let isWritten = DispatchSemaphore(value: 0)
        LockFileWatcher.queue.async { isWritten.wait() }
        process.coordinator.listen(ear) { version, _ in ear.hear(version) }
        try writer.add("a")
        isWritten.signal()
        LockFileWatcher.waitForScheduled()
        #expect(ear.hears(try #require(writer.handle?.version)))
        process.coordinator.stopListening(ear)
    }

    @Test("who stops before the watch begins is not heard of again")
    func stoppedBeforeTheWatch() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path()) { $0.environment.commitPollMilliseconds = 60_000 }
        let writer = try VirtualProcess(folder.path())
        let ear = Ear()
        let other = Ear()
        let isStopped = DispatchSemaphore(value: 0)
        LockFileWatcher.queue.async { isStopped.wait() }
        process.coordinator.listen(ear) { version, _ in ear.hear(version) }
        process.coordinator.stopListening(ear)
        isStopped.signal()
        LockFileWatcher.waitForScheduled()
        // Listening goes on as if nothing had been.
        process.coordinator.listen(other) { version, _ in other.hear(version) }
        LockFileWatcher.waitForScheduled()
        try writer.add("a")
        #expect(other.hears(try #require(writer.handle?.version)))
        #expect(ear.isDeaf)
        process.coordinator.stopListening(other)
    }

    @Test("a process that only listens makes the lock file, which is what it watches")
    func onlyListening() throws {
        let folder = try TestFolder()
        do { try VirtualProcess(folder.path()).add("a") }
        try FileManager.default.removeItem(atPath: folder.path("test.realm.lock"))
        let (process, ear) = try listener(folder)
        #expect(StoreFiles.exists(folder.path("test.realm.lock")))
        process.coordinator.stopListening(ear)
    }
}
