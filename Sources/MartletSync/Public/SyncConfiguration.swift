public import Foundation
public import Martlet
package import MartletEngine
import MartletSyncProtocol

/// Describes how a file is synchronized with the service `martlet-sync`, which stores the data in a PostgreSQL
/// database.
///
/// ```swift
/// var configuration = Realm.Configuration(fileURL: user.folder.appending(path: "dogs.realm"))
/// configuration.syncConfiguration = SyncConfiguration(service: URL(string: "wss://sync.example.com")!, user: user)
/// let realm = try Realm(configuration: configuration)
/// let dogs = try await realm.objects(Dog.self).where { $0.age > 1 }.subscribe()
/// ```
///
/// The types with `sync: both` or `sync: upload` in their YAML are synchronized. The program reads and writes the file
/// like any other Realm. The client sends the changes to the service when there is a connection. After a file was
/// synchronized for the first time, it can be opened for writing only with a `SyncConfiguration`.
public struct SyncConfiguration: Sendable {
    /// The address of the service, with the scheme `ws` or `wss`.
    public var service: URL
    /// The user to whom the file belongs.
    public var user: SyncUser
    /// Adds the first subscriptions to a new file, when it is opened:
    /// `{ subscriptions in subscriptions.append(QuerySubscription<Dog>(name: "all")) }`.
    ///
    /// The Realm calls the closure inside `SyncSubscriptionSet.update`, on its executor.
    public var initialSubscriptions: (@Sendable (SyncSubscriptionSet) -> Void)?
    /// If true, `initialSubscriptions` is called each time a process opens the file with its first Realm. If false, it
    /// is called only for a new file.
    public var rerunOnOpen = false
    /// Receives the errors of the connection and of the file, and the changes that the service has reverted. The client
    /// calls the closure on a background queue. `SyncError.Code` describes for each error how the client continues.
    public var errorHandler: (@Sendable (SyncError) -> Void)?

    package var transport: any SyncTransport
    package var wall: @Sendable () -> UInt64 = { UInt64(max(0, Date().timeIntervalSince1970) * 1_000) }

    #if Sync
        /// Creates a configuration.
        public init(
            service: URL, user: SyncUser, initialSubscriptions: (@Sendable (SyncSubscriptionSet) -> Void)? = nil,
            rerunOnOpen: Bool = false, errorHandler: (@Sendable (SyncError) -> Void)? = nil
        ) {
            self.init(service: service, user: user, transport: WebSocketTransport())
            self.initialSubscriptions = initialSubscriptions
            self.rerunOnOpen = rerunOnOpen
            self.errorHandler = errorHandler
        }
    #else
        /// Creates a configuration.
        @available(
            *, unavailable,
            message: "enable the trait 'Sync' of the package: '.package(url: …, from: …, traits: [\"Sync\"])'"
        )
        public init(
            service: URL, user: SyncUser, initialSubscriptions: (@Sendable (SyncSubscriptionSet) -> Void)? = nil,
            rerunOnOpen: Bool = false, errorHandler: (@Sendable (SyncError) -> Void)? = nil
        ) {
            self.init(service: service, user: user, transport: MissingTransport())
        }
    #endif

    package init(service: URL, user: SyncUser, transport: any SyncTransport) {
        (self.service, self.user, self.transport) = (service, user, transport)
    }
}

#if !Sync
    /// The transport of a build without the trait 'Sync'. It never connects.
    private struct MissingTransport: SyncTransport {
        struct Missing: Error {}

        func hash(of schema: AgreedSchema) -> [UInt8] { [] }

        func run(
            _ url: URL, connected: @escaping @Sendable () async -> Void, output: AsyncStream<ClientMessage>,
            received: @escaping @Sendable (ServiceMessage) async -> Void
        ) async throws {
            throw Missing()
        }
    }
#endif

extension Realm.Configuration {
    /// Describes how the file is synchronized. Nil for a local file.
    ///
    /// All Realms of a process that open the file must have the same user and the same synchronized types.
    public var syncConfiguration: SyncConfiguration? {
        get { synchronization as? SyncConfiguration }
        set { synchronization = newValue }
    }
}

extension SyncConfiguration: RealmSynchronization {
    package func prepare(_ options: inout StoreOptions) throws {
        let types = options.types.map(\.type).filter { $0.syncMode != .none && !$0.isEmbedded }.map(\.name)
        if user.id.isEmpty { throw invalid("the id of the user is empty", options) }
        if types.isEmpty {
            throw invalid("no type of the program is synchronized; add 'sync: both' to types in the YAML", options)
        }
        if options.isReadOnly {
            throw invalid(
                "the file is opened with 'readOnly', and cannot be synchronized; remove one of the two", options)
        }
        _ = try SyncedStore.prepare(&options, synced: Set(types), wall: wall)
    }

    private func invalid(_ message: String, _ options: StoreOptions) -> EngineError {
        EngineError(.invalidInput, path: options.path, message)
    }

    package func didOpen(_ realm: Realm) throws {
        let coordinator = realm.coordinator
        let client = try coordinator.attachment { try makeClient(coordinator) }
        guard client.settings.user == user.id else { throw wrongUser(client.settings.user, coordinator.path) }
        try client.prepare { store in
            try store.adopt()
            try adoptUser(store)
            try subscribeInitially(realm, store)
        }
        client.start()
    }

    private func makeClient(_ coordinator: StoreCoordinator) throws -> SyncClient {
        let synced = coordinator.options.sync?.types ?? []
        let schema = try SyncSchema(synced, in: coordinator.options.types.map(\.type), path: coordinator.path)
        let handler = errorHandler
        let settings = SyncClient.Settings(
            service: service, user: user.id, token: user.token, schemaHash: transport.hash(of: schema.agreed),
            transport: transport, report: { report in handler?(SyncError(report)) })
        return SyncClient(coordinator, schema, settings, wall: wall)
    }

    private func adoptUser(_ store: SyncedStore) throws {
        try store.update { record in
            if let owner = record.user {
                if owner != user.id { throw wrongUser(owner, store.coordinator.path) }
                return false
            }
            record.user = user.id
            return true
        }
    }

    private func wrongUser(_ owner: String, _ path: String) -> EngineError {
        EngineError(
            .wrongUser, path: path,
            "the file belongs to the user '\(owner)', and was opened as '\(user.id)'; nothing was changed; use another "
                + "file for each user, for example in 'SyncUser.folder'")
    }

    private func subscribeInitially(_ realm: Realm, _ store: SyncedStore) throws {
        guard let initialSubscriptions else { return }
        let isNew = try store.read { try $0.record().wantedSet == 0 }
        guard isNew || rerunOnOpen else { return }
        let subscriptions = try SyncSubscriptionSet(realm, store)
        try subscriptions.update { initialSubscriptions(subscriptions) }
    }
}
