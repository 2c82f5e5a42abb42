#if Sync
    import ArgumentParser
    import MartletPostgres

    /// The options of all commands.
    struct CommonOptions: ParsableArguments {
        @Option(help: "The configuration file, a JSON object. Environment variables and options override it.")
        var config: String?

        @Option(help: "The database, as a connection string or URI of libpq. The default is MARTLET_DATABASE.")
        var database: String?

        func configuration(_ options: [Setting: (String, String)] = [:]) throws -> Configuration {
            var options = options
            if let database { options[.database] = (database, "--database") }
            return try Configuration(path: config, options: options)
        }

        /// Runs the closure with a connection to the database.
        func withDatabase<R: Sendable>(
            _ body: @escaping @Sendable (Configuration, PostgresSession) throws -> R
        ) async throws -> R where Configuration: Sendable {
            let configuration = try configuration()
            let connection = try await PostgresConnection(configuration.database)
            let result = try await connection.run { try body(configuration, $0) }
            await connection.close()
            return result
        }
    }
#endif
