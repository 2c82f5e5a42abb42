#if Postgres
    package import MartletPostgres
    package import MartletSyncProtocol
    import MartletValues

    /// Reads the log.
    ///
    /// The reader returns the entries of all transactions that were committed after a given cursor, and a new cursor.
    /// One statement returns the entries and the new cursor, so they belong to the same snapshot. Therefore, successive
    /// readings miss no entry and read no entry twice.
    ///
    /// The new cursor ends with the newest transaction that has entries, because this transaction is durable. Without
    /// new entries, the new cursor differs only if a transaction has ended that was open in the given cursor.
    ///
    /// The checksum of the new cursor is the checksum of the given cursor plus the random numbers of the entries. If
    /// the caller gives both cursors, their checksums show whether they belong to the same history of the database.
    ///
    /// Reading changes settings of the PostgreSQL planner for the rest of the session. Other code that uses the same
    /// session and needs other settings has to set them itself, as `DatabaseSnapshot.rows` does.
    package struct LogReader: Sendable {
        private let catalog: SyncCatalog

        package init(_ catalog: SyncCatalog) { self.catalog = catalog }

        // Without knowledge of the parameters or statistics of the log, the planner assumes that a third of the log
        // matches. PostgreSQL would then read the whole log, with several processes and compiled code, to find a few
        // entries.
        static let settings = """
            SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off
            """

        // The first row contains the new cursor, the number of the deployed schema, the transaction of the deployment
        // (in the column `upload`) and the horizon (in the column `xid`). `LogPruner` commits the new horizon before it
        // deletes entries. So a snapshot that does not contain the deleted entries contains the new horizon.
        private static let sql = """
            SELECT NULL::bigint AS seq, pg_current_snapshot()::text AS cursor, NULL::"char" AS op, NULL::integer AS type,
                (SELECT facts FROM martlet.deployment) AS facts, NULL::bytea AS key, NULL::bytea AS old, NULL::bytea AS new,
                NULL::bigint AS client, (SELECT deployed::text::bigint FROM martlet.deployment) AS upload,
                (SELECT horizon FROM martlet.deployment) AS xid, NULL::text AS property, NULL::integer AS nonce
            UNION ALL
            SELECT seq, NULL, op, type, facts, key, old, new, client, upload, xid, property, nonce FROM martlet.log
            WHERE (xid >= $1 OR xid = ANY ($2)) AND ($3::pg_snapshot IS NULL OR pg_visible_in_snapshot(xid, $3::pg_snapshot))
            ORDER BY seq NULLS FIRST
            """

        /// The changes after a cursor, up to the current state. In a transaction with the isolation level REPEATABLE
        /// READ, they end at the snapshot of the transaction.
        ///
        /// - Parameter maximumBytes: the greatest size of the row images of the entries. If they exceed it, the batch
        ///   has no entries, and `isTooLarge` is true.
        /// - Throws: `LogReaderError`; `PostgresError`.
        package func batch(
            after cursor: SyncCursor, maximumBytes: Int = .max, in session: PostgresSession
        ) throws -> LogBatch {
            var batch = LogBatch(cursor: cursor)
            var size = 0
            batch.cursor = try read(after: cursor, in: session) { logged in
                if let origin = logged.origin {
                    batch.uploads[origin.client] = max(batch.uploads[origin.client] ?? 0, origin.upload)
                }
                size += logged.bytes
                if size > maximumBytes {
                    (batch.entries, batch.isTooLarge) = ([], true)
                } else if let entry = logged.entry {
                    batch.entries.append(entry)
                }
            }
            return batch
        }

        /// Calls the closure with each entry after a cursor as it arrives, and returns the new cursor.
        ///
        /// - Parameters:
        ///   - cursor: nil to read all entries of the log.
        ///   - last: the cursor at which the changes end; nil to read all committed changes.
        ///   - count: called with the transaction and the random number of each entry in the log.
        @discardableResult
        package func read(
            after cursor: SyncCursor?, until last: SyncCursor? = nil, in session: PostgresSession,
            counting count: (UInt64, Int64) -> Void = { _, _ in }, _ each: (LoggedEntry) throws -> Void
        ) throws -> SyncCursor {
            let (start, last) = (try Self.snapshot(cursor ?? SyncCursor("1:1:")), try last.map(Self.snapshot))
            var (end, limit, sum) = (start, start.xmax, 0 as Int64)
            try session.configure(Self.settings)
            let parameters: [PostgresParameter] = [
                .transaction(start.xmax), .transactions(start.open), .text(last?.snapshot),
            ]
            try session.forEachRow(Self.sql, parameters) { row in
                if row.isNull(0) {
                    // A newly deployed schema may have other rules, but no entry of the log shows that.
                    guard try row.integer(4) == catalog.factsID else { throw LogReaderError.schemaChanged }
                    end = try snapshot(row, after: cursor == nil ? nil : start)
                    // Every valid cursor contains the transactions up to the horizon, and the deployment.
                    if cursor == nil { limit = UInt64(max(try row.bigint(9), try row.bigint(10))) + 1 }
                    return
                }
                let transaction = UInt64(try row.bigint(10))
                limit = max(limit, transaction + 1)
                let nonce = Int64(try row.integer(12))
                sum &+= nonce
                count(transaction, nonce)
                let (entry, origin) = (try entry(row), try origin(row))
                let bytes = (6...7).reduce(0) { $0 + row.withBytes($1) { $0?.count ?? 0 } }
                if entry == nil && origin == nil { return }
                try each(LoggedEntry(entry, origin: origin, transaction: transaction, bytes: bytes))
            }
            let checksum = start.checksum.map { $0 &+ sum }
            guard let last else { return end.restricted(below: limit).with(checksum: checksum).cursor }
            if let checksum, let expected = last.checksum, checksum != expected { throw LogReaderError.unknownCursor }
            return last.cursor
        }

        private static func snapshot(_ cursor: SyncCursor) throws -> SnapshotCursor {
            guard let snapshot = SnapshotCursor(cursor) else { throw LogReaderError.unknownCursor }
            return snapshot
        }

        /// The checksum at the current snapshot; nil if it is not known. It is calculated from the newest mark.
        static func checksum(in session: PostgresSession) throws -> Int64? {
            let mark = try session.query(
                """
                SELECT snapshot::text, checksum FROM martlet.marks
                WHERE checksum IS NOT NULL AND xid > (SELECT horizon FROM martlet.deployment)
                ORDER BY at DESC LIMIT 1
                """
            ).first
            guard let mark, let snapshot = SnapshotCursor(SyncCursor(try mark.text(0))) else { return nil }
            try session.configure(Self.settings)
            let sum = try session.query(
                "SELECT coalesce(sum(nonce), 0)::bigint FROM martlet.log WHERE xid >= $1 OR xid = ANY ($2)",
                [.transaction(snapshot.xmax), .transactions(snapshot.open)]
            ).first
            return try mark.bigint(1) &+ (sum?.bigint(0) ?? 0)
        }

        // The snapshot of the reading. Throws if its log does not have all entries after the cursor of the caller.
        private func snapshot(_ row: PostgresRow, after start: SnapshotCursor?) throws -> SnapshotCursor {
            guard let now = SnapshotCursor(SyncCursor(try row.text(1))) else { throw LogReaderError.unknownCursor }
            guard let start else { return now }
            // A restored database may be older than the cursor of the client; the first two comparisons detect this. If
            // the restored database is already newer than the cursor, the checksums detect it. The log has no entries
            // up to the horizon, and may lack entries from before the deployment. So the cursor must contain all
            // transactions up to the horizon, and the transaction of the deployment.
            guard now.xmax >= start.xmax, now.xmin >= start.xmin,
                start.containsAll(through: UInt64(try row.bigint(10))), start.contains(UInt64(try row.bigint(9)))
            else { throw LogReaderError.unknownCursor }
            return now
        }

        private func origin(_ row: PostgresRow) throws -> LogEntry.Origin? {
            if row.isNull(8) { return nil }
            return LogEntry.Origin(client: UInt64(try row.bigint(8)), upload: UInt64(try row.bigint(9)))
        }

        private func entry(_ row: PostgresRow) throws -> LogEntry? {
            let operation = row.bytes(2).first
            if operation == UInt8(ascii: "a") { return nil }
            let (facts, type) = (try row.integer(4), try row.integer(3))
            guard let format = catalog.format(facts: facts, type: type) else {
                // No client can subscribe to a removed type.
                if catalog.isRemovedType(facts: facts, type: type) { return nil }
                throw LogReaderError.schemaChanged
            }
            if operation == UInt8(ascii: "n") {
                var reader = try MessageReader(row.bytes(5))
                let address = ObjectAddress(type: format.type, key: try reader.value())
                return LogEntry(address: address, old: nil, new: nil, origin: try origin(row), isTouch: true)
            }
            var entry = LogEntry(
                address: try row.withBytes(5) { try format.address($0) }, old: try values(row, 6, format),
                new: try values(row, 7, format), origin: try origin(row),
                isTouch: operation == UInt8(ascii: "t"))
            // These entries do not change the values of the object, so the log stores the values once, in `new`.
            if entry.isTouch || operation == UInt8(ascii: "e") { entry.old = entry.new }
            if !row.isNull(11), let table = catalog.tables[format.type] {
                if let property = table.collection(named: try row.text(11)) { entry.collections = [property] }
                if operation == UInt8(ascii: "e"), entry.new == nil {
                    (entry.isUnseen, entry.isTouch) = (!table.isUploadOnly, table.isUploadOnly)
                }
            }
            return entry
        }

        private func values(_ row: PostgresRow, _ column: Int, _ format: RowFormat) throws -> [ValuePath: SyncValue]? {
            try row.withBytes(column) { bytes in
                guard let bytes else { return nil }
                var reader = try FieldReader(record: bytes)
                return try format.values(&reader)
            }
        }
    }
#endif
