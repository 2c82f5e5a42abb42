import MartletFrontend
import MartletSchema
import MartletTables
import Testing

@Suite("Tables: SQL for PostgreSQL")
struct TableTests {
    private func builder(_ yaml: String) throws -> TableBuilder {
        let analysis = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)])
        #expect(analysis.diagnostics.filter(\.isError).isEmpty)
        return TableBuilder(try #require(analysis.model))
    }

    private func statements(_ yaml: String) throws -> [String] {
        let text = DDLWriter.text(try builder(yaml).tables())
        return text.split(separator: "\n\n").map(String.init).filter {
            !$0.hasPrefix("--") && !$0.hasPrefix("CREATE SCHEMA") && $0 != "COMMIT;\n"
        }
    }

    @Test(
        "names become snake_case",
        arguments: [
            ("Dog", "dog"), ("homeAddress", "home_address"), ("URLName", "url_name"), ("lastURL", "last_url"),
            ("line2Text", "line2_text"), ("A", "a"), ("snake_case", "snake_case"), ("IDs", "i_ds"),
        ])
    func names(_ name: (swift: String, sql: String)) { #expect(SQLName.snakeCase(name.swift) == name.sql) }

    @Test("a type becomes a table with typed columns, defaults and constraints")
    func columns() throws {
        let yaml = """
            enums:
              Size: {cases: [small, large]}
              Mood: {cases: [calm, wild, other], unknown: other}
            objects:
              Dog:
                ## Isn't a cat.
                primaryKey: id
                index: [name]
                unique: [[name, age]]
                properties:
                  id: UUID = new
                  name: String = "O'Hara"
                  age: Int8 = 3
                  size: Size
                  born: Date = 2001-01-01T00:00:01.5Z
                  code: ObjectId?
                  data: Data?
                  note: AnyRealmValue
            """
        let found = try statements(yaml)
        #expect(
            found.first == """
                CREATE TABLE "dog" (
                    "id" uuid NOT NULL DEFAULT gen_random_uuid(),
                    "name" text COLLATE "C" NOT NULL DEFAULT 'O''Hara',
                    "age" smallint NOT NULL DEFAULT 3 CONSTRAINT "dog_age_check" CHECK ("age" BETWEEN -128 AND 127),
                    "size" text COLLATE "C" NOT NULL DEFAULT 'small' CONSTRAINT "dog_size_check" CHECK ("size" IN ('small', 'large')),
                    "born" timestamp with time zone NOT NULL DEFAULT timestamp with time zone '2001-01-01 00:00:00Z' + interval '1500000 microseconds',
                    "code" martlet.object_id,
                    "data" bytea,
                    "note" jsonb,
                    CONSTRAINT "dog_pkey" PRIMARY KEY ("id"),
                    CONSTRAINT "dog_name_age_key" UNIQUE ("name", "age") DEFERRABLE INITIALLY DEFERRED
                );
                """)
        #expect(found.contains("CREATE INDEX \"dog_name_idx\" ON \"dog\" (\"name\");"))
    }

    @Test("links are deferrable references, and 'onDelete' becomes the action of the reference")
    func links() throws {
        let found = try statements(
            """
            objects:
              Person: {primaryKey: id, properties: {id: Int}}
              Dog:
                primaryKey: name
                properties:
                  name: String
                  owner: Person?
                  keeper: {type: Person?, onDelete: cascade}
                  vet: {type: Person?, onDelete: deny}
                  friends: List<Dog>
                  named: Map<Dog?>
            """)
        let actions = found.filter { $0.hasPrefix("ALTER TABLE") }.map {
            $0.split(separator: "\n").map { $0.trimmingPrefix(/[ ]+/) }.joined(separator: " ")
        }
        #expect(
            actions == [
                #"ALTER TABLE "dog" ADD CONSTRAINT "dog_owner_fkey" FOREIGN KEY ("owner") REFERENCES "person" ("id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;"#,
                #"ALTER TABLE "dog" ADD CONSTRAINT "dog_keeper_fkey" FOREIGN KEY ("keeper") REFERENCES "person" ("id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;"#,
                #"ALTER TABLE "dog" ADD CONSTRAINT "dog_vet_fkey" FOREIGN KEY ("vet") REFERENCES "person" ("id") ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED;"#,
                #"ALTER TABLE "dog_friends" ADD CONSTRAINT "dog_friends_owner_fkey" FOREIGN KEY ("owner") REFERENCES "dog" ("name") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;"#,
                #"ALTER TABLE "dog_friends" ADD CONSTRAINT "dog_friends_value_fkey" FOREIGN KEY ("value") REFERENCES "dog" ("name") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;"#,
                #"ALTER TABLE "dog_named" ADD CONSTRAINT "dog_named_owner_fkey" FOREIGN KEY ("owner") REFERENCES "dog" ("name") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;"#,
                #"ALTER TABLE "dog_named" ADD CONSTRAINT "dog_named_value_fkey" FOREIGN KEY ("value") REFERENCES "dog" ("name") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;"#,
            ])
        #expect(found[1].contains(#""owner" bigint,"#))
    }

    @Test("lists, sets and maps become tables of their elements")
    func collections() throws {
        let found = try statements(
            """
            embedded:
              Place: {properties: {city: String}}
            objects:
              Dog:
                primaryKey: id
                properties: {id: Int, tags: List<String>, lucky: Set<Int?>, homes: Map<Place?>}
            """)
        #expect(
            found.dropFirst().prefix(3) == [
                """
                CREATE TABLE "dog_tags" (
                    "owner" bigint NOT NULL,
                    "position" bytea NOT NULL,
                    "value" text COLLATE "C" NOT NULL,
                    CONSTRAINT "dog_tags_pkey" PRIMARY KEY ("owner", "position")
                );
                """,
                """
                CREATE TABLE "dog_lucky" (
                    "owner" bigint NOT NULL,
                    "value" bigint,
                    CONSTRAINT "dog_lucky_owner_value_key" UNIQUE ("owner", "value") DEFERRABLE INITIALLY DEFERRED
                );
                """,
                """
                CREATE TABLE "dog_homes" (
                    "owner" bigint NOT NULL,
                    "key" text COLLATE "C" NOT NULL,
                    "value" jsonb,
                    CONSTRAINT "dog_homes_pkey" PRIMARY KEY ("owner", "key")
                );
                """,
            ])
        #expect(
            found.contains(
                "CREATE UNIQUE INDEX \"dog_lucky_owner_idx\" ON \"dog_lucky\" (\"owner\") WHERE \"value\" IS NULL;"))
    }

    @Test("types without a primary key, and names that are equal or too long in SQL, are reported as problems")
    func problems() throws {
        let long = String(repeating: "a", count: 62) + "B"
        let found = try builder(
            """
            objects:
              Cat: {properties: {name: String}}
              Dog:
                primaryKey: id
                properties: {id: Int, homeTown: String, home_town: String, friend: Cat?, \(long): Int}
              DogTags: {primaryKey: id, properties: {id: Int}}
              Wolf: {primaryKey: id, properties: {id: Int}}
            """
        ).problems()
        #expect(
            found == [
                "type 'Cat' has no primary key, so its objects cannot be identified on other machines; add 'primaryKey:'",
                "'Dog.friend' links to 'Cat', which has no primary key",
                "'Dog.homeTown' and 'Dog.home_town' both become 'home_town' in SQL; rename one of them",
                "'Dog.\(long)' becomes '\(String(repeating: "a", count: 62))_b', which is longer than 63 bytes",
            ])
    }

    @Test("if any type has the key 'sync', only synchronized types and properties have tables and columns")
    func synchronizedTypes() throws {
        let tables = try builder(
            """
            objects:
              Dog:
                primaryKey: id
                sync: both
                properties: {id: Int, place: {type: Double?, sync: none}, tags: {type: List<Int>, sync: none}}
              Crash: {primaryKey: id, sync: upload, properties: {id: Int}}
              Cat: {properties: {name: String, dog: Dog?}}
            """
        )
        #expect(tables.tables().map(\.name) == ["dog", "crash"])
        #expect(tables.tables()[0].columns.map(\.name) == ["id"])
        #expect(tables.problems().isEmpty)
    }

    @Test("constraints have PostgreSQL's default names; a hash is added to a name that is too long or not unique")
    func constraintNames() throws {
        let long = String(repeating: "a", count: 61)
        let text = DDLWriter.text(
            try builder(
                """
                objects:
                  Dog: {primaryKey: id, unique: [[a_b, c], [a, b_c]], properties: {id: Int, a: Int, b_c: Int, a_b: Int, c: Int}}
                  \(long): {primaryKey: id, properties: {id: Int}}
                """
            ).tables())
        let names = text.matches(of: /CONSTRAINT "([^"]*)"/).map { String($0.1) }
        #expect(names.count == 4 && Set(names).count == 4)
        #expect(names[0] == "dog_pkey" && names[1].hasPrefix("dog_a_b_c_key_") && names[2].hasPrefix("dog_a_b_c_key_"))
        #expect(names[3].utf8.count == 63 && names[3].hasPrefix("aaaa"))
    }
}
