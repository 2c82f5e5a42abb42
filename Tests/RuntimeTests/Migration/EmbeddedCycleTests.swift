import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Migrations in which a type becomes embedded while its objects contain themselves, form long chains, or own only each
/// other.
@Suite struct EmbeddedCycleTests {
    private static let types: [ObjectBase.Type] = [Wide.self, Ring.self]
    private static let schemaText = [
        "object Wide\nprimaryKey id\nproperty id Int\nproperty ring link:Ring?",
        """
        object Ring
        property number Int
        property inner link:Ring?
        property rings List<link:Ring>
        property named Map<link:Ring?>
        """,
    ]

    private typealias Create = (String, [String: Any]) -> MigrationObject

    private func file(_ body: (Create) -> Void) throws -> PreviousFile { try PreviousFile(Self.schemaText, body) }

    /// Creates two `Ring` objects that link to each other. The second one links to the first one through `property`.
    /// The `Wide` object with the id 1 links to the first one.
    private func cycle(_ property: String) throws -> PreviousFile {
        try file { create in
            let (first, second) = (create("Ring", ["number": 1]), create("Ring", ["number": 2]))
            first["inner"] = second
            switch property {
            case "rings": second["rings"] = [first]
            case "named": second["named"] = ["a": first]
            default: second["inner"] = first
            }
            _ = create("Wide", ["id": 1, "ring": first])
        }
    }

