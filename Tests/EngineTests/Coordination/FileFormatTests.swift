import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

/// Tests of files whose format is not the current one, and of version rows with invalid numbers.
@Suite("file formats")
struct FileFormatTests {
    private static let toFirstFormat = """
        ALTER TABLE martlet_meta RENAME COLUMN file_format TO format; UPDATE martlet_meta SET format = 1; \
        PRAGMA user_version = 1
        """
    /// The query with which a program of the first format begins every transaction.
    private static let firstSelect =
        "SELECT version, epoch, schema_version, schema_hash, format FROM martlet_meta WHERE id = 1"

    private func openWithoutLogName(_ path: String) throws -> Connection {
        var options = ConnectionOptions(path: path)
        options.recordsLogName = false
        return try Connection(options)
    }

    /// Creates a file as a program of the first format leaves it when the program closes the file or is killed. The
    /// file contains no log name.
    private func makeOldFile(_ files: DatabaseFiles, isKilled: Bool) throws -> DatabaseFiles {
        try files.run(adding: 2, "old")
        let connection = try openWithoutLogName(files.path)
        try connection.execute(Self.toFirstFormat)
        _ = try connection.checkpointPassively()
        connection.close()
        files.remove(["-wal", "-shm", ".lock"])
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: files.path))
        try handle.seek(toOffset: 72)
        try handle.write(contentsOf: Data(count: 20))
        try handle.close()
        guard isKilled else { return files }
        let writer = try openWithoutLogName(files.path)
        defer { writer.close() }
        try writer.execute("UPDATE Note SET text = 'late' WHERE text = 'old 1'")
        return try files.afterKill()
    }

    @Test(
        "a file of the first format is read with its log and upgraded; its backup is not combined with a later log D60",
        arguments: [false, true])
    func upgrade(isKilled: Bool) throws {
        let files = try makeOldFile(DatabaseFiles(folder: try TestFolder()), isKilled: isKilled)
        let texts = ["old 0", isKilled ? "late" : "old 1"]
        do {
            let reader = try VirtualProcess(files.path) { $0.isReadOnly = true }
            #expect(try reader.texts == texts)
            #expect(try reader.integer("SELECT format FROM martlet_meta") == 1, "a reader changes nothing")
        }
        let backup = files.folder.path("backup.realm")
        do {
            let process = try files.open()
            #expect(try process.texts == texts)
            #expect(try process.integer("SELECT file_format FROM martlet_meta") == 2)
            #expect(try process.integer("PRAGMA user_version") == 2)
        }
        try FileManager.default.copyItem(atPath: files.path, toPath: backup)
        let process = try files.open()
        try process.add("new")
        let killed = try files.afterKill()
        try killed.overwrite(with: backup)
        try killed.expect(texts)
    }

    @Test(
        "a backup of the first format is not combined with a newer log, unless the lock file is missing D62",
        arguments: [false, true])
    func oldBackup(isLockKept: Bool) throws {
        let files = try makeOldFile(DatabaseFiles(folder: try TestFolder()), isKilled: false)
        let backup = files.folder.path("backup.realm")
        try FileManager.default.copyItem(atPath: files.path, toPath: backup)
        let process = try files.open()
        try process.add("new")
        let killed = try files.afterKill()
        try killed.overwrite(with: backup)
        if !isLockKept { killed.remove([".lock"]) }
        // Without the lock file, the engine cannot distinguish the log from a log of the first format. So it reads the
        // log.
        try killed.expect(isLockKept ? ["old 0", "old 1"] : ["old 0", "old 1", "new"])
    }

    @Test("after the upgrade, a program of the first format that has the file open fails before it writes D60")
    func oldProgram() throws {
        let files = try makeOldFile(DatabaseFiles(folder: try TestFolder()), isKilled: false)
        let old = try openWithoutLogName(files.path)
        defer { old.close() }
        #expect(try old.value(Self.firstSelect) != nil)
        let process = try files.open()
        try process.add("new")
        try old.run("BEGIN IMMEDIATE")
        #expect(throws: SQLiteError.self) { try old.value(Self.firstSelect) }
        try old.run("ROLLBACK")
    }

    @Test("a newer format is rejected, also when another program upgrades the file while it is open D61")
    func newerFormat() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try files.open()
        try process.add("a")
        let newer = try openWithoutLogName(files.path)
        try newer.execute("UPDATE martlet_meta SET file_format = 4; PRAGMA user_version = 4")
        newer.close()
        let error = engineError { try process.add("refused") }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("formats 1 to 3") == true)
        process.handle = nil
        #expect(engineError { try process.refresh() }?.code == .unsupportedFormat)
        let again = engineError { _ = try files.open() }
        #expect(again?.code == .unsupportedFormat)
        let reader = try openWithoutLogName(files.path)
        defer { reader.close() }
        #expect(try reader.integer("SELECT count(*) FROM Note") == 1)
    }

    @Test(
        "invalid numbers in the version row are reported as damage D63",
        arguments: ["version", "epoch"], [Int64.max, -1, Int64.min, 0, Int64.max / 2 + 1])
    func versionRow(_ column: String, _ number: Int64) throws {
        let files = DatabaseFiles(folder: try TestFolder())
        try files.run(adding: 1, "a")
        let connection = try Connection(ConnectionOptions(path: files.path))
        try connection.execute("UPDATE martlet_meta SET \(column) = \(number)")
        connection.close()
        let error = engineError { try files.open().add("refused") }
        #expect(error?.code == .corrupt && error?.message.contains("\(number)") == true)
    }

    @Test(
        "invalid numbers that appear in the version row of an open file are reported as damage D63",
        arguments: [
            "version = -1", "epoch = -1", "version = 9223372036854775807", "file_format = 0", "file_format = -7",
        ])
    func versionRowOfOpenFile(_ change: String) throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try files.open()
        try process.add("a")
        let connection = try openWithoutLogName(files.path)
        try connection.execute("UPDATE martlet_meta SET \(change)")
        connection.close()
        #expect(engineError { try process.add("refused") }?.code == .corrupt)
        process.handle = nil
        #expect(engineError { try process.refresh() }?.code == .corrupt)
    }
}
