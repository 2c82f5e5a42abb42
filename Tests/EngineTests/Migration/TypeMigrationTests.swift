import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

/// Tests of migrations that change types, of files whose data does not allow the change, and of concurrent processes.
@Suite("migrations of files with data")
struct TypeMigrationTests {
    private func migrated(
        _ folder: TestFolder, _ types: [String], version: UInt64 = 1, rows: [String: @Sendable () -> [SQLValue]] = [:]
    ) throws -> VirtualProcess {
        try VirtualProcess(folder.path(), types, rows: rows) { $0.schemaVersion = version }
    }

    private func makeFile(_ folder: TestFolder, _ types: [String], _ body: (WriteTransaction) throws -> Void) throws {
        try VirtualProcess(folder.path(), types).write(body)
    }

    @Test("without a higher schema version the differences are listed with a fix, and no byte changes O69 O2")
    func refusal() throws {
        let folder = try TestFolder()
        try makeFile(folder, ["object Dog\nproperty age String\nproperty name String?"]) {
            try $0.insert("Dog", [.text("3"), .null])
        }
        let before = folder.bytes()
        let error = engineError {
            _ = try migrated(folder, ["object Dog\nproperty age Int\nproperty name String"], version: 0)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("raise 'schemaVersion' above 0") == true)
        #expect(error?.message.split(separator: "\n").count == 3, "\(error?.message ?? "")")
        #expect(folder.bytes() == before)
    }

