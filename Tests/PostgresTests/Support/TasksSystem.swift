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
    /// It consists of addresses, so that another process can use the same system.
    struct TasksSystem: Codable, Sendable {
        /// The address of the database for the owner of its tables.
        let address: String
        /// The address of the database for the service, to which the rules apply.
        let serviceAddress: String
        let folder: URL

        /// Creates the tables in an empty database and prepares it for synchronization.
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

        /// The database as an instance of the service uses it. A token is the id of its user.
        func database() async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(serviceAddress, count: 3),
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
                objectTypes: [Project.self, TaskItem.self, Board.self, DeviceSetting.self])
            var synchronization = SyncConfiguration(
                service: url, user: SyncUser(id: user) { user }, transport: clientTransport)
            adjust(&synchronization)
            configuration.syncConfiguration = synchronization
            return try Realm(configuration: configuration)
        }
    }
#endif
