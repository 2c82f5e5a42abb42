#if Sync
    import Foundation
    package import MartletPostgres
    package import MartletSyncProtocol
    import Synchronization

    /// Runs the tasks of sessions on PostgreSQL.
    package final class PostgresServiceDatabase: ServiceDatabase {
        private let pool: ConnectionPool
        private let catalog: Mutex<SyncCatalog>
        private let compile: @Sendable ([SubscribedQuery]) throws(RefusedQueries) -> SubscriptionFilter
        private let verify: @Sendable (String) async throws -> AuthenticatedUser
        private let log: @Sendable (String) -> Void

        /// Reads the catalog of the database.
        ///
        /// - Parameters:
        ///   - compile: makes a filter of queries, or refuses them.
        ///   - verify: returns the user of a token, or throws if the token is not valid.
        ///   - log: called with errors. The text may contain data of rows.
        /// - Throws: `PostgresError`; `DeploymentError` if the database is not prepared.
        package init(
            _ pool: ConnectionPool,
            compile: @escaping @Sendable ([SubscribedQuery]) throws(RefusedQueries) -> SubscriptionFilter,
            verify: @escaping @Sendable (String) async throws -> AuthenticatedUser,
            log: @escaping @Sendable (String) -> Void
        ) async throws {
            self.pool = pool
            self.compile = compile
            self.verify = verify
            self.log = log
            catalog = Mutex(try await pool.run { try SyncCatalog($0) })
        }

        package func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult {
            do {
                return try await result(task, context)
            } catch let error as PostgresError {
                log(error.logText)
                return .failed(.init(action: .retry, message: error.description, delayMilliseconds: 1_000))
            } catch LogReaderError.unknownCursor {
                return .failed(
                    .init(
                        action: .startAgain,
                        message: "the position of the client is older than the log, or of another database",
                        delayMilliseconds: 0))
            } catch LogReaderError.schemaChanged {
                return await reload()
            } catch let error as InvalidUpload {
                return .failed(.init(action: .stop, message: error.description, delayMilliseconds: 0))
            } catch {
                log("\(error)")
                return .failed(.init(action: .retry, message: "the task failed", delayMilliseconds: 1_000))
            }
        }

        // A newer schema was deployed. The clients connect again, and then use it.
        private func reload() async -> ServiceTaskResult {
            do {
                let new = try await pool.run { try SyncCatalog($0) }
                catalog.withLock { $0 = new }
            } catch {
                log("\(error)")
            }
            return .failed(
                .init(action: .retry, message: "the schema of the service has changed", delayMilliseconds: 100))
        }

        private func result(_ task: ServiceTask, _ context: SessionContext) async throws -> ServiceTaskResult {
            let catalog = catalog.withLock { $0 }
            switch task {
            case .authenticate(let token):
                do {
                    return .authenticated(try await verify(token))
                } catch {
                    return .failed(.init(action: .signIn, message: "the token is not valid", delayMilliseconds: 0))
                }
            case .open(let identity): return try await open(identity, catalog)
            case .read(let cursor):
                let client = context.client?.id ?? 0
                return .read(try await pool.run { try Self.read(after: cursor, client, catalog, $0) })
            case .change(let cursor, let former, let new):
                return try await change(cursor, try compile(former), try compile(new), context.client?.id ?? 0, catalog)
            case .store(let upload):
                let client = context.client?.id ?? 0
                return try await pool.run { session in
                    Self.result(try UploadWriter(catalog).store(upload, of: client, in: session))
                }
            }
        }

        private func open(_ identity: ClientIdentity?, _ catalog: SyncCatalog) async throws -> ServiceTaskResult {
            let opened = try await pool.run { session -> (ClientIdentity, UInt64)? in
                guard let identity else { return (try ClientRegistry().register(in: session), 0) }
                return try ClientRegistry().storedUpload(of: identity, in: session).map { (identity, $0) }
            }
            guard let (identity, stored) = opened else {
                return .failed(.init(action: .stop, message: "the client is not known", delayMilliseconds: 0))
            }
            return .opened(
                OpenedClient(
                    identity: identity, epoch: catalog.epoch,
                    milliseconds: UInt64(Date().timeIntervalSince1970 * 1_000), storedUpload: stored))
        }

        private static func read(
            after cursor: SyncCursor?, _ client: UInt64, _ catalog: SyncCatalog, _ session: PostgresSession
        ) throws -> ClientBatch {
            guard let cursor else {
                let now = try DatabaseSnapshot.read(catalog, in: session) { $0.cursor }
                return ClientBatch(cursor: now, entries: [], storedUpload: 0)
            }
            return ClientBatch(try LogReader(catalog).batch(after: cursor, in: session), client)
        }

        private func change(
            _ cursor: SyncCursor, _ former: SubscriptionFilter, _ new: SubscriptionFilter, _ client: UInt64,
            _ catalog: SyncCatalog
        ) async throws -> ServiceTaskResult {
            try await pool.run { session in
                try DatabaseSnapshot.read(catalog, in: session) { snapshot in
                    let batch = ClientBatch(try snapshot.changes(after: cursor), client)
                    var data = SubscriptionData(rows: [], leaving: [])
                    for type in Set((former.queries + new.queries).map(\.type)).sorted() {
                        try snapshot.rows(of: type) { row in
                            let (before, now) = (
                                former.contains(row.address, row.values), new.contains(row.address, row.values)
                            )
                            if now, !before { data.rows.append(row) }
                            if before, !now { data.leaving.append(row.address) }
                        }
                    }
                    return .changed(batch, data)
                }
            }
        }

        private static func result(_ outcome: UploadOutcome) -> ServiceTaskResult {
            switch outcome {
            case .stored(let reverted): .stored(reverted: reverted)
            case .duplicate: .stored(reverted: [])
            case .gap(let stored):
                .failed(
                    .init(
                        action: .retry,
                        message: "the upload does not follow upload \(stored), which is the newest stored one",
                        delayMilliseconds: 1_000))
            case .unknownClient:
                .failed(.init(action: .stop, message: "the client is not known", delayMilliseconds: 0))
            }
        }

        /// Calls the closure after each change of the database, until the task is cancelled. Errors are logged, and the next
        /// attempt follows after a second.
        ///
        /// - Parameter milliseconds: the time between two queries. Reading the snapshot of the database does not change it,
        ///   so an idle database costs one query of less than a millisecond.
        package func watch(milliseconds: Int = 20, _ changed: @Sendable () async -> Void) async {
            var last: String?
            while !Task.isCancelled {
                do {
                    let now = try await pool.run { session in
                        try session.query("SELECT pg_current_snapshot()::text").first?.text(0)
                    }
                    if now != last { await changed() }
                    last = now
                    try await Task.sleep(for: .milliseconds(milliseconds))
                } catch is CancellationError {
                    return
                } catch {
                    log("\(error)")
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    extension ClientBatch {
        fileprivate init(_ batch: LogBatch, _ client: UInt64) {
            self.init(cursor: batch.cursor, entries: batch.entries, storedUpload: batch.uploads[client] ?? 0)
        }
    }
#endif
