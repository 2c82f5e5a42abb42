import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@Suite("Tables: migrations")
struct MigrationTests {
    private func input(_ yaml: String) -> SchemaInput {
        SchemaInput(sources: [SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)])
    }

    private func objects(_ text: String) -> String {
        "objects:\n" + text.split(separator: "\n").map { "  \($0)\n" }.joined()
    }

    private func dog(_ properties: String, _ keys: String = "", name: String = "Dog") -> String {
        objects("\(name): {primaryKey: id, properties: {id: Int, \(properties)}\(keys.isEmpty ? "" : ", " + keys)}")
    }

    /// Returns the statements of a migration file, without the statements that every file contains.
    private func statements(_ text: String?) -> [String] {
        (text ?? "").split(separator: "\n\n").map { String($0).trimmingSuffix("\n") }.filter {
            !$0.hasPrefix("--") && !$0.hasPrefix("CREATE SCHEMA IF NOT EXISTS martlet;") && $0 != "COMMIT;"
        }
    }

    private func migration(_ old: String, _ new: String) throws -> [String] {
        let migration = Compiler.migration(input(new), from: input(old))
        guard case .one(let text) = migration.text else {
            Issue.record("refused: \(migration.problems) \(migration.diagnostics.map(\.message))")
            return []
        }
        return statements(text)
    }

    private func parts(_ old: String, _ new: String) throws -> [[String]] {
        let migration = Compiler.migration(input(new), from: input(old), losingData: true)
        guard case .two(let expand, let contract) = migration.text else {
            Issue.record("\(migration.problems) \(migration.diagnostics.map(\.message))")
            return []
        }
        return [statements(expand), statements(contract)]
    }

    @Test("equal schemas need no migration S57")
    func nothing() throws {
        #expect(try migration(dog("a: Int"), dog("a: Int")).isEmpty)
        #expect(try migration(dog("a: Int, b: Int"), dog("b: Int, a: Int")).isEmpty)
    }

    @Test("new properties become columns with their defaults, and new types become tables")
    func additions() throws {
        #expect(
            try migration(dog("a: Int"), dog("a: Int, b: Int8 = 5, c: String?, d: List<Int>, e: Dog?", "index: [b]"))
                == [
                    #"ALTER TABLE "dog" ADD COLUMN "b" smallint NOT NULL DEFAULT 5 CONSTRAINT "dog_b_check" CHECK ("b" BETWEEN -128 AND 127);"#,
                    #"ALTER TABLE "dog" ADD COLUMN "c" text COLLATE "C";"#,
                    #"ALTER TABLE "dog" ADD COLUMN "e" bigint;"#,
                    """
                    CREATE TABLE "dog_d" (
                        "owner" bigint NOT NULL,
                        "position" bytea NOT NULL,
                        "value" bigint NOT NULL,
                        CONSTRAINT "dog_d_pkey" PRIMARY KEY ("owner", "position")
                    );
                    """,
                    #"CREATE INDEX "dog_b_idx" ON "dog" ("b");"#, #"CREATE INDEX "dog_e_idx" ON "dog" ("e");"#,
                    """
                    ALTER TABLE "dog" ADD CONSTRAINT "dog_e_fkey"
                        FOREIGN KEY ("e") REFERENCES "dog" ("id")
                        ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
                    """,
                    """
                    ALTER TABLE "dog_d" ADD CONSTRAINT "dog_d_owner_fkey"
                        FOREIGN KEY ("owner") REFERENCES "dog" ("id")
                        ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
                    """,
                ])
    }

    @Test("'renamedFrom' renames tables, columns, constraints and indexes")
    func renames() throws {
        let old = dog("a: Int8, b: Dog?, c: List<Int>", "index: [a], unique: [[a]]")
        let new = dog(
            "aa: {type: Int8, renamedFrom: a}, b: Hound?, cc: {type: List<Int>, renamedFrom: c}",
            "index: [aa], unique: [[aa]], renamedFrom: Dog", name: "Hound")
        #expect(
            try migration(old, new) == [
                #"ALTER TABLE "dog" RENAME TO "hound";"#, #"ALTER TABLE "dog_c" RENAME TO "hound_cc";"#,
                #"ALTER TABLE "hound" RENAME COLUMN "a" TO "aa";"#,
                #"ALTER TABLE "hound" RENAME CONSTRAINT "dog_pkey" TO "hound_pkey";"#,
                #"ALTER TABLE "hound" RENAME CONSTRAINT "dog_a_key" TO "hound_aa_key";"#,
                #"ALTER TABLE "hound" RENAME CONSTRAINT "dog_a_check" TO "hound_aa_check";"#,
                #"ALTER TABLE "hound" RENAME CONSTRAINT "dog_b_fkey" TO "hound_b_fkey";"#,
                #"ALTER TABLE "hound_cc" RENAME CONSTRAINT "dog_c_pkey" TO "hound_cc_pkey";"#,
                #"ALTER TABLE "hound_cc" RENAME CONSTRAINT "dog_c_owner_fkey" TO "hound_cc_owner_fkey";"#,
                #"ALTER INDEX "dog_a_idx" RENAME TO "hound_aa_idx";"#,
                #"ALTER INDEX "dog_b_idx" RENAME TO "hound_b_idx";"#,
            ])
    }

    @Test("no data is lost if a default changes, an index or constraint is removed, or a property becomes optional")
    func changes() throws {
        let old = dog("a: Int = 1, b: Int, c: Int", "index: [b], unique: [[c]]")
        #expect(
            try migration(old, dog("a: Int = 2, b: Int?, c: Int")) == [
                #"ALTER TABLE "dog" DROP CONSTRAINT "dog_c_key";"#, #"DROP INDEX "dog_b_idx";"#,
                #"ALTER TABLE "dog" ALTER COLUMN "a" SET DEFAULT 2;"#,
                #"ALTER TABLE "dog" ALTER COLUMN "b" DROP DEFAULT;"#,
                #"ALTER TABLE "dog" ALTER COLUMN "b" DROP NOT NULL;"#,
            ])
    }

    @Test("a new case of an enum replaces the CHECK constraint, and another 'onDelete' replaces the foreign key")
    func checks() throws {
        func schema(_ cases: String, _ action: String) -> String {
            "enums:\n  Size: [\(cases)]\n" + dog("size: Size, friend: {type: Dog?, onDelete: \(action)}")
        }
        #expect(
            try migration(schema("a, b", "nullify"), schema("a, c, b", "cascade")) == [
                #"ALTER TABLE "dog" DROP CONSTRAINT "dog_friend_fkey";"#,
                #"ALTER TABLE "dog" DROP CONSTRAINT "dog_size_check";"#,
                #"ALTER TABLE "dog" ADD CONSTRAINT "dog_size_check" CHECK ("size" IN ('a', 'c', 'b'));"#,
                """
                ALTER TABLE "dog" ADD CONSTRAINT "dog_friend_fkey"
                    FOREIGN KEY ("friend") REFERENCES "dog" ("id")
                    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
                """,
            ])
    }

    @Test(
        "a change that loses data is refused, or written in two parts if losing data is allowed S57",
        arguments: [
            (
                "a: Int", "b: Int", "'Dog.a' has no column any more, and its values would be lost",
                [#"ALTER TABLE "dog" ADD COLUMN "b" bigint NOT NULL DEFAULT 0;"#],
                [#"ALTER TABLE "dog" DROP COLUMN "a";"#]
            ),
            (
                "a: Int?", "a: Int", "'Dog.a' is required now, and existing rows may contain NULL in it",
                [#"ALTER TABLE "dog" ALTER COLUMN "a" SET DEFAULT 0;"#],
                [
                    #"UPDATE "dog" SET "a" = 0 WHERE "a" IS NULL;"#,
                    #"ALTER TABLE "dog" ALTER COLUMN "a" SET NOT NULL;"#,
                ]
            ),
            (
                "a: Int", "a: String", "'Dog.a' was 'bigint' and is 'text COLLATE \"C\"' in SQL", [],
                [
                    #"ALTER TABLE "dog" ALTER COLUMN "a" DROP DEFAULT;"#,
                    #"ALTER TABLE "dog" ALTER COLUMN "a" TYPE text COLLATE "C" USING "a"::text;"#,
                    #"ALTER TABLE "dog" ALTER COLUMN "a" SET DEFAULT '';"#,
                ]
            ),
            (
                "a: List<Int>", "b: Int?", "'Dog.a' has no table any more, and the rows of 'dog_a' would be lost",
                [#"ALTER TABLE "dog" ADD COLUMN "b" bigint;"#],
                [#"ALTER TABLE "dog_a" DROP CONSTRAINT "dog_a_owner_fkey";"#, #"DROP TABLE "dog_a";"#]
            ),
        ])
    func losses(_ change: (old: String, new: String, loss: String, expand: [String], contract: [String])) throws {
        let refused = Compiler.migration(input(dog(change.new)), from: input(dog(change.old)))
        #expect(refused.text == nil && refused.problems == [change.loss])
        #expect(refused.diagnostics.allSatisfy { $0.message.hasPrefix("breaks data") } && !refused.diagnostics.isEmpty)
        #expect(try parts(dog(change.old), dog(change.new)) == [change.expand, change.contract])
    }

    @Test("the second part adds new unique constraints, and CHECK constraints that no longer allow a removed case")
    func constraints() throws {
        let (old, new) = (dog("a: Int"), dog("a: Int", "unique: [[a]]"))
        #expect(
            try parts(old, new) == [
                [], [#"ALTER TABLE "dog" ADD CONSTRAINT "dog_a_key" UNIQUE ("a") DEFERRABLE INITIALLY DEFERRED;"#],
            ])
        let enums = { (cases: String) in "enums:\n  Size: [\(cases)]\n" + dog("size: Size?") }
        #expect(
            try parts(enums("a, b"), enums("a")) == [
                [#"ALTER TABLE "dog" DROP CONSTRAINT "dog_size_check";"#],
                [
                    #"UPDATE "dog" SET "size" = NULL WHERE NOT ("size" IN ('a'));"#,
                    #"ALTER TABLE "dog" ADD CONSTRAINT "dog_size_check" CHECK ("size" IN ('a'));"#,
                ],
            ])
    }

    @Test(
        "if a primary key accepts fewer values, objects with other keys are deleted, and only with permission S57",
        arguments: ["Int8", "Int8 = 5"])
    func narrowedKey(_ type: String) throws {
        let (old, new) = (
            objects("Dog: {primaryKey: id, properties: {id: Int16}}"),
            objects("Dog: {primaryKey: id, properties: {id: \(type)}}")
        )
        let refused = Compiler.migration(input(new), from: input(old))
        #expect(refused.text == nil)
        #expect(
            refused.problems == [
                "the primary key 'Dog.id' accepts fewer values now, and objects with other keys would be deleted"
            ])
        #expect(
            try parts(old, new)[1] == [
                #"DELETE FROM "dog" WHERE NOT ("id" BETWEEN -128 AND 127);"#, "SET CONSTRAINTS ALL IMMEDIATE;",
                #"ALTER TABLE "dog" ADD CONSTRAINT "dog_id_check" CHECK ("id" BETWEEN -128 AND 127);"#,
            ])
        let wider = Compiler.migration(
            input(old), from: input(objects("Dog: {primaryKey: id, properties: {id: Int8}}")))
        guard case .one = wider.text else {
            Issue.record("refused: \(wider.problems)")
            return
        }
    }

    @Test("elements that the new type of a collection does not accept are removed")
    func elements() throws {
        #expect(
            try parts(dog("a: List<Int?>"), dog("a: List<Int>"))[1] == [
                #"DELETE FROM "dog_a" WHERE "value" IS NULL;"#,
                #"ALTER TABLE "dog_a" ALTER COLUMN "value" SET NOT NULL;"#,
            ])
        #expect(
            try parts(dog("a: List<String>"), dog("a: List<Int>"))[1] == [
                #"DELETE FROM "dog_a";"#, #"ALTER TABLE "dog_a" ALTER COLUMN "value" TYPE bigint USING NULL;"#,
            ])
        // A set contains NULL at most once, so elements are not replaced by NULL.
        #expect(
            try parts(dog("a: Set<Int16?>"), dog("a: Set<Int8?>"))[1] == [
                #"DELETE FROM "dog_a" WHERE NOT ("value" BETWEEN -128 AND 127);"#,
                #"ALTER TABLE "dog_a" ADD CONSTRAINT "dog_a_value_check" CHECK ("value" BETWEEN -128 AND 127);"#,
            ])
        #expect(
            try parts(dog("a: Map<Int>"), dog("a: Map<Double>"))[1] == [
                #"ALTER TABLE "dog_a" ALTER COLUMN "value" TYPE double precision USING "value"::double precision;"#
            ])
    }

    @Test("if a column gets the old name of another column, renamed columns get temporary names first")
    func exchange() throws {
        let found = try migration(
            dog("a_b: Int, x: String?"), dog("aB: {type: String?, renamedFrom: x}, y: {type: Int, renamedFrom: a_b}"))
        #expect(
            found == [
                #"ALTER TABLE "dog" RENAME COLUMN "x" TO "martlet_renamed_0";"#,
                #"ALTER TABLE "dog" RENAME COLUMN "a_b" TO "martlet_renamed_1";"#,
                #"ALTER TABLE "dog" RENAME COLUMN "martlet_renamed_0" TO "a_b";"#,
                #"ALTER TABLE "dog" RENAME COLUMN "martlet_renamed_1" TO "y";"#,
            ])
    }

    @Test("a renamed property of an embedded object is renamed in the JSON of its owners")
    func embedded() throws {
        func schema(_ city: String) -> String {
            "embedded:\n  Home: {properties: {\(city)}}\n" + dog("home: Home?, homes: List<Home>")
        }
        let found = try migration(schema("city: String"), schema("town: {type: String, renamedFrom: city}"))
        #expect(found.count == 2)
        #expect(
            found.first == """
                UPDATE "dog" SET "home" = ("home" - ARRAY['city'])
                    || CASE WHEN "home" ? 'city' THEN jsonb_build_object('town', "home" -> 'city') ELSE '{}' END
                    WHERE "home" ?| ARRAY['city'];
                """)
        #expect(found.last?.hasPrefix(#"UPDATE "dog_homes" SET "value" = "#) == true)
        let hidden = try migration(
            schema("city: String").replacing("primaryKey: id", with: "primaryKey: id, sync: both, read: false"),
            schema("town: {type: String, renamedFrom: city}")
                .replacing("primaryKey: id", with: "primaryKey: id, sync: both, read: false"))
        let update = try #require(hidden.firstIndex { $0.hasPrefix("UPDATE") })
        #expect(hidden[..<update].contains { $0.contains("DISABLE ROW LEVEL SECURITY") })
        #expect(hidden[update...].contains { $0.contains("ENABLE ROW LEVEL SECURITY") })
    }

    @Test("policies are dropped before their tables change, and created again after these changes")
    func rules() throws {
        let old = dog("a: Int", "sync: both, read: a == 1")
        #expect(try migration(old, old).isEmpty)
        let found = try migration(old, dog("b: {type: Int, renamedFrom: a, write: b == 3}", "sync: both, read: b == 2"))
        #expect(
            found.prefix(6) == [
                #"DROP POLICY "martlet_read" ON "dog";"#, #"DROP POLICY "martlet_insert" ON "dog";"#,
                #"DROP POLICY "martlet_update" ON "dog";"#, #"DROP POLICY "martlet_delete" ON "dog";"#,
                #"ALTER TABLE "dog" DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;"#,
                #"ALTER TABLE "dog" RENAME COLUMN "a" TO "b";"#,
            ])
        #expect(found.contains("CREATE SCHEMA IF NOT EXISTS martlet_rules;"))
        #expect(found.contains("CREATE POLICY \"martlet_read\" ON \"dog\" FOR SELECT\n    USING (\"b\" = 2);"))
        #expect(found.last?.hasPrefix("CREATE TRIGGER martlet_rules") == true)
        let gone = try migration(dog("a: {type: Int, write: a == 1}", "sync: both"), dog("a: Int", "sync: both"))
        #expect(gone.contains(#"DROP FUNCTION martlet_rules."dog"();"#) && gone.contains("DROP SCHEMA martlet_rules;"))
    }

    @Test(
        "a change that no migration can perform is reported as a problem S57",
        arguments: [
            (
                "primaryKey: a, properties: {a: Int, b: Int}", "primaryKey: b, properties: {a: Int, b: Int}",
                "the primary key of 'Dog'"
            ),
            (
                "primaryKey: a, properties: {a: Int, b: List<Int>}", "primaryKey: a, properties: {a: Int, b: Set<Int>}",
                "table 'dog_b' of 'Dog.b'"
            ),
            (
                "primaryKey: a, sync: both, properties: {a: Int, b: Int}",
                "primaryKey: a, sync: both, read: b == 'x', properties: {a: Int, b: String}",
                "'Dog.b' has another type, and a rule"
            ),
        ])
    func problems(_ change: (old: String, new: String, message: String)) {
        let migration = Compiler.migration(
            input(objects("Dog: {\(change.new)}")), from: input(objects("Dog: {\(change.old)}")), losingData: true)
        #expect(migration.text == nil)
        #expect(migration.problems.first?.hasPrefix(change.message) == true, "\(migration.problems)")
    }

    @Test("mistakes in the configuration of the old schema, and in the names of its files, do not matter S57")
    func oldConfiguration() {
        let configuration = SourceText(file: SourceFileID(1), path: "martlet.yaml", text: "access: internl\n")
        var old = input(dog("a: Int"))
        old.configuration = configuration
        func isAccepted(_ new: SchemaInput) -> Bool {
            if case .one(let text?) = Compiler.migration(new, from: old).text { text.contains("\"b\"") } else { false }
        }
        #expect(isAccepted(input(dog("a: Int, b: Int"))))
        old.sources.append(SourceText(file: SourceFileID(2), path: "a.yaml", text: "enums:\n  Size: [small]\n"))
        #expect(isAccepted(input(dog("a: Int, b: Int"))))
        // The same mistakes in the new schema are reported.
        var new = input(dog("a: Int, b: Int"))
        new.configuration = configuration
        let refused = Compiler.migration(new, from: old)
        #expect(refused.text == nil)
        #expect(refused.diagnostics.map(\.code) == [.badConfiguration])
    }

    @Test("a type that is no longer synchronized loses its table; a property that becomes local loses its column")
    func modes() throws {
        let old = objects(
            "Dog: {primaryKey: id, sync: both, properties: {id: Int, a: Int = 0}}\nCat: {primaryKey: id, sync: both, properties: {id: Int}}"
        )
        let new = objects(
            "Dog: {primaryKey: id, sync: both, properties: {id: Int, a: {type: Int = 0, sync: none}}}\nCat: {primaryKey: id, properties: {id: Int}}"
        )
        #expect(
            try parts(old, new) == [[], [#"DROP TABLE "cat";"#, #"ALTER TABLE "dog" DROP COLUMN "a";"#]])
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
