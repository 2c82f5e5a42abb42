#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    /// Compares the service's evaluation of `read` rules with the policies that `martlet postgres` writes.
    @Suite("PostgreSQL: rules", .needsPostgres)
    struct RuleTests {
        private static let rules = [
            "name == $user.sub", "name != $user.sub", "NOT name == $user.sub", "name IN $user.names",
            "NOT name IN $user.names", "age > $user.age", "NOT age > $user.age", "age <= $user.age", "age IN {1, 2}",
            "NOT age IN {1, 2}", "age == nil", "age != nil", "weight > 2.5", "NOT weight > 2.5",
            "weight != 2.5", "price == $user.price", "price < 10", "NOT price < $user.price", "isOpen", "NOT isOpen",
            "isOpen == $user.flag", "isOpen != $user.flag", "token == $user.token", "token IN $user.tokens",
            "NOT token IN $user.tokens", "code == $user.code", "NOT code == $user.code", "code IN $user.codes",
            "size == small", "size IN {small}", "size == $user.size", "size != $user.size", "owner.id == $user.owner",
            "owner == nil", "owner != nil AND owner.id != $user.owner", "$user.sub == nil", "$user.sub != nil",
            "'editor' IN $user.roles", "NOT ('editor' IN $user.roles)", "$user.company.id == 7",
            "NOT $user.company.id == 7", "$user.age > 1", "name == 'it\\'s' OR name == 'ü\\\\'", "true", "false",
            "NOT (name == $user.sub OR age < 3)", "NOT (name == $user.sub AND age < 3)",
            "age == $user.age AND name == $user.sub OR isOpen AND NOT size == large", "age == count", "age != count",
            "age < count", "$user.flag", "NOT $user.flag", "age IN $user.ages", "home.city == $user.sub",
            "NOT home.city == $user.sub", "home.city != 'x'", "home.floor > 2", "NOT home.floor > 2",
            "home.floor == nil", "home.floor == $user.age",
            "$user.sub IN {}", "NOT $user.sub IN {}", "NOT $user.company.id IN {}", "name IN {}", "NOT name IN {}",
            "NOT (NOT $user.sub IN {} AND age < 3)", "$user.sub IN {} OR NOT $user.age IN {}",
            "$user.sub IN {'a', 7, nil}", "NOT $user.sub IN {'a', 7}", "NOT $user.sub IN {'a', nil}",
            "NOT $user.sub IN {nil}", "NOT $user.flag IN {true}", "name IN {$user.sub, 'b'}",
            "NOT name IN {$user.sub, 'b'}", "NOT $user.sub IN {name, 'b'}", "NOT age IN {$user.age, nil}",
            "NOT (NOT name IN {$user.sub})", "NOT (age IN {} OR name IN $user.names)", "NOT 'x' IN $user.roles",
        ]

        /// Rules that hold for no row if the user has no claims.
        private static let unknownWithoutClaims: Set = [
            "name == $user.sub", "name != $user.sub", "NOT name == $user.sub", "NOT name IN $user.names",
            "NOT age > $user.age", "NOT price < $user.price", "isOpen != $user.flag", "NOT token IN $user.tokens",
            "size != $user.size", "NOT ('editor' IN $user.roles)", "NOT $user.company.id == 7", "NOT $user.flag",
            "NOT home.city == $user.sub", "$user.sub IN {}", "NOT $user.sub IN {}", "NOT $user.company.id IN {}",
            "$user.sub IN {} OR NOT $user.age IN {}", "NOT $user.sub IN {'a', 7}", "NOT $user.flag IN {true}",
            "NOT name IN {$user.sub, 'b'}", "NOT $user.sub IN {name, 'b'}", "NOT (NOT name IN {$user.sub})",
            "NOT 'x' IN $user.roles",
        ]

        private static let claims = [
            "{}", "null", #"{"sub":null,"roles":null,"age":null,"flag":null,"names":null}"#,
            #"""
            {"sub":"a","names":["a","b",null,7],"age":2,"price":3.5,"flag":true,"owner":1,"roles":["editor"],
             "token":"00000000-0000-0000-0000-0000000000AB","tokens":["00000000-0000-0000-0000-0000000000ab"],
             "code":"0000000000000000000000AB","codes":["0000000000000000000000ab","x"],"size":"small",
             "company":{"id":7},"ages":[1,2.0,"3",null]}
            """#,
            #"""
            {"sub":7,"names":"a","age":"2","price":"3.5","flag":1,"owner":"1","roles":"editor","token":"x",
             "tokens":["00000000-0000-0000-0000-0000000000AB"],"code":"00","codes":["0000000000000000000000AB"],
             "size":0,"company":{"id":"7"},"ages":{"1":1}}
            """#,
            #"{"sub":"it's","names":[],"age":2.5,"price":12,"flag":false,"owner":3,"roles":[],"company":[7],"ages":[]}"#,
            #"{"sub":"ü\\","age":9223372036854775807,"owner":2.0,"flag":null,"company":{"id":7.0},"ages":[3e0]}"#,
        ]

        private static func yaml() -> String {
            let types = rules.enumerated().map { number, rule in
                """
                  R\(number):
                    sync: both
                    primaryKey: id
                    read: >
                      \(rule)
                    properties: {id: Int, name: String?, age: Int?, count: Int?, weight: Double, price: Decimal128?,
                      isOpen: Bool, token: UUID?, code: ObjectId?, size: Size, owner: Person?, home: Place?}
                """
            }
            return "enums:\n  Size: {cases: [small, large]}\n"
                + "embedded:\n  Place: {properties: {city: String, floor: Int?}}\nobjects:\n"
                + "  Person: {sync: both, primaryKey: id, properties: {id: Int}}\n" + types.joined(separator: "\n")
                + "\n"
        }

        private static let rows = """
            (1, 'a', 1, 1, 2.5, 3.5, true, '00000000-0000-0000-0000-0000000000ab', '\\x0000000000000000000000ab', 'small', 1,
             '{"city":"a","floor":3}'),
            (2, NULL, NULL, NULL, 'NaN', NULL, false, NULL, NULL, 'large', NULL, NULL),
            (3, 'it''s', 2, 3, 3, 12, true, '00000000-0000-0000-0000-0000000000ac', '\\x0000000000000000000000ac', 'small', 2,
             '{"city":"x"}'),
            (4, E'ü\\\\', 3, NULL, -1, 'NaN', false, '00000000-0000-0000-0000-0000000000ab', NULL, 'large', 3,
             '{"city":"it''s","floor":null}'),
            (5, 'b', 4, 4, 'Infinity', 9.99, true, NULL, '\\x0000000000000000000000ab', 'small', NULL,
             '{"city":"x","floor":2}')
            """

        @Test("for all claims, the service finds exactly the rows that the policy of the rule shows S56")
        func samePolicies() throws {
            let schema = try SampleSchema(Self.yaml())
            let address = try newDatabase()
            let session = try PostgresSession(address)
            try session.execute(schema.statements)
            let facts = try SyncSchema(facts: schema.facts)
            try Deployment(facts).run(in: session)
            let catalog = try SyncCatalog(session)
            try session.execute("INSERT INTO person SELECT generate_series(1, 3)")
            for number in Self.rules.indices { try session.execute("INSERT INTO r\(number) VALUES \(Self.rows)") }
            let role = try ServiceRole(session)
            let reader = try PostgresSession(role.address(address))
            var (foundCount, unknownCount) = (0, 0)
            for (number, rule) in Self.rules.enumerated() {
                let type = try #require(facts.number(of: "R\(number)"))
                let all = SubscribedQuery(type: type, condition: SubscriptionCondition.constant(true).encoded())
                for claims in Self.claims {
                    let filter = try catalog.filters.filter([all], claims: claims)
                    var found: Set<Int64> = []
                    try DatabaseSnapshot.read(catalog, in: session) { snapshot in
                        try snapshot.rows(of: type) { row in
                            guard filter.contains(row.address, row.values), case .integer(let id) = row.address.key
                            else {
                                return
                            }
                            found.insert(id)
                        }
                    }
                    let visible = try reader.transaction {
                        try reader.query("SELECT set_config('martlet.user', $1, true)", [.text(claims)])
                        return Set(try reader.query("SELECT id FROM r\(number)").rows.map { try $0.bigint(0) })
                    }
                    #expect(found == visible, "\(rule) with \(claims)")
                    if claims == "{}", Self.unknownWithoutClaims.contains(rule) {
                        #expect(found.isEmpty && visible.isEmpty, "\(rule) without claims")
                        unknownCount += 1
                    }
                    foundCount += found.count
                }
            }
            #expect(foundCount > 300)
            #expect(unknownCount == Self.unknownWithoutClaims.count)
        }

        @Test(
            "the deployment refuses a rule that the service cannot evaluate",
            arguments: [
                ("tags == 'x'", "'tags', which"), ("home.other == 'x'", "'home.other', which is not"),
                ("other == 1", "'other', which is not"), ("name ==", "cannot be read"),
                ("name == 'x", "cannot be read"),
                ("(name == 'x'", "cannot be read"), ("name == 'x')", "cannot be read"), ("", "cannot be read"),
                ("name LIKE 'x'", "cannot be read"), ("name IN {'x'", "cannot be read"),
                (String(repeating: "(", count: 1_000), "cannot be read"),
            ])
        func unknownRules(rule: String, reason: String) throws {
            let facts = """
                object Memo
                primaryKey id
                sync both
                rule read \(rule.isEmpty ? "()" : rule)
                property id Int
                property name String
                property tags List<String>
                property home embedded:Place?

                embedded Place
                property city String
                """
            let error = try #require(
                #expect(throws: SyncSchemaError.self) { try Deployment(SyncSchema(facts: facts)) })
            #expect("\(error)".contains("the rule 'read' of 'Memo'") && "\(error)".contains(reason), "\(error)")
        }
    }

    /// A role with the rights that the service needs. Row level security applies to the role.
    struct ServiceRole {
        let name: String

        init(_ session: PostgresSession) throws {
            let database = try session.query("SELECT current_database()::text").first?.text(0) ?? ""
            name = "service_\(database)"
            try session.execute(
                """
                CREATE ROLE \(name) LOGIN;
                GRANT USAGE ON SCHEMA martlet, public TO \(name);
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA martlet, public TO \(name);
                """)
        }

        func address(_ address: String) -> String { address.replacing("user=martlet", with: "user=\(name)") }
    }
#endif
