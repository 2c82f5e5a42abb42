import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

/// A migration into which tests inject faults. One type changes its properties. Another type gets a primary key, so all
/// links to its objects change. The migration block writes many pages.
private struct FaultyMigration {
    let path: String
    let vfs: String

    static let old = [
        "object Dog\nproperty age String\nproperty mate link:Dog?\nproperty note String",
        "object Man\nproperty id Int\nproperty dogs List<link:Dog>\nproperty friend link:Man?",
    ]
    static let new = [
        "object Dog\nproperty age Int\nproperty mate link:Dog?\nproperty note String\nproperty extra Int",
        "object Man\nprimaryKey id\nproperty id Int\nproperty dogs List<link:Dog>\nproperty friend link:Man?",
    ]
    static let count = 40

    func options(_ types: [String], version: UInt64) -> StoreOptions {
        VirtualProcess.options(path, types) {
            $0.environment.vfsName = vfs
            $0.environment.pageSize = 512
            $0.durability = .full
            $0.schemaVersion = version
            $0.migration = { context in
                try context.transaction?.handle.read { connection in
                    // With a small cache, SQLite writes pages to the log before the commit.
                    try connection.execute("PRAGMA cache_size = 4")
                    for key in 1...Self.count {
                        let note = String(repeating: "n", count: 100)
                        try connection.run(
                            "UPDATE Dog SET note = ?1 WHERE _key = ?2", [.text(note), .integer(Int64(key))])
                    }
                    try connection.execute("PRAGMA cache_size = -16384")
                }
            }
        }
    }

    func makeFile() throws {
        let process = VirtualProcess(try StoreCoordinator(options(Self.old, version: 0)))
        try process.write { transaction in
            for number in 1...Self.count {
                try transaction.insert("Dog", [.text("\(number)"), .integer(1), .text("")])
            }
            for id in [2, 1] {
                let man = try transaction.insert("Man", [.integer(Int64(id)), .integer(1)])
                try transaction.append([.integer(1), .integer(2)], to: "dogs", of: "Man", man)
            }
        }
    }

    /// Migrates the file. Returns the error of the migration, or nil.
    func migrate() -> EngineError? { engineError { _ = try StoreCoordinator(options(Self.new, version: 1)) } }

    /// Checks that the file is completely migrated or, if `mayBeOld`, completely unchanged. Returns all errors.
    func errors(mayBeOld: Bool) -> [String] {
        do {
            let opened = try StoreOpener(optionsWithoutTypes, nil).open()
            let isMigrated = opened.meta.schemaVersion == 1
            opened.connection.close()
            guard isMigrated || mayBeOld else { return ["the migration was reported as successful, but is lost"] }
            var errors = try isMigrated ? newProblems() : problems(Self.old, 0, ageType: "'text'", noteLength: 0)
            if !isMigrated, let error = migrate() { errors.append("cannot be migrated any more: \(error.message)") }
            if !isMigrated { errors += try newProblems() }
            return errors
        } catch {
            return ["the file cannot be read: \(error)"]
        }
    }

    private var optionsWithoutTypes: StoreOptions {
        var options = options([], version: 0)
        options.usesStoredSchema = true
        return options
    }

    private func newProblems() throws -> [String] { try problems(Self.new, 1, ageType: "'integer'", noteLength: 100) }

    private func problems(_ types: [String], _ version: UInt64, ageType: String, noteLength: Int) throws -> [String] {
        let process = VirtualProcess(try StoreCoordinator(options(types, version: version)))
        var errors: [String] = []
        if try process.integrity != .text("ok") { errors.append("the integrity check fails") }
        let dogs =
            "SELECT count(*) FROM Dog WHERE typeof(age) = \(ageType) AND age = _key AND mate = 1 "
            + "AND length(note) = \(noteLength)"
        if try process.integer(dogs) != Int64(Self.count) {
            errors.append("the dogs are not those of schema version \(version)")
        }
        let friend: [SQLValue] = version == 0 ? [.integer(1), .integer(1)] : [.integer(2), .integer(2)]
        if try process.column("SELECT friend FROM Man") != friend {
            errors.append("the links are not those of schema version \(version)")
        }
        for man in 1...2 as ClosedRange<ObjectKey>
        where try process.elements("Man.dogs", man) != [.integer(1), .integer(2)] {
            errors.append("a list has other elements than before")
        }
        let tables = try process.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'martlet.%'")
        if tables != 0 { errors.append("a temporary table remains") }
        return errors
    }
}

