#if Postgres
    package import MartletPostgres

    /// The reasons why a database cannot be synchronized.
    package struct DeploymentError: Error, Sendable, Equatable, CustomStringConvertible {
        /// One line for each table, column or setting that does not fit.
        package let findings: [String]

        package var description: String {
            (findings + ["run 'martlet postgres' for the statements that create or change the tables"])
                .joined(separator: "\n")
        }
    }

    /// Prepares a database for synchronization.
    package struct Deployment {
        private let schema: SyncSchema
        private let tables: [SyncTable]
        private let tableSchema: String

        /// - Parameters:
        ///   - schema: the schema of the programs that are synchronized.
        ///   - tableSchema: the SQL schema of the tables.
        package init(_ schema: SyncSchema, tableSchema: String = "public") throws {
            self.schema = schema
            self.tableSchema = tableSchema
            let tables = try schema.tables()
            _ = try schema.readRules(tables)
            self.tables = tables.values.sorted { $0.type < $1.type }
        }

        /// Checks the tables, and installs or updates the schema `martlet` and the triggers, in one transaction. A
        /// second run with the same schema changes nothing.
        ///
        /// The role of the session must own the tables. Writers of the tables wait until the transaction has ended.
        ///
        /// - Throws: `DeploymentError` if a table does not fit; `PostgresError`.
        package func run(in session: PostgresSession) throws {
            try session.transaction {
                // The column `deployed` contains the number of this transaction. If a crash lost the transaction,
                // PostgreSQL could assign its number again.
                try session.execute("SET LOCAL synchronous_commit = on")
                // Without this lock, two concurrent deployments would both try to create the schema.
                try session.query("SELECT pg_advisory_xact_lock(hashtextextended('martlet deploy', 0))")
                try checkServer(session)
                let check = TableCheck(session: session, tableSchema: tableSchema)
                let findings = try tables.flatMap(check.findings)
                guard findings.isEmpty else { throw DeploymentError(findings: findings) }
                try session.execute(ServiceSchema.script)
                try checkFormat(session)
                let isContinued = try isContinued(session)
                let facts = try storeFacts(session)
                // The column `reverted` contains numbers of types, which may differ in the new schema.
                try session.query(
                    """
                    UPDATE martlet.clients SET reverted = NULL
                    WHERE reverted IS NOT NULL AND EXISTS (SELECT FROM martlet.deployment WHERE facts <> $1)
                    """, [.integer(Int32(facts))])
                try installTriggers(session, facts)
                try session.query(
                    """
                    INSERT INTO martlet.deployment (format, facts, table_schema, horizon, epoch)
                    VALUES (\(ServiceSchema.format), $1, $2,
                        (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1)::text::xid8,
                        (\(ServiceSchema.epochSQL)))
                    ON CONFLICT (singleton) DO UPDATE
                    SET facts = excluded.facts, table_schema = excluded.table_schema, format = excluded.format,
                        epoch = excluded.epoch,
                        horizon = CASE WHEN $3::boolean THEN deployment.horizon ELSE excluded.horizon END,
                        deployed = CASE WHEN $3::boolean THEN deployment.deployed ELSE excluded.deployed END
                    WHERE NOT $3::boolean OR (deployment.facts, deployment.table_schema, deployment.format)
                        <> (excluded.facts, excluded.table_schema, excluded.format)
                        OR deployment.epoch IS DISTINCT FROM excluded.epoch
                    """, [.integer(Int32(facts)), .text(tableSchema), .text("\(isContinued)")])
                try LogPruner.beginChecksums(in: session)
            }
        }

        /// True if clients can continue with the log. False if they have to load their data again, for one of these
        /// reasons:
        ///
        /// - The database was restored from a dump, so the log contains numbers of transactions of another server. In
        ///   this case, the method also empties the log.
        /// - A column or collection is new, or its type has changed. Rows may have values in it that the log does not
        ///   contain.
        /// - A type was removed or renamed. The service cannot deliver its entries any more.
        private func isContinued(_ session: PostgresSession) throws -> Bool {
            let row = try session.query(
                """
                SELECT text, split_part(epoch, '.', 1) <> split_part((\(ServiceSchema.epochSQL)), '.', 1)
                FROM martlet.deployment JOIN martlet.facts ON facts.id = deployment.facts
                """
            ).first
            guard let row else { return true }
            if !row.isNull(1), row.boolean(1) {
                try session.execute("TRUNCATE martlet.log, martlet.marks")
                return false
            }
            let former = try SyncSchema(facts: try row.text(0)).tables().values
            return former.allSatisfy { old in
                guard let new = tables.first(where: { $0.typeName == old.typeName }) else { return false }
                let columns = Set(old.columns.map { "\($0.name) \($0.type)" })
                let collections = Set(old.collections.map { "\($0.name) \($0.value.type)" })
                return new.columns.allSatisfy { columns.contains("\($0.name) \($0.type)") }
                    && new.collections.allSatisfy { collections.contains("\($0.name) \($0.value.type)") }
            }
        }

        private func checkServer(_ session: PostgresSession) throws {
            let row = try session.query(
                "SELECT current_setting('server_version_num')::int >= 140000, current_setting('server_encoding')"
            ).first
            guard let row, row.boolean(0) else { throw DeploymentError(findings: ["PostgreSQL 14 or later is needed"]) }
            let encoding = try row.text(1)
            guard encoding == "UTF8" else {
                throw DeploymentError(findings: ["the database has the encoding \(encoding), expected UTF8"])
            }
        }

        private func checkFormat(_ session: PostgresSession) throws {
            guard let row = try session.query("SELECT format FROM martlet.deployment").first else { return }
            let format = try row.integer(0)
            guard format <= ServiceSchema.format else {
                throw DeploymentError(
                    findings: [
                        "the schema 'martlet' has the format \(format), which needs a newer version of the service"
                    ])
            }
        }

        /// Stores the facts and returns their number.
        private func storeFacts(_ session: PostgresSession) throws -> Int {
            let text = schema.facts
            try session.query(
                """
                INSERT INTO martlet.facts (hash, text) SELECT sha256(convert_to($1, 'UTF8')), $1
                WHERE NOT EXISTS (SELECT FROM martlet.facts WHERE hash = sha256(convert_to($1, 'UTF8')))
                """, [.text(text)])
            let row = try session.query(
                "SELECT id FROM martlet.facts WHERE hash = sha256(convert_to($1, 'UTF8'))", [.text(text)]
            ).first
            return try row?.integer(0) ?? 0
        }

        private func installTriggers(_ session: PostgresSession, _ facts: Int) throws {
            for table in tables {
                try session.query(
                    """
                    INSERT INTO martlet.types (name) SELECT $1
                    WHERE NOT EXISTS (SELECT FROM martlet.types WHERE name = $1)
                    """, [.text(table.typeName)])
            }
            try session.execute(ElementTriggers.removal)
            let names = Dictionary(uniqueKeysWithValues: tables.map { ($0.typeName, $0) })
            for row in try session.query("SELECT id, name FROM martlet.types ORDER BY id").rows {
                let id = try row.integer(0)
                guard let table = names[try row.text(1)] else {
                    try session.execute(CaptureTriggers.removal(typeID: id))
                    continue
                }
                let triggers = CaptureTriggers(
                    table: table, relation: Self.relation(table, tableSchema), typeID: id, factsID: facts)
                try session.execute(triggers.script)
                for collection in table.collections {
                    let elements = ElementTriggers(
                        collection: collection, relation: Self.relation(collection.name, tableSchema), owner: triggers)
                    try session.execute(elements.script)
                }
            }
        }

        /// The quoted name of a table, with its SQL schema.
        static func relation(_ table: SyncTable, _ schema: String) -> String { relation(table.name, schema) }

        static func relation(_ name: String, _ schema: String) -> String {
            "\"\(schema.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\".\"\(name)\""
        }
    }
#endif
