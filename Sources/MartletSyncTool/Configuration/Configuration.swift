#if Sync
    import Foundation
    import Logging
    import MartletSyncService

    /// The errors of a configuration. Each finding is one line.
    struct ConfigurationError: Error, Equatable, CustomStringConvertible {
        let findings: [String]

        var description: String { findings.joined(separator: "\n") }
    }

    /// The configuration of the service.
    struct Configuration {
        /// A connection string or URI as libpq defines it. It may contain a password.
        let database: String
        var tableSchema = "public"
        /// The number of connections to the database.
        var connections = 8
        /// The time between two readings of the log, in milliseconds.
        var pollMilliseconds = 20
        var host = "127.0.0.1"
        var port = 7_500
        var tokenSecret: [UInt8]?
        /// The path of a file with a JSON Web Key Set.
        var keySet: String?
        var requirements = TokenRequirements()
        /// The paths of the certificate chain and of its key, in PEM format; nil without TLS.
        var tls: (certificate: String, key: String)?
        var logLevel = Logger.Level.info

        /// Reads the configuration.
        ///
        /// - Parameters:
        ///   - path: the configuration file; nil if there is none.
        ///   - options: for each setting, the value of its command-line option, and the name of the option, which
        ///     appears in messages.
        /// - Throws: `ConfigurationError` with all findings.
        init(
            path: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
            options: [Setting: (String, String)] = [:]
        ) throws(ConfigurationError) {
            var file: [String: Any]?
            if let path {
                guard let data = FileManager.default.contents(atPath: path) else {
                    throw ConfigurationError(findings: ["the configuration file '\(path)' cannot be read"])
                }
                file = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
                if file == nil {
                    throw ConfigurationError(findings: ["the configuration file '\(path)' is not a JSON object"])
                }
            }
            var texts = SettingTexts(file: file, path: path ?? "", environment: environment, options: options)
            texts.require(
                texts.text(.database) != nil,
                "no database is configured; write '--database' or set MARTLET_DATABASE, for example "
                    + "'host=localhost dbname=app user=martlet'")
            database = texts.text(.database) ?? ""
            readNumbers(&texts)
            readAddress(&texts)
            readTokens(&texts)
            readTransportSecurity(&texts)
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            logLevel = texts.value(.logLevel, "one of \(levels)") { Logger.Level(rawValue: $0) } ?? logLevel
            tableSchema = texts.text(.tableSchema) ?? tableSchema
            guard texts.findings.isEmpty else { throw ConfigurationError(findings: texts.findings) }
        }

        private mutating func readNumbers(_ texts: inout SettingTexts) {
            func number(_ setting: Setting, _ range: ClosedRange<Int>) -> Int? {
                texts.value(setting, "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
                    Int(text).flatMap { range.contains($0) ? $0 : nil }
                }
            }
            connections = number(.connections, 1...1_000) ?? connections
            pollMilliseconds = number(.pollMilliseconds, 1...60_000) ?? pollMilliseconds
        }

        private mutating func readAddress(_ texts: inout SettingTexts) {
            let address = texts.value(.listen, "HOST:PORT, for example '0.0.0.0:7500' or '[::1]:7500'", Self.address)
            if let address { (host, port) = address }
        }

        static func address(_ text: String) -> (String, Int)? {
            guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
                (0...65_535).contains(port)
            else { return nil }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") {
                return nil
            }
            return host.isEmpty ? nil : (String(host), port)
        }

        private mutating func readTokens(_ texts: inout SettingTexts) {
            tokenSecret = texts.text(.tokenSecret).map { Array($0.utf8) }
            keySet = texts.text(.keySet)
            requirements.issuer = texts.text(.tokenIssuer)
            requirements.audience = texts.text(.tokenAudience)
            requirements.userClaim = texts.text(.tokenUserClaim) ?? requirements.userClaim
        }

        private mutating func readTransportSecurity(_ texts: inout SettingTexts) {
            switch (texts.text(.tlsCertificate), texts.text(.tlsKey)) {
            case (let certificate?, let key?): tls = (certificate, key)
            case (nil, nil): break
            default:
                texts.require(
                    false, "TLS needs a certificate and a key; write 'tlsCertificate' and 'tlsKey', or neither")
            }
        }
    }
#endif
