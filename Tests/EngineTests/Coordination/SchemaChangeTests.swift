import Foundation
import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

@Suite("schema changes of files with data")
struct SchemaChangeTests {
    private static let old = """
        object Dog
        property name String
        property age Int
        property weight Double
        property owner link:Man?
        property tags List<String>
        """
    private static let man = "object Man\nproperty name String\nproperty dogs List<link:Dog>"

    /// Creates a file with two dogs with tags, and a man who owns both.
    private func makeFile(_ folder: TestFolder, _ types: [String] = [old, man]) throws {
        let process = try VirtualProcess(folder.path(), types)
        try process.write { transaction in
            let man = try transaction.insert("Man", [.text("Bo")])
            for name in ["Rex", "Max"] {
                let key = try transaction.insert("Dog", [.text(name), .integer(3), .real(1.5), .integer(man)])
                try append([.text("t-\(name)"), .text("u")], to: "tags", of: "Dog", key, transaction)
            }
            try append([.integer(1), .integer(2)], to: "dogs", of: "Man", man, transaction)
        }
    }

    private func append(
        _ values: [SQLValue], to property: String, of type: String, _ key: ObjectKey, _ transaction: WriteTransaction
    ) throws {
        let table = try #require(transaction.coordinator.schema[type])
        let layout = table.layout.collection(of: try #require(table.type[property]).index)
        var elements = ChunkedElements()
        for (position, value) in values.enumerated() { try elements.insert(value, at: position) { _, _ in [] } }
        try transaction.handle.read { connection in
            try elements.write(owner: key, table: layout.chunkTable, connection)
            guard let targets = layout.targetTable else { return }
            for case .integer(let target) in values {
                try connection.run("INSERT INTO \(targets) VALUES (?1, ?2, 1)", [.integer(target), .integer(key)])
            }
        }
    }

    private func list(_ process: VirtualProcess, _ table: String, _ owner: ObjectKey) throws -> [SQLValue] {
        let table = SQLText.identifier(table)
        var elements = try process.read { try ChunkedElements(owner: owner, table: table, $0) }
        return try elements.all { ordinal, count in
            try process.read {
                try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: table, $0)
            }
        }
    }

    /// Checks that the types and properties with the old names contain the old data.
    private func requireOldData(_ process: VirtualProcess) throws {
        #expect(try process.column("SELECT name FROM Dog ORDER BY _key") == [.text("Rex"), .text("Max")])
        #expect(try process.column("SELECT owner FROM Dog") == [.integer(1), .integer(1)])
        #expect(try list(process, "Dog.tags", 2) == [.text("t-Max"), .text("u")])
        #expect(try list(process, "Man.dogs", 1) == [.integer(1), .integer(2)])
        #expect(try process.integrity == .text("ok"))
    }

    /// Returns a different number on each call of `next`.
    private final class Counter: Sendable {
        private let last = Atomic<Int64>(100)
        func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
    }

