#if Postgres
    import Foundation
    import MartletPostgres
    package import MartletSyncProtocol
    import Synchronization

    /// Runs the tasks of sessions on PostgreSQL.
    ///
    /// All tasks share one catalog, which a mutex guards. A running task keeps the catalog with which it began, even if
    /// a new one is loaded.
    package final class PostgresServiceDatabase: ServiceDatabase {
        let pool: ConnectionPool
        private let feedPool: ConnectionPool
        private let shared: SharedCatalog
        let feed: LogFeed
        private let verify: @Sendable (String) async throws -> AuthenticatedUser
        let log: @Sendable (String) -> Void
        package let metrics = ServiceMetrics()
        let limits: MemoryLimits
        let catchUps: CatchUpReader
        private let sessionFilters = Mutex<[SessionID: SessionFilter]>([:])
        private let loading = Mutex<Task<Void, Never>?>(nil)

        /// The filter of a session, and the values from which it was made.
        private struct SessionFilter {
            let queries: [SubscribedQuery]
            let claims: String
            let deployment: Int
            let filter: SubscriptionFilter
        }

        /// The newest catalog that the instance has loaded.
        private final class SharedCatalog: Sendable {
            private let catalog: Mutex<SyncCatalog>
            private let isOutdated = Atomic(false)

            init(_ catalog: SyncCatalog) { self.catalog = Mutex(catalog) }

            /// True after an error, such as a failover. The database may then have another history, so the instance
            /// must load the catalog again before it reads the log.
            var needsLoading: Bool {
                get { isOutdated.load(ordering: .sequentiallyConsistent) }
                set { isOutdated.store(newValue, ordering: .sequentiallyConsistent) }
            }

            var current: SyncCatalog {
                get { catalog.withLock { $0 } }
                set { catalog.withLock { $0 = newValue } }
            }
        }

        /// Reads the catalog of the database.
        ///
        /// - Parameters:
        ///   - verify: returns the user of a token, or throws if the token is not valid.
        ///   - log: called with the text of each error. The text may contain values of rows.
        /// - Throws: `PostgresError`; `DeploymentError` if the database is not prepared, or if the schema has rules and
        ///   the role of the service bypasses row level security.
        package init(
            _ pool: ConnectionPool, limits: MemoryLimits = MemoryLimits(),
            verify: @escaping @Sendable (String) async throws -> AuthenticatedUser,
            log: @escaping @Sendable (String) -> Void
        ) async throws {
            let shared = SharedCatalog(
                try await pool.run { session in
                    let catalog = try SyncCatalog(session)
                    let findings = try DeploymentCheck(catalog).ruleFindings(in: session)
                    guard findings.isEmpty else { throw DeploymentError(findings: findings) }
                    return catalog
                })
            shared.current.unfitting.setLog(log)
            self.pool = pool
            self.limits = limits
            // The feed has a connection of its own. So the instance can read the log even while statements of tasks
            // wait for locks on all connections of `pool`.
            let feedPool = pool.separate(count: 1)
            self.feedPool = feedPool
            self.shared = shared
            self.verify = verify
            self.log = log
            let metrics = self.metrics
            var catchUpLimits = CatchUp.Limits()
            (catchUpLimits.requestBytes, catchUpLimits.bytes) = (limits.clientBytes, 4 * limits.feedBytes)
            catchUps = CatchUpReader(limits: catchUpLimits) { catchUp in
                let catalog = shared.current
                // The conditions contain numbers of types, which are valid only in the catalog of the requests.
                guard catchUp.version == CatchUp.Version(deployment: catalog.factsID, epoch: catalog.epoch) else {
                    return catchUp.outcomes
                }
                return try await pool.run { session in
                    var catchUp = catchUp
                    do {
                        try LogReader(catalog).read(
                            after: catchUp.start, until: catchUp.end, in: session,
                            counting: { catchUp.count($0, $1) }
                        ) { try catchUp.add($0) }
                        catchUp.finish()
                    } catch is CatchUp.Ended {}
                    return catchUp.outcomes
                }
            }
            feed = LogFeed { cursor in
                guard !shared.needsLoading else { throw LogReaderError.interrupted }
                metrics.add(.logReadings)
                let catalog = shared.current
                do {
                    let batch = try await feedPool.run { session in
                        guard let cursor else {
                            return LogBatch(cursor: try DatabaseSnapshot.currentCursor(catalog, in: session))
                        }
                        return try LogReader(catalog).batch(
                            after: cursor, maximumBytes: limits.feedBytes, in: session)
                    }
                    metrics.add(.logEntries, batch.entries.count)
                    return batch
                } catch {
                    shared.needsLoading = true
                    // The invalid cursor is the cursor of the feed. The cursor of the session may be valid.
                    throw (error as? LogReaderError) == .unknownCursor ? LogReaderError.interrupted : error
                }
            }
            // A new connection may lead to a database with another history, for example after a failover.
            pool.setCheck { session in
                guard try SyncCatalog.epoch(session) == shared.current.epoch else { throw LogReaderError.schemaChanged }
            }
        }

        /// Makes a filter from the queries of a user. Throws if the service refuses the queries.
        package func compile(
            _ queries: [SubscribedQuery], _ user: AuthenticatedUser
        ) throws(RefusedQueries) -> SubscriptionFilter {
            try shared.current.filters.filter(queries, claims: user.claims)
        }

        /// The number of sessions for which the feed collects entries of the log.
        package var attachedCount: Int { get async { await feed.attachedCount } }

        package func report(_ error: any Error) { log("\(error)") }

        package func ended(_ session: SessionID) async {
            sessionFilters.withLock { $0[session] = nil }
            await feed.remove(session)
        }

        /// The filter for the queries of a session. The filter is cached, because most tasks of a session use the same
        /// queries.
        func filter(
            _ queries: [SubscribedQuery], _ context: SessionContext, _ catalog: SyncCatalog
        ) throws(RefusedQueries) -> SubscriptionFilter {
            let known = sessionFilters.withLock { $0[context.session] }
            if let known, known.deployment == catalog.factsID, known.claims == context.claims, known.queries == queries
            {
                return known.filter
            }
            let filter = try catalog.filters.filter(queries, claims: context.claims)
            let kept = SessionFilter(
                queries: queries, claims: context.claims, deployment: catalog.factsID, filter: filter)
            sessionFilters.withLock { $0[context.session] = kept }
            return filter
        }

        package func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult {
            let result = await attempt(task, context)
            switch result {
            case .authenticated, .read, .summed, .recorded: break
            case .opened: metrics.add(.clientsOpened)
            case .changed: metrics.add(.subscriptionChanges)
            case .stored(let reverted):
                if case .store(let uploads) = task { metrics.add(.uploadsStored, uploads.count) }
                metrics.add(.objectsReverted, reverted.reduce(0) { $0 + $1.objects.count })
            case .failed:
                if case .authenticate = task { metrics.add(.tokensRefused) } else { metrics.add(.tasksFailed) }
            }
            return result
        }

        private func attempt(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult {
            do {
                return try await result(task, context)
            } catch let error as PostgresError {
                log(error.logText)
                return .failed(.init(action: .retry, message: error.description, delayMilliseconds: 1_000))
            } catch LogReaderError.unknownCursor {
                return .failed(
                    .init(
                        action: .startAgain,
                        message: "the position of the client is older than the log, or belongs to another database",
                        delayMilliseconds: 0))
            } catch LogReaderError.tooManyChanges {
                return .failed(
                    .init(
                        action: .startAgain, message: "the client has missed too many changes", delayMilliseconds: 0))
            } catch LogReaderError.schemaChanged {
                await reload()
                return .failed(Self.changedSchema)
            } catch LogReaderError.interrupted {
                return .failed(
                    .init(
                        action: .retry, message: "the service connects to the database again", delayMilliseconds: 1_000)
                )
            } catch let error as InvalidUpload {
                return .failed(.init(action: .stop, message: error.description, delayMilliseconds: 0))
            } catch {
                log("\(error)")
                return .failed(.init(action: .retry, message: "the task failed", delayMilliseconds: 1_000))
            }
        }

        private static let changedSchema = ServiceMessage.Failure(
            action: .retry, message: "the schema of the service has changed", delayMilliseconds: 100)

        // Loads the catalog again. If the schema or the epoch has changed, the next tasks of open sessions fail, and
        // their clients connect again.
        private func load() async throws {
            shared.needsLoading = true
            await feed.reset()
            let new = try await feedPool.run { try SyncCatalog($0) }
            new.unfitting.setLog(log)
            shared.current = new
            shared.needsLoading = false
            await feed.reset()
        }

        // Many sessions can detect a change of the catalog at the same time. All of them wait for one loading.
        private func reload() async {
            let task = loading.withLock { running in
                if let running { return running }
                let task = Task {
                    do {
                        try await load()
                    } catch {
                        log("\(error)")
                    }
                    loading.withLock { $0 = nil }
                }
                running = task
                return task
            }
            await task.value
        }

        // MARK: Tasks

        private func result(_ task: ServiceTask, _ context: SessionContext) async throws -> ServiceTaskResult {
            let catalog = shared.current
            switch task {
            case .read, .change, .store, .sum, .record:
                // The task contains numbers of types and properties, which are valid only in the schema with which the
                // client was opened.
                guard context.schemaHash == catalog.schemaHash, context.deployment == catalog.factsID,
                    context.epoch == catalog.epoch
                else {
                    return .failed(Self.changedSchema)
                }
            case .authenticate, .open: break
            }
            switch task {
            case .authenticate(let token):
                do {
                    return .authenticated(try await verify(token))
                } catch {
                    log("a token is not valid: \(error)")
                    return .failed(.init(action: .signIn, message: "the token is not valid", delayMilliseconds: 0))
                }
            case .open(let identity, let hasPosition):
                return try await open(identity, hasPosition: hasPosition, context)
            case .read(let cursor, let queries, let isCurrent):
                return .read(try await read(after: cursor, queries, isCurrent: isCurrent, context, catalog))
            case .change(let cursor, let former, let new):
                // The task moves the session to a cursor that differs from that of the feed.
                await feed.detach(context.session)
                return try await change(cursor, former, new, context, catalog)
            case .store(let uploads):
                let client = context.client?.id ?? 0
                let outcomes = try await pool.run { session in
                    try UploadWriter(catalog).store(uploads, of: client, claims: context.claims, in: session)
                }
                return Self.result(uploads, outcomes)
            case .sum(let cursor, let queries):
                // The task moves the session to a cursor that differs from that of the feed.
                await feed.detach(context.session)
                return try await sums(after: cursor, queries, context, catalog)
            case .record(let result):
                return .recorded(repairs: try await record(result, context, catalog))
            }
        }

        private func open(
            _ identity: ClientIdentity?, hasPosition: Bool, _ context: SessionContext
        ) async throws -> ServiceTaskResult {
            let schemaHash = context.schemaHash
            if shared.current.refusal(of: schemaHash) != nil {
                // The schema of the client may have been deployed after this instance loaded its catalog.
                let new = try await pool.run { try SyncCatalog($0) }
                if let failure = new.refusal(of: schemaHash) { return .failed(failure) }
                new.unfitting.setLog(log)
                shared.current = new
                await feed.reset()
            }
            let catalog = shared.current
            let readability = try catalog.filters.readability(claims: context.claims)
            func opened(
                _ identity: ClientIdentity, _ stored: UInt64, _ time: UInt64, _ reverted: [RevertedUpload] = []
            ) -> ServiceTaskResult {
                let milliseconds = UInt64(Date().timeIntervalSince1970 * 1_000)
                return .opened(
                    OpenedClient(
                        identity: identity, epoch: catalog.epoch, milliseconds: milliseconds, storedUpload: stored,
                        storedTime: time, reverted: reverted, deployment: catalog.factsID))
            }
            guard let identity else {
                return opened(
                    try await pool.run { try ClientRegistry().register(readability: readability, in: $0) }, 0, 0)
            }
            let client = try await pool.run { session in
                try ClientRegistry().client(
                    identity, hasPosition: hasPosition, readability: readability,
                    acknowledged: context.acknowledgedUpload, in: session)
            }
            switch client {
            case .known(let stored, let time, let reverted): return opened(identity, stored, time, reverted)
            case .unknown:
                return .failed(
                    .init(action: .registerAgain, message: "the service does not know the client", delayMilliseconds: 0)
                )
            case .otherRights:
                return .failed(
                    .init(action: .startAgain, message: "the rights of the user have changed", delayMilliseconds: 0))
            }
        }

        private static func result(
            _ uploads: [ClientMessage.Upload], _ outcomes: [UploadOutcome]
        ) -> ServiceTaskResult {
            var reverted: [RevertedUpload] = []
            for (upload, outcome) in zip(uploads, outcomes) {
                switch outcome {
                case .stored(let objects) where !objects.isEmpty:
                    reverted.append(RevertedUpload(number: upload.number, objects: objects))
                case .stored, .duplicate: break
                case .gap(let stored):
                    return .failed(
                        .init(
                            action: .retry,
                            message: "the upload does not follow upload \(stored), which is the newest stored one",
                            delayMilliseconds: 1_000))
                case .unknownClient:
                    return .failed(
                        .init(
                            action: .registerAgain, message: "the service does not know the client",
                            delayMilliseconds: 0))
                }
            }
            return .stored(reverted: reverted)
        }

        // MARK: Watching

        /// Reads the log at regular intervals until the current Swift task is cancelled. After an error, it logs the
        /// error and tries again a second later.
        ///
        /// - Parameters:
        ///   - milliseconds: the time between two readings of the log. A reading of an idle database costs less than a
        ///     millisecond.
        ///   - changed: called with the sessions that may have new entries. The argument is nil if every session may
        ///     have new entries.
        package func watch(
            milliseconds: Int = 20, _ changed: @escaping @Sendable (Set<SessionID>?) async -> Void
        ) async {
            await feed.observe(changed)
            var nextMark = ContinuousClock.now
            while !Task.isCancelled {
                do {
                    // The last error may have been a failover. The database can then have another history and another
                    // epoch. So the instance loads the catalog, which contains the epoch, before it reads the log.
                    if shared.needsLoading { try await load() }
                    try await feed.advance()
                    if ContinuousClock.now >= nextMark {
                        nextMark = .now + .seconds(60)
                        try await mark()
                    }
                    try await Task.sleep(for: .milliseconds(milliseconds))
                } catch is CancellationError {
                    break
                } catch {
                    log((error as? PostgresError)?.logText ?? "\(error)")
                    shared.needsLoading = true
                    try? await Task.sleep(for: .seconds(1))
                }
            }
            await feed.observe(nil)
        }

        // A mark is not necessary for the sessions. So an error of the statement, for example a timeout, is only
        // logged.
        private func mark() async throws {
            do {
                try await feedPool.run { try LogPruner.mark(in: $0) }
            } catch let error as PostgresError where !error.endsConnection {
                log(error.logText)
            }
        }
    }

    extension SyncCatalog {
        /// The failure for a client with this schema hash; nil if the service accepts the schema.
        fileprivate func refusal(of hash: [UInt8]) -> ServiceMessage.Failure? {
            if hash == schemaHash { return nil }
            let message =
                knownHashes.contains(hash)
                ? "a newer schema than that of this program was deployed; update the program"
                : "the schema of this program is not deployed; deploy it first: write its facts with 'martlet facts', and "
                    + "run 'martlet-sync deploy --facts FILE'"
            return .init(action: .stop, message: message, delayMilliseconds: 0)
        }
    }
#endif
