import ConformanceModels
import Foundation
import MartletTestSupport
import Synchronization
import Testing

@testable import Martlet

/// What is refused, what is thrown, and that nothing has changed then.
@Suite struct MigrationErrorTests {
    private struct Failure: Error, Equatable { let number: Int }

    private static let keyless = "object Keyless\nproperty content Int"

    private func makePast() throws -> PastProgram {
        try PastProgram([Self.keyless]) { create in
            for number in 1...3 { _ = create("Keyless", ["content": number]) }
        }
    }

    @Test("O2 an error of the block is thrown as it is, and the file is as it was") func thrown() throws {
        let past = try makePast()
        let before = past.contents
        let error = #expect(throws: Failure.self) {
            _ = try past.migrated([Keyless.self]) { migration, _ in
                migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "changed" }
                migration.create("Keyless")
                throw Failure(number: 7)
            }
        }
        #expect(error == Failure(number: 7) && past.contents == before)
        #expect(try schemaVersionAtURL(past.url) == 0)
        #expect(throws: Failure.self) {
            _ = try past.migrated([Keyless.self]) { migration, _ in
                try migration.enumerateObjects(ofType: "Keyless") { old, _ in
                    if old?["content"] as? Int == 2 { throw Failure(number: 2) }
                }
            }
        }
        #expect(try past.migrated([Keyless.self]).objects(Keyless.self).map(\.content) == ["1", "2", "3"])
    }

    @Test("O69 O2 without a higher version a migration is asked for, with every difference and the way on") func asked()
        throws
    {
        let past = try PastProgram([
            "object Node\nprimaryKey id\nproperty id Int\nproperty name Int?\nproperty lost String", "object Part",
            "embedded Screw\nproperty length Int",
        ])
        let before = past.contents
        let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]
        let refusal = past.refusal(types, schemaVersion: 0) { _, _ in Issue.record("called") }
        #expect(refusal?.code == .schemaMismatch && past.contents == before)
        let lines = refusal?.message.split(separator: "\n").dropFirst().map(String.init) ?? []
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.contains { $0.contains("'Node.name' is 'Int?' in the file and 'String' in the schema") })
        #expect(lines.contains { $0.contains("'Node.lost' (String) is in the file but not in the schema") })
        #expect(lines.contains { $0.contains("'Part' is a top-level type in the file and an embedded type") })
        #expect(refusal?.message.contains("raise 'schemaVersion' above 0 to migrate, with a 'migrationBlock'") == true)
        #expect(try past.migrated(types).isEmpty)
    }

    @Test("O69 O2 a lower version is refused, whatever the types are") func lower() throws {
        let past = try PastProgram([Self.keyless], schemaVersion: 4)
        #expect(past.refusal([Keyless.self], schemaVersion: 3)?.code == .schemaVersionNewer)
        #expect(past.refusal([Keyless.self], schemaVersion: 4)?.code == .schemaMismatch)
    }

    @Test("O2 a file that is only read is not migrated") func readOnly() throws {
        let past = try makePast()
        var configuration = past.configuration([Keyless.self]) { _, _ in Issue.record("called") }
        configuration.readOnly = true
        let before = past.contents
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(error?.code == .schemaMismatch && past.contents == before)
        #expect(error?.message.contains("open the file once for writing, with a higher 'schemaVersion'") == true)
    }

    @Test("O2 'deleteRealmIfMigrationNeeded' deletes instead of migrating, and only then") func deleting() throws {
        let past = try makePast()
        var configuration = past.configuration([Keyless.self]) { _, _ in Issue.record("called") }
        configuration.deleteRealmIfMigrationNeeded = true
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.isEmpty)
            try realm.write { realm.add(Keyless(content: "new")) }
        }
        configuration.schemaVersion = 2
        #expect(try Realm(configuration: configuration).objects(Keyless.self).count == 1)
        let additive = try PastProgram(["object Keyless"]) { create in _ = create("Keyless", [:]) }
        configuration.fileURL = additive.url
        #expect(try Realm(configuration: configuration).objects(Keyless.self).count == 1)
    }

    @Test("O2 performMigration migrates and leaves the file closed") func perform() throws {
        let past = try makePast()
        let configuration = past.configuration([Keyless.self])
        try Realm.performMigration(for: configuration)
        #expect(try schemaVersionAtURL(past.url) == 1)
        #expect(try Realm.deleteFiles(for: configuration))
        let error = #expect(throws: Realm.Error.self) { _ = try schemaVersionAtURL(past.url) }
        #expect(error?.code == .fileNotFound)
    }

    @Test("O2 keys that the block gives twice, and values it leaves, are listed") func conflicts() throws {
        let past = try PastProgram(["object Int64Key\nproperty number String\nproperty content Data"]) { create in
            for number in ["1", "2", "x"] { _ = create("Int64Key", ["number": number, "content": Data([1])]) }
        }
        let before = past.contents
        let refusal = past.refusal([Int64Key.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Int64Key") { old, new in
                if old?["number"] as? String == "2" { new?["number"] = 1 }
                if old?["number"] as? String != "1" { new?["content"] = "text" }
            }
        }
        #expect(
            refusal?.message.contains("'Int64Key.number' was 'String' and is 'Int64', and a value does not") == true)
        #expect(refusal?.message.contains("('x' of 'Int64Key' number 3)") == true)
        #expect(refusal?.message.contains("'Int64Key.content' was 'Data' and is 'String', and a value") == true)
        #expect(refusal?.message.contains("'Int64Key.number' must be unique") == true)
        #expect(refusal?.message.contains("(1 in 2 objects)") == true && past.contents == before)
    }

    @Test("O73 O2 the file cannot be opened inside its own migration, and others can") func nested() throws {
        let past = try makePast()
        let codes = Mutex<[Realm.Error.Code?]>([])
        let inner = past.configuration([Keyless.self])
        _ = try past.migrated([Keyless.self]) { _, _ in
            let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: inner) }
            codes.withLock { $0.append(error?.code) }
            let other = try Realm(configuration: .init(inMemoryIdentifier: "nested-\(UUID().uuidString)"))
            try other.write { other.add(Keyless()) }
        }
        #expect(codes.withLock { $0 } == [.busy])
        #expect(try past.migrated([Keyless.self]).objects(Keyless.self).count == 3)
    }

    @Test("O2 a full disk in the block is thrown when it is over, and nothing is kept") func fullDisk() throws {
        let past = try makePast()
        let before = past.contents
        let error = #expect(throws: Realm.Error.self) {
            _ = try past.migrated([Keyless.self]) { migration, _ in
                try limitGrowth(migration.present.handle, pages: 2)
                for _ in 0..<200 {
                    migration.create("Keyless", value: ["content": String(repeating: "x", count: 5_000)])
                }
                migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "y" }
            }
        }
        #expect(error?.code == .outOfDiskSpace && past.contents == before)
        #expect(try past.migrated([Keyless.self]).objects(Keyless.self).count == 3)
    }

    @Test("O73 O2 a file that is open in this process is not migrated, and the error names where it is open")
    func openElsewhere() throws {
        let past = try PastProgram(["object Keyless\nproperty content String"]) { create in
            _ = create("Keyless", ["content": "a"])
        }
        let newer = past.configuration([Keyless.self], schemaVersion: 3) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "b" }
        }
        do {
            let realm = try past.migrated([Keyless.self], schemaVersion: 0)
            let queue = DispatchQueue(label: "kennel")
            nonisolated(unsafe) let other = try Realm(
                configuration: past.configuration([Keyless.self], schemaVersion: 0), queue: queue)
            let before = past.contents
            let attempts: [() throws -> Void] = [
                { _ = try Realm(configuration: newer) }, { try Realm.performMigration(for: newer) },
            ]
            for attempt in attempts {
                let error = #expect(throws: Realm.Error.self) { try attempt() }
                #expect(error?.code == .alreadyOpen && error?.path == past.url.path)
                let message = error?.message ?? ""
                #expect(message.contains("the queue 'kennel'") && message.contains(realm.context.place), "\(message)")
                #expect(message.contains("schema version 0") && message.contains("to 3"), "\(message)")
            }
            #expect(realm.objects(Keyless.self).first?.content == "a" && past.contents == before)
            queue.sync { #expect(other.objects(Keyless.self).count == 1) }
            let frozen = realm.freeze()
            #expect(frozen.objects(Keyless.self).count == 1)
        }
        #expect(try Realm(configuration: newer).objects(Keyless.self).map(\.content) == ["b"])
    }

    @Test("O73 O2 what is frozen keeps a file from being migrated, too") func frozenElsewhere() throws {
        let past = try PastProgram(["object Keyless\nproperty content String"]) { create in
            _ = create("Keyless", ["content": "a"])
        }
        let frozen = try past.migrated([Keyless.self], schemaVersion: 0).freeze()
        let error = #expect(throws: Realm.Error.self) { _ = try past.migrated([Keyless.self], schemaVersion: 1) }
        #expect(error?.code == .alreadyOpen && error?.message.contains("frozen objects") == true)
        #expect(frozen.objects(Keyless.self).count == 1)
    }
}
