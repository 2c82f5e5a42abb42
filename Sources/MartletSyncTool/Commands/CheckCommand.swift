#if Sync
    import ArgumentParser
    import MartletSyncService

    struct CheckCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check the configuration, the database and its tables.",
            discussion: """
                The command changes nothing. If the database does not fit, the command prints the reasons and ends \
                with exit code 1.
                """)

        @OptionGroup var common: CommonOptions

        func run() async throws {
            let configuration = try common.configuration()
            _ = try await ServeCommand.verifier(configuration) { _ in }
            let (findings, types) = try await common.withDatabase { _, session in
                let catalog = try SyncCatalog(session)
                let types = catalog.tables.values.map(\.typeName).sorted()
                return (try DeploymentCheck(catalog).findings(in: session), types)
            }
            guard findings.isEmpty else { throw CommandFailure(1, findings.joined(separator: "\n")) }
            Console.write(
                "the configuration and the database fit; the synchronized types are \(types.joined(separator: ", "))\n")
        }
    }
#endif
