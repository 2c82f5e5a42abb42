import CMartletTestVFS
import Foundation
import MartletSQLite
import Testing

@testable import MartletEngine

/// A migration that faults are put into: a type is made anew, another gets a key that all links follow, and the user's part
/// writes many pages.
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
                    // So that pages go to the log before the commit.
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

    /// Returns what was thrown.
    func migrate() -> EngineError? { engineError { _ = try StoreCoordinator(options(Self.new, version: 1)) } }

    /// What is wrong with the file: it is to be all old, if that may be, or all new.
    func verdict(mayBeOld: Bool) -> [String] {
        do {
            let opened = try StoreOpener(asFound, nil).open()
            let isMigrated = opened.meta.schemaVersion == 1
            opened.connection.close()
            guard isMigrated || mayBeOld else { return ["the migration was promised and is gone"] }
            var wrong = try isMigrated ? findings(Self.new, 1, "'integer'", 100) : findings(Self.old, 0, "'text'", 0)
            if !isMigrated, let error = migrate() { wrong.append("does not migrate any more: \(error.message)") }
            if !isMigrated { wrong += try findings(Self.new, 1, "'integer'", 100) }
            return wrong
        } catch {
            return ["the file cannot be read: \(error)"]
        }
    }

    private var asFound: StoreOptions {
        var options = options([], version: 0)
        options.leavesSchema = true
        return options
    }

    private func findings(_ types: [String], _ version: UInt64, _ age: String, _ note: Int) throws -> [String] {
        let process = VirtualProcess(try StoreCoordinator(options(types, version: version)))
        var wrong: [String] = []
        if try process.integrity != .text("ok") { wrong.append("integrity") }
        let dogs =
            "SELECT count(*) FROM Dog WHERE typeof(age) = \(age) AND age = _key AND mate = 1 AND length(note) = \(note)"
        if try process.integer(dogs) != Int64(Self.count) { wrong.append("dogs are neither old nor new") }
        let friend: [SQLValue] = version == 0 ? [.integer(1), .integer(1)] : [.integer(2), .integer(2)]
        if try process.column("SELECT friend FROM Man") != friend { wrong.append("links are neither old nor new") }
        for man in 1...2 as ClosedRange<ObjectKey>
        where try process.elements("Man.dogs", man) != [.integer(1), .integer(2)] {
            wrong.append("a list is neither old nor new")
        }
        let tables = try process.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'martlet.%'")
        if tables != 0 { wrong.append("something in between was left") }
        return wrong
    }
}

@Suite("durability of migrations")
struct MigrationDurabilityTests {
    @Test("O72 D5 O2 a power cut at any operation leaves a file that is as it was, or migrated")
    func powerCuts() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        let migration = FaultyMigration(path: folder.path(), vfs: disk.name)
        try migration.makeFile()
        let start = disk.operationCount
        #expect(migration.migrate() == nil)
        #expect(migration.verdict(mayBeOld: false) == [])
        let end = disk.operationCount
        #expect(end - start > 40)
        for operation in stride(from: start + 1, through: end, by: DurabilityTests.isLong ? 1 : 3) {
            disk.reset()
            try migration.makeFile()
            disk.cutPower(at: operation)
            let error = migration.migrate()
            guard disk.isOff else { continue }
            disk.restart(damage: .mixed, seed: UInt64(operation))
            #expect(migration.verdict(mayBeOld: error != nil) == [], "power cut at \(operation)")
        }
    }

    @Test("O72 D5 O2 a process killed at any call leaves a file that is as it was, or migrated")
    func kills() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += DurabilityTests.isLong ? 1 : 7
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
            let verdict = FaultyMigration(path: folder.path(), vfs: disk.name).verdict(mayBeOld: error != nil)
            #expect(verdict == [], "killed at \(position): \(error?.message ?? "")")
        }
        #expect(position > 150)
    }

    @Test(
        "O72 D5 O2 whichever call fails once, the migration is there or not, and can be tried again",
        arguments: [false, true])
    func faults(applied: Bool) throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += DurabilityTests.isLong ? 1 : 9
            disk.reset()
            let vfs = HookVFS(over: disk.name)
            let migration = FaultyMigration(path: folder.path(), vfs: vfs.name)
            try migration.makeFile()
            vfs.fail(.any, at: position, applied: applied)
            let error = migration.migrate()
            wasHit = vfs.faultCount > 0
            vfs.clearFaults()
            #expect(migration.verdict(mayBeOld: error != nil) == [], "fault \(position): \(error?.message ?? "")")
            #expect(vfs.openFileCount == 0)
        }
        #expect(position > 150)
    }

    @Test("O72 O2 an error that the user's part throws comes out as it is, and no byte of the file has changed")
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
