import Foundation
import MartletEngine
import Testing

@testable import Martlet

/// A program of before, known by the facts that its generated classes carried; the file it has written goes with it.
final class PastProgram {
    let url: URL
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "martlet-past-\(UUID().uuidString)")

    /// Writes objects with `body`, which is given what makes one of a type by name.
    init(
        _ facts: [String], schemaVersion: UInt64 = 0,
        _ body: (_ create: (String, [String: Any]) -> MigrationObject) -> Void = { _ in }
    ) throws {
        url = folder.appendingPathComponent("test.realm")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(facts, schemaVersion: schemaVersion, body)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(
        _ facts: [String], schemaVersion: UInt64, _ body: ((String, [String: Any]) -> MigrationObject) -> Void
    ) throws {
        let types = facts.compactMap(SchemaFacts.objectType).map { type in
            TypeDeclaration(type) { TableLayout.zeroRow(type) }
        }
        #expect(types.count == facts.count)
        var options = StoreOptions(path: url.path, types: types)
        options.schemaVersion = schemaVersion
        options.durability = .off
        let coordinator = try StoreRegistry.coordinator(options)
        let context = RealmContext(
            coordinator, .init(), Migration.models(coordinator.schema, [:]), .readWrite, .currentThread(), nil)
        try context.beginWrite()
        body { name, value in
            guard let table = context.table(named: name), let model = table.model else { Misuse.unknownType(name) }
            return unsafeDowncast(context.create(model, value, .error), to: MigrationObject.self)
        }
        try context.commitWrite()
    }

    /// What a program of today opens the file with.
    func configuration(
        _ types: [ObjectBase.Type], schemaVersion: UInt64 = 1, _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: url, schemaVersion: schemaVersion, migrationBlock: block, objectTypes: types)
        configuration.durability = .off
        configuration.scheduler = ManualScheduler()
        return configuration
    }

    /// The Realm of a program of today.
    func migrated(_ types: [ObjectBase.Type], schemaVersion: UInt64 = 1, _ block: MigrationBlock? = nil) throws -> Realm
    {
        try Realm(configuration: configuration(types, schemaVersion: schemaVersion, block))
    }

    /// All that the file says, to be compared: the objects themselves and what stands beside them.
    var contents: [UInt8] { [UInt8](FileManager.default.contents(atPath: url.path) ?? Data()) }

    /// What opening the file is refused with.
    func refusal(_ types: [ObjectBase.Type], schemaVersion: UInt64 = 1, _ block: MigrationBlock? = nil) -> Realm.Error?
    {
        #expect(throws: Realm.Error.self) { _ = try migrated(types, schemaVersion: schemaVersion, block) }
    }
}
