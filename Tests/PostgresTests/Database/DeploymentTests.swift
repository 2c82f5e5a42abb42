#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSchema
    import MartletSyncProtocol
    import MartletSyncService
    import MartletTables
    import MartletValues
    import Testing

    @Suite("PostgreSQL: deployment", .needsPostgres)
    struct DeploymentTests {
        @Test("a deployment accepts the tables of 'martlet postgres', and a second deployment changes nothing")
        func twice() throws {
            let sample = try SampleDatabase()
            let state = """
                SELECT (SELECT string_agg(f::text, ' ') FROM martlet.facts f), (SELECT string_agg(d::text, ' ') FROM
                martlet.deployment d), (SELECT string_agg(t::text, ' ' ORDER BY id) FROM martlet.types t),
                (SELECT string_agg(tgname || tgenabled::text || tgrelid::regclass, ' ' ORDER BY tgrelid, tgname)
                FROM pg_trigger WHERE NOT tgisinternal)
                """
            func texts() throws -> [String] {
                let row = try #require(try sample.session.query(state).first)
                return try (0..<4).map { try row.text($0) }
            }
            let before = try texts()
            try sample.session.execute("INSERT INTO person (id) VALUES (1)")
            try Deployment(sample.catalog.schema).run(in: sample.session)
            #expect(try texts() == before)
            #expect(before[3].contains("00_martlet_logAdog 00_martlet_log_truncateAdog"))
            #expect(try sample.count("martlet.log") == 1)
        }

        @Test("if tables differ from the schema, the error names all differences, and the deployment installs nothing")
        func wrongTables() throws {
            let session = try PostgresSession(newDatabase())
            try session.execute(SampleSchema.dogs.get().statements)
            try session.execute(
                """
                DROP SCHEMA martlet CASCADE;
                DROP TABLE tag;
                ALTER TABLE dog ALTER age TYPE integer;
                ALTER TABLE dog DROP COLUMN weight;
                ALTER TABLE dog ALTER name DROP NOT NULL;
                ALTER TABLE dog ALTER size TYPE text COLLATE "POSIX";
                ALTER TABLE dog DROP CONSTRAINT dog_vet_fkey;
                ALTER TABLE dog DROP CONSTRAINT dog_chip_number_key;
                ALTER TABLE dog ADD COLUMN extra text NOT NULL;
                ALTER TABLE dog ADD COLUMN harmless text NOT NULL DEFAULT '';
                """)
            let deployment = try Deployment(SyncSchema(facts: SampleSchema.dogs.get().facts))
            let error = try #require(#expect(throws: DeploymentError.self) { try deployment.run(in: session) })
            #expect(
                error.findings == [
                    "table 'dog', column 'name': expected text NOT NULL, found text",
                    "table 'dog', column 'age': expected smallint NOT NULL, found integer NOT NULL",
                    "table 'dog', column 'weight': expected double precision NOT NULL, found no column",
                    "table 'dog', column 'code': expected martlet.object_id, found no column",
                    "table 'dog', column 'size': expected text COLLATE \"C\", found text COLLATE \"POSIX\"",
                    "table 'dog', column 'extra': expected a default, because no client writes the column, found NOT NULL "
                        + "without a default",
                    "table 'dog', columns 'chip_number': expected UNIQUE … DEFERRABLE, found no such constraint",
                    "table 'dog', column 'vet': expected REFERENCES person (id) DEFERRABLE, found no such reference",
                    "table 'tag' of type 'Tag' does not exist in schema 'public'",
                ])
            #expect("\(error)".contains("run 'martlet postgres'"))
            #expect(try session.query("SELECT to_regnamespace('martlet') IS NULL").first?.boolean(0) == true)
        }

        @Test("a table without the primary key of its type is refused")
        func wrongKey() throws {
            let session = try PostgresSession(newDatabase())
            try session.execute(SampleSchema.dogs.get().statements)
            try session.execute("ALTER TABLE tag DROP CONSTRAINT tag_pkey")
            let deployment = try Deployment(SyncSchema(facts: SampleSchema.dogs.get().facts))
            let error = try #require(#expect(throws: DeploymentError.self) { try deployment.run(in: session) })
            #expect(
                error.findings == [
                    "table 'tag', column 'name': expected PRIMARY KEY, found no primary key, or a deferrable one"
                ])
        }

        @Test("entries of an older schema are read by names, so they get the numbers of the newer schema")
        func newerSchema() throws {
            let sample = try SampleDatabase()
            let cursor = try sample.now()
            try sample.session.execute("INSERT INTO tag VALUES ('old', 'n')")
            // In the newer schema, the properties of Tag have another order. The new type Animal changes the numbers
            // of all types, because it is the first type in alphabetical order.
            let facts = try SampleSchema.dogs.get().facts
                .replacing(
                    "property name String\nproperty note String?", with: "property note String?\nproperty name String")
            try sample.session.execute("CREATE TABLE public.animal (id bigint PRIMARY KEY)")
            let newer = try SyncSchema(facts: facts + "\n\nobject Animal\nprimaryKey id\nsync both\nproperty id Int")
            try Deployment(newer).run(in: sample.session)
            try sample.session.execute("INSERT INTO tag VALUES ('new', 'n')")
            #expect(throws: LogReaderError.schemaChanged) { try sample.changes(after: cursor) }
            let catalog = try SyncCatalog(sample.session)
            let entries = try LogReader(catalog).batch(after: cursor, in: sample.session).entries
            let tag = try #require(newer.number(of: "Tag"))
            #expect(entries.map(\.address) == ["old", "new"].map { .init(type: tag, key: .text($0)) })
            #expect(
                entries.map(\.new) == [
                    [.init(1): .text("old"), .init(0): .text("n")], [.init(1): .text("new"), .init(0): .text("n")],
                ])
        }

        @Test("after a deployment that adds a property or removes a type, clients load their data again Y14")
        func refusedCursors() throws {
            let sample = try SampleDatabase()
            let facts = try SampleSchema.dogs.get().facts
            /// Deploys the facts. Returns whether the reader still accepts a cursor from before the deployment.
            func keepsCursors(_ facts: String) throws -> Bool {
                let cursor = try DatabaseSnapshot.read(SyncCatalog(sample.session), in: sample.session) { $0.cursor }
                try Deployment(SyncSchema(facts: facts)).run(in: sample.session)
                let reader = LogReader(try SyncCatalog(sample.session))
                let now = try DatabaseSnapshot.read(SyncCatalog(sample.session), in: sample.session) { $0.cursor }
                _ = try reader.batch(after: now, in: sample.session)
                do {
                    _ = try reader.batch(after: cursor, in: sample.session)
                    return true
                } catch LogReaderError.unknownCursor {
                    return false
                }
            }
            #expect(try keepsCursors(facts))
            // The new column may contain values that were not logged.
            try sample.session.execute("ALTER TABLE tag ADD COLUMN first bigint DEFAULT 7")
            let longer = facts.replacing("property note String?", with: "property note String?\nproperty first Int?")
            #expect(try !keepsCursors(longer))
            #expect(try keepsCursors(longer))
            #expect(try keepsCursors(facts))
            try sample.session.execute("INSERT INTO tag (name) VALUES ('a')")
            let fewer = facts.split(separator: "\n\n").filter { !$0.contains("object Tag") }.joined(separator: "\n\n")
            #expect(try !keepsCursors(fewer))
        }

        @Test("a database that was restored from the dump of another server is refused until the next deployment Y14")
        func restoredDump() throws {
            let sample = try SampleDatabase()
            let cursor = try sample.now()
            try sample.session.execute("INSERT INTO tag (name) VALUES ('a')")
            try sample.session.execute("UPDATE martlet.deployment SET epoch = '123.00000001'")
            let error = try #require(#expect(throws: DeploymentError.self) { try SyncCatalog(sample.session) })
            #expect(error.description.contains("restored from a dump"))
            try Deployment(sample.catalog.schema).run(in: sample.session)
            #expect(try sample.count("martlet.log") == 0)
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: cursor) }
            _ = try sample.changes(after: sample.now())
        }

        @Test("changes of a type that was removed from the schema are not logged")
        func removedType() throws {
            let sample = try SampleDatabase()
            let facts = try SampleSchema.dogs.get().facts.split(separator: "\n\n").filter { !$0.contains("object Tag") }
            try Deployment(SyncSchema(facts: facts.joined(separator: "\n\n"))).run(in: sample.session)
            try sample.session.execute("INSERT INTO tag VALUES ('a'); INSERT INTO person (id) VALUES (1)")
            #expect(try sample.count("martlet.log") == 1)
        }

        @Test("a database of another version of the service and a database without a deployment are refused")
        func otherFormats() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("UPDATE martlet.deployment SET format = format - 1")
            #expect(throws: DeploymentError.self) { try SyncCatalog(sample.session) }
            try Deployment(sample.catalog.schema).run(in: sample.session)
            _ = try SyncCatalog(sample.session)
            try sample.session.execute("UPDATE martlet.deployment SET format = 99")
            #expect(throws: DeploymentError.self) { try Deployment(sample.catalog.schema).run(in: sample.session) }
            #expect(throws: DeploymentError.self) { try SyncCatalog(sample.session) }
            let empty = try PostgresSession(newDatabase())
            #expect(throws: DeploymentError.self) { try SyncCatalog(empty) }
        }

        @Test(
            "facts with a missing type, a missing primary key or a repeated type are refused",
            arguments: [
                "object A\nprimaryKey id\nsync both\nproperty id Int\nproperty b link:B?",
                "object A\nprimaryKey id\nsync both\nproperty id Int\n\nobject A\nprimaryKey id\nproperty id Int",
                "object A\nsync both\nproperty id Int", "nonsense",
                "object A\nprimaryKey id\nsync both\nproperty id Int\nproperty b embedded:B?",
                "object A\nprimaryKey id\nsync both\nproperty id Int\nproperty b link:B?\n\n"
                    + "object B\nsync both\nproperty c Int",
            ])
        func wrongFacts(facts: String) {
            #expect(throws: SyncSchemaError.self) { _ = try SyncSchema(facts: facts).tables() }
        }

        @Test("facts without synchronized types, or with links to types that are not synchronized, are refused")
        func unsynchronizedFacts() throws {
            let person = "object Person\nprimaryKey id\nproperty id Int"
            let none = try #require(#expect(throws: SyncSchemaError.self) { try SyncSchema(facts: person) })
            #expect("\(none)".contains("write 'sync: both' into the YAML"))
            let dog = "object Dog\nprimaryKey id\nsync both\nproperty id Int\nproperty owner link:Person?"
            let link = try #require(
                #expect(throws: SyncSchemaError.self) { try SyncSchema(facts: dog + "\n\n" + person) })
            #expect("\(link)".contains("'Dog.owner' links to 'Person', which is not synchronized"))
            _ = try SyncSchema(facts: dog + " sync=none\n\n" + person)
        }

        @Test("types and properties that are not synchronized need no table and no column, and are not logged")
        func localTypes() throws {
            let session = try PostgresSession(newDatabase())
            let schema = try SyncSchema(
                facts: """
                    object Draft
                    primaryKey id
                    property id Int

                    object Note
                    primaryKey id
                    sync both
                    property id Int
                    property isOpen Bool sync=none
                    property text String
                    """)
            #expect(schema.types.map(\.name) == ["Note"])
            try session.execute("CREATE TABLE note (id bigint PRIMARY KEY, text text COLLATE \"C\" NOT NULL)")
            try Deployment(schema).run(in: session)
            let catalog = try SyncCatalog(session)
            let cursor = try DatabaseSnapshot.read(catalog, in: session) { $0.cursor }
            try session.execute("INSERT INTO note VALUES (1, 'a')")
            let entries = try LogReader(catalog).batch(after: cursor, in: session).entries
            // The number of a property is its position among all properties of the type, including those that are not
            // synchronized.
            #expect(entries.map(\.new) == [[.init(0): .integer(1), .init(2): .text("a")]])
        }

        @Test(
            "the service and 'martlet postgres' convert a name to the same SQL name",
            arguments: [
                "Dog", "homeAddress", "URLName", "lastURL", "line2Text", "A", "snake_case", "IDs", "aB", "iPhone15Pro",
                "ÄrgerÜber",
            ])
        func names(name: String) { #expect(SnakeCase.name(name) == SQLName.snakeCase(name)) }
    }
#endif
