#if Sync
    import ArgumentParser
    import Logging
    import MartletPostgres
    import MartletSyncService
    import ServiceLifecycle
    import UnixSignals

    struct ServeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve", abstract: "Serve clients until SIGTERM or SIGINT.",
            discussion: """
                Clients connect to '/martlet/sync'. '/health' answers 'ok', and '/metrics' has the metrics as text for \
                Prometheus. After SIGTERM or SIGINT, the service asks its clients to connect again. When all \
                connections are closed, the process exits with code 0. Several instances can serve the same database.
                """)

        @OptionGroup var common: CommonOptions

        @Option(help: "The address to listen at, as HOST:PORT. The default is 127.0.0.1:7500.")
        var listen: String?

        @Option(help: "A file with a certificate chain in PEM format, to serve with TLS.")
        var tlsCertificate: String?

        @Option(help: "The file with the key of the certificate in PEM format.")
        var tlsKey: String?

        func run() async throws {
            var options: [Setting: (String, String)] = [:]
            if let listen { options[.listen] = (listen, "--listen") }
            if let tlsCertificate { options[.tlsCertificate] = (tlsCertificate, "--tls-certificate") }
            if let tlsKey { options[.tlsKey] = (tlsKey, "--tls-key") }
            let configuration = try common.configuration(options)
            var logger = Logger(label: "martlet-sync") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = configuration.logLevel
            let log = logger
            let verifier = try await Self.verifier(configuration) { log.error("\($0)") }
            let database = try await PostgresServiceDatabase(
                ConnectionPool(configuration.database, count: configuration.connections),
                verify: { try await verifier.user(of: $0) }, log: { log.error("\($0)") })
            let server = SyncServer(try configuration.serverOptions(), metrics: { database.metrics.text }) {
                SessionDriver(ServiceSession(compile: database.compile), database)
            }
            let services: [any Service] = [
                WatchingService(database: database, server: server, milliseconds: configuration.pollMilliseconds),
                ListeningService(server: server, logger: log),
            ]
            let group = ServiceGroup(
                configuration: .init(
                    services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
                    gracefulShutdownSignals: [.sigterm, .sigint], logger: log))
            do {
                try await group.run()
            } catch let error as PostgresError {
                throw error
            } catch {
                throw CommandFailure(
                    3, "the service cannot listen at \(configuration.host):\(configuration.port): \(error)")
            }
            log.info("ended")
        }

        static func verifier(
            _ configuration: Configuration, log: @escaping @Sendable (String) -> Void
        ) async throws -> TokenVerifier {
            guard configuration.tokenSecret != nil || configuration.keySet != nil else {
                throw ConfigurationError(
                    findings: [
                        "no key for tokens is configured; set MARTLET_TOKEN_SECRET for HS256, or MARTLET_JWKS to a file "
                            + "with a key set for RS256 and ES256"
                    ])
            }
            return try await TokenVerifier(
                secret: configuration.tokenSecret, keySet: configuration.keySet, configuration.requirements, log: log)
        }
    }

    extension Configuration {
        fileprivate func serverOptions() throws(ConfigurationError) -> SyncServer.Options {
            var options = SyncServer.Options()
            (options.host, options.port) = (host, port)
            if let tls {
                do {
                    options.certificate = try ServerCertificate(chainPath: tls.certificate, keyPath: tls.key)
                } catch {
                    throw ConfigurationError(
                        findings: [
                            "the certificate '\(tls.certificate)' and the key '\(tls.key)' cannot be used: \(error)"
                        ])
                }
            }
            return options
        }
    }

    /// Watches the log of changes in the database (`martlet.log`), and notifies the sessions for which this log may
    /// have new entries.
    private struct WatchingService: Service {
        let database: PostgresServiceDatabase
        let server: SyncServer
        let milliseconds: Int

        func run() async throws {
            await cancelWhenGracefulShutdown {
                await withDiscardingTaskGroup { group in
                    group.addTask { await database.auditClients { server.sessions } }
                    await database.watch(milliseconds: milliseconds) { await server.logChanged($0) }
                    group.cancelAll()
                }
            }
        }
    }

    /// Accepts and serves clients.
    private struct ListeningService: Service {
        let server: SyncServer
        let logger: Logger

        func run() async throws {
            try await cancelWhenGracefulShutdown {
                try await server.run { port in
                    logger.info("listening", metadata: ["port": "\(port)"])
                }
            }
        }
    }
#endif
