#if Postgres
    package import MartletPostgres

    /// Checks a database that was prepared, without changing it.
    package struct DeploymentCheck {
        private let catalog: SyncCatalog

        package init(_ catalog: SyncCatalog) { self.catalog = catalog }

        /// What does not fit, for the person who operates the service.
        package func findings(in session: PostgresSession) throws -> [String] {
            let tables = catalog.tables.values.sorted { $0.type < $1.type }
            let check = TableCheck(session: session, tableSchema: catalog.tableSchema)
            let misfits = try tables.flatMap(check.findings)
            if !misfits.isEmpty { return misfits }
            var findings = try ruleFindings(in: session)
            for table in tables {
                for (name, relation) in relations(of: table) {
                    findings += try triggers(name, relation, session)
                    findings += try rights(relation, ["SELECT", "INSERT", "UPDATE", "DELETE"], session)
                }
            }
            findings += try rights("martlet.clients", ["SELECT", "INSERT", "UPDATE"], session)
            findings += try rights("martlet.log", ["SELECT", "INSERT"], session)
            return findings
        }

        /// The service relies on PostgreSQL to check the rules of uploads, so its role must not bypass row level
        /// security.
        func ruleFindings(in session: PostgresSession) throws -> [String] {
            guard catalog.schema.hasRules else { return [] }
            let row = try session.query(
                "SELECT rolsuper OR rolbypassrls, rolname::text FROM pg_roles WHERE rolname = current_user"
            ).first
            guard let row, row.boolean(0) else { return [] }
            return [
                "the role '\(try row.text(1))' bypasses row level security, so the rules of the schema would not hold for "
                    + "uploads; use a role without SUPERUSER and BYPASSRLS"
            ]
        }

        // The table of the objects, and those of their collections.
        private func relations(of table: SyncTable) -> [(name: String, relation: String)] {
            [(table.name, catalog.relation(table))] + table.collections.map { ($0.name, catalog.relation($0)) }
        }

        private func triggers(_ name: String, _ relation: String, _ session: PostgresSession) throws -> [String] {
            let row = try session.query(
                """
                SELECT count(*) FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname IN ($2, $3) AND tgenabled = 'A'
                """,
                [
                    .text(relation), .text(CaptureTriggers.rowTrigger),
                    .text(CaptureTriggers.truncateTrigger),
                ]
            ).first
            if try row?.bigint(0) == 2 { return [] }
            return [
                "table '\(name)' lacks the triggers that log its changes, or they are disabled; run "
                    + "'martlet-sync deploy'"
            ]
        }

        private func rights(
            _ relation: String, _ rights: [String] = ["SELECT", "INSERT", "UPDATE", "DELETE"],
            _ session: PostgresSession
        ) throws -> [String] {
            try rights.compactMap { right in
                let row = try session.query(
                    "SELECT has_table_privilege($1, $2), current_user::text", [.text(relation), .text(right)]
                ).first
                guard let row, !row.boolean(0) else { return nil }
                return "the role '\(try row.text(1))' has no right to \(right) in \(relation); grant it"
            }
        }
    }
#endif
