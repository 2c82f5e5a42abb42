#if Sync
    import ArgumentParser
    import Foundation
    import MartletSyncService

    struct DeployCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "deploy", abstract: "Prepare a database for synchronization.",
            discussion: """
                The tables that 'martlet postgres' writes must exist, and the role must own them. The command creates or \
                updates the schema 'martlet' and the triggers, in one transaction. Running it again changes nothing. If a \
                table does not fit, the command says why and changes nothing.
                """)

        @OptionGroup var common: CommonOptions

        @Option(help: "The file that 'martlet facts' has written.", completion: .file())
        var facts: String

        func run() async throws {
            guard let data = FileManager.default.contents(atPath: facts), let text = String(data: data, encoding: .utf8)
            else { throw CommandFailure(2, "the facts '\(facts)' cannot be read") }
            let schema = try SyncSchema(facts: text)
            try await common.withDatabase { configuration, session in
                try Deployment(schema, tableSchema: configuration.tableSchema).run(in: session)
            }
            Console.write("deployed \(schema.objectTypeNames.joined(separator: ", "))\n")
        }
    }
#endif
