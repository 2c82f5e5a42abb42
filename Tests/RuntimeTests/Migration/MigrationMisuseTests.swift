import ConformanceModels
import Foundation
import Synchronization
import Testing

@testable import Martlet

/// Invalid calls in a `migrationBlock` trap with advice in the message.
@Suite struct MigrationMisuseTests {
    private static let schemaText = [
        "object Node\nprimaryKey id\nproperty id Int\nproperty name String\nproperty title String\nproperty children List<link:Node>"
    ]
    private static let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    /// Objects of a migration that a test uses inside or after the block.
    // Sendable: each test uses the objects on one thread only.
    private final class Objects: @unchecked Sendable {
        var migration: Migration?
        var old: MigrationObject?
        var new: MigrationObject?
        var list: List<MigrationObject>?
    }

    /// Runs a migration whose block calls `body`. After the migration, returns the objects that the block has stored.
    private static func run(_ body: @escaping @Sendable (Migration, Objects) -> Void) throws -> Objects {
        let previous = try PreviousFile(schemaText) { create in
            let node = create("Node", ["id": 1, "name": "a"])
            node["children"] = [node]
        }
        let objects = Objects()
        _ = try previous.migrated(types) { migration, _ in
            objects.migration = migration
            migration.enumerateObjects(ofType: "Node") { old, new in
                objects.old = old
                objects.new = new
                objects.list = new?["children"] as? List<MigrationObject>
            }
            body(migration, objects)
        }
        return objects
    }

    @Test("using a migration or its objects after the block traps O2") func over() async {
        let new = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, _ in }.new?["name"]
        }
        expectMessage(
            new, "a 'Node' was used after the migration had deleted it, or after the 'migrationBlock' had returned")
        let old = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, _ in }.old?["name"]
        }
        expectMessage(old, "a 'Node' was used after the migration had deleted it")
        let migration = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Self.run { _, _ in }.migration?.create("Node")
        }
        expectMessage(migration, "a 'Migration' was used after its 'migrationBlock' had returned")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let objects = try Self.run { _, _ in }
            objects.list?.removeAll()
        }
        expectMessage(list, "Martlet: ")
    }

    @Test("changing old objects or their collections traps O2") func old() async {
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, objects in objects.old?["name"] = "b" }
        }
        expectMessage(property, "a 'Node' belongs to the old objects of a migration, which are read-only")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, objects in (objects.old?["children"] as? List<MigrationObject>)?.removeAll() }
        }
        expectMessage(list, "the list 'Node.children' belongs to the old objects of a migration")
        let delete = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, objects in objects.old.map(migration.delete) }
        }
        expectMessage(delete, "a 'Node' belongs to the old objects of a migration")
    }

    @Test("unknown types, unknown properties and unsuitable values trap O12") func names() async {
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.create("Nod") }
        }
        expectMessage(type, "neither the file nor the schema has a type 'Nod'. The types are 'Node', 'Part'")
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, objects in objects.new?["title"] = "x" }
        }
        expectMessage(property, "'Node' has no property 'title'. It has 'id', 'name'")
        let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, objects in objects.new?["name"] = 5 }
        }
        expectMessage(value, "'Node.name' takes 'String', but was given '5'")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, objects in objects.new?["id"] = 5 }
        }
        expectMessage(key, "the primary key 'Node.id' was changed")
        let embedded = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.create("Part") }
        }
        expectMessage(embedded, "'Part' is an embedded type and cannot be added by itself")
        let enumeration = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let previous = try PreviousFile(["object EnumHolder\nprimaryKey id\nproperty id Int"]) { create in
                _ = create("EnumHolder", ["id": 1])
            }
            _ = try previous.migrated([EnumHolder.self]) { migration, _ in
                migration.enumerateObjects(ofType: "EnumHolder") { _, new in new?["grade"] = "worst" }
            }
        }
        expectMessage(
            enumeration, "'EnumHolder.grade' takes the raw value of a case of 'String enum', but was given 'worst'")
        let made = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MigrationObject()
        }
        expectMessage(made, "a 'MigrationObject' was created directly")
    }

    @Test(
        "renaming traps if the old name is unknown or still declared, or the new one is unknown or a primary key O71 O2"
    ) func renames()
        async
    {
        let source = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.renameProperty(onType: "Node", from: "missing", to: "name") }
        }
        expectMessage(source, "renames 'Node.missing', which the file does not have. It has 'id', 'name', 'title'")
        let target = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.renameProperty(onType: "Node", from: "title", to: "missing") }
        }
        expectMessage(target, "renames to 'Node.missing', which the schema does not have")
        let present = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.renameProperty(onType: "Node", from: "id", to: "name") }
        }
        expectMessage(present, "renames 'Node.id', which the schema still has")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.renameProperty(onType: "Node", from: "title", to: "id") }
        }
        expectMessage(key, "the primary key 'Node.id' was changed after the object had been added")
    }

    @Test("observing inside a migration traps, and so does using the migration on another thread O2")
    func elsewhere() async {
        let observe = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let objects = try Self.run { _, objects in
                objects.list?.observe { _ in }.invalidate()
            }
            _ = objects
        }
        expectMessage(observe, "was observed inside a migration")
        let thread = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in
                nonisolated(unsafe) let migration = migration
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    migration.create("Node")
                    done.signal()
                }
                done.wait()
            }
        }
        expectMessage(thread, "a migration was used on")
    }
}
