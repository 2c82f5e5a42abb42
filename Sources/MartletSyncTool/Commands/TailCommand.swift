#if Sync
    import ArgumentParser
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService

    struct TailCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tail", abstract: "Print the changes of the log.",
            discussion: "The command prints new changes until it is interrupted. They can contain data of all users.")

        @OptionGroup var common: CommonOptions

        @Flag(help: "Also print the entries that the log already contains, beginning with the oldest.")
        var all = false

        @Flag(help: "End after the entries that exist, instead of waiting for new ones.")
        var once = false

        func run() async throws {
            let configuration = try common.configuration()
            let connection = try await PostgresConnection(configuration.database)
            let isAll = all
            let (catalog, start) = try await connection.run { session in
                let catalog = try SyncCatalog(session)
                let start = try isAll ? nil : DatabaseSnapshot.read(catalog, in: session) { $0.cursor }
                return (catalog, start)
            }
            let text = LogText(catalog.schema)
            var cursor = start
            while true {
                let last = cursor
                cursor = try await connection.run { session in
                    try LogReader(catalog).read(after: last, in: session) { logged in
                        Console.write(text.line(logged.entry, logged.origin) + "\n")
                    }
                }
                if once { break }
                try await Task.sleep(for: .milliseconds(configuration.pollMilliseconds))
            }
            await connection.close()
        }
    }
#endif
