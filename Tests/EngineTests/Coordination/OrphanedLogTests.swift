import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

/// A log whose database was deleted must never be read into another database.
@Suite("orphaned logs")
struct OrphanedLogTests {
    /// Creates the log of a deleted file, and another file with one note.
    private func makeFiles(_ folder: TestFolder) throws {
        do {
            let old = try VirtualProcess(folder.path("new.realm"))
            for number in 0..<5 { try old.add("old \(number)") }
        }
        try FileManager.default.removeItem(atPath: folder.path("new.realm"))
        #expect(StoreFiles.exists(folder.path("new.realm-wal")))
        try VirtualProcess(folder.path("seed.realm")).add("seed")
    }

    @Test(
        "a file that is created from a seed file is not combined with the log of a deleted file D26 O2",
        arguments: ["new.realm", "link.realm"])
    func seed(_ name: String) throws {
        let folder = try TestFolder()
        try makeFiles(folder)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.realm"), withDestinationPath: "new.realm")
        let process = try VirtualProcess(folder.path(name)) { $0.seedPath = folder.path("seed.realm") }
        #expect(try process.column("SELECT text FROM Note") == [.text("seed")])
        #expect(try process.integrity == .text("ok"))
        try process.add("new")
        #expect(try process.noteCount == 2)
    }

    @Test("while another process creates the file, opening it with a seed file fails and keeps the log D26 O2")
    func seedBesideWriter() throws {
        let folder = try TestFolder()
        try makeFiles(folder)
        let lock = WriteLock(path: folder.path("new.realm.lock"), environment: VirtualProcess.options("").environment)
        try lock.acquire()
        let error = engineError {
            _ = try VirtualProcess(folder.path("new.realm")) { $0.seedPath = folder.path("seed.realm") }
        }
        #expect(error?.code == .busy && StoreFiles.exists(folder.path("new.realm-wal")))
        #expect(!StoreFiles.exists(folder.path("new.realm")))
        lock.release()
    }

    @Test(
        "a copy is not written beside the log of a deleted file D26 O8", arguments: ["-wal", "-journal", "-shm"])
    func copy(_ suffix: String) throws {
        let folder = try TestFolder()
        try makeFiles(folder)
        for other in ["-wal", "-shm", "-journal"] {
            let path = folder.path("new.realm" + other)
            if other == suffix { try Data([1]).write(to: URL(fileURLWithPath: path)) } else { unlink(path) }
        }
        let process = try VirtualProcess(folder.path("seed.realm"))
        let error = engineError { try process.coordinator.writeCopy(to: folder.path("new.realm")) }
        #expect(error?.code == .fileExists && error?.message.contains("new.realm\(suffix)") == true)
        #expect(!StoreFiles.exists(folder.path("new.realm")))
        #expect(try !StoreRegistry.remove(VirtualProcess.options(folder.path("new.realm"))), "no database existed")
        try process.coordinator.writeCopy(to: folder.path("new.realm"))
        #expect(try VirtualProcess(folder.path("new.realm")).noteCount == 1)
    }
}
