import Foundation
import MartletSQLite
import Testing

@testable import MartletEngine

/// What is pinned keeps the log long, and nothing else does.
@Suite("shrinking log")
struct ShrinkingLogTests {
    private func logBytes(_ folder: TestFolder) -> Int { StoreFiles.logBytes(folder.path()) }

    /// More than the log keeps: 40 MB.
    private func writeMuch(_ process: VirtualProcess) throws {
        try process.write { transaction in
            for number in 0..<80 { try transaction.addNote(String(repeating: "\(number % 10)", count: 500_000)) }
        }
    }

    @Test("O2 the log shrinks when the last one lets go of an old version, without another write")
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
        #expect(logBytes(folder) > 40_000_000 && second != nil, "one of two has let go")
        second = nil
        StoreCoordinator.waitForCheckpoints()
        #expect(logBytes(folder) < 1_000_000)
        try writer.refresh()
        #expect(try writer.noteCount == 80)
        #expect(try writer.integrity == .text("ok"))
    }

    @Test("O2 a log that another process kept long shrinks with the next checkpoint after it let go")
    func pinOfAnotherProcess() throws {
        let folder = try TestFolder()
        let writer = try VirtualProcess(folder.path())
        let reader = try VirtualProcess(folder.path())
        try reader.refresh()
        try writeMuch(writer)
        let held = try writer.coordinator.checkpoint()
        #expect(held.copiedFrames < held.logFrames && logBytes(folder) > 40_000_000)
        #expect(try reader.noteCount == 0)
        // Letting go checkpoints in the background, which the next write would find busy: it is waited for.
        writer.handle = nil
        StoreCoordinator.waitForCheckpoints()
        #expect(logBytes(folder) > 40_000_000, "the other process still reads what the log holds")
        reader.handle = nil
        try writer.add("one more")
        // The write has let go of the version before, too.
        StoreCoordinator.waitForCheckpoints()
        try writer.coordinator.checkpoint()
        #expect(logBytes(folder) < 1_000_000)
        #expect(try reader.noteCount == 81)
    }
}
