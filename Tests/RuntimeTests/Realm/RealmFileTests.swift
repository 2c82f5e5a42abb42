import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Synchronization
import Testing

@testable import Martlet

/// Copies, compaction, seeds and the maximum number of versions.
@Suite struct RealmFileTests {
    private func url(_ test: TestRealm, _ name: String) -> URL {
        test.url.deletingLastPathComponent().appendingPathComponent(name)
    }

    private func configuration(_ url: URL) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: url)
        configuration.scheduler = ManualScheduler()
        configuration.objectTypes = Self.types
        // Disables all checkpoints except the one that runs when the file is closed.
        configuration.environment.checkpointFrames = .max
        return configuration
    }

    private static let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    private func bytes(_ url: URL) -> Int { FileManager.default.contents(atPath: url.path)?.count ?? 0 }

    @Test("a copy is a compact and independent Realm with all committed data O78 O8") func copy() throws {
        let test = try TestRealm { $0.objectTypes = Self.types }
        try test.realm.write {
            for id in 0..<1_000 { test.realm.add(Node(id: id, name: String(repeating: "n", count: 500))) }
        }
        try test.realm.write { test.realm.delete(test.realm.objects(Node.self).where { $0.id >= 10 }) }
        let target = url(test, "copy.realm")
        try test.realm.writeCopy(toFile: target)
        #expect(bytes(target) > 0)
        #expect(FileManager.default.contents(atPath: target.path + "-wal") == nil)
        let copy = try Realm(configuration: configuration(target))
        #expect(copy != test.realm && copy.objects(Node.self).map(\.id) == Array(0..<10))
        #expect(try databaseSize(copy.context.handle) < databaseSize(test.realm.context.handle) / 4)
        try copy.write { copy.add(Node(id: 99)) }
        #expect(test.realm.objects(Node.self).count == 10 && copy.objects(Node.self).count == 11)
        let epochs = try [test.realm, copy].map { try integer("SELECT epoch FROM martlet_meta", $0.context.handle) }
        #expect(epochs[0] != epochs[1])
        #expect(try integer("SELECT count(*) FROM martlet_changes", copy.context.handle) == 1)
        let folder = try FileManager.default.contentsOfDirectory(atPath: test.url.deletingLastPathComponent().path)
        #expect(!folder.contains { $0.contains(".copy-") })
    }

    @Test("copying throws if the target file exists or its folder is missing O8") func copyRefused() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Node(id: 1)) }
        let target = url(test, "copy.realm")
        try Data([7]).write(to: target)
        let exists = #expect(throws: Realm.Error.self) { try test.realm.writeCopy(toFile: target) }
        #expect(exists?.code == .fileExists && bytes(target) == 1)
        #expect(throws: Realm.Error.self) { try test.realm.writeCopy(toFile: test.url) }
        let folder = #expect(throws: Realm.Error.self) {
            try test.realm.writeCopy(toFile: url(test, "missing/copy.realm"))
        }
        #expect(folder?.code == .fileNotFound && test.realm.objects(Node.self).count == 1)
    }

    @Test("read-only Realms and Realms in memory can be copied O8") func copyOthers() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Node(id: 1)) }
        let (first, second) = (url(test, "first.realm"), url(test, "second.realm"))
        try test.realm.writeCopy(toFile: first)
        var readOnly = configuration(first)
        _ = try Realm(configuration: readOnly)
        readOnly.readOnly = true
        try Realm(configuration: readOnly).writeCopy(toFile: second)
        #expect(try Realm(configuration: configuration(second)).objects(Node.self).map(\.id) == [1])
        let memory = try Realm(configuration: .init(inMemoryIdentifier: "copy-\(UUID().uuidString)"))
        try memory.write { memory.add(Node(id: 5)) }
        try memory.writeCopy(configuration: configuration(url(test, "third.realm")))
        #expect(try Realm(configuration: configuration(url(test, "third.realm"))).objects(Node.self).map(\.id) == [5])
        let error = #expect(throws: Realm.Error.self) {
            try memory.writeCopy(configuration: .init(inMemoryIdentifier: "goal"))
        }
        #expect(error?.code == .invalidInput)
    }

    @Test("a copy inside a write traps O8") func copyInsideWrite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write {
                try test.realm.writeCopy(toFile: URL(fileURLWithPath: "/tmp/never-\(UUID().uuidString).realm"))
            }
        }
        expectMessage(result, "a copy of a Realm was written inside a write transaction")
    }

    /// Creates a file with many free pages.
    private func makeSparse(_ url: URL) throws -> Realm {
        let realm = try Realm(configuration: configuration(url))
        try realm.write {
            for id in 0..<2_000 { realm.add(Node(id: id, name: String(repeating: "n", count: 1_000))) }
        }
        try realm.write { realm.delete(realm.objects(Node.self).where { $0.id >= 5 }) }
        return realm
    }

    @Test("compact shrinks the file, keeps all objects, and throws while the file is open in this process O78 O8")
    func compact() throws {
        let test = try TestRealm()
        let target = url(test, "sparse.realm")
        let configuration = configuration(target)
        do {
            let realm = try makeSparse(target)
            let error = #expect(throws: Realm.Error.self) { try Realm.compact(configuration: realm.configuration) }
            #expect(error?.code == .fileAccess)
        }
        let before = bytes(target)
        try Realm.compact(configuration: configuration)
        #expect(before > 1_000_000 && bytes(target) < 300_000)
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Node.self).map(\.id) == Array(0..<5))
        try realm.write { realm.add(Node(id: 9)) }
        let missing = #expect(throws: Realm.Error.self) {
            try Realm.compact(configuration: self.configuration(url(test, "missing.realm")))
        }
        #expect(missing?.code == .fileNotFound)
    }

    @Test(
        "shouldCompactOnLaunch gets both sizes, decides on compaction, and is not called while the file is open O78 O2")
    func compactAtLaunch() throws {
        let test = try TestRealm()
        let target = url(test, "launch.realm")
        do { _ = try makeSparse(target) }
        let sizes = Mutex<[Int]>([])
        var launch = configuration(target)
        launch.shouldCompactOnLaunch = { total, used in
            sizes.withLock { $0 += [total, used] }
            return false
        }
        let before = bytes(target)
        do { _ = try Realm(configuration: launch) }
        #expect(bytes(target) == before)
        launch.shouldCompactOnLaunch = { total, used in
            sizes.withLock { $0 += [total, used] }
            return total > 2 * used
        }
        let realm = try Realm(configuration: launch)
        #expect(sizes.withLock { $0.count == 4 && $0[0] == before && $0[1] < before / 4 && $0[2...] == $0[..<2] })
        #expect(bytes(target) < before / 4)
        #expect(realm.objects(Node.self).map(\.id) == Array(0..<5))
        // The closure is not called again while the file is open.
        launch.shouldCompactOnLaunch = { _, _ in
            Issue.record("the compaction closure was called again")
            return true
        }
        _ = try Realm(configuration: launch)
        try realm.write { realm.add(Node(id: 7)) }
    }

    @Test("opening or deleting a file in its 'shouldCompactOnLaunch' throws, and the error names the closure O73 O78")
    func openedDuringCompaction() throws {
        let test = try TestRealm()
        let inner = configuration(url(test, "launch.realm"))
        var outer = inner
        let errors = Mutex<[Realm.Error?]>([])
        outer.shouldCompactOnLaunch = { _, _ in
            let opening = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: inner) }
            let deleting = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: inner) }
            errors.withLock { $0 += [opening, deleting] }
            return true
        }
        let realm = try Realm(configuration: outer)
        let found = errors.withLock { $0 }
        #expect(found.count == 2 && found.allSatisfy { $0?.code == .busy })
        #expect(found.allSatisfy { $0?.message.contains("'migrationBlock' or 'shouldCompactOnLaunch'") == true })
        try realm.write { realm.add(Node(id: 1)) }
    }

    @Test("a missing file is created as a copy of its seed, and an existing file is kept O78 O2") func seed() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add([Node(id: 1), Node(id: 2)]) }
        let seed = url(test, "seed.realm")
        try test.realm.writeCopy(toFile: seed)
        let before = FileManager.default.contents(atPath: seed.path)
        var configuration = configuration(url(test, "grown.realm"))
        configuration.seedFilePath = seed
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Node.self).map(\.id) == [1, 2])
            try realm.write { realm.add(Node(id: 3)) }
        }
        #expect(try Realm(configuration: configuration).objects(Node.self).count == 3)
        #expect(FileManager.default.contents(atPath: seed.path) == before)
        configuration.inMemoryIdentifier = "seeded-\(UUID().uuidString)"
        #expect(try Realm(configuration: configuration).objects(Node.self).map(\.id) == [1, 2])
        configuration.fileURL = url(test, "read.realm")
        configuration.readOnly = true
        #expect(try Realm(configuration: configuration).objects(Node.self).count == 2)
    }

    @Test("if the seed is missing or invalid, opening throws and creates no file O78 O2") func badSeed() throws {
        let test = try TestRealm()
        let (seed, target) = (url(test, "seed.realm"), url(test, "grown.realm"))
        var configuration = configuration(target)
        configuration.seedFilePath = seed
        let missing = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(missing?.code == .fileNotFound && missing?.path == seed.path)
        try Data(repeating: 65, count: 8_192).write(to: seed)
        let foreign = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(foreign?.code == .notADatabase && !FileManager.default.fileExists(atPath: target.path))
    }

    @Test("the copy of a seed with an older schema version is migrated, and the seed does not change O78 O2")
    func oldSeed() throws {
        let past = try PreviousFile(["object Keyless\nproperty content Int"]) { create in
            _ = create("Keyless", ["content": 5])
        }
        var configuration = past.configuration([Keyless.self])
        configuration.seedFilePath = past.url
        configuration.fileURL = past.url.deletingLastPathComponent().appendingPathComponent("grown.realm")
        #expect(try Realm(configuration: configuration).objects(Keyless.self).map(\.content) == ["5"])
        #expect(try schemaVersionAtURL(past.url) == 0)
    }

    @Test("'deleteRealmIfMigrationNeeded' copies the seed, and creates an empty file if the seed needs a migration O69")
    func recreatedWithSeed() throws {
        let past = try PreviousFile(["object Keyless\nproperty content Int"]) { create in
            _ = create("Keyless", ["content": 5])
        }
        let folder = past.url.deletingLastPathComponent()
        var configuration = past.configuration([Keyless.self], schemaVersion: 0)
        configuration.deleteRealmIfMigrationNeeded = true
        configuration.seedFilePath = past.url
        // The file does not exist yet.
        configuration.fileURL = folder.appendingPathComponent("grown.realm")
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.isEmpty)
            try realm.write { realm.add(Keyless(content: "new")) }
        }
        #expect(try Realm(configuration: configuration).objects(Keyless.self).map(\.content) == ["new"])
        // The file exists and needs a migration.
        configuration.fileURL = folder.appendingPathComponent("old.realm")
        try FileManager.default.copyItem(at: past.url, to: folder.appendingPathComponent("old.realm"))
        #expect(try Realm(configuration: configuration).isEmpty)
        configuration.inMemoryIdentifier = "seeded-\(UUID().uuidString)"
        #expect(try Realm(configuration: configuration).isEmpty)
        // The seed has the current schema, so the file that needs a migration is replaced by a copy of the seed.
        configuration.fileURL = folder.appendingPathComponent("again.realm")
        try FileManager.default.copyItem(at: past.url, to: folder.appendingPathComponent("again.realm"))
        configuration.seedFilePath = folder.appendingPathComponent("grown.realm")
        #expect(try Realm(configuration: configuration).objects(Keyless.self).map(\.content) == ["new"])
        #expect(try schemaVersionAtURL(past.url) == 0)
    }

    @Test("a Realm is empty if all its objects have types that the program does not declare O3 O68")
    func emptyForProgram() throws {
        let past = try PreviousFile(["object Keyless\nproperty content String", "object Gone"]) { create in
            _ = create("Gone", [:])
        }
        let realm = try Realm(configuration: past.configuration([Keyless.self]))
        #expect(realm.isEmpty && realm.freeze().isEmpty)
        #expect(realm.dynamicObjects("Gone").count == 1 && realm.isEmpty)
        try realm.write { realm.add(Keyless()) }
        #expect(!realm.isEmpty)
    }

    @Test("the maximum number of versions can be any number O2") func manyVersions() throws {
        let test = try TestRealm { $0.maximumNumberOfActiveVersions = .max }
        try test.realm.write { test.realm.add(Node(id: 1)) }
        #expect(test.realm.objects(Node.self).count == 1)
    }

    @Test("a write that would exceed the maximum number of versions throws until a version is released O2")
    func versions() throws {
        let test = try TestRealm {
            $0.maximumNumberOfActiveVersions = 2
            // Disables checkpoints, because a checkpoint pins a version for a moment.
            $0.environment.checkpointFrames = .max
        }
        let realm = test.realm
        func write(_ id: Int) throws { try realm.write { realm.add(Node(id: id)) } }
        try write(1)
        let first = realm.context.handle
        try write(2)
        // The first and the second version are pinned, so a third version would exceed the maximum.
        func writeWhilePinned() -> Realm.Error? {
            let second = realm.context.handle
            return withExtendedLifetime(second) { #expect(throws: Realm.Error.self) { try write(3) } }
        }
        #expect(writeWhilePinned()?.code == .tooManyVersions)
        #expect(realm.objects(Node.self).count == 2 && !realm.isInWriteTransaction)
        try withExtendedLifetime(first) { try write(3) }
        #expect(realm.objects(Node.self).map(\.id) == [1, 2, 3])
    }
}
