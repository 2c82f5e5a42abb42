import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

/// The write-ahead log shrinks as soon as no pinned version needs it.
@Suite("shrinking log")
struct ShrinkingLogTests {
    private func logBytes(_ folder: TestFolder) -> Int { StoreFiles.logBytes(folder.path()) }

    /// Writes 40 MB, which is more than a log may keep after a checkpoint.
    private func writeMuch(_ process: VirtualProcess) throws {
        try process.write { transaction in
            for number in 0..<80 { try transaction.addNote(String(repeating: "\(number % 10)", count: 500_000)) }
        }
    }

    @Test("the log shrinks when the last handle of an old version is released, without another write D33 O2")
    func pinOfThisProcess() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        let reader = VirtualProcess(writer.coordinator)
        try reader.refresh()
        var second = reader.handle
        try writeMuch(writer)
        let held = try writer.coordinator.checkpoint()
        #expect(held.copiedFrames < held.logFrames && logBytes(folder) > 40_000_000)
        reader.handle = nil
        StoreCoordinator.waitForCheckpoints()
        #expect(logBytes(folder) > 40_000_000 && second != nil, "one of the two handles is still held")
        second = nil
        StoreCoordinator.waitForCheckpoints()
        #expect(logBytes(folder) < 1_000_000)
        let version = try #require(writer.handle?.version)
        try writer.refresh()
        #expect(writer.handle?.version == version, "a shorter log is not a new version")
        #expect(try writer.noteCount == 80)
        #expect(try writer.integrity == .text("ok"))
    }

    @Test(
        "after another process has released its version, the next checkpoint shrinks the log D33 O2"
    )
    func pinOfAnotherProcess() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        let reader = try VirtualProcess(folder.path())
        try reader.refresh()
        try writeMuch(writer)
        let held = try writer.coordinator.checkpoint()
        #expect(held.copiedFrames < held.logFrames && logBytes(folder) > 40_000_000)
        #expect(try reader.noteCount == 0)
        reader.handle = nil
        try writer.add("one more")
        // This write has also released the previous version of the writer.
        StoreCoordinator.waitForCheckpoints()
        try writer.coordinator.checkpoint()
        #expect(logBytes(folder) < 1_000_000)
        #expect(try reader.noteCount == 81)
    }

    @Test("a log that cannot shrink because another process reads it does not cause a checkpoint for every commit O2")
    func fewCheckpoints()
        throws
    {
        let folder = try TestFolder()
        let checkpoints = Counter()
        let writer = try VirtualProcess(folder.path()) {
            $0.environment.onYield = { if $0 == .beforeCheckpoint { checkpoints.increment() } }
        }
        let reader = try VirtualProcess(folder.path())
        try reader.refresh()
        try writeMuch(writer)
        try writer.coordinator.checkpoint()
        let before = checkpoints.value
        for number in 0..<20 { try writer.add("\(number)") }
        StoreCoordinator.waitForCheckpoints()
        #expect(before > 0 && checkpoints.value == before)
        #expect(logBytes(folder) > 40_000_000)
    }

    @Test("the log of a writer remains short while another process refreshes after each commit D33 O2 N27")
    func follower() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        let follower = try VirtualProcess(folder.path()) {
            $0.environment.commitPollMilliseconds = 60_000
            $0.environment.missedCommitPollMilliseconds = 0
        }
        let calls = Counter()
        follower.coordinator.listen(calls) { _, _ in calls.increment() }
        var largest = 0
        for number in 0..<1_200 {
            try writer.add("\(number)", tags: [String(repeating: "x", count: 500)])
            try follower.refresh()
            largest = max(largest, logBytes(folder))
            guard number.isMultiple(of: 50) else { continue }
            // While the follower reads its version from the log, a checkpoint may be incomplete. So the test repeats
            // the checkpoint.
            try #require(eventually { (try? writer.coordinator.checkpoint()).map { $0 == $1 } == true })
            let version = try #require(writer.handle?.version)
            try #require(eventually { follower.coordinator.locked { $0.repinnedCheckpoint?.version } == version })
            // Waits until the follower has stopped using the log.
            LockFileWatcher.queue.sync {}
            #expect(follower.handle?.version == version)
        }
        #expect(largest < 3 << 20, "\(largest) bytes")
        #expect(try follower.noteCount == 1_200)
        follower.coordinator.stopListening(calls)
    }

    @Test("a notification of another process's checkpoint does not replace the connection of an open write O2")
    func repinInWrite() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        try process.coordinator.checkpoint()
        // Simulates a checkpoint of another process.
        process.coordinator.locked { $0.repinnedCheckpoint = nil }
        try process.write { transaction in
            try transaction.addNote("b")
            process.coordinator.repinAfterCheckpoint()
            try transaction.addNote("c")
        }
        #expect(try process.noteCount == 3)
        #expect(try process.integrity == .text("ok"))
    }

    @Test("a notification of another process's checkpoint does not move a handle to a version of another epoch O2")
    func repinInAnotherEpoch() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        try process.coordinator.checkpoint()
        process.coordinator.locked { $0.repinnedCheckpoint = nil }
        let other = try Connection(ConnectionOptions(path: folder.path()))
        try other.run("UPDATE martlet_meta SET epoch = epoch + 1")
        let handle = try #require(process.handle)
        process.coordinator.repinAfterCheckpoint()
        #expect(try handle.read { try Catalog.meta($0).epoch } == handle.epoch)
        #expect(process.coordinator.locked { $0.repinnedCheckpoint } == nil, "the next notification may repin a handle")
    }

    private func eventually(_ condition: () -> Bool) -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            sched_yield()
        }
        return true
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func increment() { count.add(1, ordering: .relaxed) }
    }
}
