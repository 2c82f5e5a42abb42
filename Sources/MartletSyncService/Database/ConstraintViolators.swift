#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// Finds the objects of an upload that violate a deferred constraint.
    ///
    /// The error of PostgreSQL contains the name of the constraint. It contains the violating values only in a message
    /// for people, so this type finds the objects with queries.
    struct ConstraintViolators {
        let catalog: SyncCatalog
        let session: PostgresSession

        /// Returns the objects that the service must refuse so that the constraint holds. The result is empty if the
        /// queries find no such objects. For example, the user may not be able to read one of two objects with equal
        /// values, or a trigger of the database may have written the value.
        ///
        /// - Parameters:
        ///   - error: the error of the constraint.
        ///   - applied: the objects that the upload has changed.
        ///   - deleted: the objects that the upload has deleted.
        func objects(
            _ error: PostgresError, applied: Set<ObjectAddress>, deleted: [ObjectAddress]
        ) throws -> Set<ObjectAddress> {
            if let table = table(error), let constraint = error.constraint {
                let columns = try self.columns(of: constraint, table)
                return error.state == .uniqueViolation
                    ? try twins(table, columns, applied) : try stillNeeded(table, columns, deleted)
            }
            if let name = error.table, let (_, collection) = catalog.collection(table: name) {
                return try stillNeeded(collection, deleted)
            }
            return []
        }

        /// True if PostgreSQL can check the constraint of the error after each statement.
        func isDeferrable(_ error: PostgresError) throws -> Bool {
            guard let name = error.table, let constraint = error.constraint else { return false }
            return try session.query(
                """
                SELECT FROM pg_constraint WHERE conrelid = to_regclass($1) AND conname = $2 AND condeferrable
                """, [.text(Deployment.relation(name, catalog.tableSchema)), .text(constraint)]
            ).rowCount > 0
        }

        private func table(_ error: PostgresError) -> SyncTable? {
            catalog.tables.values.first { $0.name == error.table }
        }

        private func columns(of constraint: String, _ table: SyncTable) throws -> [String] {
            try session.query(
                """
                SELECT a.attname::text FROM pg_constraint k
                JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
                WHERE k.conrelid = $1::regclass AND k.conname = $2
                """, [.text(catalog.relation(table)), .text(constraint)]
            ).rows.map { try $0.text(0) }
        }

        private func rows(_ table: SyncTable, _ addresses: some Sequence<ObjectAddress>) throws -> [ObjectRow] {
            try addresses.filter { $0.type == table.type }.map { try ObjectRow($0, table, catalog, session) }
        }

        // Twins are objects with equal values in the columns of a unique constraint. Of several uploaded twins, only
        // the twin with the least key can stay. So this function returns all uploaded objects that have a twin with a
        // lesser key. If there are none, it returns all uploaded objects that have a twin outside of the upload.
        private func twins(
            _ table: SyncTable, _ columns: [String], _ applied: Set<ObjectAddress>
        ) throws -> Set<ObjectAddress> {
            let rows = try rows(table, applied)
            let later = try rows.filter { try $0.hasTwin(columns, withLesserKey: true) }
            return Set(try (later.isEmpty ? rows.filter { try $0.hasTwin(columns) } : later).map(\.address))
        }

        // The deleted objects to which elements of the collection still link.
        private func stillNeeded(
            _ collection: SyncCollection, _ deleted: [ObjectAddress]
        ) throws -> Set<ObjectAddress> {
            guard let target = collection.value.target.flatMap({ catalog.tables[$0] }) else { return [] }
            let found = try rows(target, deleted).filter { try $0.isMissingTarget(in: collection) }
            return Set(found.map(\.address))
        }

        // The deleted objects to which rows of the table still link in one of the columns.
        private func stillNeeded(
            _ table: SyncTable, _ columns: [String], _ deleted: [ObjectAddress]
        ) throws -> Set<ObjectAddress> {
            var found: Set<ObjectAddress> = []
            for column in table.columns where columns.contains(column.name) {
                guard let target = column.target.flatMap({ catalog.tables[$0] }) else { continue }
                for row in try rows(target, deleted) where try row.isMissingTarget(of: column, in: table) {
                    found.insert(row.address)
                }
            }
            return found
        }
    }
#endif
