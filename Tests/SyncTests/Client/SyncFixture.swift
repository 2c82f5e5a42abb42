import Foundation
import Martlet
import MartletEngine
import MartletSync
import MartletSyncProtocol
import MartletValues
import TasksModels
import Testing

/// A service, and a folder with the files of its clients.
@MainActor
final class SyncFixture {
    let service: MemoryService
    let schema: AgreedSchema
    let folder: URL
    /// The open Realms. They are closed before the folder is deleted.
    // Only `deinit` and the tests use this property, and the tests run on the main actor.
    nonisolated(unsafe) private var realms: [Realm] = []

    init() throws {
        let facts = [ObjectFacts.type(of: Project.self), ObjectFacts.type(of: TaskItem.self)]
        schema = AgreedSchema(synced: ["Project", "TaskItem"], in: facts)
        service = MemoryService(schema)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("sync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        realms = []
        try? FileManager.default.removeItem(at: folder)
    }

    func configuration(
        _ file: String = "a", user: String = "ada",
        _ adjust: (inout SyncConfiguration) -> Void = { _ in }
    ) throws -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: folder.appendingPathComponent("\(file).realm"),
            objectTypes: [Project.self, TaskItem.self, DeviceSetting.self])
        var sync = SyncConfiguration(
            service: try #require(URL(string: "ws://test")), user: SyncUser(id: user) { user }, transport: service)
        adjust(&sync)
        configuration.syncConfiguration = sync
        return configuration
    }

    func realm(
        _ file: String = "a", user: String = "ada", _ adjust: (inout SyncConfiguration) -> Void = { _ in }
    ) throws -> Realm {
        let realm = try Realm(configuration: configuration(file, user: user, adjust))
        realms.append(realm)
        return realm
    }

    // MARK: Rows of the database

    func task(_ id: Int64) -> ObjectAddress {
        ObjectAddress(type: schema.number(of: "TaskItem") ?? -1, key: .integer(id))
    }

    func path(_ property: String) throws -> ValuePath {
        ValuePath(try #require(schema.type(named: "TaskItem")?[property]?.index))
    }

    func values(title: String, priority: Int64 = 0) throws -> [ValuePath: SyncValue] {
        [
            try path("id"): .scalar(.integer(0)), try path("title"): .scalar(.text(title)),
            try path("isDone"): .scalar(.integer(0)), try path("priority"): .scalar(.integer(priority)),
        ]
    }

    /// Writes a task to the database, as another program would.
    func insert(_ id: Int64, title: String, priority: Int64 = 0) async throws {
        var values = try values(title: title, priority: priority)
        values[try path("id")] = .scalar(.integer(id))
        await service.write(task(id), values)
    }

    func title(_ id: Int64) throws -> String? {
        guard case .scalar(.text(let title))? = service.rows[task(id)]?[try path("title")] else { return nil }
        return title
    }

    /// Waits until a condition holds, for at most ten seconds.
    func wait(
        _ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 0..<2_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("the condition does not hold after ten seconds", sourceLocation: sourceLocation)
    }
}

/// Reads the schema of a generated class from its facts.
private enum ObjectFacts {
    static func type(of type: (some ModelObject).Type) -> ObjectTypeSchema {
        SchemaFactsParser.objectType("\(type._facts)") ?? ObjectTypeSchema(name: "", isEmbedded: false)
    }
}
