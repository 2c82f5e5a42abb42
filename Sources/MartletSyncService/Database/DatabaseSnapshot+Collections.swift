#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletValues

    // The log contains no whole collections. The service reads them from their tables, with the rights of the user, at
    // the snapshot at which the changes end.
    extension DatabaseSnapshot {
        typealias Elements = [(key: ElementKey, value: SyncValue)]

        /// One statement reads the collections of this number of objects.
        private static let objectsTogether = 200

        /// Calls the closure with each object of a type that has collections. To limit memory, the method reads the
        /// collections of a few objects at a time.
        ///
        /// - Parameter filter: the SQL condition of the objects, with the alias `t`; nil for all objects.
        func rowsWithCollections(
            _ table: SyncTable, _ filter: String?, _ each: (SyncRow) throws -> Void
        ) throws {
            let format = RowFormat(table, catalog.unfitting)
            let condition = filter.map { " WHERE \($0)" } ?? ""
            // While the client reads the result of COPY, the connection can run no other statement. So the rows are
            // read through a cursor.
            try session.execute(
                """
                DECLARE martlet_rows BINARY NO SCROLL CURSOR FOR
                SELECT \(catalog.triggers(table).image("t")) FROM \(catalog.relation(table)) t\(condition)
                """)
            while true {
                let result = try session.execute("FETCH \(Self.objectsTogether) FROM martlet_rows")
                if result.rowCount == 0 { break }
                let rows = try result.rows.map { row in
                    try row.withBytes(0) { bytes in
                        guard let bytes else { throw PostgresError.malformed("a row") }
                        var reader = try FieldReader(record: bytes)
                        return try format.row(&reader)
                    }
                }
                let contents = try table.collections.map { try elements(of: $0, table, rows.map(\.address.key)) }
                for var row in rows {
                    for (collection, elements) in zip(table.collections, contents) {
                        row.values[collection.path] = collection.whole(elements[row.address.key] ?? [])
                    }
                    try each(row)
                }
            }
            try session.execute("CLOSE martlet_rows")
        }

        /// The elements of one collection of several objects, by the primary keys of the objects.
        private func elements(
            of collection: SyncCollection, _ table: SyncTable, _ owners: [SQLValue]
        ) throws -> [SQLValue: Elements] {
            guard let last = owners.last else { return [:] }
            // The statement always has the same number of parameters, so that it is prepared once.
            let padding = repeatElement(last, count: Self.objectsTogether - owners.count)
            let parameters = try (owners + padding).map {
                PostgresParameter(oid: table.key.type.base.oid, bytes: try table.key.type.encode($0))
            }
            let places = parameters.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            var found: [SQLValue: Elements] = [:]
            try forEachElement(collection, "IN (\(places))", parameters) { reader in
                let owner = try table.key.type.decode(reader.next())
                found[owner, default: []].append(try element(&reader, collection))
            }
            return found
        }

        // Calls the closure with the columns of each element, in the order of the elements of each owner.
        private func forEachElement(
            _ collection: SyncCollection, _ owners: String, _ parameters: [PostgresParameter],
            _ each: (inout FieldReader) throws -> Void
        ) throws {
            // `record_send` returns the fields in the form that `FieldReader` reads.
            try session.forEachRow(
                """
                SELECT record_send(ROW(\(Self.columns(collection)))) FROM \(catalog.relation(collection)) e
                WHERE e."owner" \(owners) ORDER BY e."owner", e."\(collection.keyColumn)"
                """, parameters
            ) { row in
                try row.withBytes(0) { bytes in
                    guard let bytes else { return }
                    var reader = try FieldReader(record: bytes)
                    try each(&reader)
                }
            }
        }

        private static func columns(_ collection: SyncCollection) -> String {
            (collection.kind == .set ? ["owner", "value"] : ["owner", collection.keyColumn, "value"])
                .map { "e.\"\($0)\"" }.joined(separator: ", ")
        }

        // Reads the columns that follow the column `owner`.
        private func element(
            _ reader: inout FieldReader, _ collection: SyncCollection
        ) throws -> (key: ElementKey, value: SyncValue) {
            let key: ElementKey
            switch collection.kind {
            case .list:
                guard let bytes = try reader.next(), let position = ListPosition(bytes) else {
                    throw PostgresError.malformed("a position of '\(collection.name)'")
                }
                key = .position(position)
            case .set: key = .member
            case .map:
                guard case .text(let text) = try PostgresType.text.decode(reader.next()) else {
                    throw PostgresError.malformed("a key of '\(collection.name)'")
                }
                key = .key(text)
            }
            var problems: [String] = []
            let value = try collection.value.decode(reader.next(), &problems)
            if !problems.isEmpty { catalog.unfitting.add(problems, "an element of the table '\(collection.name)'") }
            return (key, value)
        }

        /// The collections of one object, by the paths of their properties.
        ///
        /// - Parameter properties: the numbers of the properties; nil for all collections.
        private func collections(
            of address: ObjectAddress, _ table: SyncTable, _ properties: Set<Int>?
        ) throws -> [ValuePath: SyncValue] {
            let key = PostgresParameter(oid: table.key.type.base.oid, bytes: try table.key.type.encode(address.key))
            var found: [ValuePath: SyncValue] = [:]
            for collection in table.collections where properties?.contains(collection.property) ?? true {
                var elements: Elements = []
                try forEachElement(collection, "= $1", [key]) { reader in
                    _ = try reader.next()
                    elements.append(try element(&reader, collection))
                }
                found[collection.path] = collection.whole(elements)
            }
            return found
        }

        /// The current values of one object; nil if the object does not exist or the user cannot read it.
        private func values(of address: ObjectAddress, _ table: SyncTable) throws -> [ValuePath: SyncValue]? {
            let key = PostgresParameter(oid: table.key.type.base.oid, bytes: try table.key.type.encode(address.key))
            let format = RowFormat(table, catalog.unfitting)
            let image = catalog.triggers(table).image("t")
            let result = try session.query(
                "SELECT \(image) FROM \(catalog.relation(table)) t WHERE t.\(table.key.quoted) = $1", [key])
            guard let row = result.first, !row.isNull(0) else { return nil }
            return try row.withBytes(0) { bytes in
                guard let bytes else { return nil }
                var reader = try FieldReader(record: bytes)
                return try format.values(&reader)
            }
        }

        /// Completes a batch that ends at this snapshot. Adds the collections that the client needs. Also adds the
        /// current values of objects without values in the log (`LogEntry.isUnseen`), and of objects that an upload of
        /// the client has touched.
        func complete(
            _ batch: inout ClientBatch, for client: UInt64,
            _ matches: (ObjectAddress, [ValuePath: SyncValue]) -> Bool
        ) throws {
            for index in batch.entries.indices
            where batch.entries[index].isUnseen || batch.entries[index].isTouch(of: client) {
                let address = batch.entries[index].address
                guard let table = catalog.tables[address.type], !table.isUploadOnly else { continue }
                // If PostgreSQL cannot store the key, no row has it.
                let values = (try? table.key.type.encode(address.key)) == nil ? nil : try values(of: address, table)
                (batch.entries[index].old, batch.entries[index].new) = (values, values)
                // The entry becomes a touch. If the values have changed, the batch has a separate entry for the change.
                (batch.entries[index].isUnseen, batch.entries[index].isTouch) = (false, true)
            }
            for (address, properties) in ClientChanges.collections(batch.entries, for: client, matches) {
                guard let table = catalog.tables[address.type], !table.collections.isEmpty else { continue }
                batch.contents[address] = try collections(of: address, table, properties)
            }
        }
    }

    extension LogEntry {
        /// True if the entry is a touch by an upload of the client: the upload has named the object and changed
        /// nothing. The upload did not lock the row, so the values in the entry may be older than the values of the
        /// client.
        fileprivate func isTouch(of client: UInt64) -> Bool { isTouch && origin?.client == client }
    }

    extension SyncCatalog {
        /// Whether `DatabaseSnapshot.complete` has to add values or collections to the batch.
        func isIncomplete(
            _ batch: ClientBatch, for client: UInt64, _ matches: (ObjectAddress, [ValuePath: SyncValue]) -> Bool
        ) -> Bool {
            if batch.entries.contains(where: { $0.isUnseen || $0.isTouch(of: client) }) { return true }
            guard tables.values.contains(where: { !$0.collections.isEmpty }) else { return false }
            return ClientChanges.collections(batch.entries, for: client, matches).keys.contains {
                tables[$0.type]?.collections.isEmpty == false
            }
        }
    }
#endif
