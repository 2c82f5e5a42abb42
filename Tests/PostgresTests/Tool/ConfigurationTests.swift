#if Sync
    import Foundation
    import Logging
    import Testing

    @testable import MartletSyncTool

    @Suite("configuration of the service")
    struct ConfigurationTests {
        private func file(_ text: String) throws -> String {
            let path = NSTemporaryDirectory() + "martlet-configuration-\(UInt64.random(in: .min ... .max)).json"
            try Data(text.utf8).write(to: URL(filePath: path))
            return path
        }

        private func findings(
            file: String? = nil, _ environment: [String: String] = [:], _ options: [Setting: (String, String)] = [:]
        ) -> [String] {
            do throws(ConfigurationError) {
                _ = try Configuration(path: file, environment: environment, options: options)
                return []
            } catch {
                return error.findings
            }
        }

        @Test("the environment overrides the file, and options override the environment")
        func precedence() throws {
            let path = try file(
                #"{"database": "dbname=a", "connections": 3, "listen": "0.0.0.0:80", "logLevel": "error"}"#)
            let configuration = try Configuration(
                path: path,
                environment: ["MARTLET_DATABASE": "dbname=b", "MARTLET_LISTEN": "[::1]:81", "MARTLET_JWKS": ""],
                options: [.listen: ("localhost:82", "--listen")])
            #expect(configuration.database == "dbname=b" && configuration.connections == 3)
            #expect(configuration.host == "localhost" && configuration.port == 82)
            #expect(configuration.logLevel == .error && configuration.keySet == nil)
            #expect(configuration.tableSchema == "public" && configuration.pollMilliseconds == 20)
        }

        @Test("for each wrong value, the error names the setting and says what to write")
        func wrongValues() throws {
            let path = try file(#"{"conections": 3, "connections": [1], "pollMilliseconds": 0, "tlsKey": "k"}"#)
            let found = findings(
                file: path, ["MARTLET_LISTEN": "7500", "MARTLET_CONNECTIONS": "many"],
                [.logLevel: ("loud", "--log-level")])
            let expected = [
                "'conections' is not a setting; the settings are database,",
                "'connections' is neither a text nor a whole number",
                "no database is configured", "MARTLET_CONNECTIONS is 'many'; write a whole number from 1 to 1000",
                "'pollMilliseconds' is '0'; write a whole number", "MARTLET_LISTEN is '7500'; write HOST:PORT",
                "TLS needs a certificate and a key", "--log-level is 'loud'; write one of trace, debug",
            ]
            #expect(found.count == expected.count, "\(found)")
            for (text, part) in zip(found, expected) { #expect(text.contains(part)) }
        }

        @Test("the error names a configuration file that is missing or is not a JSON object")
        func wrongFiles() throws {
            #expect(findings(file: "/missing/a.json") == ["the configuration file '/missing/a.json' cannot be read"])
            let list = try file("[]")
            #expect(findings(file: list) == ["the configuration file '\(list)' is not a JSON object"])
        }

        @Test("valid addresses are accepted", arguments: ["a:1", "127.0.0.1:65535", "[::1]:0"])
        func addresses(text: String) { #expect(Configuration.address(text) != nil) }

        @Test(
            "texts that are not addresses are refused",
            arguments: ["", ":1", "a", "a:", "a:x", "a:65536", "a:-1", "::1:80", "[]:1"])
        func wrongAddresses(text: String) { #expect(Configuration.address(text) == nil) }
    }
#endif
