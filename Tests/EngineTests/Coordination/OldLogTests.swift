import CMartletTestVFS
import Foundation
import MartletSQLite
import Synchronization
import Testing

@testable import MartletEngine

/// After a log has been copied completely into the database file, no copy of the log may be read into the file. The
/// copy may be older than the file.
@Suite("old copies of logs")
struct OldLogTests {
    private static let all = (0..<20).map { "old \($0)" } + (0..<20).map { "new \($0)" }

    /// Creates a closed file with 40 notes. Returns copies of its log and its index, made after the first 20 notes.
    private func makeFiles() throws -> (files: DatabaseFiles, copies: [String: Data]) {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try files.open()
        for number in 0..<20 { try process.add("old \(number)") }
        let copies = try ["-wal", "-shm"].map { ($0, try Data(contentsOf: URL(fileURLWithPath: files.path + $0))) }
        for number in 0..<20 { try process.add("new \(number)") }
        return (files, Dictionary(uniqueKeysWithValues: copies))
    }

    @Test(
        "after a log was copied into the file and emptied, an old copy of the log is not read D20 D21",
        arguments: [["-wal"], ["-wal", "-shm"]])
    func emptied(_ restored: [String]) throws {
        let (files, copies) = try makeFiles()
        #expect(files.logBytes == 0)
        for suffix in restored { try copies[suffix]?.write(to: URL(fileURLWithPath: files.path + suffix)) }
        try files.expect(Self.all)
        #expect(files.reports.all == [] && SetAsideLogs.all(of: files.path) == [])
    }

    @Test("a read-only process rejects an old copy of a log that was emptied, and changes nothing D22")
    func readOnly() throws {
        let (files, copies) = try makeFiles()
        try copies["-wal"]?.write(to: URL(fileURLWithPath: files.path + "-wal"))
        files.remove(["-shm"])
        let error = engineError { _ = try VirtualProcess(files.path) { $0.isReadOnly = true } }
        #expect(error?.code == .fileReplaced && error?.message.contains("open the file once for writing") == true)
        #expect(FileManager.default.contents(atPath: files.path + "-wal") == copies["-wal"])
        try files.expect(Self.all)
        #expect(try VirtualProcess(files.path) { $0.isReadOnly = true }.texts == Self.all + ["on"])
    }

    @Test("a read-only process opens a file that a writer has open beside an old copy of the log D22")
    func readOnlyBesideWriter() throws {
        let (files, copies) = try makeFiles()
        let writer = try files.open()
        _ = try writer.texts
        try copies["-wal"]?.write(to: URL(fileURLWithPath: files.path + "-wal"))
        #expect(try VirtualProcess(files.path) { $0.isReadOnly = true }.texts == Self.all)
        try writer.add("on")
        #expect(try VirtualProcess(files.path) { $0.isReadOnly = true }.texts == Self.all + ["on"])
    }

    @Test("a kill at any call while the log is emptied loses no commit, and sets no log aside D10 D11")
    func killedWhileEmptying() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let vfs = HookVFS()
        let images = Mutex<[DatabaseFiles]>([])
        do {
            let process = try VirtualProcess(files.path) { $0.environment.vfsName = vfs.name }
            for number in 0..<5 { try process.add("old \(number)") }
            vfs.onEach(.any) { event in
                guard [.write, .sync, .truncate].contains(event.call) else { return }
                if let image = try? files.afterKill() { images.withLock { $0.append(image) } }
            }
        }
        vfs.removeHook(.any)
        let found = images.withLock { $0 } + [try files.afterKill()]
        #expect(found.count > 3 && files.logBytes == 0)
        for image in found {
            try image.expect((0..<5).map { "old \($0)" })
            #expect(image.reports.all == [] && SetAsideLogs.all(of: image.path) == [])
        }
    }

    @Test("a process continues after another process emptied the log, even if plain SQLite wrote later D10 D27")
    func continuesAfterEmptying() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try files.open()
        try process.add("a")
        process.handle = nil
        for writesPlainly in [false, true, false] {
            try files.run(adding: 1, "other")
            #expect(files.logBytes == 0)
            if writesPlainly {
                var options = ConnectionOptions(path: files.path)
                options.recordsLogName = false
                let plain = try Connection(options)
                try plain.execute("DELETE FROM Note WHERE text = 'a'")
                plain.close()
            }
            try process.refresh()
            try process.add("b")
            process.handle = nil
        }
        #expect(try process.texts == ["other 0", "b", "other 0", "b", "other 0", "b"])
        #expect(files.reports.all == [])
    }

    @Test("a copy of the file made after the log was emptied is not combined with the next log D20", arguments: [0, 1])
    func copiedWhileEmpty(_ restarts: Int) throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try files.open()
        for number in 0...restarts {
            try process.add("a \(number)")
            process.handle = nil
            // The next commit restarts the log. SQLite then derives the new log name from the previous one.
            try process.coordinator.checkpoint()
        }
        try files.run(adding: 1, "other")
        #expect(files.logBytes == 0)
        let backup = try Data(contentsOf: URL(fileURLWithPath: files.path))
        try process.add("newest")
        let killed = try files.afterKill()
        try backup.write(to: URL(fileURLWithPath: killed.path))
        try killed.expect((0...restarts).map { "a \($0)" } + ["other 0"])
        #expect(SetAsideLogs.all(of: killed.path).count == 1)
    }
}
