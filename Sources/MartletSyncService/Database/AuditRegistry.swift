#if Postgres
    package import MartletPostgres

    /// The audits and their results, in the tables `martlet.audits` and `martlet.audit_results`.
    ///
    /// A program begins an audit. Each instance of the service notices it, compares its clients with the database, and
    /// stores the results. A client with differences loads its data again, and is then compared once more.
    package struct AuditRegistry {
        /// The results of one audit.
        package struct Summary: Sendable, Equatable {
            /// The clients that were compared or will be compared.
            package var clients = 0
            /// The clients with programs that do not support audits.
            package var unsupported = 0
            /// The clients that were not compared yet, or that load their data again after a comparison.
            package var waiting = 0
            /// The clients that were compared at least once.
            package var compared = 0
            package var rows = 0
            /// The clients in which the first comparison has found differences.
            package var different = 0
            /// The parts of files in which the first comparisons have found differences.
            package var differences = 0
            /// The clients for which the second comparison has found no differences any more.
            package var repaired = 0
        }

        /// How often a client is compared in one audit.
        private static let comparisons = 2

        /// The days after which `begin` deletes an audit.
        private static let keptDays = 90

        package init() {}

        /// Begins an audit, and deletes the results of old ones. Returns the number of the audit.
        package func begin(seconds: Double, in session: PostgresSession) throws -> UInt64 {
            try session.query("DELETE FROM martlet.audits WHERE began < now() - interval '\(Self.keptDays) days'")
            let row = try session.query(
                "INSERT INTO martlet.audits (ends) VALUES (now() + make_interval(secs => \(seconds))) RETURNING id"
            ).first
            return UInt64(try row?.bigint(0) ?? 0)
        }

        /// Ends an audit, so that no further comparisons begin.
        package func end(_ audit: UInt64, in session: PostgresSession) throws {
            try session.query(
                "UPDATE martlet.audits SET ends = least(ends, now()) WHERE id = $1", [.bigint(Int64(audit))])
        }

        /// The number of the running audit; nil if there is none.
        package func running(in session: PostgresSession) throws -> UInt64? {
            try session.query("SELECT id FROM martlet.audits WHERE ends > now() ORDER BY id DESC LIMIT 1").first
                .map { UInt64(try $0.bigint(0)) }
        }

        /// Adds connected clients to an audit. Returns those that have to be compared.
        package func add(
            _ clients: Set<UInt64>, unsupported: Set<UInt64>, to audit: UInt64, in session: PostgresSession
        ) throws -> Set<UInt64> {
            func list(_ clients: Set<UInt64>) -> PostgresParameter {
                .text("{\(clients.map(String.init).sorted().joined(separator: ","))}")
            }
            try session.query(
                """
                INSERT INTO martlet.audit_results (audit, client, supported)
                SELECT $1, client, true FROM unnest($2::text::bigint[]) client
                UNION ALL SELECT $1, client, false FROM unnest($3::text::bigint[]) client
                ON CONFLICT (audit, client) DO UPDATE SET supported = excluded.supported
                    WHERE audit_results.supported <> excluded.supported
                """, [.bigint(Int64(audit)), list(clients), list(unsupported.subtracting(clients))])
            let rows = try session.query(
                """
                SELECT client FROM martlet.audit_results
                WHERE audit = $1 AND client = ANY ($2::text::bigint[]) AND \(Self.isWaiting)
                """, [.bigint(Int64(audit)), list(clients)]
            ).rows
            return Set(try rows.map { UInt64(try $0.bigint(0)) })
        }

        private static let isWaiting =
            "supported AND (comparisons = 0 OR (remaining > 0 AND comparisons < \(comparisons)))"

        /// Stores the result of a comparison. Returns true if the client has to load its data again.
        package func record(
            _ audit: UInt64, client: UInt64, rows: UInt64, differences: Int, in session: PostgresSession
        ) throws -> Bool {
            let row = try session.query(
                """
                INSERT INTO martlet.audit_results AS r
                    (audit, client, supported, comparisons, row_count, differences, remaining)
                VALUES ($1, $2, true, 1, $3, $4, $4)
                ON CONFLICT (audit, client) DO UPDATE SET supported = true, comparisons = r.comparisons + 1, row_count = $3,
                    differences = CASE WHEN r.comparisons = 0 THEN $4 ELSE r.differences END, remaining = $4
                RETURNING comparisons
                """,
                [.bigint(Int64(audit)), .bigint(Int64(client)), .bigint(Int64(rows)), .integer(Int32(differences))]
            ).first
            let comparisons = try row?.integer(0) ?? 0
            return differences > 0 && comparisons < Self.comparisons
        }

        package func summary(of audit: UInt64, in session: PostgresSession) throws -> Summary {
            let row = try session.query(
                """
                SELECT count(*) FILTER (WHERE supported), count(*) FILTER (WHERE NOT supported),
                    count(*) FILTER (WHERE \(Self.isWaiting)), count(*) FILTER (WHERE comparisons > 0),
                    coalesce(sum(row_count), 0)::bigint, count(*) FILTER (WHERE differences > 0),
                    coalesce(sum(differences), 0)::bigint,
                    count(*) FILTER (WHERE differences > 0 AND remaining = 0)
                FROM martlet.audit_results WHERE audit = $1
                """, [.bigint(Int64(audit))]
            ).first
            guard let row else { return Summary() }
            func number(_ column: Int) throws -> Int { Int(try row.bigint(column)) }
            return try Summary(
                clients: number(0), unsupported: number(1), waiting: number(2), compared: number(3), rows: number(4),
                different: number(5), differences: number(6), repaired: number(7))
        }
    }
#endif
