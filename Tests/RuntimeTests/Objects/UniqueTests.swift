import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// Unique values, which are checked against the state at the end of each write.
@Suite struct UniqueTests {
    private func start(_ codes: String?...) throws -> (TestRealm, [Indexed]) {
        let test = try TestRealm()
        let objects = codes.enumerated().map { Indexed(id: $0 + 1, code: $1) }
        try test.realm.write { test.realm.add(objects) }
        return (test, objects)
    }

    @Test("a write can swap values, and queries inside the write see the assigned values O62 O5") func swap() throws {
        let (test, objects) = try start("a", "b", "c")
        let (a, b, c) = (objects[0], objects[1], objects[2])
        try test.realm.write {
            a.code = "b"
            #expect(test.realm.objects(Indexed.self).where { $0.code == "b" }.count == 2)
            b.code = "c"
            c.code = "a"
        }
        #expect(objects.map(\.code) == ["b", "c", "a"])
        let pairs = (0..<2).map { Indexed(id: 10 + $0, row: 1, column: $0) }
        try test.realm.write { test.realm.add(pairs) }
        try test.realm.write { (pairs[0].column, pairs[1].column) = (1, 0) }
        #expect(pairs.map(\.column) == [1, 0])
    }

    @Test("one write can free a value and assign it to another object, in any order O62 O5") func reuse() throws {
        let (test, objects) = try start("a", "b")
        try test.realm.write {
            objects[0].code = "x"
            test.realm.add(Indexed(id: 3, code: "a"))
        }
        try test.realm.write {
            test.realm.add(Indexed(id: 4, code: "b"))
            test.realm.delete(objects[1])
        }
        try test.realm.write {
            let first = try #require(test.realm.object(ofType: Indexed.self, forPrimaryKey: 3))
            first.code = "b"
            test.realm.delete(try #require(test.realm.object(ofType: Indexed.self, forPrimaryKey: 4)))
            test.realm.create(Indexed.self, value: ["id": 5, "code": "a"])
            test.realm.create(Indexed.self, value: ["id": 1, "code": "q"], update: .modified)
        }
        #expect(test.realm.objects(Indexed.self).sorted(byKeyPath: "id").map(\.code) == ["q", "b", "a"])
    }

    @Test("an upsert can assign the value of another object that gets a new value in the same write O62 O5")
    func upsert() throws {
        let (test, _) = try start("a", "b")
        try test.realm.write {
            test.realm.add([Indexed(id: 1, code: "b"), Indexed(id: 2, code: "a")], update: .modified)
        }
        #expect(test.realm.objects(Indexed.self).map(\.code) == ["b", "a"])
        let error = #expect(throws: Realm.Error.self) {
            try test.realm.write { test.realm.add(Indexed(id: 2, code: "b"), update: .all) }
        }
        #expect(error?.code == .uniqueViolation)
    }

