#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletValues

    /// The row of one object that an upload writes.
    struct ObjectRow {
        /// A value for a column, or for a member of an embedded object in the column.
        struct Field {
            let path: ValuePath
            /// The position of the column in the table.
            let position: Int
            /// The names of the members that lead to the value; empty for the whole column.
            let members: [String]
            let bytes: [UInt8]?
        }

        let address: ObjectAddress
        let table: SyncTable
        let catalog: SyncCatalog
        let session: PostgresSession
        /// The primary key.
        let key: PostgresParameter

        /// Throws `UnencodableValue` if no row can have the key.
        init(
            _ address: ObjectAddress, _ table: SyncTable, _ catalog: SyncCatalog, _ session: PostgresSession
        ) throws {
            self.address = address
            self.table = table
            self.catalog = catalog
            self.session = session
            key = PostgresParameter(oid: table.key.type.base.oid, bytes: try table.key.type.encode(address.key))
        }

        private var relation: String { catalog.relation(table) }
        private var keyColumn: String { table.key.quoted }

        /// The fields for these values, in the order of the columns of the table, without the primary key. The field of
        /// a whole column comes before the fields of its members.
        func fields(_ values: [ValuePath: SyncValue]) throws -> [Field] {
            try values.sorted { $0.key < $1.key }
                .compactMap { try field($0.key, $0.value) }
        }

        private func field(_ path: ValuePath, _ value: SyncValue) throws -> Field? {
            let type = catalog.schema.types[table.type]
            let conversion = JSONConversion(catalog.schema)
            guard let properties = conversion.properties(at: path, in: type), let last = properties.last else {
                throw InvalidUpload("an operation names an unknown property of '\(type.name)'")
            }
            guard let position = table.position(of: path.first) else {
                throw ObjectRefusal(.invalidValue, "'\(type.name).\(properties[0].name)' is not synchronized")
            }
            if position == table.keyIndex {
                guard value == .scalar(address.key) else {
                    throw ObjectRefusal(.invalidValue, "the primary key of an object cannot be changed")
                }
                return nil
            }
            let members = properties.dropFirst().map(\.name)
            let bytes =
                members.isEmpty
                ? try table.columns[position].encode(value)
                : try PostgresType.jsonb.encode(.text(try conversion.json(value, last).text))
            return Field(path: path, position: position, members: members, bytes: bytes)
        }

        private var locking: PostgresStatement {
            PostgresStatement("SELECT FROM \(relation) WHERE \(keyColumn) = $1 FOR NO KEY UPDATE", [key])
        }

        private var reading: PostgresStatement {
            PostgresStatement("SELECT FROM \(relation) WHERE \(keyColumn) = $1", [key])
        }

        /// Locks the row. Returns false if the row does not exist, or if the user may not write it.
        func lock() throws -> Bool { try session.query(locking.sql, locking.parameters).rowCount > 0 }

        /// True if the user may read the row. A row that the user may read, but that `lock` cannot lock, is a row that
        /// the user may not write.
        func isVisible() throws -> Bool { try session.query(reading.sql, reading.parameters).rowCount > 0 }

        /// The state of a row before an upload writes it.
        enum State {
            /// The row is locked. An upload must not write the values at these paths, because another writer has
            /// written them later. The client had not received these later values when it made the upload.
            case locked(newer: Set<ValuePath>)
            /// The user may read the row, but it could not be locked: the user may not write it, or another transaction
            /// has just inserted it.
            case visible
            /// The row does not exist, or the user may neither read nor write it.
            case absent
        }

        /// Locks the row, and searches the log for newer values.
        func locked(for origin: UploadOrigin) throws -> State {
            // While the row is locked, no other transaction can add entries for the row.
            let results = try session.pipeline([locking, comparison(with: origin), reading])
            if results[0].rowCount > 0 { return .locked(newer: try newerPaths(results[1], than: origin)) }
            return results[2].rowCount > 0 ? .visible : .absent
        }

        private func comparison(with origin: UploadOrigin) -> PostgresStatement {
            PostgresStatement(
                """
                SELECT op, facts, columns, time, client, old, new, paths FROM martlet.log
                WHERE type = $1 AND op <> 'n' AND substr(key, 1, 200) = substr($2, 1, 200) AND key = $2 AND xid >= $3 AND NOT pg_visible_in_snapshot(xid, $4::pg_snapshot)
                ORDER BY seq
                """,
                [
                    .integer(Int32(catalog.typeID(table.type))), .bytes(key.bytes), .transaction(origin.base.xmin),
                    .text(origin.base.snapshot),
                ])
        }

        private func newerPaths(_ result: PostgresResult, than origin: UploadOrigin) throws -> Set<ValuePath> {
            var newer: Set<ValuePath> = []
            for row in result.rows {
                // Entries before a deletion belong to an earlier object with the same key.
                if row.bytes(0) == [UInt8(ascii: "d")] { newer = [] }
                // Earlier uploads of a client never win against its later uploads.
                let client = try row.bigint(4)
                let time = try row.bigint(3)
                if client == origin.client || (time, client) < (origin.storedTime, origin.client) { continue }
                guard let format = catalog.format(facts: try row.integer(1), type: catalog.typeID(table.type)) else {
                    throw LogReaderError.schemaChanged
                }
                newer.formUnion(try format.paths(LoggedChange(row, op: 0, columns: 2, old: 5, new: 6, paths: 7)))
            }
            return newer
        }

        func update(_ fields: [Field]) throws {
            if fields.isEmpty { return }
            let sets = fields.enumerated().reduce(into: [Int: String]()) { sets, field in
                let place = "$\(field.offset + 2)"
                let column = table.columns[field.element.position].quoted
                guard !field.element.members.isEmpty else { return sets[field.element.position] = place }
                let names = field.element.members.map {
                    "'\($0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
                }
                let target = sets[field.element.position] ?? column
                sets[field.element.position] =
                    "martlet.set_member(\(target), ARRAY[\(names.joined(separator: ", "))], \(place))"
            }
            let assignments = sets.sorted { $0.key < $1.key }.map { "\(table.columns[$0.key].quoted) = \($0.value)" }
            let sql = "UPDATE \(relation) SET \(assignments.joined(separator: ", ")) WHERE \(keyColumn) = $1"
            try session.postpone(sql, [key] + parameters(fields))
        }

        /// Adds to a counter.
        func add(_ amount: Int64, to column: SyncColumn) throws {
            let sql = "UPDATE \(relation) SET \(column.quoted) = \(column.quoted) + $2 WHERE \(keyColumn) = $1"
            try session.postpone(sql, [key, .bigint(amount)])
        }

        /// Inserts the row. Columns without a field get their defaults. Returns false if a trigger prevents the
        /// insertion.
        ///
        /// The statement has no clause ON CONFLICT. With this clause, PostgreSQL would also apply the policies for
        /// reading. But a user may insert an object without the right to read it.
        ///
        /// - Throws: `PostgresError` with the state `uniqueViolation` if the row exists.
        func insert(_ fields: [Field]) throws -> Bool {
            let names = [keyColumn] + fields.map { table.columns[$0.position].quoted }
            let places = names.indices.map { "$\($0 + 1)" }
            let sql = """
                INSERT INTO \(relation) (\(names.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))
                """
            return try session.query(sql, [key] + parameters(fields)).affectedRows == 1
        }

        /// Deletes the row. Returns false if no row was deleted.
        func delete() throws -> Bool {
            try session.query("DELETE FROM \(relation) WHERE \(keyColumn) = $1", [key]).affectedRows > 0
        }

        private func parameters(_ fields: [Field]) -> [PostgresParameter] {
            fields.map { PostgresParameter(oid: table.columns[$0.position].type.base.oid, bytes: $0.bytes) }
        }

        // MARK: Constraints

        /// True if a row of the table `source` contains the key of this object in the column, but this object has no
        /// row.
        func isMissingTarget(of column: SyncColumn, in source: SyncTable) throws -> Bool {
            let sql = """
                SELECT FROM \(catalog.relation(source)) WHERE \(column.quoted) = $1
                AND NOT EXISTS (SELECT FROM \(relation) WHERE \(keyColumn) = $1) LIMIT 1
                """
            return try session.query(sql, [key]).rowCount > 0
        }

        /// True if an element of the collection table contains the key of this object, but this object has no row.
        func isMissingTarget(in collection: SyncCollection) throws -> Bool {
            let sql = """
                SELECT FROM \(catalog.relation(collection)) WHERE "value" = $1
                AND NOT EXISTS (SELECT FROM \(relation) WHERE \(keyColumn) = $1) LIMIT 1
                """
            return try session.query(sql, [key]).rowCount > 0
        }

        /// True if another row has the same values in these columns. If `withLesserKey` is true, only rows with a
        /// lesser key are compared.
        func hasTwin(_ columns: [String], withLesserKey: Bool = false) throws -> Bool {
            let isEqual = columns.map { "o.\"\($0)\" = t.\"\($0)\"" }.joined(separator: " AND ")
            let sql = """
                SELECT FROM \(relation) o JOIN \(relation) t ON \(isEqual) AND t.\(keyColumn) \(withLesserKey ? "<" : "<>") o.\(keyColumn)
                WHERE o.\(keyColumn) = $1 LIMIT 1
                """
            return try session.query(sql, [key]).rowCount > 0
        }
    }
#endif
