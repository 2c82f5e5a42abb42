#if Postgres
    import MartletEngine
    package import MartletPostgres
    import MartletSyncProtocol
    import MartletValues

    /// The data that `Deployment` has stored in a database, and the values that the service derives from this data. All
    /// readers and writers of the database share one catalog.
    package struct SyncCatalog: Sendable {
        package let schema: SyncSchema
        /// The tables by the numbers of their types.
        package let tables: [Int: SyncTable]
        /// Identifies the history of the database. A cursor of another epoch is meaningless.
        package let epoch: String
        /// Makes filters from queries of clients.
        package let filters: FilterCompiler
        /// The number of the deployed schema.
        package let factsID: Int
        /// The hashes of the `AgreedSchema.agreement` texts of all schemas that were deployed. This text describes the
        /// part of a schema that must be equal on clients and the service. Two schemas can have the same text.
        let knownHashes: Set<[UInt8]>
        /// The hash of the `AgreedSchema.agreement` text of the deployed schema.
        package let schemaHash: [UInt8]
        let tableSchema: String
        /// A dictionary from the number of a type in the schema to the number of the type in the log.
        private let typeIDs: [Int: Int]
        private let formats: [RowFormat.ID: RowFormat]
        /// The numbers of all schemas that were deployed.
        private let schemaIDs: Set<Int>
        /// The numbers of all types that the log can contain, including removed types.
        private let knownTypeIDs: Set<Int>
        /// Logs the places of values that do not fit the schema.
        package let unfitting = UnfittingValues()

        /// Reads the catalog of a database.
        ///
        /// - Throws: `DeploymentError` if the database is not prepared, or was prepared by a newer version.
        package init(_ session: PostgresSession) throws {
            let deployment = try Self.deployment(session)
            (factsID, tableSchema) = (deployment.facts, deployment.tableSchema)
            epoch = try Self.epoch(session)
            // The first part of an epoch identifies the server. A promoted standby has the same first part and
            // continues the numbers of transactions. Any other server has another first part and other numbers.
            let server = epoch.prefix { $0 != "." }
            guard deployment.epoch.map({ $0.prefix { $0 != "." } == server }) ?? true else { throw Self.restored }
            var ids: [String: Int] = [:]
            for row in try session.query("SELECT id, name FROM martlet.types").rows {
                ids[try row.text(1)] = try row.integer(0)
            }
            var schemas: [Int: SyncSchema] = [:]
            for row in try session.query("SELECT id, text FROM martlet.facts").rows {
                schemas[try row.integer(0)] = try SyncSchema(facts: try row.text(1))
            }
            (schemaIDs, knownTypeIDs) = (Set(schemas.keys), Set(ids.values))
            guard let schema = schemas[factsID] else { throw Self.notDeployed }
            self.schema = schema
            filters = try FilterCompiler(schema)
            schemaHash = SchemaHash.of(schema.agreed)
            knownHashes = Set(schemas.values.map { SchemaHash.of($0.agreed) })
            let tables = try schema.tables()
            self.tables = tables
            typeIDs = tables.compactMapValues { ids[$0.typeName] }
            var formats: [RowFormat.ID: RowFormat] = [:]
            for (facts, written) in schemas {
                for old in try written.tables().values {
                    guard let table = schema.number(of: old.typeName).flatMap({ tables[$0] }),
                        let id = ids[old.typeName]
                    else { continue }
                    formats[RowFormat.ID(facts: facts, type: id)] = RowFormat(table, old, written, schema, unfitting)
                }
            }
            self.formats = formats
        }

        /// The epoch of the database to which the session is connected.
        static func epoch(_ session: PostgresSession) throws -> String {
            try session.query(ServiceSchema.epochSQL).first?.text(0) ?? ""
        }

        private static let restored = DeploymentError(
            findings: [
                "the database was restored from a dump of another server; run 'martlet-sync deploy'; the clients then "
                    + "load their data again"
            ])
        private static let notDeployed = DeploymentError(
            findings: ["the database is not prepared for synchronization; run 'martlet-sync deploy'"])

        private static func deployment(
            _ session: PostgresSession
        ) throws -> (facts: Int, tableSchema: String, epoch: String?) {
            let exists = try session.query("SELECT to_regclass('martlet.deployment') IS NOT NULL").first
            guard exists?.boolean(0) == true,
                let row = try session.query(
                    // `to_jsonb` returns NULL for a missing column. A database that an older version of 'deploy' has
                    // prepared has no column 'epoch'.
                    "SELECT facts, table_schema, format, to_jsonb(deployment) ->> 'epoch' FROM martlet.deployment"
                ).first
            else { throw notDeployed }
            let format = try row.integer(2)
            guard format == ServiceSchema.format else {
                let isNewer = format > ServiceSchema.format
                throw DeploymentError(findings: [
                    isNewer
                        ? "the schema 'martlet' needs a newer version of the service"
                        : "an older version of the service has prepared the database; run 'martlet-sync deploy' of this version"
                ])
            }
            return (try row.integer(0), try row.text(1), row.isNull(3) ? nil : try row.text(3))
        }

        /// The quoted name of a table, with its schema.
        func relation(_ table: SyncTable) -> String { Deployment.relation(table, tableSchema) }

        /// The quoted name of the table of a collection, with its schema.
        func relation(_ collection: SyncCollection) -> String { Deployment.relation(collection.name, tableSchema) }

        /// The collection with elements in the table with this name, and the table of the objects that have the
        /// collection. Nil if the table is not the table of a collection.
        func collection(table name: String) -> (owner: SyncTable, collection: SyncCollection)? {
            for table in tables.values {
                if let found = table.collections.first(where: { $0.name == name }) { return (table, found) }
            }
            return nil
        }

        /// The number of a type in the log.
        func typeID(_ type: Int) -> Int { typeIDs[type] ?? 0 }

        /// The format of the entries of one type that were written with one schema. Nil if the catalog does not know
        /// the schema, or if the type is not in the deployed schema.
        func format(facts: Int, type: Int) -> RowFormat? { formats[RowFormat.ID(facts: facts, type: type)] }

        /// True if the schema and the type with these numbers were deployed earlier, but the newest schema does not
        /// have the type any more.
        func isRemovedType(facts: Int, type: Int) -> Bool {
            schemaIDs.contains(facts) && knownTypeIDs.contains(type) && format(facts: facts, type: type) == nil
        }

        func triggers(_ table: SyncTable, _ collection: SyncCollection) -> ElementTriggers {
            ElementTriggers(collection: collection, relation: relation(collection), owner: triggers(table))
        }

        func triggers(_ table: SyncTable) -> CaptureTriggers {
            CaptureTriggers(table: table, relation: relation(table), typeID: typeID(table.type), factsID: factsID)
        }
    }

    /// Decodes the rows of one type that were written with one schema.
    struct RowFormat: Sendable {
        struct ID: Hashable {
            /// The number of the schema.
            let facts: Int
            /// The number of the type in the log.
            let type: Int
        }

        /// The number of the type in the deployed schema.
        let type: Int
        let key: SyncColumn
        /// For each field of the row, the column of the deployed schema. Nil if the deployed schema has no column for
        /// the field, or if its column has another type.
        let columns: [SyncColumn?]
        private let table: String
        private let unfitting: UnfittingValues

        /// The format of rows that were written with the deployed schema.
        init(_ table: SyncTable, _ unfitting: UnfittingValues) {
            (type, key, columns) = (table.type, table.key, table.columns)
            self.table = table.name
            self.unfitting = unfitting
        }

        /// The format of rows that were written with a schema that may be older than the deployed schema.
        init(
            _ table: SyncTable, _ old: SyncTable, _ oldSchema: SyncSchema, _ schema: SyncSchema,
            _ unfitting: UnfittingValues
        ) {
            type = table.type
            key = table.key
            self.table = table.name
            self.unfitting = unfitting
            columns = old.columns.map { field in
                table.columns.first {
                    $0.propertyName == field.propertyName && $0.type == field.type
                        && $0.target.map { schema.types[$0].name } == field.target.map { oldSchema.types[$0].name }
                }
            }
        }

        private static func text(_ key: SyncValue) -> String {
            switch key {
            case .scalar(.integer(let number)): "\(number)"
            case .scalar(.text(let text)): "'\(text)'"
            case .scalar(.blob(let bytes)): JSONScalar.hexadecimal(bytes)
            default: "\(key)"
            }
        }

        func address(_ key: UnsafeRawBufferPointer?) throws(PostgresError) -> ObjectAddress {
            ObjectAddress(type: type, key: try self.key.type.decode(key))
        }

        /// The object of a row. Consumes all fields of the reader.
        func row(_ reader: inout FieldReader) throws(PostgresError) -> SyncRow {
            let values = try values(&reader)
            guard case .scalar(let key)? = values[self.key.path] else { throw .malformed("a row") }
            return SyncRow(address: ObjectAddress(type: type, key: key), values: values)
        }

        /// The values of a row. Consumes all fields of the reader.
        func values(_ reader: inout FieldReader) throws(PostgresError) -> [ValuePath: SyncValue] {
            guard reader.count == columns.count else { throw .malformed("a row of the log") }
            var values: [ValuePath: SyncValue] = [:]
            var found: [(column: SyncColumn, problems: [String])] = []
            values.reserveCapacity(columns.count)
            for column in columns {
                let field = try reader.next()
                guard let column else { continue }
                var problems: [String] = []
                values[column.path] = try column.decode(field, &problems)
                if !problems.isEmpty { found.append((column, problems)) }
            }
            try reader.requireEnd()
            for (column, problems) in found {
                let row = values[self.key.path].map(Self.text) ?? "NULL"
                unfitting.add(problems, "table '\(table)', column '\(column.name)' of the row with the key \(row)")
            }
            return values
        }
    }
#endif
