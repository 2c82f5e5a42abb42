import CMartletTestVFS
import Foundation
import Testing

@testable import MartletEngine

@Suite("the lock of the process that synchronizes a file")
struct SyncLockTests {
    #if os(Linux)
        @Test("a forked child neither releases the lock of its parent nor keeps the lock after its parent N141")
        func fork() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                let folder = try TestFolder()
                let path = folder.path()
                var lock = try SyncLock.acquire(path)
                guard lock != nil else { exit(2) }
                var ends: [Int32] = [0, 0]
                guard pipe(&ends) == 0 else { exit(3) }
                let child = cmartlet_fork()
                if child == 0 {
                    lock = nil
                    _ = write(ends[1], "a", 1)
                    while true { pause() }
                }
                defer { kill(child, SIGKILL) }
                var byte: UInt8 = 0
                guard read(ends[0], &byte, 1) == 1 else { exit(4) }
                if try SyncLock.acquire(path) != nil { exit(5) }
                lock = nil
                // The child still runs.
                if try SyncLock.acquire(path) == nil { exit(6) }
            }
        }
    #endif

    @Test("acquiring the lock throws if the lock file cannot be opened, and the error names the file")
    func notAFile() throws {
        let folder = try TestFolder()
        let path = folder.path()
        try FileManager.default.createDirectory(atPath: path + ".sync.lock", withIntermediateDirectories: true)
        let error = engineError { _ = try SyncLock.acquire(path) }
        #expect(error?.code == .accessDenied && error?.path == path + ".sync.lock")
    }
}
