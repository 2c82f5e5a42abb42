import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

@Suite("restoring after faults")
struct RestoreDurabilityTests {
    enum Fault: CaseIterable { case kill, powerCut }

    /// Runs a history. Kills the process at call number `position`, or cuts the power at operation number `position`.
    /// Returns false if the history ends before this call or operation.
    private func run(_ fault: Fault, at position: Int, _ path: String, on disk: PowerLossDisk) -> Bool {
        switch fault {
        case .kill:
            let vfs = HookVFS(over: disk.name)
            vfs.fail(.any, at: position, persists: true)
            _ = FaultyHistory(path: path, vfs: vfs.name, durability: .off, transactions: 5).run()
            disk.killProcesses()
            return vfs.faultCount > 0
        case .powerCut:
            disk.cutPower(at: disk.operationCount + position)
            _ = FaultyHistory(path: path, vfs: disk.name, transactions: 5).run()
            let isOff = disk.isOff
            disk.restart(damage: .mixed, seed: UInt64(position))
            return isOff
        }
    }

    @Test(
        "if a backup is copied over the file after a fault at any operation, the file contains exactly the backup D20",
        arguments: Fault.allCases)
    func restores(_ fault: Fault) throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var logs = 0
        repeat {
            position += DurabilityTests.isFullSweep ? 1 : 5
            disk.reset()
            _ = FaultyHistory(path: folder.path(), vfs: disk.name, transactions: 4).run()
            let backup = try #require(disk.bytes(of: folder.path()))
            guard run(fault, at: position, folder.path(), on: disk) else { break }
            // This case is skipped if the file is shorter than the backup, because `PowerLossDisk.overwrite` cannot
            // make a file longer.
            guard let size = disk.bytes(of: folder.path())?.count, size >= backup.count else { continue }
            if disk.bytes(of: folder.path() + "-wal")?.isEmpty == false { logs += 1 }
            disk.overwrite(folder.path(), at: 0, with: backup)
            let process = try VirtualProcess(folder.path(), [FaultyHistory.extended]) {
                $0.environment.vfsName = disk.name
                $0.environment.pageSize = 512
            }
            #expect(try process.integrity == .text("ok"), "\(fault) at \(position)")
            #expect(
                try process.column("SELECT batch FROM Note ORDER BY _key")
                    == (0..<12).map { .integer(Int64($0 / 3 + 1)) }, "\(fault) at \(position)")
            try process.write { try $0.insert("Note", [.text("on"), .integer(9), .real(1), .integer(9)]) }
            #expect(try process.noteCount == 13)
        } while true
        #expect(logs > 5)
        disk.reset()
    }
}
