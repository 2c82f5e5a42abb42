import ConformanceModels
import MartletTestSupport

@testable import Martlet

extension MisuseCases {
    static let migrations = [
        MisuseCase(
            "changeBeforeMigration",
            "a 'Node' belongs to the old objects of a migration, which are read-only. "
                + "Change the new object of the pair instead"
        ) {
            try migrate { $0.enumerateObjects(ofType: "Node") { old, _ in old?["name"] = "b" } }
        },
        MisuseCase(
            "migrationIsOver",
            "a 'Migration' was used after its 'migrationBlock' had returned. Use it only inside the block"
        ) {
            nonisolated(unsafe) var kept: Migration?
            try migrate { kept = $0 }
            kept?.create("Node")
        },
        MisuseCase(
            "invalidatedInMigration",
            "a 'Node' was used after the migration had deleted it, or after the 'migrationBlock' had returned. "
                + "Keep plain values, and ask the Realm for the object once it is open"
        ) {
            nonisolated(unsafe) var kept: MigrationObject?
            try migrate { $0.enumerateObjects(ofType: "Node") { _, new in kept = new } }
            _ = kept?["name"]
        },
        MisuseCase(
            "unknownMigrationType",
            "neither the file nor the schema has a type 'Nod'. The types are 'Node', 'Part', 'Screw'"
        ) {
            try migrate { $0.create("Nod") }
        },
        MisuseCase(
            "renameWithoutSource",
            "a migration renames 'Node.label', which the file does not have. It has 'id', 'name', 'title'"
        ) {
            try migrate { $0.renameProperty(onType: "Node", from: "label", to: "name") }
        },
        MisuseCase(
            "renameWithoutTarget",
            "a migration renames to 'Node.label', which the schema does not have. It has 'id', 'name', 'amount', …"
        ) {
            try migrate { $0.renameProperty(onType: "Node", from: "title", to: "label") }
        },
        MisuseCase(
            "separatedTopLevel",
            "a migration calls 'separateOwners(ofType:)' with 'Node', which is not an embedded type of the schema. "
                + "Remove the call: any number of objects may link to an object of a top-level type"
        ) {
            try migrate { $0.separateOwners(ofType: "Node") }
        },
        MisuseCase(
            "renameOfPresent",
            "a migration renames 'Node.name', which the schema still has. Copy its values with 'enumerateObjects'"
        ) {
            try migrate { $0.renameProperty(onType: "Node", from: "name", to: "id") }
        },
        MisuseCase("madeMigrationObject", "a 'MigrationObject' was created directly. Use 'migration.create'") {
            _ = MigrationObject()
        },
        MisuseCase(
            "observeInMigration",
            "… was observed inside a migration. Observe it in the Realm after the migration"
        ) {
            try migrate { migration in
                migration.enumerateObjects(ofType: "Node") { _, new in
                    (new?["children"] as? List<MigrationObject>)?.observe { _ in }.invalidate()
                }
            }
        },
    ]

    /// Migrates a file with one node, and runs `block` as the migration block.
    static func migrate(_ block: @escaping @Sendable (Migration) -> Void) throws {
        let schema = "object Node\nprimaryKey id\nproperty id Int\nproperty name String\nproperty title String"
        let past = try PreviousFile([schema]) { create in _ = create("Node", ["id": 1]) }
        _ = try past.migrated([Node.self, Part.self, Screw.self]) { migration, _ in block(migration) }
    }
}
