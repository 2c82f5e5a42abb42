#if Postgres
    package import MartletPostgres

    /// Checks a database on which `Deployment` has run. The check changes nothing.
    package struct DeploymentCheck {
        private let catalog: SyncCatalog

        package init(_ catalog: SyncCatalog) { self.catalog = catalog }

        /// Returns one message for each table, column, trigger or right that does not fit. The messages are written for
        /// the person who operates the service.
        package func findings(in session: PostgresSession) throws -> [String] {
            let tables = catalog.tables.values.sorted { $0.type < $1.type }
            let check = TableCheck(session: session, tableSchema: catalog.tableSchema)
            let misfits = try tables.flatMap(check.findings)
            if !misfits.isEmpty { return misfits }
            var findings = try ruleFindings(in: session)
            for table in tables {
                findings += try self.findings(table.name, catalog.relation(table), [], session)
                for collection in table.collections {
                    let position = collection.kind == .list ? [ElementTriggers.positionTrigger] : []
                    findings += try self.findings(collection.name, catalog.relation(collection), position, session)
                }
            }
            findings += try rights("martlet.clients", ["SELECT", "INSERT", "UPDATE"], session)
            findings += try rights("martlet.log", ["SELECT", "INSERT"], session)
            findings += try rights("martlet.marks", ["SELECT", "INSERT"], session)
            findings += try rights("martlet.audits", ["SELECT"], session)
            findings += try rights("martlet.audit_results", ["SELECT", "INSERT", "UPDATE"], session)
            return findings
        }

        /// Returns a message if the schema has rules and the role of the service bypasses row level security. The
        /// service relies on PostgreSQL to apply the rules to uploads.
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

        // Checks the triggers and rights of one table, which contains objects or the elements of a collection.
        private func findings(
            _ name: String, _ relation: String, _ otherTriggers: [String], _ session: PostgresSession
        ) throws -> [String] {
            let names = [CaptureTriggers.rowTrigger, CaptureTriggers.truncateTrigger] + otherTriggers
            let found = try session.query(
                "SELECT tgname::text FROM pg_trigger WHERE tgrelid = $1::regclass AND tgenabled = 'A'",
                [.text(relation)]
            ).rows.map { try $0.text(0) }
            let rights = try rights(relation, ["SELECT", "INSERT", "UPDATE", "DELETE"], session)
            if Set(found).isSuperset(of: names) { return rights }
            return [
                "table '\(name)' lacks the triggers that log its changes, or they are disabled; run "
                    + "'martlet-sync deploy'"
            ] + rights
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
