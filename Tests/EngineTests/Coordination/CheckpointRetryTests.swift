import Foundation
import MartletSQLite
import Synchronization
import Testing

@testable import MartletEngine

/// What a checkpoint cannot do at once is done a moment later, and the moment is the test's.
@Suite("checkpoints that are tried again")
struct CheckpointRetryTests {
    private let folder: TestFolder
    /// What is to be done a moment later.
    private let postponed = Postponed()

    init() throws { folder = try TestFolder() }

    private final class Postponed: Sendable {
        private let list = Mutex<[@Sendable () -> Void]>([])
        var count: Int { list.withLock(\.count) }

        func add(_ work: @escaping @Sendable () -> Void) { list.withLock { $0.append(work) } }

        /// Does all of it, and waits for what it begins.
        func run() {
            let work = list.withLock { list in
                defer { list = [] }
                return list
            }
            for item in work { item() }
            StoreCoordinator.waitForCheckpoints()
        }
    }

    /// Those that hear of a checkpoint while another process waits for them.
    private final class Hearing: Sendable {
        let coordinators = Mutex<[StoreCoordinator]>([])
        func hear() { for coordinator in coordinators.withLock({ $0 }) { coordinator.repinAfterCopy() } }
    }

    private func process(_ hearing: Hearing = Hearing()) throws -> VirtualProcess {
        let postponed = postponed
        return try VirtualProcess(folder.path()) {
            $0.environment.later = { _, _, work in postponed.add(work) }
            $0.environment.sleep = { _ in hearing.hear() }
        }
    }

    private var isLong: Bool { StoreFiles.logBytes(folder.path()) > 40_000_000 }
    private var isShort: Bool { StoreFiles.logBytes(folder.path()) < 1_000_000 }

    private func writeMuch(_ process: VirtualProcess) throws {
        try process.write { transaction in
            for number in 0..<80 { try transaction.addNote(String(repeating: "\(number % 10)", count: 500_000)) }
        }
    }

    @Test("O2 a checkpoint that finds another process writing is made a moment later")
    func busy() throws {
        let (process, other) = (try process(), try process())
        try process.add("a")
        let version = try #require(process.handle?.version)
        process.handle = nil
        try other.write { _ in
            process.coordinator.checkpointSoon()
            StoreCoordinator.waitForCheckpoints()
            #expect(postponed.count == 1 && process.coordinator.locked { $0.repinnedCopy } == nil)
            postponed.run()
            #expect(postponed.count == 1, "for as long as the other writes")
        }
        postponed.run()
        #expect(postponed.count == 0)
        #expect(try #require(process.coordinator.locked { $0.repinnedCopy }).version >= version)
    }

    @Test("O2 a handle that was being read during a checkpoint leaves the log when the process hears of it")
    func readMeanwhile() throws {
        let process = try process()
        for number in 0..<50 { try process.add("\(number)") }
        let handle = try #require(process.handle)
        let first = try handle.read { _ in try process.coordinator.checkpoint() }
        #expect(first.logFrames > 50 && first.logFrames == first.copiedFrames)
        process.coordinator.repinAfterCopy()
        let other = try self.process()
        try other.add("a")
        #expect(try other.coordinator.checkpoint().logFrames < 50, "it has begun again at its beginning")
        #expect(try process.noteCount == 50)
    }

    @Test(
        "D33 O2 a long log that was being read during its checkpoint is shortened a moment later, without another write"
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

    @Test("O2 a long log that another process leaves too late is shortened a moment later, without another write")
    func leftTooLate() throws {
        let hearing = Hearing()
        let (process, early, late) = (try process(hearing), try self.process(), try self.process())
        try writeMuch(process)
        try early.refresh()
        try late.refresh()
        hearing.coordinators.withLock { $0 = [early.coordinator] }
        try process.coordinator.checkpoint()
        #expect(isLong && postponed.count == 1)
        // They have been told once more: whoever has left the log comes back to its end, and can leave it again.
        for reader in [early, late] { reader.coordinator.repinAfterCopy() }
        hearing.coordinators.withLock { $0 = [early.coordinator, late.coordinator] }
        postponed.run()
        #expect(isShort && postponed.count == 0)
        for reader in [process, early, late] {
            #expect(try reader.noteCount == 80)
            #expect(try reader.integrity == .text("ok"))
        }
    }

    @Test("O2 a long log that another process does not leave at all is tried twice, and again when a checkpoint is due")
    func neverLeft() throws {
        let (process, deaf) = (try process(), try process())
        for _ in 0..<2 {
            try writeMuch(process)
            try deaf.refresh()
            try process.coordinator.checkpoint()
            #expect(isLong && postponed.count == 1)
            postponed.run()
            #expect(isLong && postponed.count == 0)
        }
        deaf.handle = nil
        try process.coordinator.checkpoint()
        #expect(isShort && postponed.count == 0)
        #expect(try process.noteCount == 160)
    }
}
