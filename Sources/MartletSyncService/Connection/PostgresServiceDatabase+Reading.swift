#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    extension PostgresServiceDatabase {
        /// Reads the log entries that concern the client of a session. If the log lacks values or collections that the
        /// client needs, this method reads them from the tables.
        ///
        /// - Parameters:
        ///   - cursor: the cursor of the session; nil if the session only needs the current cursor.
        ///   - isCurrent: true if the result must contain everything that was committed before the call.
        func read(
            after cursor: SyncCursor?, _ queries: [SubscribedQuery], isCurrent: Bool, _ context: SessionContext,
            _ catalog: SyncCatalog
        ) async throws -> ClientBatch {
            let client = context.client?.id ?? 0
            if isCurrent { try await feed.advance() }
            let filter = try filter(queries, context, catalog)
            if let cursor, let batch = await feed.take(context.session, after: cursor) {
                return try await completed(batch, after: cursor, filter, context, catalog)
            }
            switch try await feed.attach(context.session, client: client, after: cursor, filter) {
            case .batch(let batch): return batch
            case .behind(let end):
                guard let cursor else { preconditionFailure("a session without a cursor cannot be behind the feed") }
                metrics.add(.catchUps)
                let batch = try await batch(after: cursor, until: end, filter, client, catalog)
                return try await completed(batch, after: cursor, filter, context, catalog)
            }
        }

        private func batch(
            after cursor: SyncCursor, until end: SyncCursor, _ filter: SubscriptionFilter, _ client: UInt64,
            _ catalog: SyncCatalog
        ) async throws -> ClientBatch {
            let version = CatchUp.Version(deployment: catalog.factsID, epoch: catalog.epoch)
            if let request = CatchUp.Request(client, filter, version, after: cursor, until: end) {
                switch try await catchUps.outcome(request) {
                case .batch(let batch): return batch
                case .tooManyChanges: throw LogReaderError.tooManyChanges
                case .alone: break
                }
            }
            return try await pool.run { session in
                try self.batch(after: cursor, until: end, filter, client, catalog, session)
            }
        }

        // Reads the entries that concern a client directly from the log, without the feed.
        func batch(
            after cursor: SyncCursor, until end: SyncCursor? = nil, _ filter: SubscriptionFilter, _ client: UInt64,
            _ catalog: SyncCatalog, _ session: PostgresSession
        ) throws -> ClientBatch {
            var batch = ClientBatch(cursor: cursor, entries: [], storedUpload: 0)
            var size = 0
            batch.cursor = try LogReader(catalog).read(after: cursor, until: end, in: session) { logged in
                let isOwn = logged.origin?.client == client
                if isOwn { batch.storedUpload = max(batch.storedUpload, logged.origin?.upload ?? 0) }
                guard let entry = logged.entry, isOwn || filter.concerns(entry) else { return }
                batch.entries.append(entry)
                size += logged.bytes
                guard size <= limits.clientBytes else { throw LogReaderError.tooManyChanges }
            }
            return batch
        }

        // The log contains no collections, and some entries have no row values. If the client needs collections or
        // missing values, the service has to read them from the tables, which contain only the current state. So it
        // reads the changes again, up to a snapshot of the current state. The result can then end at a newer cursor
        // than the cursor of the feed, so the session is detached from the feed first.
        private func completed(
            _ batch: ClientBatch, after cursor: SyncCursor, _ filter: SubscriptionFilter, _ context: SessionContext,
            _ catalog: SyncCatalog
        ) async throws -> ClientBatch {
            let client = context.client?.id ?? 0
            guard catalog.isIncomplete(batch, for: client, filter.contains) else { return batch }
            await feed.detach(context.session)
            metrics.add(.catchUps)
            return try await pool.run { session in
                try DatabaseSnapshot.read(catalog, claims: context.claims, in: session) { snapshot in
                    var batch = try self.batch(after: cursor, filter, client, catalog, session)
                    try snapshot.complete(&batch, for: client, filter.contains)
                    return batch
                }
            }
        }
    }
#endif
