#if Postgres
    import MartletBackend
    import MartletEngine
    import MartletFrontend
    import MartletPostgres
    import MartletSchema
    import MartletSyncProtocol
    import MartletSyncService
    import MartletTables
    import MartletValues
    import Testing

    /// The SQL statements and the facts that the compiler creates from a schema.
    struct SampleSchema {
        let statements: String
        let facts: String

        init(_ yaml: String) throws {
            let analysis = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)])
            #expect(analysis.diagnostics.filter(\.isError).isEmpty)
            let model = try #require(analysis.model)
            #expect(TableBuilder(model).problems().isEmpty)
            statements = DDLWriter.text(TableBuilder(model).tables())
            facts = Backend.facts(model)
        }

        static let dogs = Result {
            try SampleSchema(
                """
                enums:
                  Size: {cases: [small, large]}
                embedded:
                  Place: {properties: {city: String, zip: String?, yard: Yard?}}
                  Yard: {properties: {size: Int, trees: Double}}
                objects:
                  Person: {primaryKey: id, sync: both, properties: {id: Int, name: String}}
                  Tag: {primaryKey: name, sync: both, properties: {name: String, note: String?}}
                  Pack: {primaryKey: id, sync: both, properties: {id: Int, dogs: List<Dog>}}
                  Crash: {primaryKey: id, sync: upload, properties: {id: Int, text: String}}
                  Dog:
                    primaryKey: id
                    sync: both
                    unique: [[chipNumber]]
                    properties:
                      id: Int
                      name: String
                      age: Int8 = 3
                      weight: Double
                      born: Date?
                      price: Decimal128?
                      code: ObjectId?
                      token: UUID?
                      photo: Data?
                      size: Size
                      chipNumber: String?
                      owner: Person?
                      keeper: {type: Person?, onDelete: cascade}
                      vet: {type: Person?, onDelete: deny}
                      home: Place?
                      anything: AnyRealmValue
                      walks: {type: Int, merge: add}
                      draft: {type: String?, sync: none}
                """)
        }
    }

    /// A database with the tables of `SampleSchema.dogs`, prepared for synchronization.
    struct SampleDatabase {
        let address: String
        let session: PostgresSession
        let catalog: SyncCatalog
        let dog: Int
        let person: Int
        let tag: Int
        let pack: Int
        let crash: Int

        init(_ cluster: PostgresCluster? = nil, name: String = "sample") throws {
            address = try cluster.map { try $0.database(name) } ?? newDatabase()
            session = try PostgresSession(address)
            try session.execute(SampleSchema.dogs.get().statements)
            let schema = try SyncSchema(facts: SampleSchema.dogs.get().facts)
            try Deployment(schema).run(in: session)
            catalog = try SyncCatalog(session)
            dog = try #require(schema.number(of: "Dog"))
            person = try #require(schema.number(of: "Person"))
            tag = try #require(schema.number(of: "Tag"))
            pack = try #require(schema.number(of: "Pack"))
            crash = try #require(schema.number(of: "Crash"))
        }

        /// Identifies the deployed schema.
        var schemaHash: [UInt8] { catalog.schemaHash }

        /// The context of an open session that knows the deployed schema.
        var context: SessionContext {
            var context = SessionContext()
            context.schemaHash = schemaHash
            context.epoch = catalog.epoch
            context.deployment = catalog.factsID
            return context
        }

        /// Looks up a client that has a position.
        func client(_ identity: ClientIdentity) throws -> ClientRegistry.Client {
            try ClientRegistry().client(identity, hasPosition: true, readability: [], in: session)
        }

        func dog(_ id: Int64) -> ObjectAddress { ObjectAddress(type: dog, key: .integer(id)) }
        func person(_ id: Int64) -> ObjectAddress { ObjectAddress(type: person, key: .integer(id)) }

        /// The path of a property of a type.
        func path(_ type: Int, _ name: String) throws -> ValuePath {
            ValuePath(try #require(catalog.schema.types[type].properties.firstIndex { $0.name == name }))
        }

        /// The given values of a dog, by the paths of their properties.
        func values(_ values: [String: SyncValue]) throws -> [ValuePath: SyncValue] {
            try Dictionary(uniqueKeysWithValues: values.map { (try path(dog, $0.key), $0.value) })
        }

        /// The condition that a property of a type has one of these values.
        func isIn(
            _ type: Int, _ name: String, _ kind: ConditionKind, _ values: [SQLValue]
        ) throws -> SubscriptionCondition {
            .test(.isIn(ConditionOperand(try path(type, name), kind), values), isNegated: false)
        }

        /// A query for dogs.
        func query(_ condition: SubscriptionCondition) -> SubscribedQuery {
            SubscribedQuery(type: dog, condition: condition.encoded())
        }

        /// The current cursor.
        func now() throws -> SyncCursor { try DatabaseSnapshot.read(catalog, in: session) { $0.cursor } }

        func changes(after cursor: SyncCursor) throws -> LogBatch {
            try LogReader(catalog).batch(after: cursor, in: session)
        }

        func count(_ sql: String) throws -> Int {
            Int(try session.query("SELECT count(*) FROM \(sql)").first?.bigint(0) ?? 0)
        }
    }

    extension SyncValue {
        static func integer(_ number: Int64) -> SyncValue { .scalar(.integer(number)) }
        static func text(_ text: String) -> SyncValue { .scalar(.text(text)) }
        static func real(_ number: Double) -> SyncValue { .scalar(.real(number)) }
    }
#endif
