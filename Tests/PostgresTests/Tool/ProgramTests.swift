#if Sync
    import Crypto
    import Foundation
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite("PostgreSQL: the program martlet-sync", .needsPostgres, .timeLimit(.minutes(5)))
    struct ProgramTests {
        private static let secret = "a secret of thirty-two characters"

        private static func token(_ user: String) -> String {
            func base64(_ bytes: some Sequence<UInt8>) -> String {
                Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: "")
            }
            let text = base64(#"{"alg":"HS256"}"#.utf8) + "." + base64(#"{"sub":"\#(user)","exp":4000000000}"#.utf8)
            let key = SymmetricKey(data: Array(secret.utf8))
            return text + "." + base64(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
        }

        /// Creates a database with the tables of `SampleSchema.dogs`, and a file with the facts of this schema.
        private func prepared() throws -> (address: String, facts: String) {
            let address = try newDatabase()
            try PostgresSession(address).execute(SampleSchema.dogs.get().statements)
            let facts = NSTemporaryDirectory() + "martlet-facts-\(UInt64.random(in: .min ... .max)).txt"
            try Data(SampleSchema.dogs.get().facts.utf8).write(to: URL(filePath: facts))
            return (address, facts)
        }

        private func environment(_ address: String) -> [String: String] {
            ["MARTLET_DATABASE": address, "MARTLET_TOKEN_SECRET": Self.secret]
        }

        @Test("the help names the commands, and a wrong usage ends with exit status 2")
        func usage() async throws {
            let program = try Program()
            let help = try await program.run(["--help"])
            #expect(help.status == 0 && help.errors == "")
            for command in ["deploy", "serve", "check", "audit", "tail", "prune"] {
                #expect(help.output.contains(command))
                let own = try await program.run([command, "--help"])
                #expect(own.status == 0 && own.output.contains("USAGE: martlet-sync \(command)"))
            }
            #expect(try await program.run(["prune"]).status == 2)
            #expect(try await program.run(["prune", "--hours=-1"]).status == 2)
            #expect(try await program.run(["audit", "--timeout", "1"]).status == 2)
            #expect(try await program.run(["deploy"]).status == 2)
            #expect(try await program.run(["swim"]).status == 2)
            let unconfigured = try await program.run(["check"])
            #expect(unconfigured.status == 2 && unconfigured.errors.contains("no database is configured"))
        }

        @Test("if the database cannot be reached, commands end with exit status 3; no message contains the password")
        func unreachable() async throws {
            let address = "host=/nowhere user=martlet password=hidden dbname=x"
            for command in [["check"], ["serve"], ["audit"], ["tail"], ["prune", "--hours", "1"]] {
                let outcome = try await Program().run(command, environment(address))
                #expect(outcome.status == 3 && outcome.errors.contains("the database cannot be used"), "\(outcome)")
                #expect(!outcome.errors.contains("hidden") && !outcome.errors.contains(Self.secret))
            }
        }

        @Test("'deploy' prepares a database, and 'check' finds differences from the schema")
        func deployment() async throws {
            let (address, facts) = try prepared()
            let (program, environment) = (try Program(), environment(address))
            let early = try await program.run(["check"], environment)
            #expect(early.status == 1 && early.errors.contains("run 'martlet-sync deploy'"))
            for _ in 0..<2 {
                let outcome = try await program.run(["deploy", "--facts", facts, "--database", address])
                #expect(
                    outcome.status == 0 && outcome.output == "deployed Crash, Dog, Pack, Person, Tag\n", "\(outcome)")
            }
            let checked = try await program.run(["check"], environment)
            #expect(
                checked.status == 0 && checked.output.contains("synchronized types are Crash, Dog, Pack, Person, Tag"),
                "\(checked)")
            let session = try PostgresSession(address)
            try session.execute("ALTER TABLE tag DISABLE TRIGGER ALL")
            let disabled = try await program.run(["check"], environment)
            #expect(disabled.status == 1 && disabled.errors.contains("table 'tag' lacks the triggers"))
            try session.execute("ALTER TABLE dog DROP COLUMN weight")
            let wrong = try await program.run(["check"], environment)
            #expect(
                wrong.status == 1 && wrong.errors.contains("table 'dog', column 'weight': expected double precision"))
            let refused = try await program.run(["deploy", "--facts", facts], environment)
            #expect(refused.status == 1 && refused.errors.contains("column 'weight'"))
            #expect(try await program.run(["deploy", "--facts", "/missing"], environment).status == 2)
            let keyless = try await program.run(["check"], ["MARTLET_DATABASE": address])
            #expect(keyless.status == 2 && keyless.errors.contains("MARTLET_TOKEN_SECRET"))
        }

        @Test(
            "clients synchronize with 'serve', and SIGTERM and SIGINT end the program with exit status 0",
            arguments: [SIGTERM, SIGINT])
        func serving(signal: Int32) async throws {
            let (address, facts) = try prepared()
            let program = try Program()
            _ = try await program.run(["deploy", "--facts", facts, "--database", address])
            let schema = try MartletSyncService.SyncSchema(facts: SampleSchema.dogs.get().facts)
            let client = MemoryClient(SchemaHash.of(schema.agreed), token: Self.token("ada"))
            let stranger = MemoryClient(SchemaHash.of(schema.agreed), token: "wrong." + Self.token("ada"))
            let dog = try #require(schema.number(of: "Dog"))
            let rex = ObjectAddress(type: dog, key: .integer(1))
            let outcome = try await program.serve([], environment(address), signal: signal) { port in
                let url = try #require(URL(string: "ws://127.0.0.1:\(port)"))
                await client.subscribe([
                    SubscribedQuery(type: dog, condition: SubscriptionCondition.constant(true).encoded())
                ])
                Task { try await client.synchronize(url) }
                await client.wait { await $0.state.shown.number == 1 }
                let connection = try await PostgresConnection(address)
                try await connection.run { _ = try $0.execute("INSERT INTO dog (id, name) VALUES (1, 'Rex')") }
                await client.wait { await $0.rows[rex] != nil }
                try await stranger.synchronize(url)
                let metrics = try #require(URL(string: "http://127.0.0.1:\(port)/metrics"))
                let (data, _) = try await URLSession.shared.data(from: metrics)
                let text = String(decoding: data, as: UTF8.self)
                #expect(text.contains("martlet_sync_clients_opened_total 1\n"))
                #expect(text.contains("martlet_sync_tokens_refused_total 1\n"))
                #expect(text.contains("martlet_sync_sessions 1\n"))
            }
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.errors.contains("ended"))
            #expect(!outcome.errors.contains(Self.secret) && !outcome.errors.contains(Self.token("ada")))
            // The program has stored a mark. From the marks, 'prune --hours' derives the age of entries.
            #expect(
                try PostgresSession(address).query("SELECT FROM martlet.marks WHERE at > '-infinity'").rowCount == 1)
        }

        @Test("'audit' compares the connected clients, and ends with exit status 1 if there are differences")
        func audit() async throws {
            let (address, facts) = try prepared()
            let (program, environment) = (try Program(), environment(address))
            _ = try await program.run(["deploy", "--facts", facts, "--database", address])
            let schema = try MartletSyncService.SyncSchema(facts: SampleSchema.dogs.get().facts)
            let client = MemoryClient(SchemaHash.of(schema.agreed), token: Self.token("ada"), schema: schema.agreed)
            let dog = try #require(schema.number(of: "Dog"))
            try PostgresSession(address).execute("INSERT INTO dog (id, name) VALUES (1, 'Rex'), (2, 'Max')")
            let outcome = try await program.serve([], environment, signal: SIGTERM) { port in
                let url = try #require(URL(string: "ws://127.0.0.1:\(port)"))
                await client.subscribe([
                    SubscribedQuery(type: dog, condition: SubscriptionCondition.constant(true).encoded())
                ])
                Task { try await client.synchronize(url) }
                await client.wait { await $0.state.shown.number == 1 }
                let correct = try await program.run(["audit", "--timeout", "60"], environment)
                #expect(correct.status == 0, "\(correct)")
                #expect(correct.output.contains("clients audited              1\n"), "\(correct)")
                #expect(correct.output.contains("rows compared                2\n"), "\(correct)")
                await client.lose(ObjectAddress(type: dog, key: .integer(2)))
                let different = try await program.run(["audit", "--timeout", "6"], environment)
                #expect(different.status == 1, "\(different)")
                #expect(different.output.contains("clients with differences     1\n"), "\(different)")
                // This client does not connect again.
                #expect(different.output.contains("clients repaired             0\n"), "\(different)")
            }
            #expect(outcome.errors.contains("'Dog', bucket") && outcome.errors.contains("it loads its data again"))
            #expect(!outcome.errors.contains("Max"))
        }

        @Test("if another service listens at the address, 'serve' ends with exit status 3")
        func usedAddress() async throws {
            let (address, facts) = try prepared()
            let (program, environment) = (try Program(), environment(address))
            _ = try await program.run(["deploy", "--facts", facts], environment)
            _ = try await program.serve([], environment) { port in
                let outcome = try await program.run(["serve", "--listen", "127.0.0.1:\(port)"], environment)
                #expect(outcome.status == 3 && outcome.errors.contains("cannot listen at 127.0.0.1:\(port)"))
            }
        }

        @Test("'tail' prints the entries of the log, and 'prune' deletes them")
        func log() async throws {
            let sample = try SampleDatabase()
            let (program, environment) = (try Program(), environment(sample.address))
            try sample.session.execute("INSERT INTO person (id, name) VALUES (3, 'Ada')")
            try sample.session.execute("INSERT INTO dog (id, name, owner) VALUES (1, 'R\"x', 3)")
            try sample.session.execute("UPDATE dog SET name = 'Max', owner = NULL; DELETE FROM dog")
            let tail = try await program.run(["tail", "--all", "--once"], environment)
            let lines = tail.output.split(separator: "\n")
            try #require(lines.count == 4, "\(tail)")
            #expect(lines[0] == #"insert Person 3 id: 3, name: "Ada" (SQL)"#)
            #expect(
                lines[1].hasPrefix(#"insert Dog 1 id: 1, name: "R\"x", age: 3"#) && lines[1].contains("owner: Person 3")
            )
            #expect(lines[2] == #"update Dog 1 name: "R\"x" -> "Max", owner: Person 3 -> nil (SQL)"#)
            #expect(lines[3] == "delete Dog 1 (SQL)")
            #expect(try await program.run(["tail", "--once"], environment).output == "")
            let pruned = try await program.run(["prune", "--gigabytes", "0"], environment)
            #expect(pruned.status == 0 && pruned.output == "deleted 4 entries and 0 clients\n")
            #expect(try await program.run(["tail", "--all", "--once"], environment).output == "")
        }
    }
#endif