    @Test("the error for a repeated value names the objects, properties and values; the write is rolled back O62 O5")
    func message() throws {
        let (test, objects) = try start("a", "b")
        let error = #expect(throws: Realm.Error.self) { try test.realm.write { objects[1].code = "a" } }
        #expect(error?.code == .uniqueViolation && objects[1].code == "b")
        #expect(
            error?.message
                == "the 'Indexed' with the primary key 1 and the 'Indexed' with the primary key 2 both have 'code' 'a', "
                + "which must be unique; the whole write was rolled back; give one of them another value")
        let dogs = try TestRealm()
        let withoutKey = #expect(throws: Realm.Error.self) {
            try dogs.realm.write {
                for name in ["Rex", "Max"] { dogs.realm.add(Dog(name: name, kennel: 4, number: 2)) }
            }
        }
        #expect(withoutKey?.message.contains("both have 'kennel' 4 and 'number' 2, which must be unique") == true)
        #expect(dogs.realm.objects(Dog.self).isEmpty)
    }

    @Test("properties that are unique together are not compared if one of them is nil O62 O5") func nilValues() throws {
        let (test, objects) = try start(nil, nil, "a")
        try test.realm.write {
            test.realm.add((0..<200).map { Indexed(id: 100 + $0, row: 1) })
            objects[2].code = nil
        }
        #expect(test.realm.objects(Indexed.self).count == 203)
        #expect(throws: Realm.Error.self) {
            try test.realm.write {
                for id in [100, 101] {
                    test.realm.object(ofType: Indexed.self, forPrimaryKey: id)?.column = 5
                }
            }
        }
        #expect(test.realm.objects(Indexed.self).where { $0.column == 5 }.isEmpty)
    }

    @Test("a repeated value is found among 1,000 rows of one write, with consecutive and with distant keys O62 O5")
    func many() throws {
        let test = try TestRealm()
        for stride in [1, 1_000_003] {
            for place in [0, 499, 999] {
                let error = #expect(throws: Realm.Error.self) {
                    try test.realm.write {
                        for id in 0..<1_000 {
                            test.realm.add(
                                Indexed(id: id * stride, code: id == place ? "c\((id + 7) % 1_000)" : "c\(id)"))
                        }
                    }
                }
                #expect(error?.code == .uniqueViolation && test.realm.isEmpty)
            }
            try test.realm.write {
                for id in 0..<1_000 { test.realm.add(Indexed(id: id * stride, code: "c\(id)")) }
            }
            // Every object gets the value of the next object, and the last object gets the value of the first.
            try test.realm.write {
                for object in test.realm.objects(Indexed.self) {
                    object.code = "c\((object.id / stride + 1) % 1_000)"
                }
            }
            #expect(test.realm.object(ofType: Indexed.self, forPrimaryKey: 0)?.code == "c1")
            try test.realm.write { test.realm.deleteAll() }
        }
    }

    @Test("each write of a group is checked separately, and can use values that an earlier write freed O62 N132")
    func group()
        throws
    {
        let (test, objects) = try start("a", "b")
        var codes: [Realm.Error.Code?] = []
        let record: ((any Error)?) -> Void = { codes.append(($0 as? Realm.Error)?.code) }
        test.realm.writeAsync({ (objects[0].code, objects[1].code) = ("b", "a") }, onComplete: record)
        test.realm.writeAsync({ test.realm.add(Indexed(id: 3, code: "a")) }, onComplete: record)
        test.realm.writeAsync({ objects[1].code = "z" }, onComplete: record)
        test.realm.writeAsync({ test.realm.add(Indexed(id: 4, code: "a")) }, onComplete: record)
        while test.realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(codes.count == 4 && codes.compactMap { $0 } == [.uniqueViolation])
        #expect(test.realm.objects(Indexed.self).map(\.code) == ["b", "z", "a"])
    }

    @Test("a file with UNIQUE indexes of SQLite is converted when it is opened, without a migration O62 O2")
    func formerIndexes() throws {
        let test = try TestRealm()
        let url = test.url.deletingLastPathComponent().appending(path: "former.realm")
        try test.realm.write { for (id, code) in [(1, "a"), (2, "b")] { test.realm.add(Indexed(id: id, code: code)) } }
        try test.realm.writeCopy(toFile: url)
        try alter(
            url.path,
            """
            DROP INDEX "Indexed.unique.0"; CREATE UNIQUE INDEX "Indexed.unique.0" ON "Indexed" ("code");
            DROP INDEX "Indexed.unique.1"; CREATE UNIQUE INDEX "Indexed.unique.1" ON "Indexed" ("row", "column")
            """)
        var configuration = test.configuration
        configuration.fileURL = url
        do {
            var reading = configuration
            reading.readOnly = true
            #expect(try Realm(configuration: reading).objects(Indexed.self).count == 2)
        }
        let realm = try Realm(configuration: configuration)
        let objects = Array(realm.objects(Indexed.self))
        try realm.write { (objects[0].code, objects[1].code) = ("b", "a") }
        #expect(objects.map(\.code) == ["b", "a"])
        #expect(throws: Realm.Error.self) { try realm.write { objects[0].code = "a" } }
        let uniqueIndexes = try integer(
            "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%UNIQUE INDEX%' AND name LIKE 'Indexed.unique%'",
            realm.context.handle)
        #expect(uniqueIndexes == 0)
    }

    @Test("a migration that leaves repeated values is rejected, even if no type changes its schema O62 O2")
    func migration() throws {
        let test = try TestRealm()
        let url = test.url.deletingLastPathComponent().appending(path: "next.realm")
        try test.realm.write { for (id, code) in [(1, "a"), (2, "b")] { test.realm.add(Indexed(id: id, code: code)) } }
        try test.realm.writeCopy(toFile: url)
        var configuration = test.configuration
        configuration.fileURL = url
        configuration.schemaVersion = 1
        configuration.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Indexed") { _, new in new?["code"] = "same" }
        }
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(
            error?.message.contains("'Indexed.code' must be unique, but objects share values ('same' in 2 objects)")
                == true)
        configuration.migrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Indexed") { old, new in
                new?["code"] = (old?["code"] as? String) == "a" ? "b" : "a"
            }
        }
        #expect(try Realm(configuration: configuration).objects(Indexed.self).map(\.code) == ["b", "a"])
    }
}
