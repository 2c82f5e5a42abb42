#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    /// A database with the type Dog, which has collections of several kinds.
    struct CollectionSample {
        let address: String
        let session: PostgresSession
        let catalog: SyncCatalog
        let dog: Int
        let person: Int

        static let yaml = """
            objects:
              Person: {primaryKey: id, sync: both, properties: {id: Int, name: String}}
              Dog:
                primaryKey: id
                sync: both
                properties:
                  id: Int
                  name: String
                  names: List<String>
                  owners: List<Person>
                  friends: Set<Dog>
                  weights: Set<Double?>
                  scores: Map<Int?>
                  extras: List<AnyRealmValue>
            """

        init(_ yaml: String = CollectionSample.yaml) throws {
            let sample = try SampleSchema(yaml)
            address = try newDatabase()
            session = try PostgresSession(address)
            try session.execute(sample.statements)
            let schema = try SyncSchema(facts: sample.facts)
            try Deployment(schema).run(in: session)
            catalog = try SyncCatalog(session)
            dog = try #require(schema.number(of: "Dog"))
            person = try #require(schema.number(of: "Person"))
        }

        func dog(_ id: Int64) -> ObjectAddress { ObjectAddress(type: dog, key: .integer(id)) }
        func person(_ id: Int64) -> ObjectAddress { ObjectAddress(type: person, key: .integer(id)) }

        /// The path of a property of a dog.
        func path(_ name: String) throws -> ValuePath {
            ValuePath(try #require(catalog.schema.types[dog].properties.firstIndex { $0.name == name }))
        }

        func now() throws -> SyncCursor { try DatabaseSnapshot.read(catalog, in: session) { $0.cursor } }

        func entries(after cursor: SyncCursor) throws -> [LogEntry] {
            try LogReader(catalog).batch(after: cursor, in: session).entries
        }

        /// The values of a dog with its collections, as a new subscription gets them.
        func values(_ id: Int64) throws -> [ValuePath: SyncValue] {
            var found: [ValuePath: SyncValue] = [:]
            try DatabaseSnapshot.read(catalog, in: session) { snapshot in
                try snapshot.rows(of: dog) { if $0.address == dog(id) { found = $0.values } }
            }
            return found
        }

        /// The elements of a list of the dog with the key 1.
        func list(_ name: String) throws -> [SyncValue] {
            try #require(try values(1)[path(name)]?.elements).map(\.value)
        }

        func set(_ name: String) throws -> [SyncValue] { try #require(try values(1)[path(name)]?.members) }

        func map(_ name: String) throws -> [String: SyncValue] {
            let entries = try #require(try values(1)[path(name)]?.entries)
            return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
        }

        /// The names of the collections that the entries report as changed.
        func changed(_ entries: [LogEntry]) -> [String] {
            entries.flatMap { entry in entry.collections.map { catalog.schema.types[dog].properties[$0].name } }
        }
    }

    /// A client that stores uploads in a `CollectionSample`. The uploads have increasing numbers.
    final class CollectionClient {
        let sample: CollectionSample
        let id: UInt64
        var base: SyncCursor
        private var number: UInt64 = 0

        init(_ sample: CollectionSample) throws {
            self.sample = sample
            id = try ClientRegistry().register(readability: [], in: sample.session).id
            base = try sample.now()
        }

        @discardableResult
        func store(_ operations: [SyncOperation], time: UInt64 = 1) throws -> UploadOutcome {
            number += 1
            let upload = ClientMessage.Upload(
                number: number, base: base, time: HybridTimestamp(milliseconds: 1_700_000_000_000 + time),
                operations: operations)
            return try UploadWriter(sample.catalog).store(upload, of: id, in: sample.session)
        }

        /// New list positions between `lower` and `upper`, created by this client.
        func positions(_ lower: ListPosition? = nil, _ upper: ListPosition? = nil, count: Int = 1) -> [ListPosition] {
            ListPosition.between(lower, upper, count: count, client: id, upload: number + 1)
        }
    }
#endif
