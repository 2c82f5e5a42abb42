import ConformanceModels
import Foundation
import Synchronization
import Testing

@testable import Martlet

/// Mistakes in a `migrationBlock` trap, and say what to do.
@Suite struct MigrationMisuseTests {
    private static let facts = [
        "object Node\nprimaryKey id\nproperty id Int\nproperty name String\nproperty title String\nproperty children List<link:Node>"
    ]
    private static let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    /// What the mistakes are made with, and kept in.
    private final class Kept: @unchecked Sendable {
        // Used on one thread alone.
        var migration: Migration?
        var old: MigrationObject?
        var new: MigrationObject?
        var list: List<MigrationObject>?
    }

    private static func run(_ body: @escaping @Sendable (Migration, Kept) -> Void) throws -> Kept {
        let past = try PastProgram(facts) { create in
            let node = create("Node", ["id": 1, "name": "a"])
            node["children"] = [node]
        }
        let kept = Kept()
        _ = try past.migrated(types) { migration, _ in
            kept.migration = migration
            migration.enumerateObjects(ofType: "Node") { old, new in
                kept.old = old
                kept.new = new
                kept.list = new?["children"] as? List<MigrationObject>
            }
            body(migration, kept)
        }
        return kept
    }

    @Test("O2 objects of a migration and the migration itself end with the block") func over() async {
        let new = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, _ in }.new?["name"]
        }
        expectMessage(
            new, "a 'Node' was used after it was deleted in the migration, or after the 'migrationBlock' had returned")
        let old = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, _ in }.old?["name"]
        }
        expectMessage(old, "a 'Node' was used after it was deleted in the migration")
        let migration = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Self.run { _, _ in }.migration?.create("Node")
        }
        expectMessage(migration, "a 'Migration' was used after it was deleted in the migration, or after the")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let kept = try Self.run { _, _ in }
            kept.list?.removeAll()
        }
        expectMessage(list, "Martlet: ")
    }

    @Test("O2 old objects cannot be changed, their collections neither") func old() async {
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, kept in kept.old?["name"] = "b" }
        }
        expectMessage(property, "a 'Node' is as it was before the migration, and cannot be changed")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, kept in (kept.old?["children"] as? List<MigrationObject>)?.removeAll() }
        }
        expectMessage(list, "the collection 'Node.children' is as it was before the migration")
        let delete = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, kept in kept.old.map(migration.delete) }
        }
        expectMessage(delete, "a 'Node' is as it was before the migration")
    }

    @Test("O12 unknown types and properties, and values that do not fit, trap") func names() async {
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.create("Nod") }
        }
        expectMessage(
            type, "the migration knows no type 'Nod', neither in the file nor in the schema. It knows 'Node', 'Part'")
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, kept in kept.new?["title"] = "x" }
        }
        expectMessage(property, "'Node' has no property 'title'. It has 'id', 'name'")
        let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, kept in kept.new?["name"] = 5 }
        }
        expectMessage(value, "'Node.name' takes 'String', but was given '5'")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { _, kept in kept.new?["id"] = 5 }
        }
        expectMessage(key, "the primary key 'Node.id' was changed")
        let embedded = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.create("Part") }
        }
        expectMessage(embedded, "'Part' is an embedded type and cannot be added by itself")
        let enumeration = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let past = try PastProgram(["object EnumHolder\nprimaryKey id\nproperty id Int"]) { create in
                _ = create("EnumHolder", ["id": 1])
            }
            _ = try past.migrated([EnumHolder.self]) { migration, _ in
                migration.enumerateObjects(ofType: "EnumHolder") { _, new in new?["grade"] = "worst" }
            }
        }
        expectMessage(enumeration, "'EnumHolder.grade' takes 'String enum' with a case for it, but was given 'worst'")
        let made = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MigrationObject()
        }
        expectMessage(made, "a 'MigrationObject' was made by hand")
    }

    @Test("O2 a rename without a source, without a goal, or of what is still there, traps") func renames() async {
        let source = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.renameProperty(onType: "Node", from: "missing", to: "name") }
        }
        expectMessage(source, "renames 'Node.missing', which the file does not have. It has 'id', 'name', 'title'")
        let goal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.renameProperty(onType: "Node", from: "title", to: "missing") }
        }
        expectMessage(goal, "renames to 'Node.missing', which the schema does not have")
        let present = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.run { migration, _ in migration.renameProperty(onType: "Node", from: "id", to: "name") }
        }
        expectMessage(present, "renames 'Node.id', which the schema still has")
    }

    @Test("O2 nothing can be observed inside a migration, and it stays on its thread") func elsewhere() async {
        let observe = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let kept = try Self.run { _, kept in
                kept.list?.observe { _ in }.invalidate()
            }
            _ = kept
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
