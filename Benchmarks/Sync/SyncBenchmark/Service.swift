#if Sync
    import Crypto
    import Foundation
    import MartletEngine
    import MartletSyncProtocol
    import MartletValues

    /// The settings that 'Benchmarks/Sync/run' passes in environment variables.
    struct Settings: Sendable {
        /// The connection string of the owner of the tables, for the SQL writer.
        let owner: String
        /// The connection string that the service uses.
        let service: String
        /// The path of `martlet-sync`.
        let program: String
        /// The path of the C program.
        let bare: String
        let folder: URL
        /// The files of a self-signed certificate and of its key.
        let certificate: String
        let key: String
        let secret = "a secret of at least 32 bytes for benchmarks"
        let schema: AgreedSchema
        /// Scales the numbers of clients and the durations; 1 for the figures of the documentation.
        let scale: Double

        init() throws {
            let variables = ProcessInfo.processInfo.environment
            func variable(_ name: String) throws -> String {
                guard let value = variables[name] else {
                    throw Failure("the variable '\(name)' is missing; run 'make bench-sync'")
                }
                return value
            }
            owner = try variable("BENCH_OWNER")
            service = try variable("BENCH_SERVICE")
            program = try variable("BENCH_PROGRAM")
            bare = try variable("BENCH_BARE")
            certificate = try variable("BENCH_CERTIFICATE")
            key = try variable("BENCH_KEY")
            folder = URL(fileURLWithPath: try variable("BENCH_FOLDER"))
            scale = variables["BENCH_SCALE"].flatMap(Double.init) ?? 1
            let facts = try String(contentsOfFile: try variable("BENCH_FACTS"), encoding: .utf8)
            let types = facts.components(separatedBy: "\n\n").compactMap(SchemaFactsParser.storedType)
            let synced = types.filter { $0.syncMode != .none && !$0.isEmbedded }.map(\.name)
            schema = AgreedSchema(synced: Set(synced), in: types)
        }

        func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * scale)) }

        /// The query for the flights with some keys.
        func flights(_ ids: Range<Int>) throws -> SubscribedQuery {
            let operand = ConditionOperand(try flightProperty("id"), .integer)
            let condition = SubscriptionCondition.and([
                ConditionTest.order(operand, .greaterOrEqual, .integer(Int64(ids.lowerBound))).canonical,
                ConditionTest.order(operand, .less, .integer(Int64(ids.upperBound))).canonical,
            ])
            return SubscribedQuery(type: try flightType(), condition: condition.encoded())
        }

        func flightType() throws -> Int {
            guard let type = schema.number(of: "Flight") else { throw Failure("the schema has no type 'Flight'") }
            return type
        }

        func flightProperty(_ name: String) throws -> ValuePath {
            let properties = schema.type(named: "Flight")?.properties ?? []
            guard let index = properties.firstIndex(where: { $0.name == name }) else {
                throw Failure("the type 'Flight' has no property '\(name)'")
            }
            return ValuePath(index)
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// One instance of the sync service.
    final class Instance {
        let address: ServiceAddress
        private let process = Process()

        init(_ settings: Settings, isEncrypted: Bool = false) async throws {
            let port = Int.random(in: 20_000..<30_000)
            let url = URL(string: "\(isEncrypted ? "wss" : "ws")://127.0.0.1:\(port)")
            guard let url else { throw Failure("the port \(port) gives no URL") }
            address = ServiceAddress(url: url, schemaHash: SchemaHash.of(settings.schema), token: settings.token())
            process.executableURL = URL(fileURLWithPath: settings.program)
            process.arguments = ["serve", "--listen", "127.0.0.1:\(port)"]
            var variables = ProcessInfo.processInfo.environment
            variables["MARTLET_DATABASE"] = settings.service
            variables["MARTLET_TOKEN_SECRET"] = settings.secret
            variables["MARTLET_LOG_LEVEL"] = "error"
            if isEncrypted {
                variables["MARTLET_TLS_CERTIFICATE"] = settings.certificate
                variables["MARTLET_TLS_KEY"] = settings.key
            }
            process.environment = variables
            try process.run()
            try await untilReady()
        }

        private func untilReady() async throws {
            for _ in 0..<200 {
                let client = LoadClient()
                if (try? await client.connect(address)) != nil { return await client.disconnect() }
                guard process.isRunning else { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            throw Failure("the service does not start")
        }

        /// Resident memory, in bytes.
        func memory() throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            for line in status.split(separator: "\n") where line.hasPrefix("VmRSS:") {
                let words = line.split(separator: " ")
                if words.count > 1, let kilobytes = Int(words[words.count - 2]) { return kilobytes * 1_024 }
            }
            throw Failure("the memory of the service is not known")
        }

        /// The CPU time of the process, in seconds.
        func cpu() throws -> Double {
            let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
            // The name of the program, in parentheses, may contain spaces.
            let words = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else {
                throw Failure("the CPU time of the service is not known")
            }
            return (user + system) / 100
        }

        func stop() {
            process.terminate()
            process.waitUntilExit()
        }
    }

    extension Settings {
        /// A JSON Web Token with the algorithm HS256.
        func token() -> String {
            func encoded(_ data: Data) -> String {
                data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
                    .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
            }
            let expiration = Int(Date().timeIntervalSince1970) + 86_400
            let header = encoded(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
            let claims = encoded(Data(#"{"sub":"bench","exp":\#(expiration)}"#.utf8))
            let signature = HMAC<SHA256>.authenticationCode(
                for: Data("\(header).\(claims)".utf8), using: SymmetricKey(data: Data(secret.utf8)))
            return "\(header).\(claims).\(encoded(Data(signature)))"
        }
    }
#endif
