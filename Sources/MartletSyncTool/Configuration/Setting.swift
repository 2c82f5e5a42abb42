#if Sync
    /// A setting of the service. The raw value is its name in the configuration file.
    enum Setting: String, CaseIterable {
        case database
        case tableSchema
        case connections
        case pollMilliseconds
        case listen
        case tokenSecret
        case keySet
        case tokenIssuer
        case tokenAudience
        case tokenUserClaim
        case tlsCertificate
        case tlsKey
        case logLevel

        /// The environment variable, which overrides the configuration file.
        var variable: String {
            switch self {
            case .database: "MARTLET_DATABASE"
            case .tableSchema: "MARTLET_TABLE_SCHEMA"
            case .connections: "MARTLET_CONNECTIONS"
            case .pollMilliseconds: "MARTLET_POLL_MILLISECONDS"
            case .listen: "MARTLET_LISTEN"
            case .tokenSecret: "MARTLET_TOKEN_SECRET"
            case .keySet: "MARTLET_JWKS"
            case .tokenIssuer: "MARTLET_TOKEN_ISSUER"
            case .tokenAudience: "MARTLET_TOKEN_AUDIENCE"
            case .tokenUserClaim: "MARTLET_TOKEN_USER_CLAIM"
            case .tlsCertificate: "MARTLET_TLS_CERTIFICATE"
            case .tlsKey: "MARTLET_TLS_KEY"
            case .logLevel: "MARTLET_LOG_LEVEL"
            }
        }
    }

    /// The texts of the settings, from the configuration file, the environment and the command line.
    struct SettingTexts {
        private struct Text {
            let value: String
            /// Where the user has written the value, for messages.
            let place: String
        }

        private var texts: [Setting: Text] = [:]
        private(set) var findings: [String] = []

        /// - Parameters:
        ///   - file: the content of the configuration file, a JSON object; nil if there is none.
        ///   - path: the path of the file, for messages.
        ///   - options: for each setting, the value and the name of its command-line option. Options override the
        ///     environment, which overrides the file.
        init(file: [String: Any]?, path: String, environment: [String: String], options: [Setting: (String, String)]) {
            for (name, value) in (file ?? [:]).sorted(by: { $0.key < $1.key }) { add(name, value, path) }
            for setting in Setting.allCases {
                if let value = environment[setting.variable], !value.isEmpty {
                    texts[setting] = Text(value: value, place: setting.variable)
                }
                if let (value, option) = options[setting] { texts[setting] = Text(value: value, place: option) }
            }
        }

        private mutating func add(_ name: String, _ value: Any, _ path: String) {
            let place = "\(path): '\(name)'"
            guard let setting = Setting(rawValue: name) else {
                let names = Setting.allCases.map(\.rawValue).joined(separator: ", ")
                return findings.append("\(place) is not a setting; the settings are \(names)")
            }
            switch value {
            case let text as String: texts[setting] = Text(value: text, place: place)
            case let number as Int: texts[setting] = Text(value: "\(number)", place: place)
            default: findings.append("\(place) is neither a text nor a whole number; write one of these")
            }
        }

        func text(_ setting: Setting) -> String? { texts[setting]?.value }

        /// The value of a setting, converted by `convert`. Nil if the setting has no value. If `convert` returns nil,
        /// the method adds a finding and returns nil.
        ///
        /// - Parameter expected: a description of the accepted texts, for the finding.
        mutating func value<T>(_ setting: Setting, _ expected: String, _ convert: (String) -> T?) -> T? {
            guard let text = texts[setting] else { return nil }
            if let value = convert(text.value) { return value }
            findings.append("\(text.place) is '\(text.value)'; write \(expected)")
            return nil
        }

        /// Adds the finding if the condition is false.
        mutating func require(_ condition: Bool, _ finding: String) { if !condition { findings.append(finding) } }
    }
#endif
