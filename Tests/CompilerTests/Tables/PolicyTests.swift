import MartletFrontend
import MartletSchema
import MartletTables
import Testing

@Suite("Tables: rules as row level security")
struct PolicyTests {
    private func statements(_ yaml: String) throws -> [String] {
        let analysis = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: yaml)])
        let model = try #require(analysis.model, "\(analysis.diagnostics.map(\.message))")
        return DDLWriter.text(TableBuilder(model).tables()).split(separator: "\n\n").map(String.init)
    }

    /// Returns the SQL condition of the policy for reading objects of 'Dog'. `CLAIMS` replaces the subquery that reads
    /// the claims of the user.
    private func condition(_ rule: String) throws -> String {
        let quoted = rule.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        let found = try statements(RuleTests.properties + "    read: '\(quoted)'\n")
        let policy = try #require(found.first { $0.hasPrefix("CREATE POLICY \"martlet_read\" ON \"dog\"") })
        let start = try #require(policy.firstRange(of: "USING ("))
        return String(policy[start.upperBound...].dropLast(2)).replacing(
            " FROM (SELECT NULLIF(current_setting('martlet.user', true), '')::jsonb AS u) AS c)", with: " CLAIMS)")
    }

    @Test(
        "a rule becomes an SQL condition that is true if and only if the rule holds S56",
        arguments: [
            ("id == 1", #""id" = 1"#), ("id != 1", #""id" IS DISTINCT FROM 1"#),
            ("NOT id == -1", #""id" IS DISTINCT FROM (-1)"#),
            ("nick == nil", #""nick" IS NULL"#), ("nick != nil", #""nick" IS NOT NULL"#),
            ("NOT nick == nil", #""nick" IS NOT NULL"#),
            ("isGood", #""is_good" = true"#), ("NOT isGood", #""is_good" IS DISTINCT FROM true"#), ("true", "true"),
            ("NOT true", "false"), ("age > 2", #""age" > 2"#), ("NOT age > 2", #"("age" > 2) IS NOT TRUE"#),
            ("weight > 2.5", #""weight" > 2.5 AND "weight" <> 'NaN'"#), ("weight < 2.5", #""weight" < 2.5"#),
            ("name == 'it\\'s \\\\'", #""name" = 'it''s \'"#), ("name == large", #""name" = "large""#),
            ("nick == name", #""nick" = "name""#), ("size == small", #""size" = 'small'"#),
            ("NOT (id == 1 AND age == 2)", #"("id" IS DISTINCT FROM 1) OR ("age" IS DISTINCT FROM 2)"#),
            ("id IN {1, 2}", #"("id" = 1) OR ("id" = 2)"#),
            ("NOT nick IN {'a', nil}", #"("nick" IS DISTINCT FROM 'a') AND ("nick" IS NOT NULL)"#),
            ("id IN {}", "false"), ("NOT id IN {}", "true"), ("$user.sub IN {}", "false"),
            (
                "NOT $user.sub IN {}",
                "(SELECT CASE WHEN jsonb_typeof(u -> 'sub') <> 'null' THEN u -> 'sub' END CLAIMS) IS NOT NULL"
            ),
            ("owner == nil", #""owner" IS NULL"#),
            ("key == '00010203-0405-0607-0809-0a0b0c0d0e0f'", #""key" = '00010203-0405-0607-0809-0a0b0c0d0e0f'::uuid"#),
            ("code == oid(507f1f77bcf86cd799439011)", #""code" = '\x507f1f77bcf86cd799439011'::bytea"#),
            (
                "owner.id == $user.sub",
                #""owner" = (SELECT CASE WHEN jsonb_typeof(u -> 'sub') = 'string' THEN (u ->> 'sub') COLLATE "C" END CLAIMS)"#
            ),
            (
                "$user.a.b != true",
                "(SELECT CASE WHEN jsonb_typeof(u -> 'a' -> 'b') = 'boolean' THEN (u -> 'a' ->> 'b')::boolean END CLAIMS) "
                    + "IS DISTINCT FROM true AND (SELECT CASE WHEN jsonb_typeof(u -> 'a' -> 'b') = 'boolean' "
                    + "THEN (u -> 'a' ->> 'b')::boolean END CLAIMS) IS NOT NULL"
            ),
            (
                "$user.sub == nil",
                "(SELECT CASE WHEN jsonb_typeof(u -> 'sub') <> 'null' THEN u -> 'sub' END CLAIMS) IS NULL"
            ),
            (
                "id IN $user.ids",
                #"(SELECT CASE WHEN jsonb_typeof(u -> 'ids') = 'array' THEN u -> 'ids' END CLAIMS) @> to_jsonb("id")"#
            ),
            (
                "place.inner.city == 'x'",
                #"(CASE WHEN jsonb_typeof("place" -> 'inner' -> 'city') = 'string' THEN ("place" -> 'inner' ->> 'city') COLLATE "C" END) = 'x'"#
            ),
        ])
    func conditions(_ rule: (text: String, sql: String)) throws {
        #expect(try condition(rule.text) == rule.sql)
    }

    private static let notes = """
        objects:
          Person: {primaryKey: id, sync: both, properties: {id: String}}
          Note:
            primaryKey: id
            sync: both
            read: owner.id == 'a' OR isPublic
            insert: owner.id == 'a'
            delete: false
            properties:
              id: Int
              owner: Person?
              isPublic: Bool
              rank: {type: Int = 3, write: isPublic}
              made: {type: Date = now, write: id < 5}
              tags: {type: List<String>, write: 'id == 7'}
              words: List<String>
        """

    @Test("every operation has a policy, and the policies also apply to the owner of the tables S56")
    func policies() throws {
        let found = try statements(Self.notes)
        let start = try #require(found.firstIndex { $0.hasPrefix("ALTER TABLE \"note\" ENABLE") })
        #expect(
            found[start..<(start + 5)] == [
                "ALTER TABLE \"note\" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;",
                """
                CREATE POLICY "martlet_read" ON "note" FOR SELECT
                    USING (("owner" = 'a') OR ("is_public" = true));
                """,
                """
                CREATE POLICY "martlet_insert" ON "note" FOR INSERT
                    WITH CHECK ("owner" = 'a');
                """,
                """
                CREATE POLICY "martlet_update" ON "note" FOR UPDATE
                    USING (("owner" = 'a') OR ("is_public" = true))
                    WITH CHECK (("owner" = 'a') OR ("is_public" = true));
                """,
                """
                CREATE POLICY "martlet_delete" ON "note" FOR DELETE
                    USING (false);
                """,
            ])
        #expect(!found.contains { $0.contains("\"person\" ENABLE") })
    }

    @Test("a user can read the elements of readable owners, and write the elements of writable owners S56")
    func collections() throws {
        let found = try statements(Self.notes)
        let match = #"EXISTS (SELECT FROM "note" WHERE "note"."id" = "note_tags"."owner""#
        #expect(
            found.contains(
                """
                CREATE POLICY "martlet_read" ON "note_tags" FOR SELECT
                    USING (\(match)));
                """))
        #expect(
            found.contains(
                """
                CREATE POLICY "martlet_delete" ON "note_tags" FOR DELETE
                    USING (\(match) AND (("note"."owner" = 'a') OR ("note"."is_public" = true)) AND ("note"."id" = 7)));
                """))
        #expect(
            found.contains { $0.hasPrefix("CREATE POLICY \"martlet_insert\" ON \"note_words\"") && !$0.contains("= 7") }
        )
    }

    @Test("a trigger checks the rule of a property against the row before and after a change S56")
    func columnRules() throws {
        let found = try statements(Self.notes)
        let function = try #require(found.first { $0.hasPrefix("CREATE OR REPLACE FUNCTION martlet_rules.\"note\"()") })
        #expect(found.contains("CREATE SCHEMA IF NOT EXISTS martlet_rules;"))
        #expect(
            function.contains(
                #"IF NOT (NEW."rank" IS NOT DISTINCT FROM (3)) AND (NEW."is_public" = true) IS NOT TRUE THEN"#))
        #expect(
            function.contains(
                #"IF NEW."rank" IS DISTINCT FROM OLD."rank" AND ((OLD."is_public" = true) AND (NEW."is_public" = true)) IS NOT TRUE THEN"#
            ))
        #expect(function.contains(#"IF NOT (false) AND (NEW."id" < 5) IS NOT TRUE THEN"#))
        #expect(!function.contains("tags"))
    }

    @Test("text in a rule cannot end the quoted body of the function that checks the rule S14")
    func quotes() throws {
        let found = try statements(
            """
            objects:
              Note:
                primaryKey: id
                sync: both
                properties: {id: Int, name: {type: String, write: "name == '$rules$; DROP TABLE note; $rules1$'"}}
            """)
        let function = try #require(found.first { $0.hasPrefix("CREATE OR REPLACE FUNCTION") })
        #expect(function.contains("AS $rules2$\n") && function.hasSuffix("END $rules2$;"))
    }

    @Test("users can neither read nor change objects with 'sync: upload' S56")
    func upload() throws {
        let found = try statements(
            "objects:\n  Crash: {primaryKey: id, sync: upload, insert: id > 0, properties: {id: Int}}")
        #expect(found.contains("CREATE POLICY \"martlet_read\" ON \"crash\" FOR SELECT\n    USING (false);"))
        #expect(
            found.contains("CREATE POLICY \"martlet_insert\" ON \"crash\" FOR INSERT\n    WITH CHECK (\"id\" > 0);"))
    }
}
