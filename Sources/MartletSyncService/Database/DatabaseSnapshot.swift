#if Postgres
    package import MartletPostgres
    package import MartletSyncProtocol

    /// The state of the database at one cursor. From such a snapshot, the service reads the objects of new
    /// subscriptions, and whole collections.
    package struct DatabaseSnapshot {
        /// The snapshot contains all changes up to this cursor, and none after it.
        package let cursor: SyncCursor
        let session: PostgresSession
        let catalog: SyncCatalog

        /// The cursor of the current state, with its checksum.
        static func currentCursor(_ catalog: SyncCatalog, in session: PostgresSession) throws -> SyncCursor {
            try read(catalog, in: session) { snapshot in
                guard let cursor = SnapshotCursor(snapshot.cursor) else { throw PostgresError.malformed("a snapshot") }
                return cursor.with(checksum: try LogReader.checksum(in: session)).cursor
            }
        }

        /// Calls the closure with a snapshot of the current state. The snapshot is valid only during the call.
        ///
        /// - Parameter claims: the claims of the user for whom the rows are read, as JSON.
        package static func read<R>(
            _ catalog: SyncCatalog, claims: String = "{}", in session: PostgresSession,
            _ body: (DatabaseSnapshot) throws -> R
        ) throws -> R {
            try session.transaction(.repeatableRead, isReadOnly: true) {
                // The first statement takes the snapshot of the transaction.
                let row = try session.query(
                    """
                    SELECT pg_current_snapshot()::text, (SELECT xid FROM martlet.log ORDER BY xid DESC LIMIT 1),
                        (SELECT greatest(horizon, deployed) FROM martlet.deployment)
                    """
                ).first
                guard let row, let now = SnapshotCursor(SyncCursor(try row.text(0))) else {
                    throw PostgresError.malformed("a snapshot")
                }
                // The cursor ends with the newest transaction that has entries or has run a deployment. This
                // transaction is durable, and newer ones may not be. See `SnapshotCursor.restricted`.
                let newest = UInt64(max(try row.bigint(1), try row.bigint(2)))
                let cursor = now.restricted(below: newest + 1).cursor
                try session.set(claims: claims)
                return try body(DatabaseSnapshot(cursor: cursor, session: session, catalog: catalog))
            }
        }

        /// If the SQL filter is longer than this, the service reads all rows, because the filter would cost more time
        /// than it saves.
        private static let maximumFilterBytes = 1 << 20

        /// Calls the closure with each object of a type, in any order.
        ///
        /// - Parameters:
        ///   - type: the number of a type. The closure is not called for an embedded type, or for a type that clients
        ///     do not receive.
        ///   - conditions: the closure is called for each object that satisfies at least one of these conditions, and
        ///     may also be called for other objects. Nil for all objects.
        package func rows(
            of type: Int, satisfying conditions: [SubscriptionCondition]? = nil, _ each: (SyncRow) throws -> Void
        ) throws {
            guard let table = catalog.tables[type], !table.isUploadOnly else { return }
            let format = RowFormat(table, catalog.unfitting)
            let filter = filter(type, conditions)
            // `LogReader` disables sequential scans for its session, but the query below may read a whole table.
            try session.execute("SET LOCAL enable_seqscan = on")
            if !table.collections.isEmpty { return try rowsWithCollections(table, filter, each) }
            try session.copyOut("COPY (\(query(table, filter))) TO STDOUT (FORMAT binary)") { reader in
                try each(try format.row(&reader))
            }
        }

        /// PostgreSQL's estimate of the number of objects that `rows` reads.
        func estimatedCount(of type: Int, satisfying conditions: [SubscriptionCondition]) throws -> Int {
            guard let table = catalog.tables[type], !table.isUploadOnly else { return 0 }
            let plan = try session.execute("EXPLAIN \(query(table, filter(type, conditions)))").first?.text(0) ?? ""
            // The first line is like `Seq Scan on dog t  (cost=0.00..35.50 rows=2550 width=36)`.
            return plan.split(separator: " ").lazy.compactMap { word in
                word.hasPrefix("rows=") ? Int(word.dropFirst(5)) : nil
            }.first ?? 0
        }

        private func query(_ table: SyncTable, _ filter: String?) -> String {
            let columns = table.columns.map { "t." + $0.quoted }.joined(separator: ", ")
            return "SELECT \(columns) FROM \(catalog.relation(table)) t" + (filter.map { " WHERE \($0)" } ?? "")
        }

        private func filter(_ type: Int, _ conditions: [SubscriptionCondition]?) -> String? {
            let filter = conditions.flatMap { ConditionSQL.literal($0, type: catalog.schema.types[type]) }
            return filter.map { $0.utf8.count > Self.maximumFilterBytes } ?? false ? nil : filter
        }
    }
#endif
