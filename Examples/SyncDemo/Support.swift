#if Sync
    import Crypto
    import Foundation

    /// The settings that 'Scripts/sync-demo' passes in environment variables.
    struct Environment {
        /// The connection string of the owner of the tables, for 'psql'.
        let owner: String
        /// The connection string that the service uses.
        let service: String
        /// The path of the program 'martlet-sync', which is the service.
        let program: String
        /// The path of a script that kills PostgreSQL and starts it again.
        let crash: String
        /// The folder for the files of the clients and the logs of the service.
        let folder: URL
        let secret = "a secret of at least 32 bytes for the demo"

        init() throws {
            func variable(_ name: String) throws -> String {
                guard let value = ProcessInfo.processInfo.environment[name] else {
                    throw Failure("the variable '\(name)' is missing; run 'make sync-demo'")
                }
                return value
            }
            owner = try variable("DEMO_OWNER")
            service = try variable("DEMO_SERVICE")
            program = try variable("DEMO_PROGRAM")
            crash = try variable("DEMO_CRASH")
            folder = URL(fileURLWithPath: try variable("DEMO_FOLDER"))
        }

        /// Runs an SQL statement with 'psql', as another application would, without the service. Returns its rows, with
        /// '|' between the columns.
        @discardableResult
        func sql(_ statement: String) throws -> [String] {
            let text = try run("psql", [owner, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statement])
            return text.split(separator: "\n").map(String.init)
        }

        @discardableResult
        func run(_ program: String, _ arguments: [String]) throws -> String {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [program] + arguments
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw Failure("'\(program)' has ended with the code \(process.terminationStatus)")
            }
            return String(decoding: data, as: UTF8.self)
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// One instance of the sync service.
    final class Instance {
        let port: Int
        private let environment: Environment
        private var process: Process?

        init(_ environment: Environment, port: Int) throws {
            (self.environment, self.port) = (environment, port)
            try start()
        }

        var url: URL { URL(string: "ws://127.0.0.1:\(port)")! }

        func start() throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: environment.program)
            process.arguments = ["serve", "--listen", "127.0.0.1:\(port)"]
            process.environment = ProcessInfo.processInfo.environment.merging([
                "MARTLET_DATABASE": environment.service, "MARTLET_TOKEN_SECRET": environment.secret,
                "MARTLET_LOG_LEVEL": "error",
            ]) { $1 }
            let log = environment.folder.appendingPathComponent("service-\(port).log")
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
            process.standardError = try FileHandle(forWritingTo: log)
            try process.run()
            self.process = process
        }

        /// Kills the process with SIGKILL, so that it ends as in a crash.
        func kill() {
            if let process { Foundation.kill(process.processIdentifier, SIGKILL) }
            process?.waitUntilExit()
        }

        func stop() {
            process?.terminate()
            process?.waitUntilExit()
        }
    }

    /// Creates a JSON Web Token and signs it with the algorithm HS256. A real program gets its tokens from its server.
    func token(user: String, secret: String) -> String {
        func encoded(_ data: Data) -> String {
            data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
        }
        let expiration = Int(Date().timeIntervalSince1970) + 3_600
        let header = encoded(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        let claims = encoded(Data(#"{"sub":"\#(user)","exp":\#(expiration)}"#.utf8))
        let signature = HMAC<SHA256>.authenticationCode(
            for: Data("\(header).\(claims)".utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return "\(header).\(claims).\(encoded(Data(signature)))"
    }
#endif
