import ConformanceModels
import Foundation
import MartletTestSupport
import Synchronization
import Testing

@testable import Martlet

/// Errors of migrations. A migration that throws an error leaves the file unchanged.
@Suite struct MigrationErrorTests {
    private struct Failure: Error, Equatable { let number: Int }

    private static let keyless = "object Keyless\nproperty content Int"

    private func makePreviousFile() throws -> PreviousFile {
        try PreviousFile([Self.keyless]) { create in
            for number in 1...3 { _ = create("Keyless", ["content": number]) }
        }
    }

    @Test("an error of the block is rethrown, and the file does not change O2") func thrown() throws {
        let previous = try makePreviousFile()
        let before = previous.contents
        let error = #expect(throws: Failure.self) {
            _ = try previous.migrated([Keyless.self]) { migration, _ in
                migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "changed" }
                migration.create("Keyless")
                throw Failure(number: 7)
            }
        }
        #expect(error == Failure(number: 7) && previous.contents == before)
        #expect(try schemaVersionAtURL(previous.url) == 0)
        #expect(throws: Failure.self) {
            _ = try previous.migrated([Keyless.self]) { migration, _ in
                try migration.enumerateObjects(ofType: "Keyless") { old, _ in
                    if old?["content"] as? Int == 2 { throw Failure(number: 2) }
                }
            }
        }
        #expect(try previous.migrated([Keyless.self]).objects(Keyless.self).map(\.content) == ["1", "2", "3"])
    }

    @Test("without a higher schema version, opening throws an error with every difference and advice O69 O2")
    func versionNotRaised()
        throws
    {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int\nproperty name Int?\nproperty lost String", "object Part",
            "embedded Screw\nproperty length Int",
        ])
        let before = previous.contents
        let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]
        let openingError = previous.openingError(types, schemaVersion: 0) { _, _ in
            Issue.record("the migration block was called")
        }
        #expect(openingError?.code == .schemaMismatch && previous.contents == before)
        let lines = openingError?.message.split(separator: "\n").dropFirst().map(String.init) ?? []
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.contains { $0.contains("'Node.name' is 'Int?' in the file and 'String' in the schema") })
        #expect(lines.contains { $0.contains("'Node.lost' (String) is in the file but not in the schema") })
        #expect(lines.contains { $0.contains("'Part' is a top-level type in the file and an embedded type") })
        #expect(
            openingError?.message.contains("raise 'schemaVersion' above 0 to migrate, with a 'migrationBlock'") == true)
        #expect(try previous.migrated(types).isEmpty)
    }

    @Test("a lower schema version throws 'schemaVersionNewer', even if the types differ too O69 O2")
    func lower() throws {
        let previous = try PreviousFile([Self.keyless], schemaVersion: 4)
        #expect(previous.openingError([Keyless.self], schemaVersion: 3)?.code == .schemaVersionNewer)
        #expect(previous.openingError([Keyless.self], schemaVersion: 4)?.code == .schemaMismatch)
    }

    @Test("a file that is opened for reading only is not migrated O2") func readOnly() throws {
        let previous = try makePreviousFile()
        var configuration = previous.configuration([Keyless.self]) { _, _ in
            Issue.record("the migration block was called")
        }
        configuration.readOnly = true
        let before = previous.contents
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(error?.code == .schemaMismatch && previous.contents == before)
        #expect(error?.message.contains("open the file once for writing, with a higher 'schemaVersion'") == true)
    }

    @Test("'deleteRealmIfMigrationNeeded' deletes the file only if a migration is needed O2") func deleting() throws {
        let previous = try makePreviousFile()
        var configuration = previous.configuration([Keyless.self]) { _, _ in
            Issue.record("the migration block was called")
        }
        configuration.deleteRealmIfMigrationNeeded = true
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.isEmpty)
            try realm.write { realm.add(Keyless(content: "new")) }
        }
        configuration.schemaVersion = 2
        #expect(try Realm(configuration: configuration).objects(Keyless.self).count == 1)
        let additive = try PreviousFile(["object Keyless"]) { create in _ = create("Keyless", [:]) }
        configuration.fileURL = additive.url
        #expect(try Realm(configuration: configuration).objects(Keyless.self).count == 1)
    }

    @Test("performMigration migrates and leaves the file closed O2") func perform() throws {
        let previous = try makePreviousFile()
        let configuration = previous.configuration([Keyless.self])
        try Realm.performMigration(for: configuration)
        #expect(try schemaVersionAtURL(previous.url) == 1)
        #expect(try Realm.deleteFiles(for: configuration))
        let error = #expect(throws: Realm.Error.self) { _ = try schemaVersionAtURL(previous.url) }
        #expect(error?.code == .fileNotFound)
    }

    @Test("duplicate keys and failed conversions that the block does not correct are reported O2")
    func conflicts() throws {
        let previous = try PreviousFile(["object Int64Key\nproperty number String\nproperty content Data"]) {
            create in
            for number in ["1", "2", "x"] { _ = create("Int64Key", ["number": number, "content": Data([1])]) }
        }
        let before = previous.contents
        let openingError = previous.openingError([Int64Key.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Int64Key") { old, new in
                if old?["number"] as? String == "2" { new?["number"] = 1 }
                if old?["number"] as? String != "1" { new?["content"] = "text" }
            }
        }
        #expect(
            openingError?.message.contains("'Int64Key.number' was 'String' and is 'Int64', and a value does not")
                == true)
        #expect(openingError?.message.contains("('x' of 'Int64Key' number 3)") == true)
        #expect(openingError?.message.contains("'Int64Key.content' was 'Data' and is 'String', and a value") == true)
        #expect(openingError?.message.contains("'Int64Key.number' must be unique") == true)
        #expect(openingError?.message.contains("(1 in 2 objects)") == true && previous.contents == before)
    }

    @Test("the block can open other files, but not the file that it migrates O73 O2") func nested() throws {
        let previous = try makePreviousFile()
        let codes = Mutex<[Realm.Error.Code?]>([])
        let inner = previous.configuration([Keyless.self])
        _ = try previous.migrated([Keyless.self]) { _, _ in
            let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: inner) }
            codes.withLock { $0.append(error?.code) }
            let other = try Realm(configuration: .init(inMemoryIdentifier: "nested-\(UUID().uuidString)"))
            try other.write { other.add(Keyless()) }
        }
        #expect(codes.withLock { $0 } == [.busy])
        #expect(try previous.migrated([Keyless.self]).objects(Keyless.self).count == 3)
    }

    @Test("if the block fills the disk, opening throws and the migration is rolled back O2")
    func fullDisk() throws {
        let previous = try makePreviousFile()
        let before = previous.contents
        let error = #expect(throws: Realm.Error.self) {
            _ = try previous.migrated([Keyless.self]) { migration, _ in
                try limitGrowth(migration.newContext.handle, pages: 2)
                for _ in 0..<200 {
                    migration.create("Keyless", value: ["content": String(repeating: "x", count: 5_000)])
                }
                migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "y" }
            }
        }
        #expect(error?.code == .outOfDiskSpace && previous.contents == before)
        #expect(try previous.migrated([Keyless.self]).objects(Keyless.self).count == 3)
    }

    @Test("migrating a file that this process has open throws an error that names the threads and queues O73 O2")
    func openElsewhere() throws {
        let previous = try PreviousFile(["object Keyless\nproperty content String"]) { create in
            _ = create("Keyless", ["content": "a"])
        }
        let newer = previous.configuration([Keyless.self], schemaVersion: 3) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "b" }
        }
        do {
            let realm = try previous.migrated([Keyless.self], schemaVersion: 0)
            let queue = DispatchQueue(label: "kennel")
            nonisolated(unsafe) let other = try Realm(
                configuration: previous.configuration([Keyless.self], schemaVersion: 0), queue: queue)
            let before = previous.contents
            let attempts: [() throws -> Void] = [
                { _ = try Realm(configuration: newer) }, { try Realm.performMigration(for: newer) },
            ]
            for attempt in attempts {
                let error = #expect(throws: Realm.Error.self) { try attempt() }
                #expect(error?.code == .alreadyOpen && error?.path == previous.url.path)
                let message = error?.message ?? ""
                #expect(
                    message.contains("the queue 'kennel'") && message.contains(realm.context.executorDescription),
                    "\(message)")
                #expect(message.contains("schema version 0") && message.contains("to 3"), "\(message)")
            }
            #expect(realm.objects(Keyless.self).first?.content == "a" && previous.contents == before)
            queue.sync { #expect(other.objects(Keyless.self).count == 1) }
            let frozen = realm.freeze()
            #expect(frozen.objects(Keyless.self).count == 1)
        }
        #expect(try Realm(configuration: newer).objects(Keyless.self).map(\.content) == ["b"])
    }

    @Test("migrating a file that has frozen objects throws O73 O2") func frozenElsewhere() throws {
        let previous = try PreviousFile(["object Keyless\nproperty content String"]) { create in
            _ = create("Keyless", ["content": "a"])
        }
        let frozen = try previous.migrated([Keyless.self], schemaVersion: 0).freeze()
        let error = #expect(throws: Realm.Error.self) { _ = try previous.migrated([Keyless.self], schemaVersion: 1) }
        #expect(error?.code == .alreadyOpen && error?.message.contains("frozen objects") == true)
        #expect(frozen.objects(Keyless.self).count == 1)
    }
}
