#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// Adds log entries for two cases that the triggers do not log: an upload names an object without changing it, or
    /// sets a property to the value that it already has.
    struct UploadTouches {
        let catalog: SyncCatalog
        let session: PostgresSession
        let origin: UploadOrigin

        /// Adds the missing entries. Each object of the upload then has an entry, and the log contains the time stamp
        /// of each value that the upload has written.
        func log(_ operations: [SyncOperation], _ written: [ObjectAddress: Set<ValuePath>?]) throws {
            if operations.isEmpty { return try acknowledge() }
            let logged = try self.logged(Set(operations.map(\.address)))
            var seen: Set<ObjectAddress> = []
            for operation in operations where seen.insert(operation.address).inserted {
                let address = operation.address
                guard let table = catalog.tables[address.type] else { continue }
                let paths = (written[address] ?? []) ?? []
                if let known = logged[address], paths.allSatisfy({ $0.isInside(known) }) { continue }
                try touch(address, table, paths)
            }
        }

        // Adds an entry without an object, which only shows that the upload is stored.
        private func acknowledge() throws {
            try session.postpone(
                """
                INSERT INTO martlet.log (type, op, facts, key, time, client, upload)
                VALUES (0, 'a', \(catalog.factsID), '', $1, $2, $3)
                """, [.bigint(origin.storedTime), .bigint(origin.client), .bigint(origin.number)])
        }

        /// If the upload has more entries than this, they are read one by one.
        private static let maximumRows = 256

        /// For each of these objects, the paths of the values that the triggers have logged for this upload.
        private func logged(_ addresses: Set<ObjectAddress>) throws -> [ObjectAddress: Set<ValuePath>] {
            var logged: [ObjectAddress: Set<ValuePath>] = [:]
            func add(_ row: PostgresRow) throws {
                guard let format = catalog.format(facts: try row.integer(1), type: try row.integer(0)) else {
                    throw LogReaderError.schemaChanged
                }
                let address = try row.withBytes(2) { try format.address($0) }
                if addresses.contains(address) {
                    let change = try LoggedChange(row, op: 4, columns: 3, old: 5, new: 6, paths: 7)
                    logged[address, default: []].formUnion(try format.paths(change))
                }
            }
            // Other uploads of the client may be stored in the same transaction.
            let sql = """
                SELECT type, facts, key, columns, op, old, new, paths FROM martlet.log
                WHERE xid = pg_current_xact_id() AND upload = $1
                """
            let first = try session.query(sql + " LIMIT \(Self.maximumRows + 1)", [.bigint(origin.number)])
            if first.rowCount <= Self.maximumRows {
                try first.rows.forEach(add)
            } else {
                try session.forEachRow(sql, [.bigint(origin.number)], add)
            }
            return logged
        }

        // Called if no row can have the key, for example because the key is a text that contains NUL. PostgreSQL cannot
        // store such a key, so the entry contains the key in the format of protocol messages.
        private func touchWithoutRow(_ address: ObjectAddress, _ triggers: CaptureTriggers) throws {
            var writer = MessageWriter()
            writer.value(address.key)
            try session.postpone(
                """
                INSERT INTO martlet.log (type, op, facts, key, time, client, upload)
                VALUES (\(triggers.typeID), 'n', \(catalog.factsID), $1, $2, $3, $4)
                """,
                [
                    .bytes(writer.bytes), .bigint(origin.storedTime), .bigint(origin.client), .bigint(origin.number),
                ])
        }

        private func touch(_ address: ObjectAddress, _ table: SyncTable, _ paths: Set<ValuePath>) throws {
            let triggers = catalog.triggers(table)
            guard let key = try? table.key.type.encode(address.key) else {
                return try touchWithoutRow(address, triggers)
            }
            let bits = table.columns.map { paths.contains($0.path) }
            let nested = LoggedChange.encoded(paths.filter { $0.count > 1 })
            let image =
                "SELECT \(triggers.image("t")) AS image FROM \(triggers.relation) t WHERE t.\(table.key.quoted) = $1"
            try session.postpone(
                """
                INSERT INTO martlet.log (type, op, facts, key, columns, old, new, time, client, upload, paths)
                SELECT \(triggers.typeID), 't', \(catalog.factsID), $2, $3, NULL, i.image, $4, $5, $6, $7
                FROM (SELECT (\(image)) AS image) i
                """,
                [
                    PostgresParameter(oid: table.key.type.base.oid, bytes: key), .bytes(key), .bits(bits),
                    .bigint(origin.storedTime), .bigint(origin.client), .bigint(origin.number), .bytes(nested),
                ])
        }
    }
#endif
