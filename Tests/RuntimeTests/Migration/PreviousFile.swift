import Foundation
import MartletEngine
import Testing

@testable import Martlet

/// A file that a previous version of a program wrote, with object types that are given as schema text. The file is
/// deleted with this instance.
final class PreviousFile {
    let url: URL
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "martlet-past-\(UUID().uuidString)")

    /// Creates the file. `body` adds objects: it calls `create` with the name of a type and the values of the object.
    init(
        _ schemaTexts: [String], schemaVersion: UInt64 = 0,
        _ body: (_ create: (String, [String: Any]) -> MigrationObject) -> Void = { _ in }
    ) throws {
        url = folder.appendingPathComponent("test.realm")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(schemaTexts, schemaVersion: schemaVersion, body)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(
        _ schemaTexts: [String], schemaVersion: UInt64, _ body: ((String, [String: Any]) -> MigrationObject) -> Void
    ) throws {
        let types = schemaTexts.compactMap(SchemaFactsParser.objectType).map { type in
            TypeDeclaration(type) { TableLayout.zeroRow(type) }
        }
        #expect(types.count == schemaTexts.count)
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

    /// The configuration with which the current program opens the file.
    func configuration(
        _ types: [ObjectBase.Type], schemaVersion: UInt64 = 1, _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: url, schemaVersion: schemaVersion, migrationBlock: block, objectTypes: types)
        configuration.durability = .off
        configuration.scheduler = ManualScheduler()
        return configuration
    }

    /// Opens the file with the current program, which migrates it if `schemaVersion` is higher.
    func migrated(_ types: [ObjectBase.Type], schemaVersion: UInt64 = 1, _ block: MigrationBlock? = nil) throws -> Realm
    {
        try Realm(configuration: configuration(types, schemaVersion: schemaVersion, block))
    }

    /// The bytes of the database file, for comparison.
    var contents: [UInt8] { [UInt8](FileManager.default.contents(atPath: url.path) ?? Data()) }

    /// Expects that opening the file throws a `Realm.Error`, and returns the error.
    func openingError(
        _ types: [ObjectBase.Type], schemaVersion: UInt64 = 1, _ block: MigrationBlock? = nil
    ) -> Realm.Error? {
        #expect(throws: Realm.Error.self) { _ = try migrated(types, schemaVersion: schemaVersion, block) }
    }
}
