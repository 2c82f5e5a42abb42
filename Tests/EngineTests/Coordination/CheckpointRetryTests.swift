import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

/// A checkpoint that cannot complete is repeated later. The test decides when the postponed work runs.
@Suite("repeated checkpoints")
struct CheckpointRetryTests {
    private let folder: TestFolder
    private let postponed = Postponed()

    init() throws { folder = try TestFolder() }

    /// The work that the engine has postponed. It begins when the test calls `run`.
    private final class Postponed: Sendable {
        private let list = Mutex<[@Sendable () -> Void]>([])
        var count: Int { list.withLock(\.count) }

        func add(_ work: @escaping @Sendable () -> Void) { list.withLock { $0.append(work) } }

        /// Runs the postponed work, and waits for the checkpoints that it begins.
        func run() {
            let work = list.withLock { list in
                defer { list = [] }
                return list
            }
            for item in work { item() }
            StoreCoordinator.waitForCheckpoints()
        }
    }

    /// The coordinators of other processes. They are notified while the process that runs the checkpoint waits.
    private final class Listeners: Sendable {
        let coordinators = Mutex<[StoreCoordinator]>([])
        func notify() { for coordinator in coordinators.withLock({ $0 }) { coordinator.repinAfterCheckpoint() } }
    }

    private func process(_ listeners: Listeners = Listeners()) throws -> VirtualProcess {
        let postponed = postponed
        return try VirtualProcess(folder.path()) {
            $0.environment.later = { _, _, work in postponed.add(work) }
            $0.environment.sleep = { _ in listeners.notify() }
        }
    }

    private var isLong: Bool { StoreFiles.logBytes(folder.path()) > 40_000_000 }
    private var isShort: Bool { StoreFiles.logBytes(folder.path()) < 1_000_000 }

    private func writeMuch(_ process: VirtualProcess) throws {
        try process.write { transaction in
            for number in 0..<80 { try transaction.addNote(String(repeating: "\(number % 10)", count: 500_000)) }
        }
    }

    @Test("a checkpoint is postponed while another process writes O2")
    func busy() throws {
        let (process, other) = (try process(), try process())
        try process.add("a")
        let version = try #require(process.handle?.version)
        process.handle = nil
        try other.write { _ in
            process.coordinator.checkpointSoon()
            StoreCoordinator.waitForCheckpoints()
            #expect(postponed.count == 1 && process.coordinator.locked { $0.repinnedCheckpoint } == nil)
            postponed.run()
            #expect(postponed.count == 1, "postponed again while the other process still writes")
        }
        postponed.run()
        #expect(postponed.count == 0)
        #expect(try #require(process.coordinator.locked { $0.repinnedCheckpoint }).version >= version)
    }

    @Test("a handle that was being read during a checkpoint stops using the log when its process is notified O2")
    func readMeanwhile() throws {
        let process = try process()
        for number in 0..<50 { try process.add("\(number)") }
        let handle = try #require(process.handle)
        let first = try handle.read { _ in try process.coordinator.checkpoint() }
        #expect(first.logFrames > 50 && first.logFrames == first.copiedFrames)
        process.coordinator.repinAfterCheckpoint()
        let other = try self.process()
        try other.add("a")
        #expect(try other.coordinator.checkpoint().logFrames < 50, "the log restarts at its beginning")
        #expect(try process.noteCount == 50)
    }

    @Test(
        "a long log that is read during its checkpoint is shortened later, without another write D33 O2"
    )
    func longAndReadMeanwhile() throws {
        let process = try process()
        try writeMuch(process)
        let handle = try #require(process.handle)
        _ = try handle.read { _ in try process.coordinator.checkpoint() }
        #expect(isLong && postponed.count == 1)
        postponed.run()
        #expect(isShort && postponed.count == 0)
        #expect(try process.noteCount == 80)
        #expect(try process.integrity == .text("ok"))
    }

    @Test("a long log that another process stops using too late is shortened later, without another write O2")
    func releasedTooLate() throws {
        let listeners = Listeners()
        let (process, early, late) = (try process(listeners), try self.process(), try self.process())
        try writeMuch(process)
        try early.refresh()
        try late.refresh()
        listeners.coordinators.withLock { $0 = [early.coordinator] }
        try process.coordinator.checkpoint()
        #expect(isLong && postponed.count == 1)
        // Notifies both readers again. After another checkpoint, a reader that had stopped using the log uses the end
        // of the log again. It must be able to stop using the log a second time.
        for reader in [early, late] { reader.coordinator.repinAfterCheckpoint() }
        listeners.coordinators.withLock { $0 = [early.coordinator, late.coordinator] }
        postponed.run()
        #expect(isShort && postponed.count == 0)
        for reader in [process, early, late] {
            #expect(try reader.noteCount == 80)
            #expect(try reader.integrity == .text("ok"))
        }
    }

    @Test(
        "while another process uses a long log, each checkpoint is retried only once O2"
    )
    func neverReleased() throws {
        let (process, reader) = (try process(), try process())
        for _ in 0..<2 {
            try writeMuch(process)
            try reader.refresh()
            try process.coordinator.checkpoint()
            #expect(isLong && postponed.count == 1)
            postponed.run()
            #expect(isLong && postponed.count == 0)
        }
        reader.handle = nil
        try process.coordinator.checkpoint()
        #expect(isShort && postponed.count == 0)
        #expect(try process.noteCount == 160)
    }
}
