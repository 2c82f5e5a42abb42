#if Postgres
    import Foundation
    import Martlet
    import MartletPostgres
    import MartletSync
    import MartletSyncService
    import TasksModels
    import Testing

    /// A database with the tables of the schema 'Tasks', and a folder for the files of its clients.
    ///
    /// The value contains only connection strings and the path of the folder, so it can be passed to another process.
    struct TasksSystem: Codable, Sendable {
        /// The connection string of the owner of the tables.
        let address: String
        /// The connection string of the service. The rules apply to the role of the service.
        let serviceAddress: String
        let folder: URL

        /// Creates the tables in an empty database, and prepares the database for synchronization.
        init(_ address: String) throws {
            let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Schemas/Tasks/Tasks.yaml")
            let sample = try SampleSchema(String(contentsOf: path, encoding: .utf8))
            let session = try PostgresSession(address)
            try session.execute(sample.statements)
            try Deployment(MartletSyncService.SyncSchema(facts: sample.facts)).run(in: session)
            self.address = address
            serviceAddress = try ServiceRole(session).address(address)
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("tasks-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        func removeFiles() { try? FileManager.default.removeItem(at: folder) }

        /// The database for a new instance of the service. The token of a user is the id of the user.
        func database(limits: MemoryLimits = MemoryLimits()) async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(serviceAddress, count: 3), limits: limits,
                verify: { AuthenticatedUser(id: $0, claims: #"{"sub":"\#($0)"}"#) }, log: { print("service: \($0)") })
        }

        /// Opens the file of a client.
        ///
        /// - Parameter url: the address of an instance of the service.
        @MainActor
        func realm(
            _ file: String, user: String, _ url: URL, _ adjust: (inout SyncConfiguration) -> Void = { _ in }
        ) throws -> Realm {
            var configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("\(file).realm"),
                objectTypes: [Project.self, TaskItem.self, Board.self, Step.self, DeviceSetting.self])
            var synchronization = SyncConfiguration(
                service: url, user: SyncUser(id: user) { user }, transport: clientTransport)
            adjust(&synchronization)
            configuration.syncConfiguration = synchronization
            return try Realm(configuration: configuration)
        }
    }
#endif