    @Test(
        "values are converted, nil becomes the default, new properties get their default, and removed properties are deleted O35"
    )
    func columns() throws {
        let folder = try TestFolder()
        try makeFile(
            folder, ["object Dog\nproperty age String\nproperty name String?\nproperty weight Double\nproperty old Int"]
        ) {
            try $0.insert("Dog", [.text("3"), .null, .real(2), .integer(1)])
            try $0.insert("Dog", [.text("-4"), .text("Rex"), .real(5), .integer(2)])
        }
        let process = try migrated(
            folder,
            ["object Dog\nproperty added Int\nproperty weight Int\nproperty name String\nproperty age Int index"],
            rows: ["Dog": { [.integer(9), .integer(0), .text("none"), .integer(0)] }])
        #expect(try process.column("SELECT age FROM Dog ORDER BY _key") == [.integer(3), .integer(-4)])
        #expect(try process.column("SELECT name FROM Dog ORDER BY _key") == [.text("none"), .text("Rex")])
        #expect(try process.column("SELECT weight FROM Dog ORDER BY _key") == [.integer(2), .integer(5)])
        #expect(try process.column("SELECT added FROM Dog") == [.integer(9), .integer(9)])
        #expect(try process.integer("SELECT count(*) FROM pragma_table_info('Dog')") == 5)
        #expect(
            try process.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'Dog'") == 1)
        try process.write { try $0.insert("Dog", [.integer(1), .integer(2), .text("New"), .integer(3)]) }
        #expect(try process.column("SELECT _key FROM Dog ORDER BY 1") == [.integer(1), .integer(2), .integer(3)])
        #expect(try process.integrity == .text("ok"))
        process.handle = nil
        #expect(
            engineError { _ = try migrated(folder, ["object Dog\nproperty age Int"], version: 0) }?.code
                == .schemaVersionNewer)
    }

    @Test("special floating values are converted from their stored bits O34")
    func specials() throws {
        let folder = try TestFolder()
        try makeFile(folder, ["object Dog\nproperty x Double\nproperty y Double"]) { transaction in
            let key = try transaction.insert("Dog", [.null, .real(0)])
            var bits: [UInt8] = []
            FloatingSpecials.append(.nan, of: 0, to: &bits)
            FloatingSpecials.append(-0.0, of: 1, to: &bits)
            try transaction.handle.read {
                try $0.run("UPDATE Dog SET _special = ?1 WHERE _key = ?2", [.blob(bits), .integer(key)])
            }
        }
        let process = try migrated(folder, ["object Dog\nproperty y Float\nproperty x String\nproperty z List<Double>"])
        #expect(try process.column("SELECT x FROM Dog") == [.text("nan")])
        guard case .blob(let bytes)? = try process.column("SELECT _special FROM Dog").first else {
            Issue.record("no special values")
            return
        }
        #expect(FloatingSpecials.bits(bytes, 0) == (-0.0).bitPattern && FloatingSpecials.bits(bytes, 1) == nil)
    }

    @Test("values that cannot be converted are listed with their objects, and the file does not change O35")
    func unconvertedValues() throws {
        let folder = try TestFolder()
        let old = "object Dog\nprimaryKey id\nproperty id String\nproperty age String\nproperty tags List<Int>"
        try makeFile(folder, [old]) { transaction in
            for (number, age) in ["1", "two", "3", "four", "five", "six"].enumerated() {
                try transaction.insert("Dog", [.text("d\(number)"), .text(age)])
            }
        }
        let before = folder.bytes()
        let error = engineError {
            _ = try migrated(
                folder, ["object Dog\nprimaryKey id\nproperty id String\nproperty age Int\nproperty tags List<Int>"])
        }
        #expect(error?.code == .schemaMismatch)
        #expect(
            error?.message.contains(
                "'Dog.age' was 'String' and is 'Int', and 4 values do not convert ('two' of 'Dog' 'd1', 'four' of 'Dog' 'd3', "
                    + "'five' of 'Dog' 'd4', and 1 more)") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("set it for these objects in the 'migrationBlock'") == true)
        #expect(folder.bytes() == before)
        #expect(try VirtualProcess(folder.path(), [old]).integer("SELECT count(*) FROM Dog") == 6)
    }

    @Test("changed collections are converted and other collections are kept, even if they are renamed O30")
    func collections() throws {
        let folder = try TestFolder()
        try makeFile(
            folder,
            ["object Dog\nproperty a List<Int>\nproperty b List<Int>\nproperty c Int\nproperty d List<link:Dog>"]
        ) { transaction in
            let key = try transaction.insert("Dog", [.integer(7)])
            try transaction.append([.integer(1), .integer(2)], to: "a", of: "Dog", key)
            try transaction.append([.integer(3)], to: "b", of: "Dog", key)
            try transaction.append([.integer(key), .integer(key)], to: "d", of: "Dog", key)
        }
        let process = try migrated(
            folder,
            [
                "object Dog\nproperty a List<Int>\nproperty x List<String> renamedFrom=b\nproperty c Set<Int>\nproperty e List<link:Dog> renamedFrom=d"
            ])
        #expect(try process.elements("Dog.a", 1) == [.integer(1), .integer(2)])
        #expect(try process.elements("Dog.x", 1) == [.text("3")])
        #expect(try process.elements("Dog.c", 1) == [.integer(7)])
        #expect(try process.elements("Dog.e", 1) == [.integer(1), .integer(1)])
        #expect(try process.column("SELECT count FROM \"Dog.e.targets\"") == [.integer(2)])
        #expect(
            try process.column("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'Dog%' ORDER BY name")
                == ["Dog", "Dog.a", "Dog.c", "Dog.e", "Dog.e.targets", "Dog.x"].map(SQLValue.text))
    }

    // MARK: Keys

    private static let linked = """
        object Kennel
        property first link:Dog?
        property dogs List<link:Dog>
        property byName Map<link:Dog?>
        """

    /// Creates one dog for each of the two `ids`, and links of every kind to the dogs.
    private func makeLinked(_ folder: TestFolder, ids: [Int64], _ primaryKeyLine: String = "") throws {
        let dog =
            "object Dog\n\(primaryKeyLine)property id Int\nproperty mate link:Dog?\nproperty pups List<link:Dog>\nproperty tags Set<Int>"
        try makeFile(folder, [dog, Self.linked]) { transaction in
            let inserted = try ids.map { try transaction.insert("Dog", [.integer($0), .null]) }
            let keys = primaryKeyLine.isEmpty ? inserted : ids
            try transaction.handle.read { try $0.run("UPDATE Dog SET mate = ?1", [.integer(keys[1])]) }
            try transaction.append([.integer(keys[1]), .integer(keys[0])], to: "pups", of: "Dog", keys[0])
            try transaction.append([.integer(5)], to: "tags", of: "Dog", keys[1])
            let kennel = try transaction.insert("Kennel", [.integer(keys[0])])
            try transaction.append(
                [.integer(keys[0]), .integer(keys[1]), .integer(keys[0])], to: "dogs", of: "Kennel", kennel)
            try transaction.append(
                [.text("a"), .integer(keys[1]), .text("b"), .null], to: "byName", of: "Kennel", kennel)
        }
    }

    private static let keyed =
        "object Dog\nprimaryKey id\nproperty id Int\nproperty mate link:Dog?\nproperty pups List<link:Dog>\nproperty tags Set<Int>"

    @Test("an integer that becomes the primary key becomes the key of the rows, and all links are updated O30")
    func integerKey() throws {
        let folder = try TestFolder()
        // The new key of each row is the old key of the other row.
        try makeLinked(folder, ids: [2, 1])
        let process = try migrated(folder, [Self.keyed, Self.linked])
        #expect(try process.column("SELECT mate FROM Dog ORDER BY id") == [.integer(1), .integer(1)])
        #expect(try process.elements("Dog.pups", 2) == [.integer(1), .integer(2)])
        #expect(try process.elements("Dog.tags", 1) == [.integer(5)])
        #expect(try process.column("SELECT first FROM Kennel") == [.integer(2)])
        #expect(try process.elements("Kennel.dogs", 1) == [.integer(2), .integer(1), .integer(2)])
        #expect(try process.elements("Kennel.byName", 1) == [.text("a"), .integer(1), .text("b"), .null])
        #expect(
            try process.column("SELECT count FROM \"Kennel.dogs.targets\" ORDER BY target") == [
                .integer(1), .integer(2),
            ])
        #expect(
            try process.column("SELECT target FROM \"Dog.pups.targets\" WHERE owner = 2") == [.integer(1), .integer(2)])
        #expect(try process.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'martlet.%'") == 0)
        #expect(try process.integrity == .text("ok"))
        // When the primary key is removed, rows keep their keys, and new rows get unused keys.
        process.handle = nil
        let back = try migrated(
            folder, [Self.keyed.replacingOccurrences(of: "primaryKey id\n", with: ""), Self.linked], version: 2)
        #expect(try back.column("SELECT _key FROM Dog") == [.integer(1), .integer(2)])
        try back.write { try $0.insert("Dog", [.integer(1), .null]) }
        #expect(try back.column("SELECT _key FROM Dog WHERE id = 1") == [.integer(1), .integer(3)])
        #expect(try back.elements("Kennel.dogs", 1) == [.integer(2), .integer(1), .integer(2)])
    }

    @Test("repeated values are listed for integer and string primary keys and for new unique sets O2")
    func duplicates() throws {
        let folder = try TestFolder()
        try makeLinked(folder, ids: [4, 4])
        let before = folder.bytes()
        let integer = engineError { _ = try migrated(folder, [Self.keyed, Self.linked]) }
        #expect(
            integer?.message.contains("'Dog.id' must be unique, but objects share values (4 in 2 objects)") == true,
            "\(integer?.message ?? "")")
        let text = engineError {
            _ = try migrated(folder, [Self.keyed.replacingOccurrences(of: "id Int", with: "id String"), Self.linked])
        }
        #expect(text?.message.contains("('4' in 2 objects)") == true)
        let unique = engineError {
            _ = try migrated(
                folder, [Self.keyed.replacingOccurrences(of: "primaryKey id", with: "unique id"), Self.linked],
                version: 0)
        }
        #expect(unique?.message.contains("(4 in 2 objects)") == true)
        #expect(folder.bytes() == before)
    }

    @Test("if the type of a primary key changes, rows and links remain O2")
    func keyTypes() throws {
        let folder = try TestFolder()
        try makeLinked(folder, ids: [20, 30], "primaryKey id\n")
        let text = try migrated(
            folder, [Self.keyed.replacingOccurrences(of: "property id Int", with: "property id String"), Self.linked])
        #expect(try text.column("SELECT id FROM Dog ORDER BY _key") == [.text("20"), .text("30")])
        #expect(try text.integer("SELECT count(*) FROM Kennel k JOIN Dog d ON d._key = k.first WHERE d.id = '20'") == 1)
        let error = engineError {
            try text.write { try $0.insert("Dog", [.text("20"), .null]) }
        }
        #expect(error?.code == .uniqueViolation)
        text.handle = nil
        let back = try migrated(folder, [Self.keyed, Self.linked], version: 2)
        #expect(try back.column("SELECT id FROM Dog") == [.integer(20), .integer(30)])
        #expect(try back.elements("Kennel.dogs", 1) == [.integer(20), .integer(30), .integer(20)])
        #expect(try back.integrity == .text("ok"))
    }

    // MARK: Embedding

    @Test("if a type becomes embedded, its objects that do not have exactly one owner are listed O20")
    func embedding() throws {
        let folder = try TestFolder()
        let man = "object Man\nproperty chip link:Chip?\nproperty chips List<link:Chip>"
        try makeFile(folder, ["object Chip\nproperty code String", man]) { transaction in
            for code in ["a", "b", "c", "d"] { try transaction.insert("Chip", [.text(code)]) }
            try transaction.insert("Man", [.integer(1)])
            let second = try transaction.insert("Man", [.integer(2)])
            try transaction.append([.integer(2), .integer(3), .integer(3)], to: "chips", of: "Man", second)
        }
        let embedded = [
            "embedded Chip\nproperty code String", man.replacingOccurrences(of: "link:", with: "embedded:"),
        ]
        let before = folder.bytes()
        let error = engineError { _ = try migrated(folder, embedded) }
        #expect(error?.message.contains("1 of its objects has no owner (number 4)") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("2 of its objects have several owners (number 2, number 3)") == true)
        #expect(folder.bytes() == before)
    }

    @Test("embedded objects are deleted with a removed property, and remain if their type becomes an object type O21")
    func unowned() throws {
        let folder = try TestFolder()
        let chip = "embedded Chip\nproperty code String\nproperty part embedded:Part?"
        try makeFile(
            folder,
            [
                chip, "embedded Part\nproperty n Int",
                "object Man\nproperty chip embedded:Chip?\nproperty chips List<embedded:Chip>\nproperty n Int",
            ]
        ) { transaction in
            for number in 1...3 {
                let part = try transaction.insert("Part", [.integer(Int64(number))])
                try transaction.insert("Chip", [.text("\(number)"), .integer(part)])
            }
            let man = try transaction.insert("Man", [.integer(1), .integer(0)])
            try transaction.append([.integer(2), .integer(3)], to: "chips", of: "Man", man)
        }
        let process = try migrated(
            folder, [chip, "embedded Part\nproperty n Int", "object Man\nproperty chip embedded:Chip?\nproperty n Int"])
        #expect(try process.column("SELECT code FROM Chip") == [.text("1")])
        #expect(try process.column("SELECT n FROM Part") == [.integer(1)])
        process.handle = nil
        let free = try migrated(
            folder,
            [
                chip.replacingOccurrences(of: "embedded Chip", with: "object Chip"), "embedded Part\nproperty n Int",
                "object Man\nproperty chip link:Chip?\nproperty n Int",
            ], version: 2)
        #expect(try free.column("SELECT chip FROM Man") == [.integer(1)])
        #expect(try free.integer("SELECT count(*) FROM Part") == 1)
    }

    // MARK: Names

    @Test("a type whose name differs only in case from a type in the file is refused at any schema version O69 O2")
    func names() throws {
        let folder = try TestFolder()
        try makeFile(folder, ["object Dog\nproperty age Int"]) { try $0.insert("Dog", [.integer(3)]) }
        let before = folder.bytes()
        let shouted = "object DOG\nproperty age Int"
        for version in 0...1 as ClosedRange<UInt64> {
            let error = engineError { _ = try migrated(folder, [shouted], version: version) }
            #expect(error?.code == .schemaMismatch)
            #expect(
                error?.message.contains(
                    "'DOG' differs only in case from 'Dog' in the file: use that name, or declare 'renamedFrom: Dog'")
                    == true, "\(error?.message ?? "")")
        }
        // The type 'Dog' of the file becomes 'Hound', so it cannot also become 'dog'.
        let taken = engineError {
            _ = try migrated(
                folder, ["object Hound\nrenamedFrom Dog\nproperty age Int", "object dog\nproperty age Int"])
        }
        #expect(
            taken?.message.contains("'dog' differs only in case from 'Dog' in the file: use another name") == true,
            "\(taken?.message ?? "")")
        let both = engineError { _ = try migrated(folder, [shouted, "object Dog\nproperty age Int"]) }
        #expect(both?.code == .invalidInput)
        #expect(
            both?.message.contains("the types 'DOG' and 'Dog' have names that differ only in case") == true,
            "\(both?.message ?? "")")
        #expect(folder.bytes() == before)
        let renamed = try migrated(folder, ["object DOG\nrenamedFrom Dog\nproperty age Int"], version: 0)
        #expect(try renamed.column("SELECT age FROM DOG") == [.integer(3)] && renamed.integrity == .text("ok"))
    }

    // MARK: Other processes

    @Test("if processes migrate at the same time, one calls the migration block, and all can then write O2")
    func race() throws {
        for _ in 0..<6 {
            let folder = try TestFolder()
            try makeFile(folder, ["object Dog\nproperty age String"]) { try $0.insert("Dog", [.text("1")]) }
            let path = folder.path()
            let failures = Mutex<[String]>([])
            let done = DispatchGroup()
            let counter = Counter()
            for _ in 0..<3 {
                done.enter()
                Thread.detachNewThread { [done] in
                    do {
                        let process = try VirtualProcess(path, ["object Dog\nproperty age Int"]) {
                            $0.schemaVersion = 1
                            $0.migration = { _ in counter.count() }
                            $0.environment.writeTimeoutMilliseconds = 30_000
                            $0.environment.sleep = { _ in sched_yield() }
                        }
                        try process.write { try $0.insert("Dog", [.integer(2)]) }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                    done.leave()
                }
            }
            done.wait()
            #expect(failures.withLock { $0 } == [])
            #expect(counter.value == 1)
            let process = try VirtualProcess(path, []) { $0.schemaVersion = 1 }
            #expect(
                try process.column("SELECT age FROM Dog ORDER BY _key") == [1, 2, 2, 2].map { SQLValue.integer($0) })
        }
    }

    private final class Counter: Sendable {
        private let number = Atomic<Int>(0)
        func count() { number.add(1, ordering: .relaxed) }
        var value: Int { number.load(ordering: .relaxed) }
    }

    @Test("a process with the old types keeps its version during a migration, and gets an error afterwards O2")
    func readDuringMigration() throws {
        let folder = try TestFolder()
        let old = "object Dog\nproperty age String"
        try makeFile(folder, [old]) { try $0.insert("Dog", [.text("1")]) }
        let reader = try VirtualProcess(folder.path(), [old])
        try reader.refresh()
        let seen = Mutex<[SQLValue]>([])
        nonisolated(unsafe) let during = reader
        let process = try VirtualProcess(folder.path(), ["object Dog\nproperty age Int"]) {
            $0.schemaVersion = 1
            $0.migration = { context in
                // During the migration, other processes see the old data and cannot write.
                let found = try during.column("SELECT age FROM Dog")
                try during.refresh()
                let again = try during.column("SELECT age FROM Dog")
                seen.withLock { $0 = found + again }
                #expect(engineError { try during.write { try $0.insert("Dog", [.text("x")]) } }?.code == .busy)
            }
        }
        #expect(seen.withLock { $0 } == [.text("1"), .text("1")])
        #expect(try reader.column("SELECT age FROM Dog") == [.text("1")])
        #expect(engineError { try reader.refresh() }?.code == .schemaMismatch)
        #expect(engineError { try reader.write { try $0.insert("Dog", [.text("x")]) } }?.code == .schemaMismatch)
        #expect(try process.column("SELECT age FROM Dog") == [.integer(1)])
    }

    @Test("a file in another journal mode is migrated too O2")
    func withoutLog() throws {
        let folder = try TestFolder()
        try makeFile(folder, ["object Dog\nproperty age String"]) { try $0.insert("Dog", [.text("1")]) }
        let tool = try Connection(ConnectionOptions(path: folder.path()))
        try tool.execute("PRAGMA journal_mode = DELETE")
        tool.close()
        let process = try migrated(folder, ["object Dog\nproperty age Int"])
        #expect(try process.column("SELECT age FROM Dog") == [.integer(1)])
    }
}

extension WriteTransaction {
    /// Appends elements to an empty collection.
    func append(_ values: [SQLValue], to property: String, of type: String, _ key: ObjectKey) throws {
        guard let table = coordinator.schema[type], let property = table.type[property] else {
            throw CancellationError()
        }
        try handle.read { try CollectionRows(property, table.layout, $0).write(values, owner: key) }
    }
}

extension VirtualProcess {
    /// The elements of a collection.
    func elements(_ table: String, _ owner: ObjectKey) throws -> [SQLValue] {
        let table = SQLText.identifier(table)
        var elements = try read { try ChunkedElements(owner: owner, table: table, $0) }
        return try elements.all { ordinal, count in
            try read { try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: table, $0) }
        }
    }
}
