#if Sync
    package import MartletPostgres
    package import MartletSyncProtocol

    /// The state of the database at one cursor, for reading the objects of new subscriptions.
    package struct DatabaseSnapshot {
        /// Changes after this cursor are not in the snapshot; all others are.
        package let cursor: SyncCursor
        private let session: PostgresSession
        private let catalog: SyncCatalog

        /// Calls the closure with a snapshot of now, which it may use during the call.
        package static func read<R>(
            _ catalog: SyncCatalog, in session: PostgresSession, _ body: (DatabaseSnapshot) throws -> R
        ) throws -> R {
            try session.transaction(.repeatableRead, isReadOnly: true) {
                // The first statement takes the snapshot of the transaction.
                let row = try session.query(
                    """
                    SELECT pg_current_snapshot()::text, (SELECT xid FROM martlet.log ORDER BY xid DESC LIMIT 1)
                    """
                ).first
                guard let row, let now = SnapshotCursor(SyncCursor(try row.text(0))) else {
                    throw PostgresError.malformed("a snapshot")
                }
                // The newest transaction with entries is durable. See `SnapshotCursor.restricted`.
                let newest = max(UInt64(try row.bigint(1)), catalog.horizon)
                let cursor = now.restricted(below: newest + 1).cursor
                return try body(DatabaseSnapshot(cursor: cursor, session: session, catalog: catalog))
            }
        }

        /// Calls the closure with each object of a type, in any order.
        ///
        /// - Parameter type: the number of an object type. A number of another type has no objects.
        package func rows(of type: Int, _ each: (SyncRow) throws -> Void) throws {
            guard let table = catalog.tables[type] else { return }
            let columns = table.columns.map(\.quoted).joined(separator: ", ")
            let format = RowFormat(table)
            try session.copyOut("COPY \(catalog.relation(table)) (\(columns)) TO STDOUT (FORMAT binary)") { reader in
                let values = try format.values(&reader)
                guard case .scalar(let key)? = values[table.key.path] else { throw PostgresError.malformed("a row") }
                try each(SyncRow(address: ObjectAddress(type: type, key: key), values: values))
            }
        }

        /// The changes between a cursor and the snapshot.
        package func changes(after cursor: SyncCursor) throws -> LogBatch {
            try LogReader(catalog).batch(after: cursor, in: session)
        }
    }
#endif
