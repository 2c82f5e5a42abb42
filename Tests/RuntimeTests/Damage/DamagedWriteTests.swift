import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// Damage that calls report as errors, and stored values that are valid but unusual.
@Suite("damage in writes and migrations") struct DamagedWriteTests {
    @Test("a write that finds a value of a wrong type throws 'fileCorrupted', not 'uniqueViolation' D93")
    func datatype() throws {
        let file = try DamagedFile()
        try file.damage("UPDATE Node SET amount = 'many' WHERE id = 1")
        let realm = try file.open()
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.delete(try #require(realm.object(ofType: Node.self, forPrimaryKey: 2))) }
        }
        #expect(error?.code == .fileCorrupted && error?.message.contains("Node.amount") == true, "\(error as Any)")
        #expect(error?.errorCode == 7)
    }

    @Test("a deletion throws 'fileCorrupted' if 'martlet_any_links' contains an unknown property D93")
    func holder() throws {
        let file = try DamagedFile()
        try file.damage("UPDATE martlet_any_links SET property = 99999")
        let realm = try file.open()
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.delete(try #require(realm.object(ofType: Node.self, forPrimaryKey: 2))) }
        }
        #expect(
            error?.code == .fileCorrupted && error?.message.contains("martlet_any_links") == true, "\(error as Any)")
    }

    @Test(
        "a migration that reads a damaged value throws an error that names its property and row",
        arguments: [
            ("UPDATE Scalars SET \"int\" = x'00'", "'Scalars.int' in the row with the key 1 holds 1 byte (00)"),
            ("UPDATE Scalars SET \"int\" = NULL", "'Scalars.int' in the row with the key 1 holds nothing"),
            (
                "UPDATE Scalars SET string = CAST(x'ff' AS TEXT)",
                "'Scalars.string' in the row with the key 1 holds a text that"
            ),
        ])
    func migration(_ sql: String, _ expected: String) throws {
        let previous = try PreviousFile([
            "object Scalars\nprimaryKey id\nproperty id Int\nproperty int Int\nproperty string String"
        ]) {
            _ = $0("Scalars", ["id": 1, "int": 5, "string": "a"])
        }
        try writeUnchecked(previous.url.path, sql)
        let error = #expect(throws: Realm.Error.self) {
            _ = try previous.migrated([Scalars.self]) { migration, _ in
                migration.enumerateObjects(ofType: "Scalars") { old, _ in _ = old?["id"] }
            }
        }
        #expect(error?.code == .fileCorrupted && error?.message.contains(expected) == true, "\(error as Any)")
    }

    @Test(
        "a migration that converts a damaged value throws an error that names its property and row",
        arguments: [
            ("UPDATE Scalars SET \"int\" = x'00'", "'Scalars.int' in the row with the key 1 holds 1 byte (00)"),
            (
                "UPDATE Scalars SET \"int\" = CAST(x'ff' AS TEXT)",
                "'Scalars.int' in the row with the key 1 holds a text that"
            ),
            ("UPDATE Scalars SET \"int\" = NULL", "'Scalars.int' in the row with the key 1 holds nothing"),
        ])
    func conversion(_ sql: String, _ expected: String) throws {
        let previous = try PreviousFile(["object Scalars\nprimaryKey id\nproperty id Int\nproperty int String"]) {
            _ = $0("Scalars", ["id": 1, "int": "5"])
        }
        try writeUnchecked(previous.url.path, sql)
        let error = #expect(throws: Realm.Error.self) { _ = try previous.migrated([Scalars.self]) { _, _ in } }
        #expect(error?.code == .fileCorrupted && error?.message.contains(expected) == true, "\(error as Any)")
    }

    @Test("a required Decimal128 property of a type without a class has the default zero") func zeroDecimal() throws {
        let previous = try PreviousFile([
            "object Undeclared\nprimaryKey id\nproperty id Int\nproperty price Decimal128"
        ])
        let realm = try Realm(configuration: previous.configuration([Scalars.self], schemaVersion: 0))
        try realm.write { realm.dynamicCreate("Undeclared", value: ["id": 1]) }
        #expect(realm.dynamicObjects("Undeclared").filter("price == 0").count == 1)
        #expect(realm.dynamicObjects("Undeclared").first?.price as? Decimal128 == 0)
    }

    @Test("a decimal that is stored as an empty blob is read as zero") func emptyDecimal() throws {
        let file = try DamagedFile()
        try file.damage("UPDATE Scalars SET decimal128 = x''")
        let sum: Decimal128 = try file.open().objects(Scalars.self).sum(ofProperty: "decimal128")
        #expect(try file.open().objects(Scalars.self).map(\.decimal128) == [0, 0, 0] && sum == 0)
    }

    @Test("frozen objects of types without a class can be read concurrently N126") func frozen() throws {
        let previous = try PreviousFile([
            "object Undeclared\nprimaryKey id\nproperty id Int\nproperty extra AnyRealmValue\nproperty next link:Undeclared?"
        ]) { create in
            let first = create("Undeclared", ["id": 0])
            for id in 1..<50 { _ = create("Undeclared", ["id": id, "extra": first, "next": first]) }
        }
        for _ in 0..<20 {
            let realm = try Realm(configuration: previous.configuration([Scalars.self], schemaVersion: 0))
            let frozen = realm.freeze()
            nonisolated(unsafe) let objects = frozen.dynamicObjects("Undeclared")
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                let object = objects[1 + number]
                if object.id as? Int != 1 + number { Issue.record("object \(number) has a wrong id") }
                if (object.extra as? DynamicObject)?.id as? Int != 0 { Issue.record("no link in \(number)") }
                if (object.next as? DynamicObject)?.id as? Int != 0 { Issue.record("no link in \(number)") }
            }
            try realm.write {
                realm.add(Scalars(id: 1, anyValue: .object(realm.dynamicObjects("Undeclared")[3].object)), update: .all)
            }
            let value = try #require(realm.freeze().objects(Scalars.self).first).anyValue
            #expect(value.object(StoredObject.self)?["id"] as? Int == 3)
        }
    }

    @Test(
        "new objects get unused keys, even if existing keys are near the ends of the range of Int",
        arguments: [
            [Int.max], [Int.max - 1], [Int.max, Int.max - 1, 5], [Int.min, Int.max, 0], [Int.min, Int.max],
        ])
    func highKeys(_ keys: [Int]) throws {
        let previous = try PreviousFile(["object Keyless\nprimaryKey id\nproperty id Int\nproperty content String"]) {
            create in
            for key in keys { _ = create("Keyless", ["id": key, "content": "old \(key)"]) }
        }
        let realm = try previous.migrated([Keyless.self])
        for _ in 0..<3 {
            try realm.write { for _ in 0..<5 { realm.add(Keyless(content: "new")) } }
        }
        #expect(realm.objects(Keyless.self).count == keys.count + 15)
        let old = realm.objects(Keyless.self).filter("content BEGINSWITH 'old'").map(\.content)
        #expect(Set(old) == Set(keys.map { "old \($0)" }))
    }
}
