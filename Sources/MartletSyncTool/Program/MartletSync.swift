#if Sync
    import ArgumentParser
    import Foundation
    import MartletPostgres
    import MartletSyncService

    /// `martlet-sync`, the sync service and the commands for its database.
    @main
    struct MartletSync: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "martlet-sync",
            abstract: "Synchronizes the clients of a Martlet schema with PostgreSQL.",
            discussion: """
                Exit codes: 0 success, 1 findings, 2 wrong usage or configuration, 3 the database or the network cannot \
                be used, 70 internal error.
                """,
            subcommands: [
                DeployCommand.self, ServeCommand.self, CheckCommand.self, AuditCommand.self,
                TailCommand.self, PruneCommand.self,
            ])

        static func main() async {
            do {
                var command = try parseAsRoot(Array(CommandLine.arguments.dropFirst()))
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch {
                terminate(error)
            }
        }

        private static func terminate(_ error: any Error) -> Never {
            switch error {
            case let error as ConfigurationError: fail(2, error.description)
            case let error as SyncSchemaError: fail(1, error.description)
            case let error as DeploymentError: fail(1, error.description)
            case let error as TokenError: fail(2, error.description)
            case let error as CommandFailure: fail(error.status, error.description)
            case let error as PostgresError: fail(3, "the database cannot be used: \(error.logText)")
            default: break
            }
            let text = fullMessage(for: error)
            switch exitCode(for: error) {
            case .success:
                Console.write(text + "\n")
                Foundation.exit(0)
            case .validationFailure:
                Console.error(text + "\n")
                Foundation.exit(2)
            default: fail(70, "\(error)")
            }
        }

        private static func fail(_ status: Int32, _ message: String) -> Never {
            Console.error("martlet-sync: error: \(message)\n")
            Foundation.exit(status)
        }
    }
#else
    import Foundation

    /// The program in a build without the trait `Sync`. It only prints an error message.
    @main
    enum MartletSync {
        static func main() {
            let message = """
                martlet-sync: error: this program was built without the sync service; build it with the package trait \
                'Sync', which needs libpq: swift build --traits Sync --product martlet-sync

                """
            FileHandle.standardError.write(Data(message.utf8))
            // EX_UNAVAILABLE of sysexits.h.
            exit(69)
        }
    }
#endif
