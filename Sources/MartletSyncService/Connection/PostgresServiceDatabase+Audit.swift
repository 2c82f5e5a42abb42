#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol

    extension PostgresServiceDatabase {
        /// Reads the changes for the queries. Also calculates, at the same snapshot, the checksums of the objects that the
        /// queries contain.
        func sums(
            after cursor: SyncCursor, _ queries: [SubscribedQuery], _ context: SessionContext, _ catalog: SyncCatalog
        ) async throws -> ServiceTaskResult {
            let filter = try filter(queries, context, catalog)
            let client = context.client?.id ?? 0
            return try await pool.run { session in
                try DatabaseSnapshot.read(catalog, claims: context.claims, in: session) { snapshot in
                    var batch = try self.batch(after: cursor, filter, client, catalog, session)
                    try snapshot.complete(&batch, for: client, filter.contains)
                    var summer = RowSummer(catalog.schema.agreed)
                    for (type, conditions) in filter.conditions {
                        try snapshot.rows(of: type, satisfying: conditions) { row in
                            if filter.contains(row.address, row.values) { summer.add(row) }
                        }
                    }
                    return .summed(batch, summer.sums)
                }
            }
        }

        /// Stores and logs the result of an audit. Returns true if the client has to load its data again.
        func record(_ result: AuditResult, _ context: SessionContext, _ catalog: SyncCatalog) async throws -> Bool {
            guard let differences = result.differences, let client = context.client?.id else { return false }
            metrics.add(.clientsAudited)
            metrics.add(.rowsAudited, Int(clamping: result.rowCount))
            metrics.add(.auditDifferences, differences.count)
            for difference in differences.prefix(Self.loggedDifferences) {
                // A client may send any number as the number of a type.
                let type = catalog.schema.agreed.type(difference.bucket.type)?.name ?? "\(difference.bucket.type)"
                log(
                    "audit \(result.audit): client \(client), '\(type)', bucket \(difference.bucket.number): "
                        + "\(difference.clientCount) rows in the file, \(difference.databaseCount) in the database")
            }
            let repairs = try await pool.run { session in
                try AuditRegistry().record(
                    result.audit, client: client, rows: result.rowCount, differences: differences.count, in: session)
            }
            if !differences.isEmpty {
                log(
                    "audit \(result.audit): client \(client) differs in \(differences.count) buckets; "
                        + (repairs ? "it loads its data again" : "it differs after loading its data again"))
            }
            return repairs
        }

        /// How many differences of one client are logged.
        private static let loggedDifferences = 20

        // MARK: Clients

        /// Audits the clients of this instance while an audit runs, until the current Swift task is cancelled. After an
        /// error, it logs the error and tries again later.
        ///
        /// - Parameters:
        ///   - milliseconds: the time between two searches for an audit.
        ///   - sessions: returns the open sessions of the instance.
        package func auditClients(
            milliseconds: Int = 1_000, _ sessions: @escaping @Sendable () -> [SessionDriver]
        ) async {
            var pause = milliseconds
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(pause))
                pause = milliseconds
                do {
                    try await auditOnce(sessions())
                } catch is CancellationError {
                    return
                } catch {
                    log("audit: \((error as? PostgresError)?.logText ?? "\(error)")")
                    // The role may lack the rights for the tables of audits, so this error may occur each time.
                    pause = max(milliseconds, 60_000)
                }
            }
        }

        private func auditOnce(_ sessions: [SessionDriver]) async throws {
            guard let audit = try await pool.run({ try AuditRegistry().running(in: $0) }) else { return }
            var clients: [UInt64: SessionDriver] = [:]
            var unsupported: Set<UInt64> = []
            for session in sessions {
                guard let client = await session.auditedClient else { continue }
                if client.isSupported { clients[client.id] = session } else { unsupported.insert(client.id) }
            }
            let (known, old) = (Set(clients.keys), unsupported)
            let waiting = try await pool.run { session in
                try AuditRegistry().add(known, unsupported: old, to: audit, in: session)
            }
            // Only a few clients are compared at a time, because each comparison reads all objects of the client.
            await withTaskGroup(of: Void.self) { group in
                for (number, client) in waiting.enumerated() {
                    guard let session = clients[client] else { continue }
                    if number >= Self.clientsAuditedTogether { await group.next() }
                    group.addTask { await Self.compare(session, audit) }
                }
            }
        }

        private static let clientsAuditedTogether = 2

        /// The time limit for the checksums of one client. After this time, the next client is compared.
        private static let clientSeconds = 60

        private static func compare(_ session: SessionDriver, _ audit: UInt64) async {
            await session.audit(audit)
            let end = ContinuousClock.now + .seconds(clientSeconds)
            while await session.isAuditing, ContinuousClock.now < end, !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
    }
#endif