    @Test(
        "a migration that would copy an object into itself fails, and the error says what to do O70 O71 O20",
        arguments: ["inner", "rings", "named"], [true, false])
    func cycles(_ property: String, isSeparated: Bool) throws {
        let previous = try cycle(property)
        let before = previous.contents
        let openingError = previous.openingError(Self.types) { migration, _ in
            if isSeparated { return migration.separateOwners(ofType: "Ring") }
            migration.enumerateObjects(ofType: "Wide") { old, new in new?["ring"] = old?["ring"] }
        }
        #expect(openingError?.code == .schemaMismatch && previous.contents == before)
        #expect(
            openingError?.message.contains(
                "'Ring' is embedded now, and the 'Ring' in row 1 contains itself, so it cannot be copied; in the "
                    + "'migrationBlock', assign each owner a dictionary of values that does not lead back to the object"
            )
                == true, "\(openingError?.message ?? "")")
        let realm = try previous.migrated(Self.types) { migration, _ in
            migration.enumerateObjects(ofType: "Wide") { old, new in
                let ring = old?["ring"] as? MigrationObject
                let inner = ring?["inner"] as? MigrationObject
                new?["ring"] = ["number": ring?["number"], "inner": ["number": inner?["number"]]]
            }
            migration.separateOwners(ofType: "Ring")
        }
        let wide = try #require(realm.objects(Wide.self).first)
        #expect(wide.ring?.number == 1 && wide.ring?.inner?.number == 2 && wide.ring?.inner?.inner == nil)
        #expect(try integer("SELECT count(*) FROM Ring", realm.context.handle) == 2)
    }

    @Test("a migration refuses objects that own only each other, and separateOwners deletes them O70 O20")
    func unreachable()
        throws
    {
        let previous = try file { create in
            let (first, second) = (create("Ring", ["number": 1]), create("Ring", ["number": 2]))
            first["inner"] = second
            second["rings"] = [first]
            let itself = create("Ring", ["number": 3])
            itself["named"] = ["a": itself]
            let (kept, shared) = (create("Ring", ["number": 4]), create("Ring", ["number": 5]))
            itself["inner"] = kept
            itself["rings"] = [kept, shared]
            _ = create("Ring", ["number": 6, "inner": shared, "named": ["a": shared, "b": kept]])
            _ = create("Wide", ["id": 1, "ring": kept])
        }
        let before = previous.contents
        let openingError = previous.openingError(Self.types)
        #expect(openingError?.code == .schemaMismatch && previous.contents == before)
        #expect(
            openingError?.message.contains(
                "'Ring' is embedded now, and 4 of its objects have no owner that belongs to a top-level object (number 1, "
                    + "number 2, number 3, and 1 more)") == true, "\(openingError?.message ?? "")")
        #expect(openingError?.message.contains("1 of its objects has no owner (number 6)") == true)
        let realm = try previous.migrated(Self.types) { migration, _ in migration.separateOwners(ofType: "Ring") }
        #expect(realm.objects(Wide.self).first?.ring?.number == 4)
        #expect(try integer("SELECT count(*) FROM Ring", realm.context.handle) == 1)
        #expect(try integer("SELECT count(*) FROM \"Ring.rings\"", realm.context.handle) == 0)
    }

    @Test("a copy of an embedded object for another owner includes the objects that it contains O71 O20")
    func nested() throws {
        let previous = try file { create in
            let last = create("Ring", ["number": 3])
            let middle = create("Ring", ["number": 2, "rings": [last, last], "named": ["a": last]])
            let first = create("Ring", ["number": 1, "inner": middle])
            for id in 1...3 { _ = create("Wide", ["id": id, "ring": first]) }
        }
        let realm = try previous.migrated(Self.types) { migration, _ in
            migration.separateOwners(ofType: "Ring")
            migration.separateOwners(ofType: "Ring")
        }
        for wide in realm.objects(Wide.self) {
            let inner = wide.ring?.inner
            #expect(wide.ring?.number == 1 && inner?.number == 2 && inner?.rings.map(\.number) == [3, 3])
            #expect(inner?.named["a"]??.number == 3)
        }
        #expect(try integer("SELECT count(*) FROM Ring", realm.context.handle) == 15)
        try realm.write { realm.delete(Array(realm.objects(Wide.self).prefix(2))) }
        #expect(realm.objects(Wide.self).first?.ring?.inner?.rings.count == 2)
        #expect(try integer("SELECT count(*) FROM Ring", realm.context.handle) == 5)
    }

    @Test(
        "a chain of 8,000 objects becomes embedded without overflowing the stack O71",
        arguments: ["kept", "copied", "separated", "dropped"])
    func chain(_ kind: String) throws {
        let count = 8_000
        let previous = try file { create in
            var ring = create("Ring", ["number": count])
            for number in (1..<count).reversed() { ring = create("Ring", ["number": number, "inner": ring]) }
            for id in 1...(kind == "separated" ? 2 : 1) { _ = create("Wide", ["id": id, "ring": ring]) }
        }
        let realm = try previous.migrated(Self.types) { migration, _ in
            switch kind {
            case "copied": migration.enumerateObjects(ofType: "Wide") { old, new in new?["ring"] = old?["ring"] }
            case "separated": migration.separateOwners(ofType: "Ring")
            case "dropped":
                migration.enumerateObjects(ofType: "Wide") { _, new in new?["ring"] = nil }
            default: break
            }
        }
        let stored = try integer("SELECT count(*) FROM Ring", realm.context.handle)
        #expect(stored == (kind == "separated" ? 2 * count : kind == "dropped" ? 0 : count))
        for wide in realm.objects(Wide.self) where kind != "dropped" {
            var (ring, length) = (wide.ring, 0)
            while let next = ring {
                length += 1
                guard next.number == length else { break }
                ring = next.inner
            }
            #expect(length == count)
        }
    }

    @Test("if a property is not in the new schema, its chain of 5,000 embedded objects is deleted O70")
    func droppedProperty() throws {
        let previous = try PreviousFile([
            "object Wide\nprimaryKey id\nproperty id Int\nproperty old embedded:Ring?\nproperty ring embedded:Ring?",
            "embedded Ring\nproperty number Int\nproperty inner embedded:Ring?\nproperty rings List<embedded:Ring>",
        ]) { create in
            let wide = create(
                "Wide", ["id": 1, "old": ["number": 0], "ring": ["number": 0, "rings": [["number": 1]]]])
            var ring = wide["old"] as? MigrationObject
            for number in 1..<5_000 {
                ring?["inner"] = ["number": number]
                ring = ring?["inner"] as? MigrationObject
            }
        }
        let clock = ContinuousClock()
        let start = clock.now
        let realm = try previous.migrated(Self.types)
        #expect(clock.now - start < .seconds(20))
        #expect(realm.objects(Wide.self).first?.ring?.rings.map(\.number) == [1])
        #expect(try integer("SELECT count(*) FROM Ring", realm.context.handle) == 2)
    }
}
