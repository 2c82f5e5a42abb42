#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    extension PostgresServiceDatabase {
        /// Reads the entries that concern a client, and the values and collections that the log does not contain.
        func read(
            after cursor: SyncCursor?, _ queries: [SubscribedQuery], isCurrent: Bool, _ context: SessionContext,
            _ catalog: SyncCatalog
        ) async throws -> ClientBatch {
            let client = context.client?.id ?? 0
            if isCurrent { try await feed.advance() }
            let filter = try catalog.filters.filter(queries, claims: context.claims)
            if let cursor, let batch = await feed.take(context.session, after: cursor) {
                return try await completed(batch, after: cursor, filter, context, catalog)
            }
            switch try await feed.attach(context.session, client: client, after: cursor, filter) {
            case .batch(let batch): return batch
            case .behind(let end):
                guard let cursor else { preconditionFailure("only a session with a cursor is behind") }
                metrics.add(.catchUps)
                let batch = try await pool.run { session in
                    try Self.batch(after: cursor, until: end, filter, client, catalog, session)
                }
                return try await completed(batch, after: cursor, filter, context, catalog)
            }
        }

        // The entries that concern a client, read from the log and not from the feed.
        private static func batch(
            after cursor: SyncCursor, until end: SyncCursor? = nil, _ filter: SubscriptionFilter, _ client: UInt64,
            _ catalog: SyncCatalog, _ session: PostgresSession
        ) throws -> ClientBatch {
            var batch = ClientBatch(cursor: cursor, entries: [], storedUpload: 0)
            batch.cursor = try LogReader(catalog).read(after: cursor, until: end, in: session) { entry, origin in
                let isOwn = origin?.client == client
                if isOwn, let origin { batch.storedUpload = max(batch.storedUpload, origin.upload) }
                if let entry, isOwn || filter.concerns(entry) { batch.entries.append(entry) }
            }
            return batch
        }

        // The log does not contain collections, and some entries lack row values. The service can read both only as
        // they are now. So if the client needs collections, or the batch has such entries, the service reads the
        // changes again, up to a snapshot of the current state. The result then ends at a newer cursor than the one
        // that the shared log feed has reached, so the session is removed from the feed first.
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
                    var batch = try Self.batch(after: cursor, filter, client, catalog, session)
                    try snapshot.complete(&batch, for: client, filter.contains)
                    return batch
                }
            }
        }
    }
#endif