    @Test("a new type, collection, link, index and unique set are added without changing data O68")
    func additive() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let new = """
            object Dog
            unique name
            property name String
            property age Int? index
            property chip embedded:Chip?
            property weight Double
            property friend link:Dog?
            property owner link:Man?
            property tags List<String>
            property scores Set<Int>
            property homes Map<link:Man?>
            property fans LinkingObjects<Man.dogs>
            """
        let process = try VirtualProcess(
            folder.path(), [new, Self.man, "embedded Chip\nproperty code String", "object Cat"])
        try requireOldData(process)
        let indexes = try process.column(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'Dog' ORDER BY name")
        #expect(
            indexes
                == ["Dog.age.index", "Dog.chip.index", "Dog.friend.index", "Dog.owner.index", "Dog.unique.0"].map(
                    SQLValue.text))
        try process.write { transaction in
            try transaction.insert("Dog", [.text("New"), .null, .null, .real(2), .integer(1), .null])
            try append([.integer(1)], to: "homes", of: "Dog", 3, transaction)
            try append([.integer(1)], to: "scores", of: "Dog", 3, transaction)
            try transaction.insert("Cat", [])
        }
        let error = engineError {
            try process.write { try $0.insert("Dog", [.text("Rex"), .null, .null, .real(2), .null, .null]) }
        }
        #expect(error?.code == .uniqueViolation)
        #expect(try process.integer("SELECT count(*) FROM Dog") == 3)
    }

    @Test("a new property of each type has its default in old rows, bit for bit O68", arguments: ScalarType.allCases)
    func defaults(scalar: ScalarType) throws {
        let values: [SQLValue] =
            switch scalar {
            case .bool: [.integer(1)]
            case .int, .int64: [.integer(.min), .integer(.max), .integer(-5)]
            case .int8, .int16, .int32: [.integer(7)]
            case .float, .double, .date:
                [
                    .real(0.1), .real(-0.0), .real(.nan), .real(.infinity), .real(-.leastNonzeroMagnitude),
                    .real(1.7976931348623157e308), .real(3),
                ]
            case .string: [.text(""), .text("it's\u{301} a \"test\""), .text("a\u{0}b"), .text("line\r\nline")]
            case .data, .uuid, .objectId, .decimal128: [.blob([]), .blob([0, 39, 255])]
            case .any: [.integer(3), .text("3"), .blob([3])]
            }
        for value in values {
            for isOptional in [false, true] {
                let folder = try TestFolder()
                try makeFile(folder)
                let type =
                    "object Dog\nproperty added \(scalar.rawValue)\(isOptional ? "?" : "")\n"
                    + Self.old.split(separator: "\n").dropFirst().joined(separator: "\n")
                let row: [SQLValue] = [value, .text(""), .integer(0), .real(0), .null]
                let process = try VirtualProcess(folder.path(), [type, Self.man], rows: ["Dog": { row }])
                try requireOldData(process)
                let stored = try process.column("SELECT added FROM Dog")
                if case .real(let number) = value, FloatingSpecials.needsBits(number) {
                    let bytes = try process.column("SELECT _special FROM Dog")
                    for case .blob(let bytes) in bytes { #expect(FloatingSpecials.bits(bytes, 0) == number.bitPattern) }
                    #expect(bytes.count == 2 && !bytes.contains(.null))
                } else {
                    #expect(stored == [value, value])
                }
            }
        }
    }

    @Test("a default that is computed for each object is computed for every old row O68")
    func defaultPerRow() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let numbers = Counter()
        let process = try VirtualProcess(
            folder.path(), [Self.old + "\nproperty code Int", Self.man],
            rows: ["Dog": { [.text(""), .integer(0), .real(0), .null, .integer(numbers.next())] }])
        try requireOldData(process)
        #expect(Set(try process.column("SELECT code FROM Dog")).count == 2)
    }

    @Test("special floating values remain with their property when other properties are inserted before it O68")
    func specialsMove() throws {
        let folder = try TestFolder()
        let before = "object Point\nproperty x Double\nproperty y Double"
        let first = try VirtualProcess(folder.path(), [before])
        var bits: [UInt8] = []
        FloatingSpecials.append(.nan, of: 0, to: &bits)
        FloatingSpecials.append(-0.0, of: 1, to: &bits)
        try first.write { transaction in
            let key = try transaction.insert("Point", [.null, .real(0)])
            try transaction.handle.read {
                try $0.run("UPDATE Point SET _special = ?1 WHERE _key = ?2", [.blob(bits), .integer(key)])
            }
        }
        first.handle = nil
        let after =
            "object Point\nproperty name String\nproperty y Double\nproperty z Double\nproperty u Double renamedFrom=x"
        let process = try VirtualProcess(
            folder.path(), [after], rows: ["Point": { [.text(""), .real(0), .real(-0.0), .real(0)] }])
        guard case .blob(let bytes)? = try process.column("SELECT _special FROM Point").first else {
            Issue.record("no special values")
            return
        }
        #expect(FloatingSpecials.bits(bytes, 3).map { Double(bitPattern: $0).isNaN } == true)
        #expect(FloatingSpecials.bits(bytes, 1) == (-0.0).bitPattern)
        #expect(FloatingSpecials.bits(bytes, 2) == (-0.0).bitPattern, "the default of the new property")
        #expect(FloatingSpecials.bits(bytes, 0) == nil)
    }

    @Test("types, properties and collections that are renamed in one step keep their rows O68")
    func renames() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let hound = """
            object Hound
            renamedFrom Dog
            unique title
            property title String index renamedFrom=name
            property age Int
            property weight Double
            property keeper link:Human? renamedFrom=owner
            property marks List<String> renamedFrom=tags
            property extra Int
            """
        let human =
            "object Human\nrenamedFrom Man\nproperty name String\nproperty pack List<link:Hound> renamedFrom=dogs"
        let process = try VirtualProcess(folder.path(), [hound, human])
        #expect(try process.column("SELECT title FROM Hound ORDER BY _key") == [.text("Rex"), .text("Max")])
        #expect(try process.column("SELECT keeper FROM Hound") == [.integer(1), .integer(1)])
        #expect(try list(process, "Hound.marks", 1) == [.text("t-Rex"), .text("u")])
        #expect(try list(process, "Human.pack", 1) == [.integer(1), .integer(2)])
        #expect(try process.integer("SELECT count(*) FROM \"Human.pack.targets\"") == 2)
        let names = try process.column(
            "SELECT name FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'martlet%' ORDER BY name")
        #expect(
            names
                == [
                    "Hound", "Hound.keeper.index", "Hound.marks", "Hound.title.index", "Hound.unique.0", "Human",
                    "Human.pack",
                    "Human.pack.targets",
                ].map(SQLValue.text))
        #expect(process.coordinator.schema["Hound"]?.incoming.count == 1)
        #expect(try process.integrity == .text("ok"))
        process.handle = nil
        // Opening the file again changes nothing, although 'renamedFrom' is still declared.
        let again = try VirtualProcess(folder.path(), [hound, human])
        #expect(
            try again.integer("SELECT epoch FROM martlet_meta") == process.integer("SELECT epoch FROM martlet_meta"))
    }

    @Test("types and properties whose new names differ only in case keep their rows O68")
    func capitals() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let types = [
            Self.old.replacingOccurrences(of: "object Dog", with: "object DOG\nrenamedFrom Dog")
                .replacingOccurrences(of: "property name String", with: "property Name String renamedFrom=name"),
            Self.man.replacingOccurrences(of: "link:Dog", with: "link:DOG"),
        ]
        let process = try VirtualProcess(folder.path(), types)
        #expect(try process.column("SELECT Name FROM DOG ORDER BY _key") == [.text("Rex"), .text("Max")])
        #expect(try list(process, "DOG.tags", 1) == [.text("t-Rex"), .text("u")])
    }

    @Test("types that the program does not declare remain, with their links to a renamed type O68")
    func undeclared() throws {
        let folder = try TestFolder()
        try makeFile(folder, [Self.old, Self.man])
        let hound = Self.old.replacingOccurrences(of: "object Dog", with: "object Hound\nrenamedFrom Dog")
        let narrow = try VirtualProcess(folder.path(), [hound])
        #expect(try narrow.integer("SELECT count(*) FROM Man") == 1)
        #expect(narrow.coordinator.schema["Hound"]?.incoming.count == 1, "the list of the man still links to the type")
        narrow.handle = nil
        let whole = try VirtualProcess(
            folder.path(), [hound, Self.man.replacingOccurrences(of: "link:Dog", with: "link:Hound")])
        #expect(try list(whole, "Man.dogs", 1) == [.integer(1), .integer(2)])
        #expect(try whole.integer("SELECT count(*) FROM Hound") == 2)
    }

    @Test("removed and changed unique sets are applied O68")
    func uniques() throws {
        let folder = try TestFolder()
        let type = { (uniques: String) in "object Dog\n\(uniques)property a Int\nproperty b Int" }
        let process = try VirtualProcess(folder.path(), [type("unique a\n")])
        try process.write { try $0.insert("Dog", [.integer(1), .integer(1)]) }
        process.handle = nil
        let both = try VirtualProcess(folder.path(), [type("unique b\nunique a\n")])
        #expect(
            engineError { try both.write { try $0.insert("Dog", [.integer(1), .integer(2)]) } }?.code
                == .uniqueViolation)
        #expect(
            engineError { try both.write { try $0.insert("Dog", [.integer(2), .integer(1)]) } }?.code
                == .uniqueViolation)
        both.handle = nil
        let none = try VirtualProcess(folder.path(), [type("")])
        #expect(engineError { try none.write { try $0.insert("Dog", [.integer(1), .integer(1)]) } } == nil)
    }

    @Test("links and primary keys keep their own index when 'index' is removed from the property O68")
    func ownIndexes() throws {
        let folder = try TestFolder()
        _ = try VirtualProcess(
            folder.path(), ["object Dog\nprimaryKey id\nproperty id String index\nproperty mate link:Dog? index"])
        let process = try VirtualProcess(
            folder.path(), ["object Dog\nprimaryKey id\nproperty id String\nproperty mate link:Dog?"])
        #expect(
            try process.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'Dog'") == 2)
    }

    // MARK: Rejected changes

    @Test("a change that needs a migration is rejected with every difference, and no byte of the file changes O68 D5")
    func rejectedChanges() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let before = folder.bytes()
        let error = engineError {
            _ = try VirtualProcess(
                folder.path(),
                [
                    "object Dog\nprimaryKey name\nproperty name String\nproperty age String\nproperty weight Double\nproperty tags Set<String>",
                    "embedded Man\nproperty name Int\nproperty dogs List<link:Dog>", "object Cat\nproperty a Int",
                ])
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.path == folder.path())
        let lines = error?.message.split(separator: "\n").dropFirst() ?? []
        #expect(lines.count == 6, "\(error?.message ?? "")")
        #expect(folder.bytes() == before)
        try requireOldData(VirtualProcess(folder.path(), [Self.old, Self.man]))
    }

    @Test("repeated values are reported for every unique set, and no byte of the file changes O68")
    func duplicates() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let before = folder.bytes()
        let type = Self.old.replacingOccurrences(
            of: "object Dog", with: "object Dog\nunique age\nunique name\nunique owner weight")
        let error = engineError { _ = try VirtualProcess(folder.path(), [type, Self.man]) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("'Dog.age' must be unique") == true)
        #expect(error?.message.contains("'Dog.owner' and 'Dog.weight' must be unique") == true)
        #expect(error?.message.contains("'Dog.name'") == false)
        #expect(folder.bytes() == before)
        try requireOldData(VirtualProcess(folder.path(), [Self.old, Self.man]))
    }

    @Test(
        "a read-only file shows defaults for missing properties and is not changed, and may have a lower schema version O68"
    )
    func readOnly() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let before = folder.bytes()
        let shown = try VirtualProcess(
            folder.path(), [Self.old + "\nproperty b Int", Self.man, "object Cat\nproperty c Int"]
        ) {
            $0.isReadOnly = true
        }
        try requireOldData(shown)
        #expect(try shown.column("SELECT b FROM Dog") == [.integer(0), .integer(0)])
        #expect(try shown.integer("SELECT count(*) FROM Cat") == 0)
        try requireOldData(
            VirtualProcess(folder.path(), [Self.old, Self.man]) {
                $0.isReadOnly = true; $0.schemaVersion = 4
            })
        #expect(folder.bytes() == before)
    }

    @Test("a file with a higher schema version is rejected O68")
    func schemaVersion() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        _ = try VirtualProcess(folder.path(), [Self.old, Self.man]) { $0.schemaVersion = 3 }
        let before = folder.bytes()
        let error = engineError {
            _ = try VirtualProcess(folder.path(), [Self.old, Self.man]) { $0.schemaVersion = 2 }
        }
        #expect(error?.code == .schemaVersionNewer)
        #expect(folder.bytes() == before)
    }

    // MARK: Other processes

    @Test("processes that change the schema at the same time change it once, and all can write O68 N143")
    func race() throws {
        for round in 0..<8 {
            let folder = try TestFolder()
            if round.isMultiple(of: 2) { try makeFile(folder) }
            let path = folder.path()
            let failures = Mutex<[String]>([])
            let done = DispatchGroup()
            for _ in 0..<3 {
                done.enter()
                Thread.detachNewThread { [done] in
                    do {
                        let process = try VirtualProcess(
                            path, [Self.old + "\nproperty extra Int", Self.man, "object Cat\nproperty a Int"]
                        ) {
                            $0.environment.writeTimeoutMilliseconds = 30_000
                            $0.environment.sleep = { _ in sched_yield() }
                        }
                        try process.write { try $0.insert("Cat", [.integer(1)]) }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                    done.leave()
                }
            }
            done.wait()
            #expect(failures.withLock { $0 } == [])
            let process = try VirtualProcess(path, [])
            #expect(try process.integer("SELECT count(*) FROM Cat") == 3)
            #expect(try process.integer("SELECT epoch FROM martlet_meta") == (round.isMultiple(of: 2) ? 3 : 2))
            if round.isMultiple(of: 2) { try requireOldData(process) }
        }
    }

    @Test("a process adopts types that another process adds, and continues O68 N143")
    func adoptsTypes() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let old = try VirtualProcess(folder.path(), [Self.old])
        try old.refresh()
        _ = try VirtualProcess(
            folder.path(), [Self.old + " index", Self.man, "object Kennel\nproperty dogs List<link:Dog>"])
        #expect(old.coordinator.schema["Kennel"] == nil)
        try old.write { try $0.insert("Dog", [.text("New"), .integer(1), .real(1), .null]) }
        #expect(old.coordinator.schema["Kennel"] != nil)
        #expect(old.coordinator.schema["Dog"]?.incoming.count == 2)
        #expect(try old.integer("SELECT count(*) FROM Dog") == 3)
    }

    @Test(
        "a process whose types another process changes keeps its old version, and can neither refresh nor write O68 N143"
    )
    func rejectsChangedTypes() throws {
        let folder = try TestFolder()
        try makeFile(folder)
        let old = try VirtualProcess(folder.path(), [Self.old, Self.man])
        try old.refresh()
        let new = try VirtualProcess(
            folder.path(), ["object Dog\nproperty first Int\n" + Self.old.dropFirst(11), Self.man])
        try new.refresh()
        try new.write { try $0.insert("Dog", [.integer(1), .text("New"), .integer(1), .real(1), .null]) }
        for _ in 0..<2 {
            let refused = engineError {
                try old.write { try $0.insert("Dog", [.text("Bad"), .integer(1), .real(1), .null]) }
            }
            #expect(refused?.code == .schemaMismatch)
            #expect(refused?.message.contains("'Dog'") == true)
            // Observers receive this error too, so its message must not say that nothing was written.
            #expect(refused?.message.contains("nothing was written") == false)
            #expect(
                refused?.message.contains("this process can no longer read or write the file; close the file") == true)
            #expect(engineError { _ = try old.coordinator.openSnapshot() }?.code == .schemaMismatch)
            try requireOldData(old)
        }
        try new.refresh()
        #expect(try new.integer("SELECT count(*) FROM Dog") == 3)
        #expect(try new.column("SELECT first FROM Dog ORDER BY _key") == [.integer(0), .integer(0), .integer(1)])
    }

    @Test("change sets before a schema change are not read with the new column positions O68")
    func changesAcross() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        let start = try #require(process.handle?.version)
        let other = try VirtualProcess(
            folder.path(), [VirtualProcess.note.replacing("batch Int", with: "batch Int index")])
        try process.refresh()
        let handle = try #require(process.handle)
        #expect(handle.version == start + 1)
        #expect(try process.coordinator.changes(after: start, through: handle.version, handle) == nil)
        withExtendedLifetime(other) {}
    }

    @Test("an added type does not renumber tables, so change sets before it remain readable O68")
    func changesAcrossNewTypes() throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path())
        try process.add("a")
        let start = try #require(process.handle?.version)
        let other = try VirtualProcess(folder.path(), [VirtualProcess.note, "object Cat\nproperty a Int"])
        try other.add("b")
        try process.refresh()
        let handle = try #require(process.handle)
        #expect(handle.version == start + 2)
        let changes = try process.coordinator.changes(after: start, through: handle.version, handle)?.changes
        #expect(changes?.tables.values.map(\.inserted.count) == [1])
    }
}
