import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import ModelTesting
import Testing

@testable import MartletEngine

@Suite("invalid files")
struct BadFileTests {
    /// Opens a file, reads all rows and lists, and closes the file. Returns the error that occurred, or nil.
    private func use(_ path: String, _ adjust: (inout StoreOptions) -> Void = { _ in }) -> EngineError? {
        engineError {
            let process = try VirtualProcess(path, adjust: adjust)
            try EngineError.wrapping(path) {
                for table in ["Note", "\"Note.tags\"", "martlet_changes", "martlet_types"] {
                    _ = try process.integer(
                        "SELECT count(*), sum(length(quote(\(table == "Note" ? "text" : "1")))) FROM \(table) NOT INDEXED"
                    )
                }
                for key in try process.column("SELECT _key FROM Note") {
                    if case .integer(let key) = key { _ = try process.tags(key) }
                }
            }
        }
    }

    /// Expects that opening or reading a file fails, both with and without write access, and does not change the file.
    /// The error must have the code, the path of the file, and a message that contains the text.
    private func expect(
        _ code: EngineError.Code, _ folder: TestFolder, _ name: String = "test.realm", message text: String = "",
        sourceLocation: SourceLocation = #_sourceLocation, _ adjust: (inout StoreOptions) -> Void = { _ in }
    ) {
        let before = folder.bytes(of: name)
        for isReadOnly in [false, true] {
            let error = use(folder.path(name)) {
                $0.isReadOnly = isReadOnly
                adjust(&$0)
            }
            #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
            #expect(error?.path == folder.path(name), sourceLocation: sourceLocation)
            #expect(
                text.isEmpty || error?.message.contains(text) == true, "\(error?.message ?? "")",
                sourceLocation: sourceLocation)
            let isSame = folder.bytes(of: name) == before
            #expect(isSame, "the bytes do not change", sourceLocation: sourceLocation)
        }
    }

    /// Creates a file with 240 rows and an empty log.
    private func makeFile(_ folder: TestFolder) throws {
        let process = try VirtualProcess(folder.path())
        for batch in 0..<4 {
            try process.write { transaction in
                for number in 0..<60 {
                    try transaction.addNote(
                        "\(number) \(String(repeating: "x", count: 200))", batch: batch, tags: ["a", "b", "c"])
                }
            }
        }
        process.handle = nil
        try process.coordinator.checkpoint()
    }

    /// Deletes the log and the shared memory.
    private func dropLog(_ folder: TestFolder) {
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.path() + suffix) }
    }

    private func write(_ bytes: [UInt8], _ folder: TestFolder, _ name: String = "test.realm") {
        #expect(FileManager.default.createFile(atPath: folder.path(name), contents: Data(bytes)))
    }

    @Test("a missing file is created, or reported if the file is opened read-only D70")
    func missing() throws {
        let folder = try TestFolder()
        #expect(use(folder.path()) { $0.isReadOnly = true }?.code == .fileNotFound)
        #expect(!StoreFiles.exists(folder.path()))
        #expect(use(folder.path()) == nil)
        #expect(StoreFiles.exists(folder.path()))
    }

    @Test("a missing folder, or a folder in place of the file, is reported D70")
    func folders() throws {
        let folder = try TestFolder()
        let error = use(folder.path("no/such/file.realm"))
        #expect(error?.code == .fileNotFound)
        #expect(error?.message.contains("create it first") == true)
        try FileManager.default.createDirectory(atPath: folder.path("a.realm"), withIntermediateDirectories: false)
        for isReadOnly in [false, true] {
            let error = use(folder.path("a.realm")) { $0.isReadOnly = isReadOnly }
            #expect(error?.code == .accessDenied)
            #expect(error?.message.contains("leads to a folder") == true)
        }
        write([], folder, "plain")
        #expect(use(folder.path("plain/file.realm"))?.code == .fileNotFound)
    }

    @Test("a database of another program is rejected and not changed D71", arguments: ["DELETE", "WAL"])
    func foreign(journal: String) throws {
        let folder = try TestFolder()
        do {
            let connection = try RawConnection(folder.path(), vfs: "unix")
            try connection.execute("PRAGMA journal_mode = \(journal); CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        expect(.notADatabase, folder, message: "another program")
        #expect(!StoreFiles.exists(folder.path() + ".lock"))
    }

    @Test("text, random bytes and very short files are rejected as not a database D71")
    func notDatabases() throws {
        let folder = try TestFolder()
        var random = SeededRandom(seed: 3)
        for size in [1, 15, 16, 99, 100, 511, 512, 4_096, 20_000] {
            write(Array(String(repeating: "Dear diary, ", count: size / 12 + 1).utf8.prefix(size)), folder)
            expect(.notADatabase, folder)
            write((0..<size).map { _ in UInt8(random.number(0..<256)) }, folder)
            expect(.notADatabase, folder)
        }
    }

    @Test("an empty file becomes a database, unless it is opened read-only or a log with commits is beside it D73")
    func empty() throws {
        let folder = try TestFolder()
        write([], folder)
        #expect(use(folder.path()) { $0.isReadOnly = true }?.code == .notADatabase)
        #expect(folder.bytes() == [])
        #expect(use(folder.path()) == nil)
        do {
            let process = try VirtualProcess(folder.path())
            try process.add("a")
            // Copies the log while the file is open.
            try FileManager.default.copyItem(atPath: folder.path() + "-wal", toPath: folder.path("copy-wal"))
        }
        write([], folder, "copy")
        let log = folder.bytes(of: "copy-wal")
        expect(.corrupt, folder, "copy")
        #expect(folder.bytes(of: "copy-wal") == log, "the commits in the log remain")
    }

    @Test(
        "the creation of a file is completed if a kill interrupted it D73",
        arguments: ["", "PRAGMA journal_mode = WAL; PRAGMA user_version = 0"])
    func interruptedCreation(sql: String) throws {
        let folder = try TestFolder()
        do {
            let connection = try RawConnection(folder.path(), vfs: "unix")
            try connection.execute("\(sql); CREATE TABLE t (a); DROP TABLE t; VACUUM")
        }
        #expect((folder.bytes()?.count ?? 0) > 0)
        #expect(use(folder.path()) { $0.isReadOnly = true }?.code == .notADatabase)
        #expect(use(folder.path()) == nil)
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        #expect(try process.noteCount == 1)
    }

    @Test("a file truncated to any length is rejected, or is found to be damaged when it is read D72")
    func truncated() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        dropLog(folder)
        let whole = try #require(folder.bytes())
        var lengths =
            Array(stride(from: 4_096, to: whole.count, by: 4_096)) + [1, 50, 100, 511, 4_095, 4_097, whole.count - 1]
        lengths += stride(from: 700, to: whole.count, by: 9_001)
        for length in lengths {
            write(Array(whole[..<length]), folder)
            dropLog(folder)
            let error = use(folder.path())
            #expect(
                error.map { [.corrupt, .notADatabase].contains($0.code) } == true,
                "\(length) of \(whole.count): \(String(describing: error))")
            let isSame = folder.bytes() == Array(whole[..<length])
            #expect(isSame, "length \(length)")
        }
    }

    @Test("changed bytes never cause a crash, and a rejected file is not changed D72")
    func changedBytes() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        dropLog(folder)
        let whole = try #require(folder.bytes())
        var random = SeededRandom(seed: 9)
        let positions = Array(0..<100) + (0..<150).map { _ in random.number(100..<whole.count) }
        for position in positions {
            var bytes = whole
            bytes[position] ^= UInt8(1 << random.number(0..<8))
            write(bytes, folder)
            dropLog(folder)
            let isSame = use(folder.path()) == nil || folder.bytes() == bytes
            #expect(isSame, "byte \(position)")
        }
    }

    @Test("a damaged page is reported when it is read, and the rest of the file remains usable D72")
    func damagedPage() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        dropLog(folder)
        var bytes = try #require(folder.bytes())
        let root = try {
            let connection = try RawConnection(folder.path(), vfs: "unix")
            return try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'Note.tags'")
        }()
        dropLog(folder)
        for offset in 0..<4_096 { bytes[(root - 1) * 4_096 + offset] = 0xee }
        write(bytes, folder)
        do {
            let process = try VirtualProcess(folder.path())
            #expect(try process.noteCount == 240)
            let error = engineError { try process.add("new", tags: ["x"]) }
            #expect(error?.code == .corrupt)
            #expect(error?.path == folder.path())
            #expect(error?.message.contains("restore a backup") == true)
            #expect(try process.noteCount == 240)
        }
        let isSame = folder.bytes() == bytes
        #expect(isSame)
    }

    @Test(
        "a damaged catalog is rejected D72",
        arguments: [
            "DELETE FROM martlet_meta",
            "UPDATE martlet_types SET facts = 'object Note' || char(10) || 'property x Future'",
            "UPDATE martlet_types SET name = 'Other'", "UPDATE martlet_types SET facts = ''",
            "DROP TABLE martlet_types",
            "DROP TABLE martlet_meta",
        ])
    func damagedCatalog(sql: String) throws {
        let folder = try TestFolder()
        try makeFile(folder)
        do {
            let connection = try RawConnection(folder.path(), vfs: "unix")
            try connection.execute(sql)
        }
        expect(.corrupt, folder)
    }

    @Test(
        "a file with a newer or invalid format, or a newer schema version, is rejected and not changed D61 D63")
    func newer() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        do {
            let connection = try RawConnection(folder.path(), vfs: "unix")
            try connection.execute("UPDATE martlet_meta SET schema_version = 7")
        }
        expect(.schemaVersionNewer, folder, message: "schema version 7") { $0.schemaVersion = 6 }
        #expect(use(folder.path()) { $0.schemaVersion = 7 } == nil)
        for (format, code, text) in [
            (4, EngineError.Code.unsupportedFormat, "use a newer Martlet"), (0, .corrupt, "says that it has format 0"),
        ] {
            do {
                let connection = try RawConnection(folder.path(), vfs: "unix")
                try connection.execute("PRAGMA user_version = \(format)")
            }
            expect(code, folder, message: text)
        }
    }

    @Test("a file in another journal mode is switched back to write-ahead logging D27")
    func journalMode() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        do {
            let connection = try RawConnection(folder.path(), vfs: "unix")
            try connection.execute("PRAGMA journal_mode = DELETE")
        }
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        #expect(try process.read { try $0.value("PRAGMA journal_mode") } == .text("wal"))
        #expect(try process.noteCount == 241)
    }

    @Test("a file with a second hard link is rejected, because its log is named after the link that is opened D74")
    func hardLinks() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        try FileManager.default.linkItem(atPath: folder.path(), toPath: folder.path("second.realm"))
        let error = use(folder.path("second.realm"))
        #expect(error?.code == .accessDenied)
        #expect(error?.message.contains("hard links") == true)
    }

    @Test("a file without write permission is rejected, but can be opened with 'readOnly' D53")
    func permissions() async {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            let path = folder.path()
            do {
                let process = try VirtualProcess(path)
                try process.add("a")
            }
            // The root user has all permissions, so the test continues as the user 'nobody'.
            for suffix in ["", "-wal", "-shm", ".lock"] { chmod(path + suffix, 0o444) }
            chmod(folder.url.path, 0o755)
            if getuid() == 0 { seteuid(65_534) }
            require(.accessDenied, message: "'readOnly'") { _ = try VirtualProcess(path) }
            let reader = try VirtualProcess(path) { $0.isReadOnly = true }
            if try reader.noteCount != 1 { exit(2) }
            require(.accessDenied, message: "") { _ = try VirtualProcess(folder.path("new.realm")) }
            if StoreFiles.exists(folder.path("new.realm")) { exit(3) }
            if getuid() == 0 { seteuid(0) }
            chmod(path, 0o000)
            if getuid() == 0 { seteuid(65_534) }
            require(.accessDenied, message: "no permission to read") {
                _ = try VirtualProcess(path) { $0.isReadOnly = true }
            }
            if getuid() == 0 { seteuid(0) }
        }
    }
}

/// For exit tests: expects that `body` fails with this code and with a message that contains `text`. Otherwise, ends
/// the process with status 1.
private func require(_ code: EngineError.Code, message text: String, _ body: () throws -> Void) {
    let error = engineError(body)
    guard error?.code != code || !(text.isEmpty || error?.message.contains(text) == true) else { return }
    FileHandle.standardError.write(Data("failed with \(String(describing: error))\n".utf8))
    exit(1)
}
