#if Postgres
    import MartletFrontend
    import MartletPostgres
    import MartletSchema
    import MartletTables
    import Testing

    /// Runs the migrations that `martlet postgres --breaking` writes for a primary key that accepts fewer values.
    @Suite("PostgreSQL: migrations of primary keys", .needsPostgres)
    struct KeyMigrationTests {
        private static let old = """
            objects:
              Dog: {primaryKey: id, properties: {id: Int16, names: List<String>, codes: Set<Int16?>}}
              Cat: {primaryKey: id, properties: {id: Int, friend: Dog?, friends: List<Dog>, foe: {type: Dog?, onDelete: deny}}}
              Flea: {primaryKey: id, properties: {id: Int, host: {type: Dog?, onDelete: cascade}}}

            """

        private static let rows = """
            INSERT INTO dog (id) VALUES (1), (5), (300), (301);
            INSERT INTO dog_names (owner, position, value) VALUES (1, '\\x01', 'a'), (300, '\\x01', 'b');
            INSERT INTO dog_codes (owner, value) VALUES (1, 7), (1, 500), (1, 501), (1, NULL);
            INSERT INTO cat (id, friend) VALUES (1, 1), (2, 300);
            INSERT INTO cat_friends (owner, position, value) VALUES (1, '\\x01', 5), (1, '\\x02', 301);
            INSERT INTO flea (id, host) VALUES (1, 1), (2, 301);
            """

        private func model(_ yaml: String) throws -> SchemaModel {
            let analysis = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)])
            return try #require(analysis.model, "\(analysis.diagnostics.map(\.message))")
        }

        private func names(of model: SchemaModel) -> SchemaNames {
            func unchanged(_ names: [String]) -> [String: String] {
                Dictionary(uniqueKeysWithValues: zip(names, names))
            }
            let properties = model.objects.map { ($0.name, unchanged($0.properties.map(\.name))) }
            return SchemaNames(
                types: unchanged(model.objects.map(\.name)), properties: Dictionary(uniqueKeysWithValues: properties))
        }

        /// Creates the tables of the old schema with some rows, and runs the first part of the migration. Returns the
        /// second part.
        private func prepare(_ session: PostgresSession, _ type: String) throws -> String {
            let before = try model(Self.old)
            let after = try model(
                Self.old.replacing("id: Int16", with: "id: \(type)").replacing("Set<Int16?>", with: "Set<Int8?>"))
            try session.execute(DDLWriter.text(TableBuilder(before).tables()))
            try session.execute(Self.rows)
            let migration = TableMigration(from: before, to: after, names: names(of: before))
            #expect(migration.problems.isEmpty && migration.losses.count == 2)
            let parts = migration.parts
            if let expand = parts.expand { try session.execute(expand) }
            return try #require(parts.contract)
        }

        private func list(_ query: String, _ session: PostgresSession) throws -> String? {
            try session.query("SELECT string_agg(coalesce(x::text, '-'), ' ' ORDER BY x) FROM (\(query)) AS q(x)")
                .first?.text(0)
        }

        @Test(
            "objects with keys that the new type does not accept are deleted, and their links with them S57",
            arguments: ["Int8", "Int8 = 5"])
        func narrowed(_ type: String) throws {
            let session = try PostgresSession(newDatabase())
            try session.execute(try prepare(session, type))
            #expect(try list("SELECT id FROM dog", session) == "1 5")
            #expect(try list("SELECT owner FROM dog_names", session) == "1")
            #expect(try list("SELECT value FROM dog_codes", session) == "7 -")
            #expect(try list("SELECT friend FROM cat", session) == "1 -")
            #expect(try list("SELECT value FROM cat_friends", session) == "5")
            #expect(try list("SELECT id FROM flea", session) == "1")
            #expect(throws: PostgresError.self) { try session.execute("INSERT INTO dog (id) VALUES (302)") }
        }

        @Test("if 'onDelete: deny' forbids the deletion of an object, the migration fails and changes nothing S57")
        func denied() throws {
            let session = try PostgresSession(newDatabase())
            let contract = try prepare(session, "Int8")
            try session.execute("UPDATE cat SET foe = 300 WHERE id = 1")
            let error = #expect(throws: PostgresError.self) { try session.execute(contract) }
            #expect(error?.state == .foreignKeyViolation)
            try session.execute("ROLLBACK")
            #expect(try list("SELECT id FROM dog", session) == "1 5 300 301")
            try session.execute("UPDATE cat SET foe = NULL")
            try session.execute(contract)
            #expect(try list("SELECT id FROM dog", session) == "1 5")
        }
    }
#endif
