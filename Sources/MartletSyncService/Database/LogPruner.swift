#if Postgres
    package import MartletPostgres

    /// Deletes old entries of the log.
    ///
    /// A client with a cursor that is older than the remaining log has to load its data again. The *horizon* is the
    /// newest transaction with deleted entries. All older transactions have ended, and their entries are also deleted.
    /// So a reader only has to compare its cursor with the horizon. The new horizon is committed before the entries are
    /// deleted. So a reader that misses deleted entries always sees the new horizon.
    package struct LogPruner {
        /// Determines which entries are kept.
        package struct Retention: Sendable {
            /// Entries that are older than this number of hours are deleted; nil if the age does not matter.
            package var hours: Double?
            /// The oldest entries are deleted until the remaining entries and their indexes have about this size; nil
            /// if the size does not matter. The files of PostgreSQL do not become smaller, but PostgreSQL reuses the
            /// space of deleted entries.
            package var gigabytes: Double?

            package init(hours: Double? = nil, gigabytes: Double? = nil) {
                self.hours = hours
                self.gigabytes = gigabytes
            }
        }

        private let batchSize: Int

        /// - Parameter batchSize: the number of entries that one transaction deletes.
        package init(batchSize: Int = 10_000) { self.batchSize = max(1, batchSize) }

        /// Stores a *mark*: the current time, the number below which all transactions have ended, and the checksum of
        /// the log (`SnapshotCursor.checksum`). Does nothing if there is a mark from the last minute. `prune` finds the
        /// age of entries with these marks.
        package static func mark(in session: PostgresSession) throws {
            try session.configure(LogReader.settings)
            try session.query(
                newMark + " WHERE NOT EXISTS (SELECT FROM martlet.marks WHERE at > now() - interval '1 minute')"
                    + " ON CONFLICT DO NOTHING")
        }

        // The checksum of a mark is the checksum of an earlier mark plus the random numbers of the entries between the
        // two marks. The log must still contain all of these entries.
        private static let newMark = """
            INSERT INTO martlet.marks (xid, snapshot, checksum)
            SELECT pg_snapshot_xmin(now.snapshot), now.snapshot, former.checksum + (
                SELECT coalesce(sum(nonce), 0) FROM martlet.log
                WHERE xid >= pg_snapshot_xmax(former.snapshot) OR xid = ANY (former.open))
            FROM (SELECT pg_current_snapshot() AS snapshot) now
            LEFT JOIN LATERAL (
                SELECT snapshot, checksum, ARRAY(SELECT pg_snapshot_xip(snapshot)) AS open FROM martlet.marks
                WHERE checksum IS NOT NULL AND xid > (SELECT horizon FROM martlet.deployment)
                ORDER BY at DESC LIMIT 1) former ON true
            """

        /// If there is no mark from which checksums can be calculated, stores one without a time.
        static func beginChecksums(in session: PostgresSession) throws {
            try session.query(
                """
                INSERT INTO martlet.marks (at, xid, snapshot, checksum)
                SELECT '-infinity', pg_snapshot_xmin(pg_current_snapshot()), pg_current_snapshot(), 0
                WHERE NOT EXISTS (SELECT FROM martlet.marks
                    WHERE checksum IS NOT NULL AND xid > (SELECT horizon FROM martlet.deployment))
                ON CONFLICT (at) DO UPDATE
                SET xid = excluded.xid, snapshot = excluded.snapshot, checksum = excluded.checksum
                """)
        }

        /// Deletes the entries that the retention does not keep, and returns the number of deleted entries.
        package func prune(_ retention: Retention, in session: PostgresSession) throws -> Int {
            try Self.mark(in: session)
            let candidates = [
                try retention.hours.flatMap { try newest(hours: $0, session) },
                try retention.gigabytes.flatMap { try newest(gigabytes: $0, session) },
            ].compactMap { $0 }
            guard let newest = candidates.max() else { return 0 }
            try session.configure(LogReader.settings)
            guard let horizon = try advance(to: newest, session) else { return 0 }
            return try delete(through: horizon, session)
        }

        // The newest transaction that ended at least this number of hours ago, together with all older transactions.
        // The marks contain this information.
        private func newest(hours: Double, _ session: PostgresSession) throws -> UInt64? {
            let row = try session.query(
                """
                SELECT xid FROM martlet.marks WHERE at > '-infinity' AND at <= now() - make_interval(secs => \(max(0, hours) * 3_600))
                ORDER BY at DESC LIMIT 1
                """
            ).first
            return try row.map { UInt64(try $0.bigint(0)) - 1 }
        }

        // The newest transaction that must lose its entries so that the newer entries have about this size.
        private func newest(gigabytes: Double, _ session: PostgresSession) throws -> UInt64? {
            // Each entry needs about 100 bytes in addition to its values, including its place in the two indexes.
            let row = try session.query(
                """
                SELECT xid FROM martlet.log ORDER BY xid DESC, seq DESC LIMIT 1 OFFSET (
                    SELECT floor(\(max(0, gigabytes) * 1e9) / (coalesce(avg(pg_column_size(l.*)), 0) + 100))::bigint
                    FROM (SELECT * FROM martlet.log ORDER BY xid DESC, seq DESC LIMIT 1000) l)
                """
            ).first
            return try row.map { UInt64(try $0.bigint(0)) }
        }

        // Sets the horizon to the newest transaction up to `newest` that has entries and is older than all open
        // transactions. Returns nil if no entries can be deleted. The horizon must have entries. A client that has
        // received all entries then has this transaction in its cursor, and can continue even if its cursor is old.
        private func advance(to newest: UInt64, _ session: PostgresSession) throws -> UInt64? {
            try session.transaction {
                try session.execute("SET LOCAL synchronous_commit = on")
                // The new mark is newer than the horizon, so later checksums need none of the deleted entries. One
                // statement stores the mark and sets the horizon, so both use the same snapshot.
                let row = try session.query(
                    """
                    WITH mark AS (\(Self.newMark))
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
            // The newest mark before the horizon shows how old the horizon is. All older marks are not needed any more.
            try session.query(
                """
                DELETE FROM martlet.marks WHERE xid <
                (SELECT xid FROM martlet.marks WHERE xid <= $1 ORDER BY xid DESC LIMIT 1)
                """, [.transaction(horizon + 1)])
            return count
        }
    }
#endif
