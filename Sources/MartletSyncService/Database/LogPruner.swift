#if Postgres
    package import MartletPostgres

    /// Deletes old entries of the log.
    ///
    /// A client whose cursor is older than the remaining log starts again. The horizon is the newest transaction whose
    /// entries are deleted. All older transactions have ended, and their entries are deleted too, so a reader only has
    /// to compare its cursor with this one number. The new horizon is committed before the entries are deleted.
    package struct LogPruner {
        /// Which entries are kept.
        package struct Retention: Sendable {
            /// Entries that are older than this are deleted; nil if the age does not matter.
            package var hours: Double?
            /// The oldest entries are deleted until the remaining entries and their indexes have about this size; nil
            /// if the size does not matter. PostgreSQL reuses the space, but the files do not become smaller.
            package var gigabytes: Double?

            package init(hours: Double? = nil, gigabytes: Double? = nil) {
                self.hours = hours
                self.gigabytes = gigabytes
            }
        }

        private let batchSize: Int

        /// - Parameter batchSize: the number of entries that one transaction deletes.
        package init(batchSize: Int = 10_000) { self.batchSize = max(1, batchSize) }

        /// Stores a mark: the present time, and the number below which all transactions have ended. Does nothing if
        /// there is a mark from the last minute. `prune` finds the age of entries by these marks.
        package static func mark(in session: PostgresSession) throws {
            try session.query(
                """
                INSERT INTO martlet.marks (xid) SELECT pg_snapshot_xmin(pg_current_snapshot())
                WHERE NOT EXISTS (SELECT FROM martlet.marks WHERE at > now() - interval '1 minute')
                ON CONFLICT DO NOTHING
                """)
        }

        /// Deletes what is not kept, and returns the number of deleted entries.
        package func prune(_ retention: Retention, in session: PostgresSession) throws -> Int {
            try Self.mark(in: session)
            let candidates = [
                try retention.hours.flatMap { try newest(hours: $0, session) },
                try retention.gigabytes.flatMap { try newest(gigabytes: $0, session) },
            ].compactMap { $0 }
            guard let newest = candidates.max() else { return 0 }
            guard let horizon = try advance(to: newest, session) else { return 0 }
            return try delete(through: horizon, session)
        }

        // The newest transaction that is known, like all older ones, to have ended more than this number of hours ago.
        private func newest(hours: Double, _ session: PostgresSession) throws -> UInt64? {
            let row = try session.query(
                """
                SELECT xid FROM martlet.marks WHERE at <= now() - make_interval(secs => \(max(0, hours) * 3_600))
                ORDER BY at DESC LIMIT 1
                """
            ).first
            return try row.map { UInt64(try $0.bigint(0)) - 1 }
        }

        private func newest(gigabytes: Double, _ session: PostgresSession) throws -> UInt64? {
            // A row of the table and of its two indexes has about 100 bytes of overhead.
            let row = try session.query(
                """
                SELECT xid FROM martlet.log ORDER BY xid DESC, seq DESC LIMIT 1 OFFSET (
                    SELECT floor(\(max(0, gigabytes) * 1e9) / (coalesce(avg(pg_column_size(l.*)), 0) + 100))::bigint
                    FROM (SELECT * FROM martlet.log ORDER BY xid DESC, seq DESC LIMIT 1000) l)
                """
            ).first
            return try row.map { UInt64(try $0.bigint(0)) }
        }

        // Sets the horizon to a transaction that has entries. So a client that knows all entries can continue, however
        // old its cursor is. Returns nil if the log has no entries that can be deleted.
        private func advance(to newest: UInt64, _ session: PostgresSession) throws -> UInt64? {
            try session.transaction {
                try session.execute("SET LOCAL synchronous_commit = on")
                let row = try session.query(
                    """
                    UPDATE martlet.deployment SET horizon = greatest(horizon, newest.xid) FROM (
                        SELECT xid FROM martlet.log WHERE xid <= $1 AND xid < pg_snapshot_xmin(pg_current_snapshot())
                        ORDER BY xid DESC LIMIT 1) newest
                    RETURNING horizon
                    """, [.transaction(newest)]
                ).first
                return try row.map { UInt64(try $0.bigint(0)) }
            }
        }

        private func delete(through horizon: UInt64, _ session: PostgresSession) throws -> Int {
            var count = 0
            while true {
                let deleted = try session.query(
                    """
                    DELETE FROM martlet.log WHERE (xid, seq) IN
                    (SELECT xid, seq FROM martlet.log WHERE xid <= $1 ORDER BY xid, seq LIMIT \(batchSize))
                    """, [.transaction(horizon)]
                ).affectedRows
                count += deleted
                if deleted < batchSize { break }
            }
            // The marks before the horizon are not needed any more, except the newest of them: it shows how old the
            // horizon is.
            try session.query(
                """
                DELETE FROM martlet.marks WHERE xid <
                (SELECT xid FROM martlet.marks WHERE xid <= $1 ORDER BY xid DESC LIMIT 1)
                """, [.transaction(horizon + 1)])
            return count
        }
    }
#endif