@Suite("durability of migrations")
struct MigrationDurabilityTests {
    @Test("a power cut at any operation leaves the file unchanged or completely migrated O72 D5 O2")
    func powerCuts() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        let migration = FaultyMigration(path: folder.path(), vfs: disk.name)
        try migration.makeFile()
        let start = disk.operationCount
        #expect(migration.migrate() == nil)
        #expect(migration.errors(mayBeOld: false) == [])
        let end = disk.operationCount
        #expect(end - start > 40)
        for operation in stride(from: start + 1, through: end, by: DurabilityTests.isFullSweep ? 1 : 3) {
            disk.reset()
            try migration.makeFile()
            disk.cutPower(at: operation)
            let error = migration.migrate()
            guard disk.isOff else { continue }
            disk.restart(damage: .mixed, seed: UInt64(operation))
            #expect(migration.errors(mayBeOld: error != nil) == [], "power cut at \(operation)")
        }
    }

    @Test("a kill at any call of the VFS leaves the file unchanged or completely migrated O72 D5 O2")
    func kills() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += DurabilityTests.isFullSweep ? 1 : 7
            disk.reset()
            let error: EngineError?
            do {
                let vfs = HookVFS(over: disk.name)
                let migration = FaultyMigration(path: folder.path(), vfs: vfs.name)
                try migration.makeFile()
                vfs.fail(.any, at: position, persists: true)
                error = migration.migrate()
                wasHit = vfs.faultCount > 0
                disk.killProcesses()
            }
            let errors = FaultyMigration(path: folder.path(), vfs: disk.name).errors(mayBeOld: error != nil)
            #expect(errors == [], "killed at \(position): \(error?.message ?? "")")
        }
        #expect(position > 150)
    }

    @Test(
        "after any failing call the file is unchanged or migrated, and the migration can be repeated O72 D5 O2",
        arguments: [false, true])
    func faults(applied: Bool) throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += DurabilityTests.isFullSweep ? 1 : 9
            disk.reset()
            let vfs = HookVFS(over: disk.name)
            let migration = FaultyMigration(path: folder.path(), vfs: vfs.name)
            try migration.makeFile()
            vfs.fail(.any, at: position, applied: applied)
            let error = migration.migrate()
            wasHit = vfs.faultCount > 0
            vfs.clearFaults()
            #expect(migration.errors(mayBeOld: error != nil) == [], "fault \(position): \(error?.message ?? "")")
            #expect(vfs.openFileCount == 0)
        }
        #expect(position > 150)
    }

    @Test("an error of the migration block is rethrown, and no byte of the file changes O72 O2")
    func thrown() throws {
        struct Failure: Error {}
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a", tags: ["t"])
        process.handle = nil
        let before = folder.bytes()
        let text = VirtualProcess.note.replacingOccurrences(of: "batch Int", with: "batch String")
        let error = engineError {
            _ = try VirtualProcess(folder.path(), [text]) {
                $0.schemaVersion = 1
                $0.migration = { context in
                    try context.transaction?.handle.read { try $0.run("UPDATE Note SET text = 'b'") }
                    throw EngineError(.stopped, path: "", "stopped", cause: Failure())
                }
            }
        }
        #expect(error?.code == .stopped && error?.cause is Failure)
        #expect(folder.bytes() == before)
        #expect(try VirtualProcess(folder.path()).column("SELECT text FROM Note") == [.text("a")])
    }
}
