import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

@Suite("the format of synchronized files")
struct SyncedFormatTests {
    /// Adds an empty outbox entry for each transaction, or throws if `fails` is true.
    private final class Recorder: OutboxRecorder {
        struct Failure: Error {}
        let fails: Bool
        init(fails: Bool = false) { self.fails = fails }
        func record(_ changes: CommittingChanges) throws {
            if fails { throw Failure() }
            let tables = SyncTables(changes.connection)
            let head = try tables.outboxHead(numbering: "")
            try tables.append(OutboxEntry(number: head.lastNumber + 1, time: 1, base: "", operations: []))
        }
    }

    private static func synced(_ types: Set<String> = ["Note"], fails: Bool = false) -> (inout StoreOptions) -> Void {
        { $0.sync = SyncOptions(types: types, recorder: Recorder(fails: fails)) }
    }

    private func syncTables(_ process: VirtualProcess) throws -> Int64? {
        try process.integer(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
                + "('martlet_sync', 'martlet_outbox', 'martlet_subscriptions', 'martlet_unresolved', 'martlet_positions')"
        )
    }

    @Test("a program without synchronization can open a synchronized file only for reading D64")
    func refused() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        do {
            let process = try VirtualProcess(files.path, adjust: Self.synced())
            try process.add("a")
            #expect(try process.integer("PRAGMA user_version") == 3 && syncTables(process) == 5)
        }
        let before = files.folder.bytes()
        let error = engineError { _ = try files.open() }
        #expect(error?.code == .incompatibleConfiguration && error?.message.contains("synchronized") == true)
        #expect(files.folder.bytes() == before)
        let reader = try VirtualProcess(files.path) { $0.isReadOnly = true }
        #expect(try reader.texts == ["a"])
    }

    @Test("a program without synchronization creates no synchronized file D64")
    func unsynced() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try files.open()
        try process.add("a")
        #expect(try process.integer("PRAGMA user_version") == 2 && syncTables(process) == 0)
    }

    @Test("a file becomes synchronized only if it has no objects of the synchronized types D64")
    func conversion() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        try files.run(adding: 1, "a")
        let error = engineError { _ = try VirtualProcess(files.path, adjust: Self.synced()) }
        #expect(error?.code == .incompatibleConfiguration && error?.message.contains("'Note'") == true)
        let plain = try files.open()
        #expect(try plain.integer("PRAGMA user_version") == 2 && syncTables(plain) == 0)
        try plain.write { transaction in
            try transaction.handle.read { try $0.execute("DELETE FROM Note") }
            transaction.recorder.delete(1, in: 1)
        }
        let process = try VirtualProcess(files.path, adjust: Self.synced())
        #expect(try process.integer("SELECT file_format FROM martlet_meta") == 3)
        // The other program still has the file open, and can no longer write to it.
        let late = engineError { try plain.add("b") }
        #expect(late?.code == .incompatibleConfiguration)
        plain.handle = nil
        #expect(engineError { try plain.add("b") }?.code == .incompatibleConfiguration)
        try process.add("c")
        #expect(try process.texts == ["c"])
    }

    @Test("a transaction commits the entry of the recorder, and is rolled back if the recorder throws")
    func recorder() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try VirtualProcess(files.path, adjust: Self.synced())
        try process.add("a")
        #expect(try process.integer("SELECT count(*) FROM martlet_outbox") == 1)
        _ = try? process.write { transaction in
            try transaction.addNote("b")
            throw CancellationError()
        }
        #expect(try process.integer("SELECT count(*) FROM martlet_outbox") == 1)
        let failing = try VirtualProcess(files.path, adjust: Self.synced(fails: true))
        #expect(engineError { try failing.add("c") }?.message.contains("Failure") == true)
        process.handle = nil
        #expect(try process.texts == ["a"])
        try process.add("d")
        #expect(try process.integer("SELECT max(number) FROM martlet_outbox") == 2)
    }

    @Test("a copy of a synchronized file is a file without synchronization D65")
    func copy() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        let process = try VirtualProcess(files.path, adjust: Self.synced())
        try process.add("a")
        let path = files.folder.path("copy.realm")
        try process.coordinator.writeCopy(to: path)
        let copy = try VirtualProcess(path)
        #expect(try copy.texts == ["a"] && syncTables(copy) == 0)
        try copy.add("b")
        let seeded = files.folder.path("seeded.realm")
        let second = try VirtualProcess(seeded) { $0.seedPath = files.path }
        #expect(try second.texts == ["a"] && syncTables(second) == 0)
    }

    @Test("a migration of a synchronized file is refused, but new properties can be added D66")
    func migration() throws {
        let files = DatabaseFiles(folder: try TestFolder())
        do { try VirtualProcess(files.path, adjust: Self.synced()).add("a") }
        let changed = VirtualProcess.note.replacing("property batch Int", with: "property batch String")
        let error = engineError {
            _ = try VirtualProcess(files.path, [changed]) {
                Self.synced()(&$0)
                $0.schemaVersion = 1
            }
        }
        #expect(error?.code == .schemaMismatch && error?.message.contains("uploaded") == true)
        let extended = VirtualProcess.note + "\nproperty more Int"
        let process = try VirtualProcess(files.path, [extended]) {
            Self.synced()(&$0)
            $0.schemaVersion = 1
        }
        #expect(try process.texts == ["a"])
    }

    @Test("a file that a process has open without synchronization cannot be opened with synchronization D64")
    func conflict() throws {
        let folder = try TestFolder()
        let plain = try StoreRegistry.coordinator(VirtualProcess.options(folder.path()))
        let error = engineError {
            _ = try StoreRegistry.coordinator(VirtualProcess.options(folder.path(), adjust: Self.synced()))
        }
        #expect(error?.code == .incompatibleConfiguration)
        withExtendedLifetime(plain) {}
    }

    @Test("encoded values of unresolved links are replaced, even if a new value equals the old value of another link")
    func replacedValues() throws {
        let connection = try Connection(ConnectionOptions(path: ":memory:"))
        try connection.execute("CREATE TABLE martlet_meta (file_format INTEGER)")
        try SyncCatalog.create(connection)
        let links = UnresolvedLinks(connection)
        func holder(_ key: ObjectKey) -> UnresolvedLinks.Holder { .init(RowID(table: 1, key: key), property: "any") }
        for key in 1...3 as ClosedRange<ObjectKey> {
            try links.add(holder(key), target: .integer(9), in: 2, whole: [0, UInt8(key)])
        }
        try links.replaceWholes([([0, 1], [0, 2]), ([0, 2], [0, 3]), ([0, 3], [0, 1])])
        #expect(try (1...3).map { try links.whole(holder($0)) } == [[0, 2], [0, 3], [0, 1]])
    }
}
