import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

@Suite("compaction")
struct CompactionTests {
    /// Creates a file with many rows and deletes 90 % of them.
    private func makeSparse(_ path: String, rows: Int, _ vfs: String? = nil) throws -> VirtualProcess {
        let process = try VirtualProcess(path) {
            $0.environment.vfsName = vfs
            $0.environment.pageSize = 512
            $0.durability = .full
        }
        try process.write { transaction in
            for row in 1...rows { try transaction.addNote(String(repeating: "x", count: 200), batch: row, tags: ["t"]) }
        }
        try process.write { transaction in
            try transaction.handle.read { try $0.run("DELETE FROM Note WHERE batch % 10 <> 0") }
        }
        process.handle = nil
        return process
    }

    private func size(_ folder: TestFolder) -> Int { folder.bytes()?.count ?? 0 }

    @Test("compaction shortens the file, and a reader in another process keeps its version O8")
    func withReader() throws {
        let folder = try TestFolder()
        let process = try makeSparse(folder.path(), rows: 2_000)
        try process.coordinator.checkpoint()
        let before = size(folder)
        let reader = try VirtualProcess(folder.path())
        try reader.refresh()
        try process.coordinator.compact()
        #expect(size(folder) >= before, "the reader still uses the old pages")
        #expect(try reader.noteCount == 200)
        try process.add("new")
        #expect(try reader.noteCount == 200)
        let version = try #require(reader.handle?.version)
        try reader.refresh()
        let handle = try #require(reader.handle)
        #expect(try reader.noteCount == 201)
        // The compaction creates a version without changes. The change sets of earlier versions remain readable.
        #expect(
            try reader.coordinator.changes(after: version, through: handle.version, handle)?.changes.tables.count == 1)
        process.handle = nil
        reader.handle = nil
        try process.coordinator.checkpoint()
        #expect(size(folder) < before / 4)
        #expect(try reader.integrity == .text("ok"))
    }

    @Test("a kill or a power cut during a compaction loses no data D5 O8", arguments: [false, true])
    func interrupted(byPower: Bool) throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += DurabilityTests.isFullSweep ? 1 : 9
            disk.reset()
            do {
                let vfs = HookVFS(over: disk.name)
                let process = try makeSparse(folder.path(), rows: 100, vfs.name)
                if byPower {
                    disk.cutPower(at: disk.operationCount + position)
                } else {
                    vfs.fail(.any, at: position, persists: true)
                }
                try? process.coordinator.compact()
                wasHit = byPower ? disk.isOff : vfs.faultCount > 0
            }
            if byPower {
                if disk.isOff { disk.restart(damage: .mixed, seed: UInt64(position)) }
            } else {
                disk.killProcesses()
            }
            let survivor = try VirtualProcess(folder.path()) { $0.environment.vfsName = disk.name }
            #expect(try survivor.noteCount == 10 && survivor.integrity == .text("ok"), "interrupted at \(position)")
            if wasHit { try survivor.add("new") }
        }
        #expect(position > 20)
    }
}
