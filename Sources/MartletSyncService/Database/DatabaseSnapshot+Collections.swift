#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletValues

    // The log contains no whole collections. So the service reads whole collections from their tables, with the rights
    // of the user, at the snapshot at which the changes end.
    extension DatabaseSnapshot {
        typealias Elements = [(key: ElementKey, value: SyncValue)]

        /// The elements of all collections of a type. For each collection, the result has a dictionary from the primary
        /// key of an object to the elements of the object.
        ///
        /// - Parameter filter: the SQL condition of the objects, with the alias `t`; nil for all objects.
        func collections(of table: SyncTable, filter: String?) throws -> [[SQLValue: Elements]] {
            try table.collections.map { collection in
                var found: [SQLValue: Elements] = [:]
                var query = "SELECT \(Self.columns(collection)) FROM \(catalog.relation(collection)) e"
                if let filter {
                    query +=
                        " JOIN \(catalog.relation(table)) t ON t.\(table.key.quoted) = e.\"owner\" WHERE \(filter)"
                }
                query += " ORDER BY e.\"owner\", e.\"\(collection.keyColumn)\""
                try session.copyOut("COPY (\(query)) TO STDOUT (FORMAT binary)") { reader in
                    let owner = try table.key.type.decode(reader.next())
                    let element = try self.element(&reader, collection)
                    found[owner, default: []].append(element)
                }
                return found
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
                let columns = Self.columns(collection)
                var elements: Elements = []
                // `record_send` returns the fields in the form that `FieldReader` reads.
                try session.forEachRow(
                    """
                    SELECT record_send(ROW(\(columns))) FROM \(catalog.relation(collection)) e WHERE e."owner" = $1
                    ORDER BY e."\(collection.keyColumn)"
                    """, [key]
                ) { row in
                    try row.withBytes(0) { bytes in
                        guard let bytes else { return }
                        var reader = try FieldReader(record: bytes)
                        _ = try reader.next()
                        elements.append(try element(&reader, collection))
                    }
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

        /// Completes a batch that ends with this snapshot. Adds the collections that the client needs, and the current
        /// values of two kinds of objects: those whose values the log does not contain (`LogEntry.isUnseen`), and those
        /// that an upload of the client has touched.
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
                // The entry becomes a touch, which changes no values. Each change of values has an entry of its own.
                (batch.entries[index].isUnseen, batch.entries[index].isTouch) = (false, true)
            }
            for (address, properties) in ClientChanges.collections(batch.entries, for: client, matches) {
                guard let table = catalog.tables[address.type], !table.collections.isEmpty else { continue }
                batch.contents[address] = try collections(of: address, table, properties)
            }
        }
    }

    extension LogEntry {
        /// True if the entry is a touch: an upload of the client has named the object and changed nothing. The upload
        /// had no lock on the row, so the entry may contain older values than the client already has.
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
